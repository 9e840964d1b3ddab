"""Open the copies that several tools made of a site in a browser that has no network, and count what is missing.

    python -m bench.offline python3-doc=http://127.0.0.1:8901/ apache2-doc=http://127.0.0.1:8902/en/ [--pages 100]

Needs what `make render-deps` installs, and HTTrack and wget for their copies; --tools says whose are made. Each copy is
made anew below --work. Of each copy up to --pages HTML files, spread evenly, are opened from file://; any request for
something else is counted and goes nowhere. Prints a line of a table for each copy:

- **failed loads**: requests for a file that is not there; **online**: requests that would have left the disk;
- **pictures**: those that did not decode, of all; **dead links**: <a href> to files that are not there, of all.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from playwright.sync_api import Page, Request, Route

_CHROMIUM = "/usr/bin/chromium"
_SCRAPY = str(Path(sys.executable).with_name("scrapy"))
_OURS = [_SCRAPY, "crawl", "site", "-a", "seed={url}", "-a", "out={out}", "-a", "mirror=1",
         "-a", "select=page,child,parent,host:all"]  # fmt: skip
TOOLS: dict[str, list[str]] = {
    "spiderproj": _OURS,
    "HTTrack": ["httrack", "{url}", "-O", "{out}", "-q", "--robots=0", "-c8", "-%c0", "-A0", "-C0", "-n",
                "--disable-security-limits"],
    "wget -k -p": ["wget", "-r", "-l", "inf", "-k", "-p", "-nv", "-P", "{out}", "{url}"],
}  # fmt: skip
_TREES = {"spiderproj": "files"}  # where the pages of a copy are, when it holds other things too
_PATIENCE_MS = 15_000
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

    def __init__(self, page: Page, root: Path) -> None:
        self._page, self._root = page, root
        self.counts: Counter[str] = Counter()
        self.examples: list[str] = []
        self._links: set[str] = set()
        page.route("**/*", self._pass)
        page.on("requestfailed", self._failed)

    def look(self, path: Path) -> None:
        """Open one page."""
        self.counts["pages"] += 1
        self._page.goto(path.as_uri(), wait_until="load", timeout=_PATIENCE_MS)
        seen = self._page.evaluate(_LOOK)
        self.counts["pictures"] += len(seen["pictures"])
        self.counts["undecoded"] += seen["pictures"].count(False)
        for link in set(map(_without_fragment, seen["links"])) - self._links:
            self._links.add(link)
            self.counts["links"] += link.startswith("file:")
            self.counts["dead"] += link.startswith("file:") and not Path(unquote(urlsplit(link).path)).exists()

    def _pass(self, route: Route) -> None:
        if route.request.url.startswith((self._root.as_uri(), "data:", "blob:", "about:")):
            route.continue_()
            return
        self.counts["online"] += 1
        self._note(route.request)
        route.abort()

    def _failed(self, request: Request) -> None:
        is_cut_off = Path(unquote(urlsplit(request.url).path)).is_file()  # the page was left before it had come
        if request.url.startswith("file:") and not is_cut_off:
            self.counts["failed"] += 1
            self._note(request)

    def _note(self, request: Request) -> None:
        if len(self.examples) < 5:
            self.examples.append(f"{self._page.url} -> {request.url}")


def _without_fragment(link: str) -> str:
    return link.partition("#")[0]


def view(root: Path, most: int) -> Viewer:
    """Open the pages of the copy at *root*."""
    pages = sorted(path for pattern in ("*.html", "*.htm", "*.xhtml") for path in root.rglob(pattern))
    step = max(1, len(pages) // most)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=_CHROMIUM, args=["--no-sandbox", "--proxy-server=127.0.0.1:9"])
        viewer = Viewer(browser.new_page(), root)
        for path in pages[::step][:most]:
            viewer.look(path)
        browser.close()
    return viewer


def main() -> None:
    """Read the command line, copy, look, print a table."""
    parser = argparse.ArgumentParser(description="Open copies offline and count what is missing.")
    parser.add_argument("sites", nargs="+", metavar="NAME=URL")
    parser.add_argument("--tools", default=",".join(TOOLS))
    parser.add_argument("--pages", type=int, default=100)
    parser.add_argument("--work", type=Path, default=Path("/tmp/spiderproj-offline"))
    options = parser.parse_args()
    print("| site | tool | pages opened | failed loads | online | pictures undecoded | dead links |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for site in options.sites:
        name, _, url = site.partition("=")
        for tool in options.tools.split(","):
            out = options.work / f"{name}-{tool.split()[0]}"
            copy(tool, url, out)
            found = view(out / _TREES.get(tool, ""), options.pages)
            count = found.counts
            pictures = f"{count['undecoded']} of {count['pictures']}"
            cells = (name, tool, count["pages"], count["failed"], count["online"], pictures)
            print("|", *(f"{cell} |" for cell in cells), f"{count['dead']} of {count['links']} |", flush=True)
            for example in found.examples:
                print(f"    {example}", file=sys.stderr)


if __name__ == "__main__":
    main()
