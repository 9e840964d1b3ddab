"""Whole crawls with ``warc=1``: every exchange has its records, as it was, and the archive holds what was crawled."""

from __future__ import annotations

import gzip
import sqlite3
from base64 import b32encode
from hashlib import sha1
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZipFile

import pytest_twisted
import surt as surt_of_others

from tests import small_site, warcs
from tests.browsing import needs_browser
from tests.crawling import crawl
from tests.routes import link, page, redirect, text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import pytest

    from tests.answers import RouteSpec
    from tests.site import Site

    Factory = Callable[[Iterable[RouteSpec]], Site]

ALL = {"mode": "directory", "select": "page:all child:all", "warc": "1"}
STREAMS = {"SPIDERPROJ_STREAM_ABOVE": 20_000}


def sha1_of(data: bytes) -> str:
    """Return a digest as WARC has it."""
    return f"sha1:{b32encode(sha1(data).digest()).decode()}"


@pytest_twisted.ensureDeferred
async def test_every_exchange_is_recorded(site: Factory, tmp_path: Path) -> None:
    """Each request that the server saw, robots.txt too, has a request record as sent, and one of its answer as sent."""
    server = site(small_site.routes())
    crawled = await crawl(f"{server.base}/", tmp_path / "out", STREAMS, **ALL)
    assert crawled.status == 0
    found = warcs.read_all(crawled.out)
    requests = [record for record in found if record.kind == "request"]
    assert sorted(record.head.split(b" ")[1].decode() for record in requests) == sorted(r.target for r in server.log)
    answers = {record.fields["WARC-Record-ID"]: record for record in found if record.kind in ("response", "revisit")}
    assert {record.fields["WARC-Concurrent-To"] for record in requests} == set(answers)
    for record in answers.values():
        row = {spec["path"]: spec for spec in server.routes.specs}.get(
            record.fields["WARC-Target-URI"].removeprefix(server.base), {"status": 404}
        )
        assert record.fields["WARC-IP-Address"] == "127.0.0.1"
        assert record.head.startswith(b"HTTP/1.1 %d" % row.get("status", 200))
        if record.kind == "response" and "body" in row:
            assert record.body == row["body"].encode()
            assert record.fields["WARC-Payload-Digest"] == sha1_of(record.body)
    assert crawled.crawler.stats is not None
    assert crawled.crawler.stats.get_value("spiderproj/warc/request") == len(server.log)
    warcs.check(*warcs.files(crawled.out))


@pytest_twisted.ensureDeferred
async def test_duplicates_are_revisits(site: Factory, tmp_path: Path) -> None:
    """An equal payload is written once; the second answer is a revisit with its own head that names the first."""
    server = site([page("/", link("/a", "/b", "/empty-1", "/empty-2")), text("/a", "same"), text("/b", "same"),
                   text("/empty-1", ""), text("/empty-2", "")])  # fmt: skip
    crawled = await crawl(f"{server.base}/", tmp_path / "out", {"CONCURRENT_REQUESTS_PER_DOMAIN": 1}, **ALL)
    found = {record.fields.get("WARC-Target-URI", "")[len(server.base) :]: record
             for record in warcs.read_all(crawled.out) if record.kind in ("response", "revisit")}  # fmt: skip
    assert [found[path].kind for path in ("/a", "/b", "/empty-1", "/empty-2")] == [
        "response", "revisit", "response", "response"
    ]  # fmt: skip
    revisit = found["/b"]
    assert revisit.fields["WARC-Profile"].endswith("/1.1/revisit/identical-payload-digest")
    assert revisit.fields["WARC-Refers-To-Target-URI"] == f"{server.base}/a"
    assert revisit.fields["WARC-Refers-To-Date"] == found["/a"].fields["WARC-Date"]
    assert revisit.fields["WARC-Payload-Digest"] == found["/a"].fields["WARC-Payload-Digest"] == sha1_of(b"same")
    assert revisit.block.endswith(b"\r\n\r\n")
    warcs.check(*warcs.files(crawled.out))


