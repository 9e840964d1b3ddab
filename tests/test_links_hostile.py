"""Pages made to be slow: each is read within a second of a quiet core and 256 MB, or cut and said to be partial.

The first rows are the shapes that held other crawlers for minutes; the others aim at each loop of ours.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Iterable

import pytest

from spiderproj import links
from spiderproj.links.budget import MAX_BYTES
from spiderproj.models import Page
from tests.pace import slowness

URL = "http://h.example/d/p.html"
MEGABYTES = 256


def each(form: str, count: int) -> bytes:
    """Return *form* % 0, 1, 2 ... one after the other."""
    return "".join(form % number for number in range(count)).encode()


def times(piece: str, megabytes: float = MAX_BYTES / 1e6) -> bytes:
    """Return *piece* again and again up to a size."""
    return piece.encode() * int(megabytes * 1e6 / len(piece.encode()))


SHAPES: dict[str, tuple[Callable[[], bytes], int, str | None]] = {
    # name: body, how many links are found (-1: not told), how ``partial`` begins
    "nested elements": (lambda: b"<div>" * 100_000 + b"<a href=/x>", 1, None),
    "attributes on a tag": (lambda: b"<a " + each("a%d=1 ", 100_000) + b"href=/x>", 1, None),
    "nested anchors": (lambda: each("<a href='/ok/%d.html'><div>", 1000) + b"t" * 4_000_000, 1000, None),
    "a million links": (lambda: each("<a href='/ok/m%d.html'>x</a>", 550_000), 50_000, "links over 50000"),
    "less-than signs": (lambda: b"<" * 5_000_000, 0, None),
    "unclosed comments": (lambda: b"<!--" * 2_000_000, 0, None),
    "unclosed quotes": (lambda: b"<a href='" * 1_000_000, -1, None),
    "long attribute": (lambda: b"<a href='/ok/" + b"a" * 10_000_000 + b"'>", 1, None),
    "NULs": (lambda: b"\0" * MAX_BYTES, 0, None),
    "formatting to reconstruct": (lambda: each("<p><b x%d>x", 20_000), 0, None),
    "formatting without end": (lambda: each("<b id=%d>", 20_000) + b"<p>" * 20_000, 0, None),
    "attributes for <html>": (lambda: each("<html a%d=1>", 30_000), 0, None),
    "options": (lambda: b"<select>" + b"<option>" * 100_000, 0, None),
    "element names": (lambda: each("<x%d>", 300_000), 0, None),
    "text nodes": (lambda: b"<p>x<!---->" * 1_000_000, 0, "tags"),
    "attributes without end": (lambda: b"<a " + times("b ")[:-9], 0, None),
    "distinct attributes": (lambda: b"<a " + each("a%x ", 1_500_000) + b">", 0, "attributes on one tag"),
    "references": (lambda: b"<a href='" + times("&amp;", 15) + b"'>", 0, "tags"),
    "climbing": (lambda: each("<a href='" + "../" * 2000 + "%d'>x", 2500), 2500, None),
    "slow links": (lambda: each("<a href='http://h%d.example/é?é'>x", 100_000), 50_000, "links over"),
    "legacy query": (lambda: b"<meta charset=koi8-r>" + times("<a href='?ж'>"), 50_000, "links over"),
    "srcset": (lambda: b"<img srcset='" + times("a 1x,", 15) + b"'>", 50_000, "links over"),
    "srcset without end": (lambda: b"<img srcset='" + times("a (,", 15) + b"'>", 1, None),
    "blanks in srcset": (lambda: b"<img srcset='" + times(" ", 15) + b"'>", 0, None),
    "style attributes": (lambda: times("<p style='x:url(a)'>"), 50_000, "links over"),
    "brackets in style": (lambda: b"<p style='url(x);" + times("(", 15) + b"'>", 1, "tags"),
    "style elements": (lambda: times("<style></style>"), 0, "tags"),
    "scripts": (lambda: times("<script></script>"), 0, "tags"),
    "escaped script": (lambda: b"<script>" + times("<!--<script>", 15), 0, "tags"),
    "unclosed raw text": (lambda: times("<title></titl", 15), 0, None),
    "empty style in SVG": (lambda: b"<svg>" + times("<style/>", 15), 0, "tags"),
    "markup in anchors": (lambda: (b"<a href=x>" + b"<b>t</b>" * 2000) * 1000, -1, "tags"),
    "images in an anchor": (lambda: b"<a href=x>" + times("<img alt=''>", 15), 1, "tags"),
    "bases": (lambda: times("<base>"), 0, "tags"),
    "comment of dashes": (lambda: b"<!--" + b"-" * 16_000_000, 0, None),
    "tag starts": (lambda: times("<a"), 0, None),
    "equals signs": (lambda: times("<a ="), 0, None),
    "odd end tags": (lambda: times('</a "'), 0, None),
    "UTF-16": (lambda: b"\xff\xfe" + b"\0\xd8" * 8_000_000, 0, None),
    "processing instructions": (lambda: times("<?xml-stylesheet "), 0, None),
    "over the limit of bytes": (lambda: b"<a href=/x>" + b" " * MAX_BYTES, 1, "bytes over"),
}


def check(page: Page, found: int, partial: str | None) -> None:
    """Assert what is known of a hostile page."""
    assert found in (-1, len(page.links))
    assert (page.partial or "").startswith(partial or "")
    assert (page.partial is None) == (partial is None)


@pytest.mark.parametrize("shape", SHAPES)
def test_hostile_page_is_read_in_time(shape: str) -> None:
    """No page of 16 MiB takes more than a second."""
    build, found, partial = SHAPES[shape]
    body = build()
    allowed = slowness()
    began = time.process_time()
    page = links.read_html(body, URL)
    seconds = time.process_time() - began

    check(page, found, partial)
    assert seconds < allowed


@pytest.mark.parametrize("shape", ["distinct attributes", "long attribute", "UTF-16"])
def test_hostile_page_is_read_in_bounded_memory(shape: str) -> None:
    """No page of 16 MiB takes more than 256 MB."""
    body = SHAPES[shape][0]()
    tracemalloc.start()
    try:
        links.read_html(body, URL)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < MEGABYTES * 1e6


def test_the_memory_of_a_link() -> None:
    """Each distinct link takes less than 4 kB, so that the most that are kept take less than 200 MB."""
    body = SHAPES["slow links"][0]()
    tracemalloc.start()
    try:
        links.read_html(body[:2_000_000], URL, max_links=10_000)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 10_000 * 4096


CSS: Iterable[str] = [
    "(",
    "url(",
    'url("',
    "url(a)",
    "/*",
    "@import ",
    "@import/**/",
    "image-set(",
    "\\",
    '"\n',
    "'",
    "u",
]


@pytest.mark.parametrize("piece", CSS)
def test_hostile_style_sheet_is_read_in_time(piece: str) -> None:
    """No style sheet of 16 MiB takes more than a second."""
    body = times(piece) + b"@("
    allowed = slowness()
    began = time.process_time()
    links.read_css(body, URL)

    assert time.process_time() - began < allowed


def test_a_long_gap_after_an_import_is_crossed_once() -> None:
    """A comment between @import and many URLs is not read again for each of them."""
    body = b"@import/*" + b"x" * 4_000_000 + b"*/;" + b"url(a)" * 20_000
    allowed = slowness()
    began = time.process_time()
    links.read_css(body, URL)

    assert time.process_time() - began < allowed


@pytest.mark.parametrize("value", ["<", "<a>;", '<a>;b="', "<a>; x=y;", "<a>,", ";", '"', "\\", "<a>; " + " " * 9])
def test_hostile_link_header_is_read_in_time(value: str) -> None:
    """No Link: header of 256 kB takes more than half a second."""
    allowed = slowness()
    began = time.process_time()
    links.read_html(b"", URL, headers=[("link", value * (262_144 // len(value)))])

    assert time.process_time() - began < allowed / 2
