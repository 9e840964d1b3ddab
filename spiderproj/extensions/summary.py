"""The end of a crawl: its state and exit status, ``summary.json``, the final JSON lines, and the folder let go."""

from __future__ import annotations

import logging
import resource
import time
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Self

import orjson
from scrapy import signals
from scrapy.utils.defer import _schedule_coro

from spiderproj import exports
from spiderproj.errors import SpiderprojError
from spiderproj.store.figures import Figures, figures

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from spiderproj.downloader.turns import Downloader
    from spiderproj.job import Job

logger = logging.getLogger(__name__)

_INTERRUPTED, _NO_SEED = 6, 10


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

    def spider_closed(self, reason: str) -> None:
        """Write the end of the crawl, whatever ended it."""
        spider: Any = self._crawler.spider
        job = self._job
        state = "finished" if reason == "finished" and job.failure is None else "stopped"
        spider.exit_status = 1
        try:
            if job.failure is None:
                spider.summary = self._finish(state, reason)
                spider.exit_status = _status(reason, spider.summary)
            job.close(state)
        except SpiderprojError as error:
            job.failure = job.failure or error
        if job.failure is not None:
            spider.exit_status = job.failure.exit_status
            logger.error("%s", job.failure)

    def _finish(self, state: str, reason: str) -> dict[str, object]:
        job = self._job
        job.commit()
        found = figures(job.database)
        limit = reason if reason.startswith("closespider") else None
        exports.write_all(job.database, job.out, limit=limit)
        summary = self._summary(state, reason, found)
        self._publish(found)
        path = job.out / "summary.json"
        temporary = path.with_name(".summary.json.new")
        temporary.write_bytes(orjson.dumps(summary, option=orjson.OPT_INDENT_2) + b"\n")
        temporary.replace(path)
        logger.info("Total number of links: %d", found.links_total)
        for name, count in found.refused.items():
            logger.info("Refused (%s): %d", name, count)
        return summary

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
            "limited_by": downloader.main_limit(),
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
    if not summary["pages"]:
        return _NO_SEED
    return 0
