"""Content-Type headers, first bytes and URL endings: what each says a resource is, and which one is believed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import webencodings
from hypothesis import given, settings
from hypothesis import strategies as st

from spiderproj.mediatype import (
    MediaType,
    endings,
    extension,
    parse,
    predict,
    resource_type,
    sniff,
    sniffing,
    true_type,
)
from spiderproj.models import ResourceType

SUITE = Path(__file__).parents[2] / "shared" / "suites" / "wpt-content-type"
PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
PAGE = b"<!DOCTYPE html>\n<title>x</title>"


def suite(name: str) -> list[Any]:
    """Return the rows of one file of web-platform-tests' content type cases, none where they are not at hand."""
    path = SUITE / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else []


def encoding(label: str | None) -> str | None:
    """Return the name of the encoding that *label* stands for, None when browsers know none."""
    found = webencodings.lookup(label) if label else None
    return found.name if found else None


HEADERS = [
    ([], None, None),
    ([""], None, None),
    (["text"], None, None),
    (["text/"], None, None),
    (["/html"], None, None),
    (["text /html"], None, None),
    (["text/html/x"], None, None),
    (["text/ht(ml"], None, None),
    (["text/html"], "text/html", None),
    ([" TEXT/Html\t"], "text/html", None),
    (["text/html ;charset=utf-8"], "text/html", "utf-8"),
    (["text/html;CHARSET=UTF-8"], "text/html", "UTF-8"),
    (["text/html; charset =utf-8"], "text/html", None),
    (["text/html; charset= utf-8 "], "text/html", " utf-8"),
    (['text/html; charset="utf-8"; x=y'], "text/html", "utf-8"),
    (['text/html; charset="utf-8"trailing; x=y'], "text/html", "utf-8"),
    ([r'text/html; charset="\u\t\f-8"'], "text/html", "utf-8"),
    (['text/html; charset="utf-8'], "text/html", "utf-8"),
    (['text/html; charset="a\\'], "text/html", "a\\"),
    (["text/html; charset=; charset=utf-8"], "text/html", "utf-8"),
    (['text/html; charset=""; charset=utf-8'], "text/html", ""),
    (["text/html; charset=a; charset=utf-8"], "text/html", "a"),
    (["text/html; charset=\x7f; charset=utf-8"], "text/html", "utf-8"),
    (['text/html; x=";charset=a"; charset=utf-8'], "text/html", "utf-8"),
    (["text/html;charset=gbk, text/html"], "text/html", "gbk"),
    (["text/html;charset=gbk", "text/plain"], "text/plain", None),
    (["text/html;charset=gbk", "text/plain", "text/html"], "text/html", None),
    (["text/html", "bogus"], "text/html", None),
    (["text/html", "*/*"], "text/html", None),
    (['text/html;x="', "text/plain"], "text/html", None),
    (['text/html;x="\\",', 'text/plain"'], "text/html", None),
]


@pytest.mark.parametrize(("values", "essence", "charset"), HEADERS)
def test_header(values: list[str], essence: str | None, charset: str | None) -> None:
    """A Content-Type is read as mimesniff and fetch say: last valid type, first valid charset."""
    assert MediaType(essence, charset) == parse(values)


@pytest.mark.parametrize("row", suite("content-types"), ids=str)
def test_several_headers_as_browsers(row: dict[str, Any]) -> None:
    """Several headers together mean what web-platform-tests say they mean."""
    found = parse(row["headers"])

    assert row["document_type"] == found.essence
    assert encoding(row["encoding"]) == encoding(found.charset)


@pytest.mark.parametrize("row", suite("mime-types"), ids=str)
def test_header_as_browsers(row: dict[str, Any]) -> None:
    """One header means what web-platform-tests say it means."""
    found = parse([row["input"]])

    assert row["essence"] == found.essence
    assert encoding(row["encoding"]) == encoding(found.charset)


@pytest.mark.parametrize("row", suite("sniff-no-content-type"), ids=str)
def test_sniffs_html_as_browsers(row: dict[str, Any]) -> None:
    """Without a Content-Type, HTML is recognised where browsers do; what they call text or binary is not HTML."""
    found = sniff(bytes.fromhex(row["payload_hex"]))

    if ["X-Content-Type-Options", "nosniff"] not in row["headers"]:
        assert (row["expected_mime_type"] == "text/html") is (found == "text/html")


