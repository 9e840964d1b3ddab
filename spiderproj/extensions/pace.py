"""How fast the crawl goes and what limits it, noted in its store now and then: the report draws it."""

from __future__ import annotations

import resource
import time
from typing import TYPE_CHECKING, Any, Final, Self

from scrapy import signals
from scrapy.utils.asyncio import create_looping_call

from spiderproj.errors import SpiderprojError
from spiderproj.scheduler import WINDOW
from spiderproj.store.samples import Samples

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from spiderproj.downloader.turns import Downloader
    from spiderproj.job import Job

_LOOK: Final = 0.25  # seconds


class Pace:
    """Take samples of a crawl, the first when it begins and the last when it ends."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._loop: Any = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Listen for the spider's opening and closing."""
        pace = cls(crawler)
        crawler.signals.connect(pace.spider_opened, signals.spider_opened)
        crawler.signals.connect(pace.spider_closed, signals.spider_closed)
        return pace

    def spider_opened(self) -> None:
        """Begin."""
        self._job: Job = self._crawler.spider.job  # type: ignore[union-attr]  # our spiders have one
        self._downloader: Downloader = self._crawler.engine.downloader  # type: ignore[assignment]  # the DOWNLOADER setting
        try:
            self._samples = Samples(self._job.database)
        except SpiderprojError as error:
            self._job.fail(error)
            return
        self._sample()
        self._loop = create_looping_call(self._look)
        self._loop.start(_LOOK, now=False)

    def spider_closed(self) -> None:
        """Take the last sample; this is called before the store is sealed, by its place among the extensions."""
        if self._loop is not None:
            self._loop.stop()
            self._sample()

    def _look(self) -> None:
        if self._samples.is_due(time.time()):
            self._sample()

    def _sample(self) -> None:
        job = self._job
        if job.failure is not None:
            return  # what was written since the last commit is not whole
        limit = WINDOW if job.closed_for() else self._downloader.main_limit()
        rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        try:
            self._samples.add(
                time.time(), pages=job.run_pages, pending=job.frontier.pending, limited_by=limit, peak_rss=rss
            )
        except SpiderprojError as error:
            job.fail(error)
