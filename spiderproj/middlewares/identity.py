"""Who we say we are: user agent, default headers, cookies of the host, and what the login file gives an origin."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Self

from spiderproj.cookies import CookieJar
from spiderproj.login import headers_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from spiderproj.job import Job


class IdentityMiddleware:
    """Put our headers on every request, and keep the cookies that answers bring."""

    def __init__(self, job: Job, headers: Sequence[tuple[bytes, bytes]], *, with_cookies: bool) -> None:
        self._login = job.login
        self._headers = headers
        self._jar = CookieJar() if with_cookies else None
        if self._jar is not None and self._login is not None:
            for cookie in self._login.cookies:
                self._jar.add(f"{cookie.origin}/", cookie.name, cookie.value)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Read USER_AGENT, DEFAULT_REQUEST_HEADERS and COOKIES_ENABLED."""
        settings = crawler.settings
        pairs = [("User-Agent", settings.get("USER_AGENT")), *settings.getdict("DEFAULT_REQUEST_HEADERS").items()]
        headers = [(name.encode(), str(value).encode()) for name, value in pairs if value is not None]
        job: Job = crawler.spider.job  # type: ignore[union-attr]  # our spiders have one
        return cls(job, headers, with_cookies=settings.getbool("COOKIES_ENABLED"))

    async def process_request(self, request: Request) -> None:
        """Add the headers that the request does not have yet; nothing of ours but these to one that is anonymous."""
        for name, value in self._headers:
            request.headers.setdefault(name, value)
        if "anonymous" in request.meta:
            return
        if self._login is not None:
            for own_name, own_value in headers_for(request.url, self._login):
                request.headers[own_name] = own_value
        if self._jar is not None and (cookies := self._jar.header_for(request.url, time.time())):
            request.headers[b"Cookie"] = cookies

    async def process_response(self, request: Request, response: Response) -> Response:
        """Keep the cookies of an answer."""
        if self._jar is None or "anonymous" in request.meta:
            return response
        if values := response.headers.getlist(b"Set-Cookie"):
            self._jar.store(request.url, [value.decode("latin-1") for value in values], time.time())
        return response