@pytest_twisted.ensureDeferred
async def test_unchanged_pages_are_revisits(site: Factory, tmp_path: Path) -> None:
    """A 304 is a revisit of the record with the payload, in another run too, and no line of the index."""
    etag = {"headers": {"Content-Type": "text/html", "ETag": '"1"'}}
    server = site([{**page("/", link("/b")), **etag, "when": {"If-None-Match": ".+"}, "status": 304},
                   {**page("/", link("/b")), **etag}, page("/b")])  # fmt: skip
    first = await crawl(f"{server.base}/", tmp_path / "out", {}, **ALL)
    payload = warcs.index_of(first.out / "crawl.wacz")[0][2]
    second = await crawl(f"{server.base}/", tmp_path / "out", {}, **ALL)
    (revisit,) = [r for r in warcs.read_all(second.out) if r.fields.get("WARC-Profile", "").endswith("not-modified")]
    assert revisit.head.startswith(b"HTTP/1.1 304")
    assert revisit.fields["WARC-Refers-To-Target-URI"] == f"{server.base}/"
    assert revisit.fields["WARC-Payload-Digest"] == payload["digest"]
    index = warcs.index_of(second.out / "crawl.wacz")
    assert [fields["status"] for _, _, fields in index if fields["url"] == f"{server.base}/"] == ["200"]
    assert [fields["mime"] for _, _, fields in index if fields["url"] == f"{server.base}/b"] == [
        "text/html", "warc/revisit"
    ]  # fmt: skip
    warcs.check(*warcs.files(second.out))
    warcs.validate(second.out / "crawl.wacz")


@pytest_twisted.ensureDeferred
async def test_heads_and_stopped_answers(site: Factory, tmp_path: Path) -> None:
    """A HEAD has its records; an answer that was given up at its headers is marked as cut."""
    server = site([page("/", link("/x", "/y")), text("/x", "z" * 200_000, "video/mp4"),
                   {**text("/y", "z" * 3_000_000, "video/mp4"), "method": "GET"},
                   {"path": "/y", "method": "HEAD", "status": 405}])  # fmt: skip
    crawled = await crawl(f"{server.base}/", tmp_path / "out", warc="1", gate="head")
    found = warcs.read_all(crawled.out)
    heads = [record for record in found if record.kind == "request" and record.head.startswith(b"HEAD ")]
    assert len(heads) == [request.method for request in server.log].count("HEAD") == 3
    answers = {record.fields["WARC-Record-ID"]: record for record in found}
    for head in heads:
        assert answers[head.fields["WARC-Concurrent-To"]].body == b""
    (stopped,) = [r for r in found if r.kind == "response" and r.head.startswith(b"HTTP/1.1 200") and b"video" in r.head
                  and r.fields["WARC-Target-URI"].endswith("/y")]  # fmt: skip
    assert stopped.fields["WARC-Truncated"] == "unspecified"
    assert stopped.fields["WARC-Payload-Digest"] == sha1_of(stopped.body)
    assert "HEAD" not in str(warcs.index_of(crawled.out / "crawl.wacz"))
    warcs.check(*warcs.files(crawled.out))


CUT: list[tuple[RouteSpec, dict[str, object], str]] = [
    ({**page("/x", "z" * 5000), "send_bytes": 999}, {}, "disconnect"),
    ({**page("/x", "z" * 5000), "send_bytes": 999, "fault": "hang"}, {"DOWNLOAD_TIMEOUT": 0.5}, "time"),
    (page("/x", "z" * 500_000), {"DOWNLOAD_MAXSIZE": 1000}, "length"),
    ({**page("/x", "z" * 5000), "fault": "chunked_cut"}, {}, "disconnect"),
]


@pytest_twisted.ensureDeferred
async def test_answers_that_broke_off(site: Factory, tmp_path: Path) -> None:
    """What came of an answer that broke off is recorded, with the reason, and is nobody's original."""
    for number, (route, settings, reason) in enumerate(CUT):
        server = site([page("/", link("/x")), route])
        out = tmp_path / f"out{number}"
        crawled = await crawl(f"{server.base}/", out, {"RETRY_TIMES": 1, **settings}, warc="1")
        cut = [r for r in warcs.read_all(out) if r.fields.get("WARC-Target-URI") == f"{server.base}/x"
               and r.kind not in ("request", "warcinfo")]  # fmt: skip
        assert [(r.kind, r.fields["WARC-Truncated"]) for r in cut] == [("response", reason)] * server.hits("GET /x")
        assert crawled.page(f"{server.base}/")["status"] == 200
        warcs.check(*warcs.files(out))


