"""The figures of a crawl in Prometheus' text format, and the little server that gives them to who asks on loopback.

Label values come from fixed sets, so that no site can fill a monitoring system; URLs and hosts are in none.
"""

from __future__ import annotations

import resource
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from twisted.internet import reactor as installed  # there is one when a crawl runs
from twisted.web import server
from twisted.web.resource import Resource

from spiderproj.scheduler import WINDOW
from spiderproj.store.plots import limit_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from spiderproj.downloader.turns import Downloader
    from spiderproj.job import Job

_MOST_LABELS: Final = 50  # of one metric; there are fewer, unless a stat has got out of hand
_IDLE: Final = 15  # seconds
_EVENTS: Final = {
    "connections": "What happened to connections.",
    "warc": "Records written to WARC files.",
    "render": "What drawing pages took.",
}
"""Groups of stats that only count up, with what they are (docs/stats.md)."""


class Figures(Collector):
    """Collects the figures of the crawl of *crawler*; *outcomes* counts what came of requests."""

    def __init__(self, crawler: Crawler, outcomes: Mapping[tuple[str, str], int]) -> None:
        self._crawler = crawler
        self._outcomes = outcomes

    def collect(self) -> Iterator[Metric]:
        """Yield every metric."""
        job: Job = self._crawler.spider.job  # type: ignore[union-attr]  # our spiders have one
        yield CounterMetricFamily("spiderproj_pages", "Whole answers: 2xx, or 304.", value=job.run_pages)
        yield CounterMetricFamily("spiderproj_urls", "URLs of which the outcome is known.", value=job.run_ended)
        yield GaugeMetricFamily("spiderproj_pending", "URLs in the queue.", value=job.frontier.pending)
        yield self._counted_outcomes()
        requests = {name.removeprefix("requests."): count for name, count in job.counts.items()
                    if name.startswith("requests.")}  # fmt: skip
        yield _counter("requests", "Requests sent, over all runs.", "method", requests)
        yield _counter("gate", "What the gate did.", "event", asdict(job.gate.counts))
        stats = self._stats()
        for group, meaning in _EVENTS.items():
            yield _counter(group, meaning, "event", stats[group])
        yield _counter("loop", "Times that the event loop was held so long that the log warns of it.", "event",
                       {"hold": stats["loop"].get("holds", 0)})  # fmt: skip
        longest = stats["loop"].get("longest_hold_seconds", 0.0)
        yield GaugeMetricFamily("spiderproj_longest_hold_seconds", "Longest hold of the event loop.", value=longest)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        yield GaugeMetricFamily("spiderproj_peak_rss_bytes", "Most memory the crawl has had.", value=peak)
        limited = GaugeMetricFamily(
            "spiderproj_limited", "1 for what keeps the crawl from being faster.", labels=["by"]
        )
        limited.add_metric([self._limit(job)], 1)
        yield limited

    def _limit(self, job: Job) -> str:
        downloader: Downloader = self._crawler.engine.downloader  # type: ignore[assignment]  # the DOWNLOADER setting
        return WINDOW if job.closed_for() else limit_of(downloader.main_limit())

    def _counted_outcomes(self) -> Metric:
        metric = CounterMetricFamily(
            "spiderproj_outcomes", "What came of requests for URLs.", labels=["outcome", "which"]
        )
        for labels, count in sorted(self._outcomes.items()):
            metric.add_metric(labels, count)
        return metric

    def _stats(self) -> dict[str, dict[str, float]]:
        """Return the numbers among the stats by group; what is no count has its own metric, or none."""
        found: dict[str, dict[str, float]] = {group: {} for group in (*_EVENTS, "loop")}
        for name, value in self._crawler.stats.get_stats().items():
            prefix, _, rest = name.partition("/")
            group, _, event = rest.partition("/")
            is_count = group == "loop" or isinstance(value, int)
            if prefix == "spiderproj" and group in found and event and is_count:
                found[group][event] = value
        return found


def _counter(name: str, meaning: str, label: str, counts: Mapping[str, float]) -> Metric:
    metric = CounterMetricFamily(f"spiderproj_{name}", meaning, labels=[label])
    for value, count in sorted(counts.items())[:_MOST_LABELS]:
        metric.add_metric([value], count)
    return metric


class _Request(server.Request):
    """A request without a body; one with a body is hung up on, before anything of it is kept."""

    def gotLength(self, length: int | None) -> None:  # noqa: N802 - Twisted's name
        """Go on when there is nothing to read."""
        if length == 0:
            super().gotLength(length)  # type: ignore[no-untyped-call]  # Twisted's, without annotations
            return
        self.content = BytesIO()
        channel: Any = self.channel
        channel.transport.abortConnection()

    def handleContentChunk(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        """Keep nothing."""


class _Page(Resource):
    """Answers GET /metrics, where the Host is one of *hosts*: a name that leads here is not enough (DNS rebinding)."""

    isLeaf = True  # noqa: N815 - Twisted's name

    def __init__(self, figures: Figures, hosts: frozenset[str]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # Twisted's, without annotations
        self._registry = CollectorRegistry()
        self._registry.register(figures)
        self._hosts = hosts

    def render(self, request: server.Request) -> bytes:
        """Answer a request of any method."""
        status = self._refusal(request)
        request.setHeader("X-Content-Type-Options", "nosniff")
        request.setHeader("Cache-Control", "no-store")
        if status is not None:
            request.setResponseCode(status)
            request.setHeader("Content-Type", "text/plain; charset=utf-8")
            return b"" if request.method == b"HEAD" else b"GET /metrics\n"
        request.setHeader("Content-Type", CONTENT_TYPE_LATEST)
        return generate_latest(self._registry)

    def _refusal(self, request: server.Request) -> int | None:
        if (request.getHeader("host") or "").lower() not in self._hosts:
            return 421
        if request.method != b"GET":
            return 405
        return None if request.path == b"/metrics" else 404


def listen(figures: Figures, address: str, port: int, hosts: frozenset[str]) -> Any:  # noqa: ANN401 - Twisted's port
    """Answer requests to *hosts* (name and port) and return the port; CannotListenError when it is taken."""
    served = server.Site(_Page(figures, hosts), requestFactory=_Request, timeout=_IDLE)
    reactor: Any = installed
    return reactor.listenTCP(port, served, interface=address)