@given(st.lists(st.text(alphabet='text/html;,charset="\\= \x00ÿ€', max_size=200), max_size=4))
@settings(deadline=None, max_examples=300)
def test_any_header_is_read(values: list[str]) -> None:
    """No header raises, and an essence is always lower-case ASCII of the form kind/subtype."""
    found = parse(values)

    assert found.essence is None or (found.essence.isascii() and found.essence == found.essence.lower())
    assert found.essence is None or found.essence.count("/") == 1


@given(st.text(alphabet='a/;,="\\ ', max_size=120), st.text(alphabet='a/;,="\\ ', max_size=120))
@settings(deadline=None)
def test_headers_are_one_list(first: str, second: str) -> None:
    """Two headers mean the same as one with both values behind a comma, however long."""
    assert parse([first, second]) == parse([f"{first}, {second}"])


def test_hostile_header_takes_linear_time() -> None:
    """A header of 64 KiB of quotes, commas or parameters is read to its end."""
    for unit in ('"', ",", ";charset", 'a/b;x="', "a/b,", "\\", ";;"):
        parse([f"text/html;{unit * (65_536 // len(unit))}"])


TYPES = [
    (None, "other"),
    ("text/html", "html"),
    ("application/xhtml+xml", "html"),
    ("text/plain", "data"),
    ("text/css", "style"),
    ("text/javascript", "script"),
    ("application/javascript", "script"),
    ("image/svg+xml", "image"),
    ("image/vnd.djvu", "document"),
    ("application/pdf", "document"),
    ("application/postscript", "document"),
    ("application/epub+zip", "document"),
    ("application/msword", "document"),
    ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", "document"),
    ("application/vnd.oasis.opendocument.text", "document"),
    ("application/vnd.ms-excel.sheet.macroenabled.12", "document"),
    ("application/zip", "archive"),
    ("application/gzip", "archive"),
    ("application/x-tar", "archive"),
    ("application/x-7z-compressed", "archive"),
    ("audio/mpeg", "audio"),
    ("application/ogg", "audio"),
    ("video/mp4", "video"),
    ("application/vnd.apple.mpegurl", "video"),
    ("font/woff2", "font"),
    ("application/font-woff", "font"),
    ("application/json", "data"),
    ("application/ld+json", "data"),
    ("application/rss+xml", "data"),
    ("application/atom+xml", "data"),
    ("text/csv", "data"),
    ("application/octet-stream", "other"),
    ("application/vnd.unheard-of.thing", "other"),
    ("model/gltf-binary", "other"),
    ("nonsense", "other"),
]


@pytest.mark.parametrize(("essence", "expected"), TYPES)
def test_resource_type(essence: str | None, expected: str) -> None:
    """Every media type is of one of our types; what is not known is ``other``."""
    assert expected == resource_type(essence)


def zipped(first: bytes) -> bytes:
    """Return the head of a ZIP file whose first member's name and content are *first*."""
    return b"PK\x03\x04".ljust(30, b"\x00") + first


