"""How long the event loop is held: meanwhile nothing else moves, and no timeout can fire."""

from __future__ import annotations

import asyncio
import logging
from time import monotonic
from typing import TYPE_CHECKING, Self

from scrapy import signals

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector

logger = logging.getLogger(__name__)

_BEAT = 0.05  # seconds between two looks
_LONG = 0.5  # seconds from which a hold is worth a warning


class _Work:
    """What is worked on now, and what took longest since the last look; a process has one event loop, and so one."""

    def __init__(self) -> None:
        self._url, self._since = "", monotonic()
        self._slowest, self._longest = "", 0.0

    def on(self, url: str) -> None:
        """Note that the work on *url* begins here, and that on another ends."""
        now = monotonic()
        if now - self._since > self._longest:
            self._slowest, self._longest = self._url, now - self._since
        self._url, self._since = url, now

    def look(self) -> str:
        """Return the URL that took longest since the last look."""
        self.on(self._url)
        slowest, self._slowest, self._longest = self._slowest, self._url, 0.0
        return slowest


_work = _Work()
working_on = _work.on


class Watchdog:
    """Publish the longest hold, and warn of each long one with the URL that was worked on.

    Stats: ``spiderproj/loop/longest_hold_seconds`` (up to a beat too small), ``spiderproj/loop/holds`` (long ones).
    """

    def __init__(self, stats: StatsCollector) -> None:
        self._stats = stats
        self._longest = 0.0
        self._next: asyncio.TimerHandle | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Watch from the spider's opening to its end."""
        if crawler.stats is None:
            raise RuntimeError("Scrapy makes the stats before the extensions")
        watchdog = cls(crawler.stats)
        crawler.signals.connect(watchdog.spider_opened, signals.spider_opened)
        crawler.signals.connect(watchdog.spider_closed, signals.spider_closed)
        return watchdog

    def spider_opened(self) -> None:
        """Begin to look."""
        _work.on("")
        _work.look()  # what was before is not of this crawl
        self._stats.set_value("spiderproj/loop/longest_hold_seconds", 0.0)
        self._stats.set_value("spiderproj/loop/holds", 0)
        self._beat_later()

    def spider_closed(self) -> None:
        """Look no more."""
        if self._next is not None:
            self._next.cancel()

    def _beat_later(self) -> None:
        self._due = monotonic() + _BEAT
        self._next = asyncio.get_running_loop().call_later(_BEAT, self._beat)

    def _beat(self) -> None:
        held, url = monotonic() - self._due, _work.look()
        if held > self._longest:
            self._longest = held
            self._stats.set_value("spiderproj/loop/longest_hold_seconds", round(held, 3))
        if held > _LONG:
            self._stats.inc_value("spiderproj/loop/holds")
            logger.warning("the event loop was held for %.1f s, by %s", held, url[:200] or "no page")
        self._beat_later()