@pytest_twisted.ensureDeferred
async def test_what_broke_off_is_no_original(site: Factory, tmp_path: Path) -> None:
    """A whole answer with the bytes of one that broke off is a response of its own; only whole ones are referred to."""
    cut = {**text("/x", "z" * 5000), "send_bytes": 999}
    server = site([page("/", link("/x", "/y", "/z")), cut, text("/y", "z" * 999), text("/z", "z" * 999)])
    one_by_one = {"RETRY_TIMES": 0, "CONCURRENT_REQUESTS_PER_DOMAIN": 1}
    crawled = await crawl(f"{server.base}/", tmp_path / "out", one_by_one, **ALL)
    found = {r.fields["WARC-Target-URI"][-2:]: r for r in warcs.read_all(crawled.out)[1:] if r.kind != "request"}
    assert [found[path].kind for path in ("/x", "/y", "/z")] == ["response", "response", "revisit"]
    assert found["/x"].body == found["/y"].body
    assert found["/z"].fields["WARC-Refers-To-Target-URI"] == f"{server.base}/y"


@pytest_twisted.ensureDeferred
async def test_no_answer_no_record(site: Factory, tmp_path: Path) -> None:
    """A request without an answer has no record."""
    server = site(
        [page("/", link("/x", "/y")), {"path": "/x", "fault": "reset"}, {"path": "/y", "raw": "SSH-2.0-x\r\n"}]
    )
    crawled = await crawl(f"{server.base}/", tmp_path / "out", {"RETRY_TIMES": 0}, warc="1", gate="get")
    assert {r.fields["WARC-Target-URI"] for r in warcs.read_all(crawled.out)[1:]} == {
        f"{server.base}/", f"{server.base}/robots.txt"
    }  # fmt: skip


@pytest_twisted.ensureDeferred
async def test_codings_are_kept(site: Factory, tmp_path: Path) -> None:
    """Bodies are written as they came: gzip stays gzip, chunks stay chunks; the index has the payload's digest."""
    plain, answer = "x" * 5000, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    server = site([page("/", link("/g", "/c", "/u", "/i")), page("/g", plain, coding="gzip"),
                   page("/c", plain, fault="chunked"), page("/u", plain, fault="until_close"),
                   {"path": "/i", "raw": f"HTTP/1.1 103 Early\r\nA: b\r\n\r\n{answer}TOO MUCH"}])  # fmt: skip
    crawled = await crawl(f"{server.base}/", tmp_path / "out", {}, **ALL)
    assert crawled.status == 0
    found = {r.fields["WARC-Target-URI"][-2:]: r for r in warcs.read_all(crawled.out) if r.kind == "response"}
    bodies = {spec["path"]: spec.get("body", "").encode() for spec in server.routes.specs}
    assert gzip.decompress(found["/g"].body) == bodies["/g"]
    assert found["/c"].body.startswith(b"200\r\n")
    assert found["/c"].body.endswith(b"\r\n0\r\n\r\n")
    assert found["/u"].body == bodies["/u"]
    assert found["/i"].block == answer.encode()
    index = {fields["url"][-2:]: fields for _, _, fields in warcs.index_of(crawled.out / "crawl.wacz")}
    assert index["/c"]["digest"] == sha1_of(bodies["/c"])
    assert "WARC-Payload-Digest" not in found["/c"].fields
    warcs.check(*warcs.files(crawled.out))