HEADS = [
    (b"", None),
    (b"plain words", "text/plain"),
    (b"\x00\x01\x02", "application/octet-stream"),
    (b"\xef\xbb\xbfwords", "text/plain"),
    (b"\xfe\xff\x00w\x00o", "text/plain"),
    (PAGE, "text/html"),
    (b"\xef\xbb\xbf \n<html lang=en>", "text/html"),
    ("\ufeff<!doctype html>".encode("utf-16-le"), "text/html"),
    ("\ufeff<!doctype html>".encode("utf-16-be"), "text/html"),
    (b"<!doctype html\npublic", "text/html"),
    (b"<!-- comment -->", "text/html"),
    (b"\t\t<P>", "text/html"),
    (b"<bold>", "text/plain"),
    (b"<html", "text/plain"),
    (b"x <html>", "text/plain"),
    (b'<?xml version="1.0"?><rss>', "text/xml"),
    (b'<?xml version="1.0"?>\n<!DOCTYPE html>\n<html xmlns="x">', "application/xhtml+xml"),
    (b'<?xml version="1.0"?><svg xmlns="x">', "image/svg+xml"),
    (b'<svg xmlns="x">', "image/svg+xml"),
    (b"%PDF-1.7", "application/pdf"),
    (b"%!PS-Adobe-3.0", "application/postscript"),
    (PNG, "image/png"),
    (b"\xff\xd8\xff\xe0", "image/jpeg"),
    (b"GIF89a", "image/gif"),
    (b"BM", "image/bmp"),
    (b"\x00\x00\x01\x00", "image/x-icon"),
    (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "image/webp"),
    (b"RIFF\x00\x00\x00\x00WAVEfmt ", "audio/wave"),
    (b"RIFF\x00\x00\x00\x00AVI LIST", "video/avi"),
    (b"ID3\x03", "audio/mpeg"),
    (b"OggS\x00\x02", "application/ogg"),
    (b"\x00\x00\x00\x18ftypmp42", "video/mp4"),
    (b"\x00\x00\x00\x18ftypavif", "image/avif"),
    (b"\x1a\x45\xdf\xa3", "video/webm"),
    (b"wOF2", "font/woff2"),
    (b"\x00\x01\x00\x00", "font/ttf"),
    (b"\x1f\x8b\x08\x00", "application/x-gzip"),
    (zipped(b"a.txt"), "application/zip"),
    (zipped(b"mimetypeapplication/epub+zip"), "application/epub+zip"),
    (zipped(b"mimetypeapplication/vnd.oasis.opendocument.text"), "application/vnd.oasis.opendocument"),
    (zipped(b"[Content_Types].xml"), "application/vnd.openxmlformats-officedocument"),
    (b"7z\xbc\xaf\x27\x1c\x00", "application/x-7z-compressed"),
    (b"Rar!\x1a\x07\x00", "application/x-rar-compressed"),
    (b"name".ljust(257, b"\x00") + b"ustar", "application/x-tar"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),
]


@pytest.mark.parametrize(("head", "expected"), HEADS)
def test_sniff(head: bytes, expected: str | None) -> None:
    """The first bytes tell HTML, XML, documents, pictures, sound, fonts and archives; else text or binary."""
    assert expected == sniff(head)


@given(st.binary(max_size=2000))
@settings(deadline=None)
def test_only_the_first_bytes_are_looked_at(body: bytes) -> None:
    """What stands behind the first SNIFFED_BYTES changes nothing, and every head but the empty one is something."""
    assert sniff(body) == sniff(body[: sniffing.SNIFFED_BYTES] + b"\x00" * (len(body) > sniffing.SNIFFED_BYTES))
    assert (sniff(body) is None) is (body == b"")


def test_every_signature_is_a_known_type() -> None:
    """Each signature leads to a type of ours other than ``other`` and ``html``."""
    unhelpful = {ResourceType.OTHER, ResourceType.HTML}

    assert not [essence for _, essence in sniffing._SIGNATURES if resource_type(essence) in unhelpful]


TRUE_TYPES = [
    # the header is believed
    ("text/html", PAGE, "/", "text/html", "html"),
    ("text/html", b"", "/", "text/html", "html"),
    ("image/png", b"", "/a.html", "image/png", "image"),
    ("image/png", PNG, "/a.html", "image/png", "image"),
    ("text/html", b"\x00\x01\x02", "/", "text/html", "html"),
    ("application/json", PAGE, "/", "application/json", "data"),
    ("text/css", b"BMW{}", "/", "text/css", "style"),
    # it says nothing
    (None, b"", "/a.html", None, "other"),
    (None, PAGE, "/a.png", "text/html", "html"),
    (None, b"words", "/a.html", "text/plain", "data"),
    (None, b"a,b\n", "/a.js", "text/plain", "script"),
    ("bogus", PNG, "/", "image/png", "image"),
    ("application/octet-stream", b"%PDF-1.4", "/x", "application/pdf", "document"),
    ("application/octet-stream", b"\x00\x03", "/a.iso", "application/octet-stream", "archive"),
    ("application/octet-stream", b"\x00\x03", "/a.php", "application/octet-stream", "other"),
    ("application/octet-stream", PAGE, "/x", "text/html", "html"),
    # it is plainly wrong
    ("text/html", PNG, "/", "image/png", "image"),
    ("text/html", b"%PDF-1.4", "/", "application/pdf", "document"),
    ("text/html", b"\x1f\x8b\x08", "/", "application/x-gzip", "archive"),
    ("text/javascript", b"PK\x03\x04", "/", "application/zip", "archive"),
    ("image/png", b"\n<!doctype html>", "/", "text/html", "html"),
    ("application/pdf", b"<html>", "/a.pdf", "text/html", "html"),
    ("image/png", b"<p>", "/", "image/png", "image"),
    # text/plain
    ("text/plain", b"words", "/", "text/plain", "data"),
    ("text/plain", PAGE, "/view?f=a.html", "text/plain", "data"),
    ("text/plain", PAGE, "/a.HTM", "text/html", "html"),
    ("text/plain", b"words", "/a.html", "text/plain", "data"),
    ("text/plain", b"\x00\x01\x00\x00", "/", "font/ttf", "font"),
    ("text/plain", b"\x00\x03", "/", "application/octet-stream", "other"),
    ("text/plain", PAGE + b"\x00", "/a.html", "application/octet-stream", "other"),
]


