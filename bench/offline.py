"""Open the copies that several tools made of a site in a browser that has no network, and count what is missing.

    python -m bench.offline python3-doc=http://127.0.0.1:8901/ apache2-doc=http://127.0.0.1:8902/en/ --every --pixels 10

Needs what `make render-deps` installs, and HTTrack and wget for their copies; --tools says whose are made. Each copy is
made anew below --work, with --reuse only one that is not there. Of each copy up to --pages HTML files, spread evenly,
or with --every all of them, are opened from file://; any request for something else is counted and goes nowhere. Prints
a line of a table for each copy:

- **failed loads**: requests for a file that is not there, and pages that did not open; **online**: requests that would
  have left the disk;
- **pictures**: those that did not decode, of all; **dead links**: <a href> to files that are not there, of all.

With --pixels N that many pages of each copy of ours are compared with the pages as served (bench/pixels.py).
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from playwright.async_api import Error, async_playwright

from bench.pixels import compare

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from playwright.async_api import Page, Request, Route

_CHROMIUM = "/usr/bin/chromium"
_NO_NETWORK = ["--no-sandbox", "--proxy-server=127.0.0.1:9"]
_SCRAPY = str(Path(sys.executable).with_name("scrapy"))
OURS = "spiderproj"
TOOLS: dict[str, list[str]] = {
    OURS: [_SCRAPY, "crawl", "site", "-a", "seed={url}", "-a", "out={out}", "-a", "mirror=1",
           "-a", "select=page,child,parent,host:all"],
    "HTTrack": ["httrack", "{url}", "-O", "{out}", "-q", "--robots=0", "-c8", "-%c0", "-A0", "-C0", "-n",
                "--disable-security-limits"],
    "wget -k -p": ["wget", "-r", "-l", "inf", "-k", "-p", "-nv", "-P", "{out}", "{url}"],
}  # fmt: skip
_TREES = {OURS: "files"}  # where the pages of a copy are, when it holds other things too
_PATIENCE_MS = 60_000
_TABS = 3
_PAGES_A_BROWSER = 300  # then another is started: what pages leave behind in it stays bounded
_LOOK = """() => ({
    pictures: [...document.images].filter(i => i.currentSrc || i.getAttribute('src'))
        .map(i => i.complete && i.naturalWidth > 0),
    links: [...document.querySelectorAll('a[href]')].map(a => a.href),
})"""


def copy(tool: str, url: str, out: Path) -> None:
    """Let *tool* copy the site at *url* into *out*."""
    out.mkdir(parents=True, exist_ok=True)
    line = [part.replace("{url}", url).replace("{out}", str(out)) for part in TOOLS[tool]]
    with (out.parent / f"{out.name}.log").open("wb") as log:
        subprocess.run(line, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False, timeout=1800)


class Viewer:
    """Opens pages of one copy, and counts."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.counts: Counter[str] = Counter()
        self.examples: list[str] = []
        self._links: set[str] = set()

    async def look(self, tab: Page, paths: Iterator[Path]) -> None:
        """Open pages in *tab*, until there is none left that no other tab has taken."""
        await tab.route("**/*", self._pass)
        tab.on("requestfailed", self._failed)
        for path in paths:
            self.counts["pages"] += 1
            try:
                await self._look(tab, path)
            except Error as error:
                self.counts["failed"] += 1
                self._note(f"{path.as_uri()}: {str(error).splitlines()[0]}")

    async def _look(self, tab: Page, path: Path) -> None:
        await tab.goto(path.as_uri(), wait_until="load", timeout=_PATIENCE_MS)
        try:
            seen = await tab.evaluate(_LOOK)
        except Error as error:
            if "navigation" not in str(error):
                raise
            return  # the page leads on to another by itself, which is opened in its turn
        self.counts["pictures"] += len(seen["pictures"])
        self.counts["undecoded"] += seen["pictures"].count(False)
        for link in set(map(_without_fragment, seen["links"])) - self._links:
            self._links.add(link)
            self.counts["links"] += link.startswith("file:")
            self.counts["dead"] += link.startswith("file:") and not _path(link).exists()

    async def _pass(self, route: Route) -> None:
        if route.request.url.startswith((self._root.as_uri(), "data:", "blob:", "about:")):
            await route.continue_()
            return
        self.counts["online"] += 1
        self._note(_asked(route.request))
        await route.abort()

    def _failed(self, request: Request) -> None:
        # What is there was cut off: the page was left before it had come.
        if request.url.startswith("file:") and not _path(request.url).is_file():
            self.counts["failed"] += 1
            self._note(_asked(request))

    def _note(self, example: str) -> None:
        if len(self.examples) < 5:
            self.examples.append(example)


