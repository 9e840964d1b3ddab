"""``scrapy report``: ``report.html`` and ``summary.json`` written anew from a stored crawl."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, ClassVar

import orjson
from scrapy.commands import ScrapyCommand

from spiderproj import front
from spiderproj.exports import write_whole
from spiderproj.files import Lock
from spiderproj.files.failures import failure
from spiderproj.store.destinations import Destinations
from spiderproj.store.figures import Figures, figures
from spiderproj.store.inventory import Inventory
from spiderproj.store.linkers import Linkers
from spiderproj.store.rewrites import Rewrites
from spiderproj.stored import folder_of, opened, options_of, say, status_of

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from spiderproj.arguments import CrawlOptions
    from spiderproj.store import Database

_SUMMARY = "summary.json"
_SUMMARY_BYTES = 1 << 20
_UNFINISHED = "unfinished"
_OF_A_RUN = ("seconds", "pages_per_second", "peak_rss_mb", "longest_hold_seconds", "limited_by")
"""What the store does not know: taken from the last run's summary, where there is one."""


class Command(ScrapyCommand):
    """Write the report and the summary of a stored crawl; nothing is fetched, and the store is only read."""

    requires_crawler_process = False
    default_settings: ClassVar = {"LOG_ENABLED": False}

    def syntax(self) -> str:
        """Return what follows the command's name."""
        return "DIR"

    def short_desc(self) -> str:
        """Return what the command does, for the list of commands."""
        return "Write report.html and summary.json of a stored crawl"

    def long_desc(self) -> str:
        """Return what the command does."""
        return (
            "Write report.html and summary.json anew into DIR, the output folder of a crawl: what was fetched, what "
            "was refused and why, broken links with the pages they stand on, redirects, duplicates, slow and "
            "large answers."
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:  # noqa: ARG002 - Scrapy's signature
        """Write both; status 2 for a wrong folder, 3 when it cannot be written, 4 while a crawl runs in it."""
        self.exitcode = status_of(lambda: self._report(args))

    def _report(self, args: list[str]) -> None:
        folder = folder_of(args, 1, "the output folder of a crawl")
        with ExitStack() as stack:
            database = stack.enter_context(opened(folder))
            try:
                stack.enter_context(Lock(folder))
            except OSError as error:
                raise failure(error, folder) from error
            options = options_of(database)
            found = figures(database)
            with database.reading():
                found = found._replace(links=found.links + _linked_seeds(database))
                name = _name(database, options)
                summary = _summary(database, options, found, _last(folder / _SUMMARY))
            front.write_report(database, folder, options, found, name=name)
            write_whole(folder / _SUMMARY, [orjson.dumps(summary, option=orjson.OPT_INDENT_2) + b"\n"])
        say(f"{folder / front.REPORT}\n")


def _name(database: Database, options: CrawlOptions) -> str:
    """Return the title of the page where the crawl began, "" when it has none."""
    path = Destinations(database, lambda _: True).of_url(options.seeds[0]).path
    return Inventory(database).title_of(path) if path is not None else ""


def _linked_seeds(database: Database) -> int:
    """Return how many seeds pages link to."""
    seeds = [number for (number,) in database.execute("SELECT id FROM urls WHERE via IS NULL")]
    return len(Linkers(database).of_many(seeds, 0)[0])


def _last(path: Path) -> dict[str, Any]:
    """Return the last run's summary, {} when it left none that can be read."""
    try:
        with path.open("rb") as file:
            found = json.loads(file.read(_SUMMARY_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _summary(database: Database, options: CrawlOptions, found: Figures, last: dict[str, Any]) -> dict[str, object]:
    """Return the summary in the order of docs/arguments.md."""
    counts: Counter[str] = Counter(orjson.loads(database.meta("counts") or "{}"))
    finished = database.meta("state") == "finished"
    requests = {name.removeprefix("requests."): count for name, count in sorted(counts.items())
                if name.startswith("requests.")}  # fmt: skip
    state, reason = ("finished", "finished") if finished else ("stopped", _UNFINISHED)
    summary = {
        "state": state,
        "reason": last.get("reason") if last.get("state") == state else reason,
        **found._asdict(),
        "requests": requests,
        "connections": counts["connections"],
        **{name: last.get(name) for name in _OF_A_RUN},
    }
    if options.mirror:
        summary["references"] = Rewrites(database).references()._asdict()
    return summary
