"""Measure what the steps of one page cost: reading its links, and writing their lines; no crawl and no server.

    python -m bench.page DIR [--pages 200] [--rounds 7]

DIR holds HTML files, such as the site that bench.make_site makes. Prints microseconds a page, the best of the rounds.
"""

from __future__ import annotations

import argparse
import time
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from spiderproj.links import read_html
from spiderproj.models import Level, LinkRole, ResourceType, Verdict
from spiderproj.store.known import Known
from spiderproj.store.lines import link_lines

if TYPE_CHECKING:
    from collections.abc import Callable

_URL = "http://127.0.0.1/directory/page.html"


def main() -> None:
    """Read the command line, measure, print a table."""
    parser = argparse.ArgumentParser(description="Measure the steps of a page.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pages", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    bodies = [path.read_bytes() for path in islice(sorted(options.folder.rglob("*.html")), options.pages)]
    pages = [read_html(body, _URL).links for body in bodies]
    known = Known(1, Verdict.FETCHED, None, 2, Level.CHILD, ResourceType.HTML, LinkRole.NAVIGATION, settled=True)
    rows = [[(link, known) for link in page] for page in pages]

    def read() -> None:
        for body in bodies:
            read_html(body, _URL)

    def write() -> None:
        for page in rows:
            link_lines(_URL, page)

    steps = {"read": read, "lines": write}
    print(f"{len(bodies)} pages of {sum(map(len, bodies)) // len(bodies):,} bytes, "
          f"{sum(map(len, pages)) // len(pages)} links each")  # fmt: skip
    for name, step in steps.items():
        print(f"{name:14} {_best(step, options.rounds) / len(bodies) * 1e6:8.0f} us")


def _best(step: Callable[[], None], rounds: int) -> float:
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        step()
        times.append(time.perf_counter() - began)
    return min(times)


if __name__ == "__main__":
    main()
