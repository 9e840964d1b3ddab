"""``scrapy crawl site``: copy a site within a scope (docs/arguments.md)."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Coroutine
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from scrapy import Spider
from scrapy.utils.misc import build_from_crawler, load_object

from spiderproj.arguments import CrawlOptions, Render, parse_arguments
from spiderproj.downloader.errors import NotNowError
from spiderproj.errors import SpiderprojError
from spiderproj.extensions.watchdog import working_on
from spiderproj.items import Capture
from spiderproj.job import Job
from spiderproj.levels import moved_home
from spiderproj.models import CrawlURL, Decision, Reason, Verdict
from spiderproj.reading import Reader
from spiderproj.refusals import Postponed, Refused
from spiderproj.scheduler import LEASE
from spiderproj.scope import Source
from spiderproj.sources import read_sitemaps, sign_in
from spiderproj.urls import port_number, split

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

    from spiderproj.browser.renderer import Renderer

logger = logging.getLogger(__name__)

_RENDERER = "spiderproj.browser.renderer.Renderer"
"""Imported only where pages are drawn: it needs what `make render-deps` installs."""

_LOOK_AT_CLOCK = 30.0
"""Seconds between two looks at the clock while the window is closed."""

_LASTING = frozenset({"private-address", "bad-port", "tls", "too-large", "too-many-headers", "bomb", "bad-request"})
"""Kinds of failure that another try would meet again."""


class SiteSpider(Spider):
    """Copy a site: every argument is described in docs/arguments.md."""

    name = "site"
    options: CrawlOptions
    exit_status = 0
    summary: dict[str, object] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:  # noqa: ANN401 - Scrapy's signature
        """Check the arguments and open the output folder; raises SpiderprojError before any request."""
        spider = super().from_crawler(crawler, *args)
        raw = {name: str(value) for name, value in kwargs.items() if not name.startswith("_")}
        spider.take_arguments(raw)
        return spider

    def take_arguments(self, raw: dict[str, str]) -> None:
        """Check the arguments *raw*; ArgumentError for a wrong one."""
        self.options = parse_arguments(raw, Path.cwd())

    @cached_property
    def job(self) -> Job:
        """The crawl's job, opened by the first component that needs it: by then the settings are final."""
        return Job(self.options, self.settings)

    @cached_property
    def reader(self) -> Reader:
        """What turns responses into captures."""
        return Reader(
            self.job.scope,
            max_links=self.settings.getint("SPIDERPROJ_MAX_LINKS"),
            follow_nofollow=self.settings.getbool("SPIDERPROJ_FOLLOW_NOFOLLOW"),
            token=self.settings.get("ROBOTSTXT_USER_AGENT"),
        )

    @cached_property
    def renderer(self) -> Renderer | None:
        """What draws pages, None when no page is drawn: a browser is there only where it is asked for."""
        if self.options.render is Render.NEVER:
            return None
        renderer: Renderer = build_from_crawler(load_object(_RENDERER), self.crawler)
        return renderer

    @cached_property
    def _reading(self) -> asyncio.Lock:
        """Who holds it reads a large page."""
        return asyncio.Lock()

    @property
    def seed_addresses(self) -> list[tuple[str, int]]:
        """Host and port of each seed: what may be dialled although it is not public."""
        seeds = (*self.options.seeds, *self.options.seed_fallbacks.values())
        return [(parts.host, port_number(parts)) for parts in map(split, seeds)]

    async def start(self) -> AsyncIterator[Any]:
        """Start the browser, sign in and read sitemaps; the seeds are in the frontier already."""
        try:
            if self.renderer is not None:
                await self.renderer.open()
                self.job.is_ready = self.job.login is None
            if await self._opens():
                await sign_in(self.crawler, self.job)
                await read_sitemaps(self.crawler, self.job)
        except SpiderprojError as error:
            self.job.fail(error)
        for _ in ():
            yield _

    async def _opens(self) -> bool:
        """Wait until the window opens; a crawl that does not wait is ended by the scheduler."""
        while self.job.waits and (closed := self.job.closed_for()):  # noqa: ASYNC110 - nobody tells of the clock
            await asyncio.sleep(min(closed, _LOOK_AT_CLOCK))
        return not self.job.closed_for()

    def parse(self, response: Response, **_: Any) -> list[Capture] | Coroutine[Any, Any, list[Capture]]:  # noqa: ANN401 - Scrapy's signature
        """Return the capture that *response* is; that of a large page is read beside the event loop."""
        url: CrawlURL = response.meta[LEASE]
        working_on(url.url)
        try:
            item = self.reader.capture(response, url)
        except Exception as error:  # noqa: BLE001 - a bad page never stops a crawl
            return [_unreadable(url, error)]
        if self.reader.is_unread(item):
            return self._read_beside(item, response)
        if Source.of(url).is_seed and item.final_url is not None and (home := moved_home(url.url, item.final_url)):
            self.job.move_home(home)
        if self.renderer is not None and self.renderer.wants(item):
            return self._draw(item, response, self.renderer)
        return [item]

    async def _read_beside(self, item: Capture, response: Response) -> list[Capture]:
        """Read the links of a large page in a thread, one page at a time: each may take a second and 150 MB."""
        try:
            async with self._reading:
                await asyncio.to_thread(self.reader.read_links, item, response.meta["raw_headers"])
            if self.renderer is not None and self.renderer.wants(item):
                return await self._draw(item, response, self.renderer)
        except Exception as error:  # noqa: BLE001 - a bad page never stops a crawl
            return [_unreadable(item.url, error)]
        return [item]

    async def _draw(self, item: Capture, response: Response, renderer: Renderer) -> list[Capture]:
        """Draw a page in the browser and read it again as it is drawn."""
        headers = response.meta["raw_headers"]
        try:
            await renderer.draw(item, headers)
            async with self._reading:
                await asyncio.to_thread(self.reader.read_drawn, item, headers)
        except Exception as error:  # noqa: BLE001 - a bad page never stops a crawl
            return [_unreadable(item.url, error)]
        return [item]

    def failed(self, failure: Failure) -> list[Capture]:
        """Return the capture of a request that came to no response."""
        request = failure.request  # type: ignore[attr-defined]  # set by Scrapy
        item = Capture(url=request.meta[LEASE], fetched_at=time.time(), spool=request.meta.get("spooled"))
        error = failure.value
        if isinstance(error, Refused):
            item.refusal, item.type = error.decision, error.answered
        elif isinstance(error, Postponed | NotNowError):
            item.wait_until = error.until
        elif isinstance(error, SpiderprojError):
            self.job.fail(error)
        else:
            self._note_failure(item, error)
        return [item]

    def _note_failure(self, item: Capture, error: BaseException | None) -> None:
        kind = getattr(error, "kind", None)
        item.problem = kind or type(error).__name__
        item.retry = kind not in _LASTING
        if kind == "private-address":
            item.refusal = Decision(Verdict.REFUSED, Reason.PRIVATE_ADDRESS, str(error))
        elif kind is None:
            logger.error("unexpected failure at %s", item.url.url[:200], exc_info=error)


def _unreadable(url: CrawlURL, error: Exception) -> Capture:
    """Return the capture of a page that reading failed at."""
    logger.error("cannot read %s", url.url[:200], exc_info=error)
    return Capture(url=url, fetched_at=time.time(), problem=f"internal: {type(error).__name__}")
