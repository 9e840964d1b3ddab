"""Figures of a running crawl for Prometheus: ``GET /metrics`` on loopback, where SPIDERPROJ_METRICS_PORT says so."""

from __future__ import annotations

import logging
from collections import Counter
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Self

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.error import CannotListenError

from spiderproj.errors import ArgumentError
from spiderproj.items import Capture

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

_LOOPBACK = "127.0.0.1"


class Metrics:
    """Count what comes of requests, and serve that with the other figures."""

    def __init__(self, crawler: Crawler, port: int) -> None:
        self._crawler = crawler
        self._port = port
        self._listening: Any = None
        self._outcomes: Counter[tuple[str, str]] = Counter()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Read SPIDERPROJ_METRICS_PORT; with 0 there is nothing to do."""
        port = crawler.settings.getint("SPIDERPROJ_METRICS_PORT")
        if port == 0:
            raise NotConfigured
        if not 1 <= port <= 65535:
            raise ArgumentError("SPIDERPROJ_METRICS_PORT", port, "a port from 1 to 65535, or 0 for none")
        if find_spec("prometheus_client") is None:
            expected = "0, or the Python package prometheus-client: make metrics-deps installs it"
            raise ArgumentError("SPIDERPROJ_METRICS_PORT", port, expected)
        metrics = cls(crawler, port)
        crawler.signals.connect(metrics.spider_opened, signals.spider_opened)
        crawler.signals.connect(metrics.item_scraped, signals.item_scraped)
        crawler.signals.connect(metrics.spider_closed, signals.spider_closed)
        return metrics

    def spider_opened(self) -> None:
        """Listen; a port that another crawl has is no reason not to crawl."""
        from spiderproj.extensions.exposition import Figures, listen  # noqa: PLC0415 - what it needs may not be there

        hosts = frozenset({f"{_LOOPBACK}:{self._port}", f"localhost:{self._port}"})
        try:
            self._listening = listen(Figures(self._crawler, self._outcomes), _LOOPBACK, self._port, hosts)
        except CannotListenError as error:
            logger.warning("SPIDERPROJ_METRICS_PORT=%d: %s; the crawl goes on without metrics", self._port, error)

    def item_scraped(self, item: object) -> None:
        """Count what came of a request, in a few words."""
        if isinstance(item, Capture):
            self._outcomes[_outcome(item)] += 1

    async def spider_closed(self) -> None:
        """Listen no more."""
        if self._listening is not None:
            await maybe_deferred_to_future(self._listening.stopListening())


def _outcome(item: Capture) -> tuple[str, str]:
    """Return of what kind the outcome is, and which; never anything that a site can make up."""
    if item.refusal is not None and item.refusal.reason is not None:
        return "refused", item.refusal.reason
    if item.status:
        return "answer", f"{min(item.status // 100, 9)}xx"
    return "postponed" if item.wait_until is not None else "failed", ""
