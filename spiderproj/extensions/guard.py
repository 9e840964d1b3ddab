"""No URL is lost to a fault of ours: what an exception stopped half way becomes a row with a reason."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Self

from scrapy import signals

from spiderproj.errors import SpiderprojError
from spiderproj.items import Capture
from spiderproj.models import Decision, Reason, Verdict

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from twisted.python.failure import Failure

logger = logging.getLogger(__name__)


class Guard:
    """End the lease of a capture that a pipeline could not take."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Listen for items that failed."""
        guard = cls(crawler)
        crawler.signals.connect(guard.item_error, signals.item_error)
        return guard

    def item_error(self, item: object, failure: Failure) -> None:
        """Record the failure as the URL's outcome; Scrapy has logged the traceback."""
        if not isinstance(item, Capture):
            return
        job = self._crawler.spider.job  # type: ignore[union-attr]  # our spiders have one
        rule = f"internal: {failure.type.__name__ if failure.type else 'error'}"
        try:
            job.ledger.refuse(item.url, Decision(Verdict.REFUSED, Reason.ERROR, rule))
        except SpiderprojError as error:
            job.fail(error)
        job.ended(item)