@pytest.mark.parametrize(("header", "head", "target", "essence", "kind"), TRUE_TYPES)
def test_true_type(header: str | None, head: bytes, target: str, essence: str | None, kind: str) -> None:
    """The header is believed unless it says nothing or is plainly wrong; the URL never makes a page of anything."""
    values = [] if header is None else [header]

    assert (essence, kind) == true_type(values, head, f"https://example.org{target}")


ENDINGS = [
    ("/", ""),
    ("", ""),
    ("/a", ""),
    ("/a.b/c", ""),
    ("/a.PDF", "pdf"),
    ("/a.tar.gz", "gz"),
    ("/a.html;jsessionid=1.5", "html"),
    ("/a.", ""),
    ("/.de", ""),
    ("/a.b-c", ""),
    ("/a.%C3%A9", ""),
    ("/a.é", ""),
    ("/a.abcdefghij", "abcdefghij"),
    ("/a.abcdefghijk", ""),
]


@pytest.mark.parametrize(("path", "expected"), ENDINGS)
def test_extension(path: str, expected: str) -> None:
    """An ending is what follows the last dot of the name: short, ASCII, lower case."""
    assert expected == extension(path)


PREDICTIONS = [
    ("/", None, "html"),
    ("/a/b", None, "html"),
    ("/a.html", None, "html"),
    ("/a.XHTML", None, "html"),
    ("/a.php", "id=3", "html"),
    ("/a.aspx", None, "html"),
    ("/a.PNG", None, "image"),
    ("/a.svg", None, "image"),
    ("/a.pdf", "download=1", "document"),
    ("/a.tar.gz", None, "archive"),
    ("/a.css", "v=3", "style"),
    ("/a.js", None, "script"),
    ("/a.woff2", None, "font"),
    ("/a.mp3", None, "audio"),
    ("/a.mp4", None, "video"),
    ("/a.rss", None, "data"),
    ("/a.exe", None, "other"),
    ("/a.unheard", None, None),
    ("/wiki/Ask.com", None, None),
    ("/a.php", "download=3", None),
    ("/a", "x=1&Attachment=3", None),
    ("/a/", "export", None),
    ("/a/", "x=1;file=3", None),
    ("/a", "profile=3", "html"),
    ("/a", "x=file", "html"),
]


@pytest.mark.parametrize(("path", "query", "expected"), PREDICTIONS)
def test_predict(path: str, query: str | None, expected: str | None) -> None:
    """The ending predicts the type; pages that are asked for a file, and unheard endings, stay open."""
    assert expected == predict(path, query)


def test_no_ending_stands_for_two_types() -> None:
    """The table names each ending once."""
    listed = [ending for group in endings._ENDINGS.values() for ending in group.split()]

    assert sorted(set(listed)) == sorted(listed)


@given(st.text(max_size=60), st.none() | st.text(max_size=60))
@settings(deadline=None)
def test_any_path_is_read(path: str, query: str | None) -> None:
    """No path or query raises, and an ending is always short, lower-case and alphanumeric."""
    ending = extension(path)

    assert ending == "" or (ending.isascii() and ending.isalnum() and ending == ending.lower())
    assert len(ending) <= endings.MAX_EXTENSION_LENGTH
    assert predict(path, query) in {None, *ResourceType}
