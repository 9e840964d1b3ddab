"""A browser without a network opens the copy from the disk, and finds in it all that it loads."""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest_twisted

from bench.offline import view
from bench.pixels import compare
from tests.browsing import needs_browser
from tests.crawling import crawl
from tests.routes import link, page, redirect, text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from tests.answers import RouteSpec
    from tests.site import Site

    Factory = Callable[[Iterable[RouteSpec]], Site]

CSS = '@import url("more.css"); body{background:url(../i/a.png)}'
DIGEST = b64encode(sha256(CSS.encode()).digest()).decode()
POLICY = (
    "<meta http-equiv=Content-Security-Policy content=\"default-src 'self'; img-src 'self'; "
    "style-src 'self' 'unsafe-inline'\">"
)
STYLES = f'<link rel=stylesheet href="/s/all.css?v=1" integrity="sha256-{DIGEST}" crossorigin=anonymous>'
BODY = (
    '<img src="/i/a.png"><img srcset="/i/a%20b.png 1x, /i/c?x=1&amp;y=2 2x" src="/i/a.png">'
    "<p style=\"background:url('/i/a.png')\">x<picture><source srcset=/i/a.png><img src=/i/d alt=d></picture>"
    '<svg xmlns="http://www.w3.org/2000/svg"><image href="/i/a.png" width=9 height=9 /></svg>'
    "<script src=/s/x.js></script>"
)


def picture(path: str) -> RouteSpec:
    """Return the route of a picture of 16 by 16 pixels, of another shade for each *path*."""
    shade = zlib.crc32(path.encode()) & 255
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", 16, 16, 8, 0, 0, 0, 0)),
        (b"IDAT", zlib.compress((b"\0" + bytes([shade]) * 16) * 16)),
        (b"IEND", b""),
    )
    written = [struct.pack(">I", len(d)) + n + d + struct.pack(">I", zlib.crc32(n + d)) for n, d in chunks]
    body = b"\x89PNG\r\n\x1a\n" + b"".join(written)
    return text(path, body.decode("latin-1"), "image/png", body_charset="latin-1")


ROUTES = [
    page("/", POLICY + STYLES + BODY + link("/a/", "/a/b?c=d#x", "/moved", "/caf%C3%A9", "/gone", "/q%3Fr")),
    page("/a/", '<base href="/">' + STYLES.replace("/s/", "s/") + BODY + link("a/b?c=d", "#top")),
    page("/a/b?c=d", STYLES + BODY),
    redirect("/moved", "/a/"),
    page("/caf%C3%A9", STYLES + BODY),
    page("/q%3Fr", STYLES + BODY + link("/")),
    text("/s/all.css?v=1", CSS, "text/css"),
    text("/s/more.css", "@font-face{font-family:f;src:url(f.woff2)} p{font:9px f;background:url(/i/d)}", "text/css"),
    text("/s/f.woff2", "wOF2", "font/woff2"),
    text("/s/x.js", "document.title += '!'", "text/javascript"),
    *map(picture, ("/i/a.png", "/i/a%20b.png", "/i/c?x=1&y=2", "/i/d")),
]  # fmt: skip


@needs_browser
@pytest_twisted.ensureDeferred
async def test_nothing_is_missing(site: Factory, tmp_path: Path) -> None:
    """No page asks for a file that is not there or for the network; pictures decode, links lead to files."""
    served = site(ROUTES)
    crawled = await crawl(f"{served.base}/", tmp_path / "out", mirror="1")
    served.close()
    with ThreadPoolExecutor(1) as beside:  # the browser's driver has a loop of its own
        seen = beside.submit(view, crawled.out / "files", 100).result()

    assert seen.examples == []
    assert [seen.counts[name] for name in ("failed", "online", "undecoded", "dead")] == [0, 0, 0, 0]
    assert (seen.counts["pages"], seen.counts["pictures"]) == (5, 15)
    assert seen.counts["links"] == 5


@needs_browser
@pytest_twisted.ensureDeferred
async def test_pixels_are_those_of_the_site(site: Factory, tmp_path: Path) -> None:
    """Pages of the copy look as they are served, to the pixel; one that was changed does not."""
    served = site(ROUTES)
    crawled = await crawl(f"{served.base}/", tmp_path / "out", mirror="1")
    changed = crawled.out / crawled.page(f"{served.base}/a/")["path"]
    changed.write_bytes(changed.read_bytes() + b"<p>More than there was")
    with ThreadPoolExecutor(1) as beside:
        pages = beside.submit(compare, crawled.out, 3, height=600).result()

    differs = {page.url.removeprefix(served.base): page.differing > 0 for page in pages}
    assert differs == {"/": False, "/a/": True, "/a/b?c=d": False}
