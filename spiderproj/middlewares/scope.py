"""The first gate: no request that is not http(s), whole and known to the frontier goes further. No flag skips it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from scrapy.http.request import NO_CALLBACK

from spiderproj import urls
from spiderproj.models import Reason
from spiderproj.refusals import Refused
from spiderproj.scheduler import LEASE

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler


class ScopeMiddleware:
    """Let through the frontier's own requests and those that components make for themselves (NO_CALLBACK)."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """There is nothing to set: this gate has no switch."""
        return cls(crawler)

    async def process_request(self, request: Request) -> None:
        """Refuse what the URL rules refuse, and what nobody judged."""
        url = request.url
        if len(url) > urls.MAX_URL_LENGTH:
            raise Refused(Reason.TOO_LONG, f"over {urls.MAX_URL_LENGTH} characters")
        if not url.startswith(("http://", "https://")):
            raise Refused(Reason.SCHEME, "neither http nor https")
        if LEASE not in request.meta and request.callback is not NO_CALLBACK:
            raise Refused(Reason.SCOPE, "a request that did not come from the frontier")
