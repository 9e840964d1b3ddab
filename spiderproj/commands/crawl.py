"""``scrapy crawl``: Scrapy's command, with one-line errors and the exit statuses of docs/arguments.md."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.commands.crawl import Command as ScrapyCrawl
from scrapy.exceptions import UsageError
from scrapy.settings import Settings

from spiderproj.arguments import parse_arguments
from spiderproj.configuration import check
from spiderproj.errors import SpiderprojError
from spiderproj.survey import parse_survey_arguments

if TYPE_CHECKING:
    import argparse

    from spiderproj.arguments import CrawlOptions

_INTERRUPTED = 6

_CHATTY = ("scrapy.middleware", "scrapy.crawler", "scrapy.utils.log", "scrapy.addons", "scrapy.statscollectors",
           "scrapy.core.engine", "scrapy.extensions.feedexport")  # fmt: skip
"""Loggers whose INFO lines speak of Scrapy's insides; ``-s LOG_LEVEL=DEBUG`` shows them."""


_OURS: Mapping[str, Callable[[Mapping[str, str], Path], CrawlOptions]] = {
    "site": parse_arguments,
    "survey": lambda raw, cwd: parse_survey_arguments(raw, cwd).crawl,
}
"""What reads the arguments of each of our spiders."""


class Command(ScrapyCrawl):
    """Run a spider; a wrong argument is one line on standard error."""

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Check the arguments of our spiders before anything is started."""
        super().process_options(args, opts)
        read = _OURS.get(args[0]) if args else None
        if read is not None:
            raw = {name: str(value) for name, value in opts.spargs.items() if not name.startswith("_")}
            settings = self.settings or Settings()  # scrapy.cmdline has set them
            _or_exit(lambda: check(read(raw, Path.cwd()), settings))

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run the spider and set the exit status."""
        if self.settings is None or self.crawler_process is None:
            raise RuntimeError("scrapy.cmdline sets both before it calls run()")
        names = self.crawler_process.spider_loader.list()
        if len(args) == 1 and args[0] not in names:
            raise UsageError(f"no spider is called {args[0]!a}; there is {', '.join(names)}", print_help=False)
        if len(args) != 1 or args[0] not in _OURS:
            super().run(args, opts)
            return
        if self.settings.get("LOG_LEVEL") != "DEBUG":
            for name in _CHATTY:
                logging.getLogger(name).setLevel(logging.WARNING)
        _heed_signals()
        crawler = self.crawler_process.create_crawler(args[0])
        done: Any = self.crawler_process.crawl(crawler, **opts.spargs)
        self.crawler_process.start()
        self.exitcode = _outcome(done, crawler.spider)
        said = _told(crawler.spider)
        if said is not None:
            _say(said)
        if not opts.profile:
            _leave(self.exitcode)


def _heed_signals() -> None:
    """End at once by a signal that comes before Scrapy heeds it: nothing is lost yet. A hang-up is like SIGTERM."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: os._exit(_INTERRUPTED))
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # nohup's wish
        signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))


def _outcome(done: asyncio.Task[None], spider: Any) -> int:  # noqa: ANN401 - any spider, or none
    """Return the exit status of a crawl that has ended."""
    if not done.done() or done.cancelled():
        return _INTERRUPTED  # at once, by a second signal: what is committed is safe
    error = done.exception()
    if isinstance(error, SpiderprojError):
        print(f"spiderproj: {error}", file=sys.stderr)  # noqa: T201 - the command's own output
        return error.exit_status
    if error is not None:
        raise error
    return int(spider.exit_status)


def _told(spider: Any) -> str | None:  # noqa: ANN401 - any spider, or none
    """Return what a person is told in the end: the text of a survey, or what a crawl came to."""
    text: str | None = getattr(spider, "text", None)
    summary = getattr(spider, "summary", None)
    return text if text is not None or summary is None else _shown(summary)


def _shown(summary: dict[str, Any]) -> str:
    refused = ", ".join(f"{count} {reason}" for reason, count in summary["refused"].items()) or "none"
    errors = ", ".join(f"{count} {kind}" for kind, count in summary["errors"].items()) or "none"
    return (
        f"{summary['state']} ({summary['reason']}): {summary['pages']:,} pages, {summary['files']:,} files, "
        f"{summary['bytes']:,} bytes, {summary['duplicates']:,} duplicates in {summary['seconds']:.1f} s\n"
        f"Total number of links: {summary['links_total']:,}\n"
        f"refused: {refused}\nerrors: {errors}\nstill pending: {summary['pending']:,}"
        f"{_shown_changes(summary['changes'])}{_shown_references(summary.get('references'))}"
    )


def _shown_changes(changes: dict[str, int]) -> str:
    """Return what a revisit found, "" for the first crawl."""
    found = ", ".join(f"{count:,} {what}" for what, count in changes.items() if count)
    return f"\nsince the last visit: {found}" if found else ""


def _shown_references(references: dict[str, Any] | None) -> str:
    if references is None:
        return ""
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in references["missing_by"].items())
    return (
        f"\n{references['total']:,} references: {references['local']:,} local, {references['outside']:,} outside"
        f" by scope, {references['broken']:,} broken on the site, {references['missing']:,} missing"
    ) + (f" ({reasons})" if reasons else "")


def _or_exit(action: Any) -> None:  # noqa: ANN401 - any call without arguments
    try:
        action()
    except SpiderprojError as error:
        print(f"spiderproj: {error}", file=sys.stderr)  # noqa: T201 - the command's own output
        sys.exit(error.exit_status)


def _say(text: str) -> None:
    """Print *text*; nobody may be reading any more, and the crawl is done all the same."""
    with suppress(OSError):
        print(text, flush=True)  # noqa: T201 - the command's own output


def _leave(status: int) -> None:
    """End the process now: tearing down a million objects one by one takes longer than a small crawl."""
    logging.shutdown()
    os._exit(status)
