"""Records, files, index and archive: other tools read from them what was put in, and a kill tears nothing."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZIP_STORED, ZipFile

import pytest
import surt as surt_of_others
from hypothesis import given, settings
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from spiderproj.errors import DiskFullError, OutputError
from spiderproj.urls import RefusedURLError, canonical
from spiderproj.warc import Contents, Exchanged, Original, Page, Tape, Warcs, cdxj, sha1_text, surt, write_wacz, writer
from spiderproj.warc.answer import Bounds, final_head, payload_digest
from spiderproj.warc.exchange import SECRET_FIELDS, records, without_fields
from spiderproj.warc.record import Record, member, new_id
from spiderproj.warc.recovery import cut_back, end_of_members
from spiderproj.warc.tape import MAX_IN_MEMORY, Stretch
from tests import warcs

if TYPE_CHECKING:
    from collections.abc import Iterator

REQUEST = b"GET /a HTTP/1.1\r\nHost: h\r\nAccept: */*\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"


def exchanged(body: bytes = b"body", **changes: object) -> Exchanged:
    """Return an exchange with *body* and *changes*."""
    made = Exchanged(
        url="http://h/a", stamp="20260102030405", address="127.0.0.1", request=REQUEST, status=200, head=HEAD,
        body=(body,), body_size=len(body), is_chunked=False, has_coding=False, mime="text/html",
        digest=sha1_text(hashlib.sha1(body).digest()), truncated="",
    )  # fmt: skip
    return made._replace(**changes)  # type: ignore[arg-type]  # tests name real fields


def packed(*made: Record) -> bytes:
    """Return the gzip members of records."""
    return b"".join(piece for record in made for piece in member(record))


# --- records


urls = st.builds(
    lambda path, query: canonical(f"http://example.org:8080/{path}?{query}"),
    st.text(max_size=40).filter(lambda text: "\x00" not in text),
    st.text(max_size=20),
)


@given(st.data(), st.binary(max_size=300), st.binary(max_size=5000), st.booleans())
@settings(deadline=None, max_examples=150)
def test_a_record_reads_back(data: st.DataObject, head: bytes, body: bytes, is_chunked: bool) -> None:
    """Whatever bytes were exchanged for whatever URL, warcio reads the same from the record, and the digests hold."""
    try:
        url = data.draw(urls)
    except RefusedURLError:
        return
    head = HEAD[:-2] + b"X: " + head.replace(b"\n", b"").replace(b"\r", b"") + b"\r\n\r\n"
    digest = sha1_text(payload_digest([body], is_chunked=is_chunked)[0])
    made = records(exchanged(body, url=url, head=head, is_chunked=is_chunked, digest=digest), None, SECRET_FIELDS)
    iterator = ArchiveIterator(io.BytesIO(packed(*made)), check_digests="raise")
    answer = next(iterator)
    assert answer.rec_headers.get_header("WARC-Target-URI") == url
    assert answer.raw_stream.read() == body
    request = next(iterator)
    assert request.rec_headers.get_header("WARC-Concurrent-To") == answer.rec_headers.get_header("WARC-Record-ID")
    assert request.raw_stream.read() == b""
    plain = [record.raw_stream.read() for record in ArchiveIterator(io.BytesIO(packed(*made)), no_record_parse=True)]
    assert plain == [head + body, REQUEST]


@pytest.mark.parametrize("size", [0, 1, 2000, 2048, 100_000, 3_000_000])
@pytest.mark.parametrize("is_packed", [True, False])
def test_a_member_is_whole(size: int, is_packed: bool) -> None:
    """A record of any size, packed or left as it is, is one gzip member that any tool unpacks."""
    body = bytes(range(256)) * (size // 256 + 1)
    data = packed(Record("response", new_id(), "", HEAD, (body[:size],), size, is_packed))
    assert gzip.decompress(data).endswith(HEAD + body[:size] + b"\r\n\r\n")


def test_an_answer_as_records() -> None:
    """A whole answer has its address, date, digests and type; its request names it."""
    answer, request = (record.fields for record in records(exchanged(), None, SECRET_FIELDS))
    common = "WARC-Target-URI: http://h/a\r\nWARC-Date: 2026-01-02T03:04:05Z\r\nWARC-IP-Address: 127.0.0.1\r\n"
    digest = sha1_text(hashlib.sha1(b"body").digest())
    assert answer == (f"{common}WARC-Payload-Digest: {digest}\r\nContent-Type: application/http;msgtype=response\r\n")
    assert request.startswith(f"{common}WARC-Concurrent-To: <urn:uuid:")
    assert request.endswith("Content-Type: application/http;msgtype=request\r\n")


REVISITS = [
    (200, Original("http://h/b", "20250102030405", "sha1:X"), "identical-payload-digest", True),
    (304, Original("http://h/a", "20250102030405", "sha1:X"), "server-not-modified", True),
    (304, None, "server-not-modified", False),
]


@pytest.mark.parametrize(("status", "original", "profile", "refers"), REVISITS)
def test_a_revisit(status: int, original: Original | None, profile: str, refers: bool) -> None:
    """A duplicate, and an answer 304, are revisits with the head alone, and name the record that has the payload."""
    answer = records(exchanged(status=status), original, SECRET_FIELDS)[0]
    assert (answer.kind, answer.head, answer.body, answer.body_size) == ("revisit", HEAD, (), 0)
    assert f"WARC-Profile: http://netpreserve.org/warc/1.1/revisit/{profile}\r\n" in answer.fields
    where = "WARC-Refers-To-Target-URI: http://h/", "WARC-Refers-To-Date: 2025-01-02T03:04:05Z", "Digest: sha1:X\r\n"
    assert [text in answer.fields for text in where] == [refers] * 3


def test_a_chunked_answer_has_no_payload_digest() -> None:
    """The framing is in the record, and a digest of either reading would be wrong for somebody."""
    answer = records(exchanged(is_chunked=True), None, SECRET_FIELDS)[0]
    assert "Payload-Digest" not in answer.fields


SECRETS = [
    (b"Cookie: a=b\r\n", b""),
    (b"cOOKIE : a=b\r\n", b""),
    (b"Authorization: Basic x\r\nAccept: b\r\n", b"Accept: b\r\n"),
    (b"Proxy-Authorization: x\r\n  folded\r\n", b""),
    (b"X-Token: x\r\n", b""),
    (b"X-Cookie: x\r\nCookies: x\r\n", b"X-Cookie: x\r\nCookies: x\r\n"),
]


@pytest.mark.parametrize(("fields", "kept"), SECRETS)
def test_secrets_are_left_out(fields: bytes, kept: bytes) -> None:
    """Cookies, credentials and the login file's own fields are not in the request record; all else is as sent."""
    line = b"POST /a HTTP/1.1\r\nHost: h\r\n"
    request = line + fields + b"\r\nuser=me&password=secret"
    record = records(exchanged(request=request), None, SECRET_FIELDS | {"x-token"})[1]
    assert (record.head, record.body_size) == (line + kept + b"\r\n", 0)
    assert "WARC-Truncated: unspecified\r\n" in record.fields