@pytest_twisted.ensureDeferred
async def test_large_bodies_and_rotation(site: Factory, tmp_path: Path) -> None:
    """Bodies over 1 MiB are written beside the loop; files are rotated by size; all of it is in the archive."""
    big = [{**text(f"/big{n}", "", "application/zip"), "body_repeat": {"unit": f"{n}", "count": 2_000_000}}
           for n in range(3)]  # fmt: skip
    for route in big:
        del route["body"]
    server = site([page("/", link("/big0", "/big1", "/big2", *(f"/p{n}" for n in range(9)))), *big,
                   *(page(f"/p{n}", f"{n}" * 9000) for n in range(9))])  # fmt: skip
    crawled = await crawl(f"{server.base}/", tmp_path / "out", {"SPIDERPROJ_WARC_SIZE": 3000, **STREAMS}, **ALL)
    assert crawled.status == 0
    paths = warcs.files(crawled.out)
    assert len(paths) > 4
    warcs.check(*paths)
    answers = {r.fields["WARC-Target-URI"]: r for r in warcs.read_all(crawled.out) if r.kind == "response"}
    assert answers[f"{server.base}/big2"].body == b"2" * 2_000_000
    warcs.validate(crawled.out / "crawl.wacz")
    with ZipFile(crawled.out / "crawl.wacz") as wacz:
        for path in paths:
            assert wacz.read(f"archive/{path.name}") == path.read_bytes()


@pytest_twisted.ensureDeferred
async def test_the_index_is_right(site: Factory, tmp_path: Path) -> None:
    """Every line leads to its record; keys are those of others; every page with a record is listed, with its title."""
    server = site(small_site.routes())
    crawled = await crawl(f"{server.base}/", tmp_path / "out", STREAMS, **ALL)
    archive = crawled.out / "crawl.wacz"
    warcs.validate(archive)
    places = {(path.name, r.offset): r for path in warcs.files(crawled.out) for r in warcs.read(path)}
    index = warcs.index_of(archive)
    assert [(key, stamp) for key, stamp, _ in index] == sorted((key, stamp) for key, stamp, _ in index)
    for key, stamp, fields in index:
        record = places[fields["filename"], int(fields["offset"])]
        assert (record.fields["WARC-Target-URI"], record.length) == (fields["url"], int(fields["length"]))
        assert record.fields["WARC-Payload-Digest"] == fields["digest"]
        assert record.fields["WARC-Date"].translate(str.maketrans("", "", "-:TZ")) == stamp
        assert key == surt_of_others.surt(fields["url"])
    wanted = {row["url"] for row in crawled.pages} | {f"{server.base}/robots.txt"}
    assert {fields["url"] for _, _, fields in index} == wanted
    titles = {row["url"]: row["title"] for row in crawled.pages if row["type"] == "html" and row["status"] == 200}
    assert {row["url"]: row["title"] for row in warcs.pages_of(archive)} == titles


FORM = '<form action="/in" method="post"><input name="user"><input type="password" name="word"></form>'
LOGIN = """
[form]
url = "{base}/login"
find = true
[form.fields]
user = "me"
word = "s3cret-word"
[headers."{base}"]
X-Token = "s3cret-token"
[auth."{base}"]
user = "me"
password = "s3cret-auth"
[cookies."{base}"]
given = "s3cret-given"
"""


@pytest_twisted.ensureDeferred
async def test_no_secret_is_written(site: Factory, tmp_path: Path) -> None:
    """Signing in is recorded without what was posted, without credentials, and without the session it gave."""
    cookie = {"Content-Type": "text/html", "Set-Cookie": "session=s3cret-session"}
    server = site([page("/", link("/a")), page("/a"), page("/login", FORM),
                   {"path": "/in", "method": "POST", "headers": cookie, "body": "welcome"}])  # fmt: skip
    login = tmp_path / "login.toml"
    login.write_text(LOGIN.format(base=server.base))
    login.chmod(0o600)
    crawled = await crawl(f"{server.base}/", tmp_path / "out", warc="1", login=str(login))
    sent = [r for r in server.log if r.target == "/a"][-1]
    names = {name.lower() for name, _ in sent.headers}
    assert {"cookie", "authorization", "x-token"} <= names  # the test is about something
    found = warcs.read_all(crawled.out)
    assert [r.head.split(b" ")[0] for r in found if r.kind == "request" and r.head.split(b" ")[1] == b"/in"] == [
        b"POST"
    ]
    for record in found:
        for secret in (b"s3cret", b"user=me", b"authorization:", b"cookie:", b"x-token:"):
            assert secret not in record.block.lower(), (secret, record)
    assert b"welcome" in b"".join(record.block for record in found)
    for data in (path.read_bytes() for path in crawled.out.rglob("*") if path.is_file()):
        assert b"s3cret" not in data
    warcs.check(*warcs.files(crawled.out))


