"""What a person sees while it runs: a live line on a terminal, two log lines now and then elsewhere."""

from __future__ import annotations

import logging
import sys
import time
from typing import TYPE_CHECKING, Any, Self

from rich.console import Console
from rich.live import Live
from rich.text import Text
from scrapy import signals
from scrapy.utils.asyncio import create_looping_call

from spiderproj.politeness import forecast

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from spiderproj.downloader.turns import Downloader
    from spiderproj.job import Job

logger = logging.getLogger(__name__)

_LIVE_INTERVAL = 0.5  # seconds between two states of the live line
_TYPICAL_LATENCY = 0.2  # seconds; for the forecast before anything was measured


class Progress:
    """Show pages, pending URLs, rate, what limits it, and when it may be done."""

    def __init__(self, crawler: Crawler, interval: float) -> None:
        self._crawler = crawler
        self._interval = interval
        self._began = time.monotonic()
        self._live: Live | None = None
        self._loop: Any = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Read LOGSTATS_INTERVAL."""
        progress = cls(crawler, crawler.settings.getfloat("LOGSTATS_INTERVAL"))
        crawler.signals.connect(progress.spider_opened, signals.spider_opened)
        crawler.signals.connect(progress.spider_closed, signals.spider_closed)
        return progress

    def spider_opened(self) -> None:
        """Say how the crawl begins, and keep saying how it goes."""
        self._job: Job = self._crawler.spider.job  # type: ignore[union-attr]  # our spiders have one
        self._downloader: Downloader = self._crawler.engine.downloader  # type: ignore[assignment]  # the DOWNLOADER setting
        self._began = time.monotonic()
        for line in self._opening():
            logger.info("%s", line)
        if sys.stderr.isatty():
            self._live = Live(console=Console(stderr=True), refresh_per_second=2, transient=True)
            self._live.start()
            self._every(_LIVE_INTERVAL, self._show)
        elif self._interval > 0:
            self._every(self._interval, self._log)

    def spider_closed(self) -> None:
        """Stop showing."""
        if self._loop is not None and self._loop.running:
            self._loop.stop()
        if self._live is not None:
            self._live.stop()

    def line(self) -> str:
        """Return the live line."""
        pages, pending = self._job.run_pages, self._job.frontier.pending
        rate = pages / max(time.monotonic() - self._began, 0.001)
        left = f"about {_duration(pending / rate)} left" if rate > 0 and pending else ""
        closed = self._job.closed_for()
        limit = f"window, opens in {_duration(closed)}" if closed else self._downloader.main_limit()
        return f"{pages:,} pages  {pending:,} pending  {rate:,.1f} pages/s  limit: {limit}  {left}"

    def _opening(self) -> list[str]:
        job, options = self._job, self._job.options
        lines = [f"{job.state} crawl in {job.out}: {' '.join(options.seeds[:3])} mode={options.mode}"]
        if job.changed_arguments:
            names = ", ".join(job.changed_arguments)
            lines.append(f"other arguments than before ({names}): they hold from here on; fresh=1 starts over")
        if options.mode == "all" and options.depth is None:
            lines.append("mode=all has no limit: set depth, CLOSESPIDER_PAGECOUNT or CLOSESPIDER_TIMEOUT")
        if closed := job.closed_for():
            lines.append(f"window={options.window}: nothing is fetched for {_duration(closed)}")
        slot = self._downloader.slot_of(options.seeds[0])
        hourly = forecast(slot.politeness.delay, slot.concurrency, _TYPICAL_LATENCY)
        lines.append(f"politeness: about {hourly:,.0f} pages an hour from one host")
        return lines

    def _every(self, seconds: float, function: Any) -> None:  # noqa: ANN401 - Scrapy's looping call takes any
        self._loop = create_looping_call(function)
        self._loop.start(seconds, now=False)

    def _show(self) -> None:
        if self._live is not None:
            self._live.update(Text(self.line(), no_wrap=True, overflow="ellipsis"))

    def _log(self) -> None:
        logger.info("%d Pending URLs are in the queue.", self._job.frontier.pending)
        logger.info("%d URLs have been fully processed.", self._job.run_ended)


def _duration(seconds: float) -> str:
    """Return *seconds* in words.

    >>> _duration(3700)
    '1 h 2 min'
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
