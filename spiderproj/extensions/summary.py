"""The end of a crawl: its state and exit status, ``summary.json``, the final JSON lines, and the folder let go."""

from __future__ import annotations

import asyncio
import logging
import resource
import time
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Self

import orjson
from scrapy import signals
from scrapy.utils.defer import _schedule_coro

from spiderproj import archive, exports, front, mirror
from spiderproj.errors import DiskFullError, SpiderprojError
from spiderproj.files.failures import failure
from spiderproj.models import Reason
from spiderproj.scheduler import PARKED, WINDOW
from spiderproj.store.figures import Figures, figures

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from spiderproj.downloader.turns import Downloader
    from spiderproj.job import Job
    from spiderproj.store.rewrites import References

logger = logging.getLogger(__name__)

_INTERRUPTED, _NO_SEED = 6, 10
_START_FAILED = "start_error"  # Scrapy's word for a spider whose start() raised
_STATES = {"finished": "finished", WINDOW: "waiting"}


class Summary:
    """Close the job when the spider closes, and say what came of it."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._began = time.monotonic()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Listen for the spider's opening and closing."""
        summary = cls(crawler)
        crawler.signals.connect(summary.spider_opened, signals.spider_opened)
        crawler.signals.connect(summary.spider_closed, signals.spider_closed)
        return summary

    def spider_opened(self) -> None:
        """Stop the crawl when the job fails."""
        self._job: Job = self._crawler.spider.job  # type: ignore[union-attr]  # our spiders have one
        self._job.on_failure = self._stop
        if self._job.failure is not None:
            self._stop(self._job.failure)

    async def spider_closed(self, reason: str) -> None:
        """Write the end of the crawl, whatever ended it."""
        spider: Any = self._crawler.spider
        job = self._job
        spider.exit_status = 1
        try:
            spider.summary = await self._finish(reason)
            spider.exit_status = _status(reason, spider.summary)
        except SpiderprojError as error:
            job.failure = job.failure or error
        except OSError as error:
            job.failure = job.failure or failure(error, job.out)
        finally:
            self._let_go()
        if job.failure is not None:
            spider.exit_status = job.failure.exit_status
            logger.error("%s", job.failure)

    def _let_go(self) -> None:
        """Close the job; a disk that failed while the crawl ran may fail once more."""
        try:
            self._job.close()
        except SpiderprojError as error:
            self._job.failure = self._job.failure or error

    async def _finish(self, reason: str) -> dict[str, object]:
        """Write the results, and only then the final state: what says "finished" is whole."""
        job = self._job
        job.seal()
        references = self._form()
        found = figures(job.database)
        limit = self._limit(reason)
        try:
            job.database.set_meta("limit", orjson.dumps(limit and [*limit]).decode())
            linked_seeds = exports.write_all(job.database, job.out, limit=limit)
            found = found._replace(links=found.links + linked_seeds)
            front.write_front(job.folder, job.options, found)
            await self._archive()
        except DiskFullError as error:  # the lines as they were appended stay
            job.failure = job.failure or error
        state = _STATES.get(reason, "stopped") if job.failure is None else "stopped"
        summary = self._summary(state, reason, found)
        if references is not None:
            summary["references"] = references._asdict()
        self._publish(found)
        exports.write_whole(job.out / "summary.json", [orjson.dumps(summary, option=orjson.OPT_INDENT_2) + b"\n"])
        job.finish(state)
        logger.info("Total number of links: %d", found.links_total)
        for name, count in found.refused.items():
            logger.info("Refused (%s): %d", name, count)
        return summary

    def _limit(self, reason: str) -> exports.Limit | None:
        """Return the limit of the user's that a crawl which ended for *reason* has come to."""
        if reason == WINDOW:
            return exports.Limit(Reason.WINDOW, f"window={self._job.options.window}")
        return exports.Limit(Reason.BUDGET, reason) if reason.startswith("closespider") else None

    async def _archive(self) -> None:
        """Make the WACZ, beside the event loop: it may take minutes, and a signal must be heard."""
        job = self._job
        if job.options.warc and job.failure is None:
            reserve = self._crawler.settings.getint("SPIDERPROJ_DISK_RESERVE")
            await asyncio.to_thread(archive.write_archive, job.out, job.options.seeds[0], reserve=reserve)

    def _form(self) -> References | None:
        """Bring the files into the form that ``mirror`` asks for; return the audit of a copy that opens from disk."""
        job, fsync = self._job, self._crawler.settings.getbool("SPIDERPROJ_FSYNC")
        try:
            if job.options.mirror:
                return mirror.write_mirror(job.folder, fsync=fsync)
            mirror.undo_mirror(job.folder, fsync=fsync)
        except DiskFullError as error:  # each file is whole, in one form or the other
            job.failure = job.failure or error
        return None

    def _summary(self, state: str, reason: str, found: Figures) -> dict[str, object]:
        counts, seconds = self._job.counts, time.monotonic() - self._began
        downloader: Downloader = self._crawler.engine.downloader  # type: ignore[assignment]  # the DOWNLOADER setting
        counts["connections"] += self._crawler.stats.get_value("spiderproj/connections/opened", 0)
        return {
            "state": state,
            "reason": reason,
            **found._asdict(),
            "requests": _by_method(counts),
            "connections": counts["connections"],
            "seconds": round(seconds, 3),
            "pages_per_second": round(self._job.run_pages / seconds, 1) if seconds else 0.0,
            "peak_rss_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
            "longest_hold_seconds": self._crawler.stats.get_value("spiderproj/loop/longest_hold_seconds"),
            "limited_by": WINDOW if reason == WINDOW else downloader.main_limit(),
        }

    def _publish(self, found: Figures) -> None:
        """Put the figures among Scrapy's stats (docs/stats.md)."""
        stats = self._crawler.stats
        for name, value in found._asdict().items():
            if isinstance(value, int):
                stats.set_value(f"spiderproj/{name}", value)
        for group, counts in (
            ("refused", found.refused),
            ("errors", found.errors),
            ("unrendered", found.unrendered),
            ("changes", found.changes),
            ("requests", _by_method(self._job.counts)),
            ("gate", asdict(self._job.gate.counts)),
        ):
            for name, count in counts.items():
                stats.set_value(f"spiderproj/{group}/{name}", count)

    def _stop(self, error: SpiderprojError) -> None:
        logger.error("stopping: %s", error)
        _schedule_coro(self._crawler.engine.close_spider_async(reason=type(error).__name__))


def _by_method(counts: Counter[str]) -> dict[str, int]:
    return {name.removeprefix("requests."): count for name, count in sorted(counts.items())
            if name.startswith("requests.")}  # fmt: skip


def _status(reason: str, summary: dict[str, object]) -> int:
    """Return the exit status of a crawl that ended for *reason* (docs/arguments.md, "Exit status")."""
    if reason == "shutdown":
        return _INTERRUPTED
    if reason == _START_FAILED:
        return 1
    if reason == WINDOW:
        return 0
    if not summary["pages"]:
        return _NO_SEED
    return _INTERRUPTED if reason == PARKED else 0