@pytest_twisted.ensureDeferred
async def test_without_warc_nothing_is_made(site: Factory, tmp_path: Path) -> None:
    """With ``warc=0`` there is no folder, no archive, no record and no tape."""
    server = site([page("/")])
    crawled = await crawl(f"{server.base}/", tmp_path / "out")
    assert not (crawled.out / "warc").exists()
    assert not (crawled.out / "crawl.wacz").exists()
    database = sqlite3.connect(crawled.out / "crawl.db")
    assert database.execute("SELECT * FROM captures").fetchall() == []


@pytest_twisted.ensureDeferred
async def test_switched_on_later(site: Factory, tmp_path: Path) -> None:
    """A crawl that went without asks for whole answers when it begins to record, and stops again; all is kept."""
    etag = {"headers": {"Content-Type": "text/html", "ETag": '"1"'}}
    unchanged = {**page("/"), **etag, "when": {"If-None-Match": ".+"}, "status": 304}
    server = site([unchanged, {**page("/", link("/a")), **etag}, page("/a"), redirect("/r", "/a")])
    for warc in "010":
        crawled = await crawl(f"{server.base}/", tmp_path / "out", warc=warc)
        assert crawled.status == 0
    assert len(warcs.read_all(crawled.out)) == 1 + 2 * 2  # robots.txt was asked for by the first run
    assert {fields["status"] for _, _, fields in warcs.index_of(crawled.out / "crawl.wacz")} == {"200"}
    assert [served.status for served in server.log if served.target == "/"] == [200, 200, 304]
    warcs.validate(crawled.out / "crawl.wacz")


@pytest_twisted.ensureDeferred
async def test_no_room_for_the_archive(site: Factory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the archive would not fit the crawl ends with status 5 before writing it; the records are whole."""
    server = site([page("/")])
    monkeypatch.setattr("spiderproj.archive.free_space", lambda _: 64 * 1024 * 1024 + 100)
    crawled = await crawl(f"{server.base}/", tmp_path / "out", warc="1")
    assert (crawled.status, crawled.summary["state"]) == (5, "stopped")
    assert not (crawled.out / "crawl.wacz").exists()
    warcs.check(*warcs.files(crawled.out))
    monkeypatch.undo()
    assert (await crawl(f"{server.base}/", tmp_path / "out", warc="1")).status == 0
    warcs.validate(crawled.out / "crawl.wacz")


@needs_browser
@pytest_twisted.ensureDeferred
async def test_what_a_page_asks_for_while_drawn(site: Factory, tmp_path: Path) -> None:
    """What a drawn page asked for is recorded and indexed like the page: script, style, data and redirects to them."""
    asks = "fetch('/hop').then(found => found.text()).then(text => { document.body.append(text) })"
    bodies = {"/app.js": asks, "/s.css": "p{color:red}", "/api": '{"a": 1}'}
    types = {"/app.js": "text/javascript", "/s.css": "text/css", "/api": "application/json"}
    server = site([page("/", "<link rel=stylesheet href=/s.css><div id=root></div><script src=/app.js></script>"),
                   redirect("/hop", "/api"), *(text(path, bodies[path], types[path]) for path in bodies)])  # fmt: skip
    crawled = await crawl(f"{server.base}/", tmp_path / "out", warc="1", render="always")
    found = warcs.read_all(crawled.out)
    sent = [record.head.split(b" ")[1].decode() for record in found if record.kind == "request"]
    assert sorted(sent) == sorted(request.target for request in server.log)
    answers = {r.fields["WARC-Target-URI"].removeprefix(server.base): r for r in found if r.kind == "response"}
    assert {path: answers[path].body.decode() for path in bodies} == bodies
    index = {fields["url"] for _, _, fields in warcs.index_of(crawled.out / "crawl.wacz")}
    assert {server.base + path for path in ("/", "/hop", *bodies)} <= index
    assert [row["url"] for row in warcs.pages_of(crawled.out / "crawl.wacz")] == [f"{server.base}/"]
    warcs.check(*warcs.files(crawled.out))
    warcs.validate(crawled.out / "crawl.wacz")