@given(st.binary(max_size=200))
def test_nothing_else_is_left_out(head: bytes) -> None:
    """A head without the fields is what it was, byte for byte."""
    assert without_fields(head, {"not-there-at-all"}) == head


# --- the answer in a stream


STREAMS = [
    (b"HTTP/1.1 200 OK\r\n\r\nbody", 0, 19),
    (b"HTTP/1.1 200 OK\nA: b\n\nbody", 0, 22),
    (b"\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", 4, 23),
    (b"HTTP/1.1 103 Early\r\nA: b\r\n\r\nHTTP/1.1 100 Go on\r\n\r\nHTTP/1.1 404 No\r\n\r\nx", 50, 69),
    (b"HTTP/1.1  200 199\r\n\r\n", 0, 21),
]


@pytest.mark.parametrize(("stream", "head", "body"), STREAMS)
def test_the_final_head(stream: bytes, head: int, body: int) -> None:
    """Blank lines and interim answers are passed over."""
    assert final_head(stream) == Bounds(head, body)


@pytest.mark.parametrize("stream", [b"", b"\r\n\r\n", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 100 Go on\r\n\r\nHTTP/1.1 2"])
def test_no_final_head(stream: bytes) -> None:
    """What has not ended is none."""
    assert final_head(stream) is None


@given(st.binary(max_size=400))
def test_any_stream_has_bounds_inside(stream: bytes) -> None:
    """Whatever was received, the bounds lie in it, in order."""
    bounds = final_head(stream)
    assert bounds is None or 0 <= bounds.head < bounds.body <= len(stream)


@given(st.lists(st.binary(min_size=1, max_size=50), max_size=5), st.integers(1, 20))
def test_the_payload_is_without_framing(parts: list[bytes], step: int) -> None:
    """The digest of a chunked payload is that of the bytes without framing, however they came."""
    body = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
    pieces = [body[at : at + step] for at in range(0, len(body), step)]
    plain = b"".join(parts)
    assert payload_digest(pieces, is_chunked=True) == (hashlib.sha1(plain).digest(), len(plain))
    assert payload_digest(pieces, is_chunked=False) == (hashlib.sha1(body).digest(), len(body))


def test_a_broken_chunked_payload() -> None:
    """What can be read before the framing breaks counts."""
    assert payload_digest([b"1\r\na\r\n", b"zz\r\n"], is_chunked=True)[1] == 1


def test_a_tape_on_disk_leaves_nothing(tmp_path: Path) -> None:
    """A large answer is read back in pieces from a spool that has no name."""
    tape, data = Tape(tmp_path), b"0123456789" * (MAX_IN_MEMORY // 4)
    for at in range(0, len(data), 60_000):
        tape.write(data[at : at + 60_000])
    assert list(tmp_path.iterdir()) == []
    stretch = Stretch(tape, 5, len(data))
    assert b"".join(stretch) == b"".join(stretch) == data[5:]
    assert tape.read(0, 10) == b"0123456789"
    tape.close()


# --- files


def fill(folder: Path, count: int = 40, **options: int) -> tuple[Path, dict[str, int]]:
    """Write *count* exchanges and return the folder and the sizes of its files."""
    made = Warcs(folder, **options)  # type: ignore[arg-type]  # only its numbers
    for number in range(count):
        made.append(records(exchanged(b"%d" % number * 300, url=f"http://h/{number}"), None, SECRET_FIELDS))
    sizes = made.flush()
    made.close()
    return folder, sizes


def test_places_are_right(tmp_path: Path) -> None:
    """A record lies where it was said to lie: there its member begins, and behind it ends."""
    made = Warcs(tmp_path / "warc")
    places = [made.append(records(exchanged(b"x" * n), None, SECRET_FIELDS)) for n in range(0, 5000, 500)]
    sizes = made.flush()
    made.close()
    (path,) = (tmp_path / "warc").iterdir()
    assert sizes == {path.name: path.stat().st_size}
    found = [(path.name, record.offset, record.length) for record in warcs.read(path)]
    assert found[1:] == [tuple(place) for pair in places for place in pair]
    assert warcs.read(path)[0].kind == "warcinfo"
    warcs.check(path)


def test_rotation(tmp_path: Path) -> None:
    """A file that is large enough is followed by another; each begins with its warcinfo, and pairs stay together."""
    folder, sizes = fill(tmp_path / "warc", max_size=5000)
    paths = sorted(folder.iterdir())
    assert len(paths) > 3
    assert sizes == {path.name: path.stat().st_size for path in paths}
    for path in paths:
        first, *rest = warcs.read(path)
        assert (first.kind, first.fields["WARC-Filename"]) == ("warcinfo", path.name)
        assert b"software: spiderproj/" in first.block
        assert [record.kind for record in rest] == ["response", "request"] * (len(rest) // 2)
        assert {record.fields["WARC-Warcinfo-ID"] for record in rest} == {first.fields["WARC-Record-ID"]}
        assert path.stat().st_size < 5000 + 2000
    warcs.check(*paths)


def test_large_records_are_written_beside(tmp_path: Path) -> None:
    """A large record is written by a thread into a file of its own, whole before its length is told."""
    made = Warcs(tmp_path / "warc")
    made.append(records(exchanged(), None, SECRET_FIELDS))
    body = b"0123456789" * 300_000
    waiting = [made.append_large(records(exchanged(body, url=f"http://h/{n}"), None, SECRET_FIELDS)) for n in (1, 2)]
    small, large = made.append(records(exchanged(), None, SECRET_FIELDS))[0], waiting[1].result()[0]
    sizes = made.flush()
    made.close()
    assert small.file != large.file
    assert sizes == {path.name: path.stat().st_size for path in (tmp_path / "warc").iterdir()}
    assert len(warcs.read(tmp_path / "warc" / large.file)) == 5
    warcs.check(*(tmp_path / "warc").iterdir())


class _Broken:
    """A body that cannot be read to its end."""

    def __iter__(self) -> Iterator[bytes]:
        yield b"x" * 3_000_000
        raise ValueError("closed")


def test_a_large_record_that_fails(tmp_path: Path) -> None:
    """What was written of a record that cannot be finished is cut off, and the next begins another file."""
    made = Warcs(tmp_path / "warc")
    made.append_large(records(exchanged(), None, SECRET_FIELDS)).result()
    broken = exchanged()._replace(body=_Broken(), body_size=3_000_000)
    with pytest.raises(ValueError, match="closed"):
        made.append_large(records(broken, None, SECRET_FIELDS)).result()
    made.append_large(records(exchanged(), None, SECRET_FIELDS)).result()
    sizes = made.flush()
    made.close()
    assert [len(warcs.read(tmp_path / "warc" / name)) for name in sizes] == [3, 3]


def test_cut_anywhere_in_its_last_4_kib(tmp_path: Path) -> None:
    """A file cut at any byte of its last 4 KiB ends, after the start, with its last whole record."""
    folder, noted = fill(tmp_path / "warc")
    (path,) = folder.iterdir()
    whole, ends = path.read_bytes(), [record.offset + record.length for record in warcs.read(path)]
    for size in range(len(whole) - 4096, len(whole)):
        path.write_bytes(whole[:size])
        end = max(end for end in ends if end <= size)
        assert cut_back(folder, noted) == {path.name: end}
        assert path.stat().st_size == end
    path.write_bytes(whole[: len(whole) - 100])
    cut_back(folder, noted)
    warcs.check(path)


def test_what_was_not_noted_is_cut_off(tmp_path: Path) -> None:
    """What a kill has left behind the noted length goes, so does a file that no commit knows; nothing else does."""
    folder, noted = fill(tmp_path / "warc")
    (path,) = folder.iterdir()
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:1000])
    stranger = path.with_name("spiderproj-20260102030405-00001-7.warc.gz")
    stranger.write_bytes(whole)
    (folder / "mine.warc.gz").write_bytes(b"not ours")
    assert cut_back(folder, noted) == {}
    assert path.read_bytes() == whole
    assert not stranger.exists()
    assert (folder / "mine.warc.gz").exists()
    assert cut_back(folder, noted | {stranger.name: 7}) == {stranger.name: 0}


@given(st.binary(max_size=100), st.integers(0, 3))
@settings(deadline=None)
def test_the_end_of_members(rest: bytes, count: int) -> None:
    """Whatever follows whole members, they are found; a bomb in one is unpacked in bounded memory."""
    import os
    import tempfile

    whole = gzip.compress(b"x" * 5000) * count
    with tempfile.TemporaryFile() as file:
        file.write(whole + rest)
        file.flush()
        assert end_of_members(file.fileno()) >= len(whole)
        os.truncate(file.fileno(), len(whole))
        assert end_of_members(file.fileno()) == len(whole)


def test_a_folder_that_is_a_link(tmp_path: Path) -> None:
    """Nothing is written through a symlink in the folder's place."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "warc").symlink_to(tmp_path / "elsewhere")
    made = Warcs(tmp_path / "warc")
    with pytest.raises(OutputError, match="move it away"):
        made.recover({})
    assert list((tmp_path / "elsewhere").iterdir()) == []


# --- keys and index


KEYS = [
    "http://example.org/", "http://www.example.org/", "https://www23.example.org/a/", "http://example.org:8080/A/b/",
    "http://example.org/a//b/./c/../d", "http://example.org/?", "http://example.org/?b=2&a=1&B=0&a", "http://[::1]:81/x",
    "http://127.0.0.1/%7Efoo/%41%2541", "http://example.org/a%20b?c%20d=%e9", "http://example.org/a%2F%2Fb%00",
    "http://example.org/x?jsessionid=0123456789abcdef0123456789ABCDEF&y=1", "http://example.org/x?sid=1&PHPSESSID=2",
    "http://example.org/(a(0123456789abcdefghijklmn))/p.aspx?z", "http://example.org/x?a=b=c&a=b&&=",
    "http://xn--bcher-kva.example/b%C3%BCcher", "http://example.org/a#b", "http://example.org/..%2f../x?CFID=1&CFTOKEN=2",
    "http://www.example.org/x?y=%25%32%35",
]  # fmt: skip


@pytest.mark.parametrize("url", KEYS)
def test_keys(url: str) -> None:
    """A URL's key is the one that the index tools of others make."""
    url = canonical(url)
    expected = surt_of_others.surt(url)
    assert surt(url) == (expected if "[" not in url else expected.replace("[", "").replace("]", ""))


@given(
    st.lists(st.sampled_from(["a", "B", "..", ".", "", "%2e", "%25", "%C3%A9", "x.aspx", "~"]), max_size=6),
    st.lists(st.sampled_from(["a=1", "B=2", "a", "=", "", "sid=" + "a" * 32, "q=%26", "é=ü"]), max_size=5),
)
@settings(deadline=None)
def test_keys_of_any_path_and_query(path: list[str], query: list[str]) -> None:
    """So is the key of any path and query."""
    url = canonical(f"https://www.example.org/{'/'.join(path)}?{'&'.join(query)}")
    assert surt(url) == surt_of_others.surt(url)


def captures(count: int) -> list[cdxj.Capture]:
    """Return *count* captures in order."""
    one = cdxj.Capture("", "20260102030405", "", "text/html", 200, "sha1:X", 1, 2, "a.warc.gz")
    return [one._replace(key=f"org,example)/{n:05d}", url=f"http://example.org/{n:05d}") for n in range(count)]


def test_the_index_is_in_blocks() -> None:
    """Each block can be unpacked alone where its line says, and begins with the key that the line has."""
    made = list(cdxj.members(captures(cdxj.LINES * 2 + 5)))
    packed_index = b"".join(block for block, _ in made)
    assert len(made) == 3
    for _, head in made:
        key, stamp, place = head.decode().split(" ", 2)
        at = json.loads(place)
        lines = gzip.decompress(packed_index[at["offset"] : at["offset"] + at["length"]]).decode().splitlines()
        assert lines[0].startswith(f"{key} {stamp} {{")
    assert len(gzip.decompress(packed_index).splitlines()) == cdxj.LINES * 2 + 5


@given(urls, st.text(max_size=30), st.integers(100, 599))
@settings(deadline=None)
def test_a_line_is_json(url: str, mime: str, status: int) -> None:
    """Whatever the server called its media type, the line has key, stamp and one JSON object."""
    mime = mime.encode("utf-8", "replace").decode()
    line = cdxj.line(cdxj.Capture(surt(url), "20260102030405", url, mime, status, "sha1:X", 1, 2, "a.warc.gz"))
    key, _, fields = line.decode().split(" ", 2)
    assert line.count(b"\n") == 1
    assert (key, json.loads(fields)["mime"]) == (surt(url), mime)


# --- archive


def archive(folder: Path, sizes: dict[str, int]) -> Contents:
    """Return the contents of an archive of the files in *folder*."""
    pages = [Page("http://h/1", "20260102030405", "A title"), Page("http://h/2", "20260102030405", "")]
    files = [(folder / name, size) for name, size in sizes.items()]
    return Contents("a crawl", pages[0], files, iter(captures(4000)), iter(pages))


def test_the_archive(tmp_path: Path) -> None:
    """It is a valid WACZ with nothing packed again, and holds no byte behind a file's noted length."""
    folder, sizes = fill(tmp_path / "warc", max_size=5000)
    last = max(folder.iterdir())
    last.write_bytes(last.read_bytes() + b"torn")
    write_wacz(tmp_path / "a.wacz", archive(folder, sizes))
    warcs.validate(tmp_path / "a.wacz")
    with ZipFile(tmp_path / "a.wacz") as wacz:
        assert {entry.compress_type for entry in wacz.infolist()} == {ZIP_STORED}
        assert len(wacz.read(f"archive/{last.name}")) == sizes[last.name]
        package = json.loads(wacz.read("datapackage.json"))
    assert (package["mainPageUrl"], package["mainPageDate"]) == ("http://h/1", "2026-01-02T03:04:05Z")
    assert [page["title"] for page in warcs.pages_of(tmp_path / "a.wacz")] == ["A title", ""]
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["a.wacz"]


def test_an_archive_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one before it stays, and nothing is left of the new one."""
    folder, sizes = fill(tmp_path / "warc")
    (tmp_path / "a.wacz").write_bytes(b"before")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("spiderproj.warc.wacz._write", full)
    with pytest.raises(DiskFullError):
        write_wacz(tmp_path / "a.wacz", archive(folder, sizes))
    assert (tmp_path / "a.wacz").read_bytes() == b"before"
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["a.wacz"]


def test_the_version_is_the_projects() -> None:
    """Files name the version that wrote them."""
    text = (Path(__file__).parent.parent / "pyproject.toml").read_text("utf-8")
    assert f'version = "{writer.SOFTWARE.partition("/")[2]}.0"' in text
