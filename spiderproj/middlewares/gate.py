"""The content-type gate: ask with a HEAD where the type is in doubt, stop a GET at its headers where it is not wanted.

The policy is spiderproj.gate; here it is asked, its questions are sent, and the answers are given back to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from scrapy import Request, signals
from scrapy.exceptions import StopDownload
from scrapy.http.request import NO_CALLBACK

from spiderproj import mediatype, urls
from spiderproj.gate import Ask, Gate, Head, HeadAnswer, judge_head, stop_at_headers
from spiderproj.models import Reason, ResourceType
from spiderproj.refusals import Refused
from spiderproj.scheduler import LEASE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy.crawler import Crawler
    from scrapy.http import Headers, Response

    from spiderproj.job import Job
    from spiderproj.models import CrawlURL
    from spiderproj.urls import URLParts


class GateMiddleware:
    """Decide before each body whether it is wanted."""

    def __init__(self, crawler: Crawler, head_timeout: float) -> None:
        self._crawler = crawler
        self._job: Job = crawler.spider.job  # type: ignore[union-attr]  # our spiders have one
        self._gate: Gate = self._job.gate
        self._head_timeout = head_timeout

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Read SPIDERPROJ_HEAD_TIMEOUT and listen for headers."""
        gate = cls(crawler, crawler.settings.getfloat("SPIDERPROJ_HEAD_TIMEOUT"))
        if not gate._job.scope.wants_every_type:
            crawler.signals.connect(gate.headers_received, signals.headers_received)
        return gate

    async def process_request(self, request: Request) -> None:
        """Refuse, ask first, or let the GET go."""
        lease: CrawlURL | None = request.meta.get(LEASE)
        if lease is None:
            return
        wanted = self._job.scope.wanted(lease)
        parts = urls.split(lease.url)
        host = request.meta["download_slot"]
        advice = self._gate.before(parts, host, lease.hint, wanted, urls.url_key(lease.url))
        if advice.ask is Ask.REFUSE:
            likely = lease.hint or mediatype.predict(parts.path, parts.query)
            raise Refused(Reason.TYPE, advice.rule, likely)
        request.meta["wanted"] = wanted
        if advice.ask is Ask.HEAD:
            await self._ask(request, lease, parts, wanted)

    async def process_response(self, request: Request, response: Response) -> Response:
        """Let the gate learn from a GET."""
        wanted = request.meta.get("wanted")
        if wanted is None or not 200 <= response.status < 300:
            return response
        values = _content_types(response.headers)
        refused = request.meta.get("gate_refused")
        found = refused or mediatype.true_type(values, response.body[: mediatype.SNIFFED_BYTES], request.url)[1]
        parts = urls.split(request.url)
        self._gate.on_get(parts, request.meta["download_slot"], found, wanted, request.meta.get("head"))
        return response

    def headers_received(self, headers: Headers, request: Request, **_: object) -> None:
        """Stop a GET whose headers say an unwanted type: the second line, for links that no HEAD was sent for."""
        wanted = request.meta.get("wanted")
        if wanted is None:
            return
        length = headers.get(b"Content-Length")
        size = int(length) if length is not None and length.isdigit() and len(length) < 20 else None
        status = request.meta.get("status", 200)
        refused = stop_at_headers(status, _content_types(headers), size, wanted)
        if refused is not None:
            request.meta["gate_refused"] = refused
            raise StopDownload(fail=False)

    async def _ask(self, request: Request, lease: CrawlURL, parts: URLParts, wanted: frozenset[ResourceType]) -> None:
        host = request.meta["download_slot"]
        meta = {
            "download_slot": host,
            "verbatim_url": True,
            "download_timeout": self._head_timeout,
            "auxiliary": "gate",
        }
        question = Request(lease.url, method="HEAD", callback=NO_CALLBACK, meta=meta)
        try:
            response = await self._crawler.engine.download_async(question)
        except Exception:  # noqa: BLE001 - a HEAD that fails decides nothing; the GET will tell
            request.meta["head"] = Head(None, ())
            return
        head = Head(response.status, _content_types(response.headers))
        self._gate.on_head(parts, host, head)
        request.meta["head"] = head
        if judge_head(head, wanted) is HeadAnswer.UNWANTED:
            found = mediatype.resource_type(mediatype.parse(head.values).essence)
            raise Refused(Reason.TYPE, f"HEAD: {found} is not wanted at level {lease.level}", found)


def _content_types(headers: Headers) -> Sequence[str]:
    return [value.decode("latin-1") for value in headers.getlist(b"Content-Type")]