def _asked(request: Request) -> str:
    return f"{request.headers.get('referer') or request.frame.url} -> {request.url}"


def _path(url: str) -> Path:
    return Path(unquote(urlsplit(url).path))


def _without_fragment(link: str) -> str:
    return link.partition("#")[0]


def view(root: Path, most: int | None) -> Viewer:
    """Open up to *most* pages of the copy at *root*, spread evenly; all of them when it is None."""
    pages = sorted(path for pattern in ("*.html", "*.htm", "*.xhtml") for path in root.rglob(pattern))
    step = max(1, len(pages) // most) if most else 1
    viewer = Viewer(root)
    asyncio.run(_view(viewer, pages[::step][:most]))
    return viewer


async def _view(viewer: Viewer, pages: Sequence[Path]) -> None:
    async with async_playwright() as driver:
        for first in range(0, len(pages), _PAGES_A_BROWSER):
            left = iter(pages[first : first + _PAGES_A_BROWSER])
            browser = await driver.chromium.launch(executable_path=_CHROMIUM, args=_NO_NETWORK)
            tabs = [await browser.new_page() for _ in range(_TABS)]
            await asyncio.gather(*(viewer.look(tab, left) for tab in tabs))
            await browser.close()


def _print_row(site: str, tool: str, found: Viewer) -> None:
    count = found.counts
    pictures, links = (
        f"{count[bad]:,} of {count[all_]:,}" for bad, all_ in (("undecoded", "pictures"), ("dead", "links"))
    )
    cells = (site, tool, f"{count['pages']:,}", f"{count['failed']:,}", f"{count['online']:,}", pictures, links)
    print("|", *(f"{cell} |" for cell in cells), flush=True)
    for example in found.examples:
        print(f"    {example}", file=sys.stderr)


def _print_pixels(site: str, out: Path, most: int) -> None:
    for page in compare(out, most):
        print(f"{site}: {page.differing:,} of {page.all:,} pixels differ: {page.url}", flush=True)


def main() -> None:
    """Read the command line, copy, look, print a table."""
    parser = argparse.ArgumentParser(description="Open copies offline and count what is missing.")
    parser.add_argument("sites", nargs="+", metavar="NAME=URL")
    parser.add_argument("--tools", default=",".join(TOOLS))
    parser.add_argument("--pages", type=int, default=100)
    parser.add_argument("--every", action="store_const", dest="pages", const=None, help="open every page")
    parser.add_argument("--pixels", type=int, default=0, metavar="N", help="compare N pages of ours with the served")
    parser.add_argument("--work", type=Path, default=Path("/tmp/spiderproj-offline"))
    parser.add_argument("--reuse", action="store_true", help="do not copy again what was copied before")
    options = parser.parse_args()
    print("| site | tool | pages opened | failed loads | online | pictures undecoded | dead links |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    copies = [(*site.partition("=")[::2], tool) for site in options.sites for tool in options.tools.split(",")]
    for name, url, tool in copies:
        out = options.work / f"{name}-{tool.split()[0]}"
        if not (options.reuse and out.exists()):
            copy(tool, url, out)
        _print_row(name, tool, view(out / _TREES.get(tool, ""), options.pages))
    for name, _, tool in copies:
        if tool == OURS and options.pixels:
            _print_pixels(name, options.work / f"{name}-{OURS}", options.pixels)


if __name__ == "__main__":
    main()
