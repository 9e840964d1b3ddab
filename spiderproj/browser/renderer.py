"""Which pages of a crawl are drawn, two at a time, and what becomes of each: a browser's death costs no page."""

from __future__ import annotations

import asyncio
import logging
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Final, Self

from playwright.async_api import Error as BrowserError
from scrapy import signals

from spiderproj import mediatype, steady
from spiderproj.arguments import Render
from spiderproj.browser.chromium import Chromium
from spiderproj.browser.page import MAX_DRAWN, Drawn, NotDrawnError, PageDrawing, Sheet
from spiderproj.browser.requests import Allowance, Answer, Requests, told
from spiderproj.errors import ArgumentError
from spiderproj.items import Rendering
from spiderproj.models import LinkRole, ResourceType
from spiderproj.rendering import read_signs
from spiderproj.scope import Source

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from spiderproj.items import Capture
    from spiderproj.job import Job

logger = logging.getLogger(__name__)

AT_ONCE: Final = 2
MANY_LINKS: Final = 40
"""Ways to go on a page that was surely not empty before its scripts ran: it is not looked at again."""

_STARTS: Final = 3  # in a row that fail before no other is tried
_MARKUP: Final = frozenset({"text/html", "application/xhtml+xml"})


class BrowserDiedError(NotDrawnError):
    """The browser has died under a page, which need not be the reason."""


class Renderer:
    """Draws pages of one crawl."""

    def __init__(self, crawler: Crawler, executable: str, memory: int) -> None:
        self._crawler = crawler
        self._job: Job = crawler.spider.job  # type: ignore[union-attr]  # our spiders have one
        self._executable = executable
        self._memory = memory
        self._requests = Requests(crawler)
        self._room = asyncio.Semaphore(AT_ONCE)
        self._alone = asyncio.Lock()
        self._starting = asyncio.Lock()
        self._current: Chromium | None = None
        self._failed_starts = 0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Read SPIDERPROJ_CHROMIUM and SPIDERPROJ_RENDER_MEMORY."""
        settings = crawler.settings
        renderer = cls(crawler, settings.get("SPIDERPROJ_CHROMIUM"), settings.getint("SPIDERPROJ_RENDER_MEMORY"))
        crawler.signals.connect(renderer.close, signals.spider_closed)
        return renderer

    async def open(self) -> None:
        """Start the browser; ArgumentError when it does not start: nothing has been fetched yet."""
        try:
            await self._running()
        except NotDrawnError as error:
            why = str(error.__cause__).strip().partition("\n")[0] or "it does not answer"
            expected = f"a browser that starts at {self._executable}; make render-deps installs one ({why[:200]})"
            raise ArgumentError("render", self._job.options.render.value, expected) from error

    async def close(self) -> None:
        """End the browser."""
        if self._current is not None:
            await self._current.close()

    def wants(self, item: Capture) -> bool:
        """Say whether *item*, whose links are read, is to be drawn; when it is, it has a rendering from now on."""
        if item.type is not ResourceType.HTML or not item.is_good or not item.body or item.url.near:
            return False
        is_full = sum(link.role is LinkRole.NAVIGATION for link in item.links) > MANY_LINKS
        sign = None if is_full else read_signs(item.body, _charset(item)).sign
        if sign is None and self._job.options.render is Render.AUTO:
            return False
        item.rendering = Rendering(sign=sign)
        return True

    async def draw(self, item: Capture, headers: list[tuple[str, str]]) -> None:
        """Draw *item*, which came with *headers*, and fill in its rendering; a crawl that is ending may put it off."""
        rendering = item.rendering
        if rendering is None:
            return
        if self._room.locked() and await self._is_late():
            item.wait_until = steady.now()
            return
        sheet = self._sheet(item, headers)
        try:
            drawn = await self._draw(sheet)
            rendering.html, rendering.targets = drawn.html, drawn.targets
        except NotDrawnError as error:
            rendering.failure = str(error)
            item.etag = item.last_modified = None  # to be asked for, and drawn, next time
            logger.warning("%s is kept as received, not as drawn: %s", item.url.url[:200], error)
        if self._is_ending() and (sheet.allowance.is_cut or rendering.failure is not None):
            item.wait_until = steady.now()
        for why, count in sheet.refused.items():
            self._count(f"refused/{why}", count)

    async def _is_late(self) -> bool:
        """Wait until there is room for a page; say whether the crawl is ending by then."""
        async with self._room:
            return self._is_ending()

    async def _draw(self, sheet: Sheet) -> Drawn:
        """Return the page of *sheet* as drawn; when its browser dies it is tried once more, alone."""
        if len(sheet.answer.body) > MAX_DRAWN:
            raise NotDrawnError("too-large")
        try:
            async with self._room:
                return await self._try(sheet)
        except BrowserDiedError:
            async with self._alone, AsyncExitStack() as rooms:
                for _ in range(AT_ONCE):
                    await rooms.enter_async_context(self._room)
                sheet.allowance.requests = sheet.allowance.size = 0
                return await self._try(sheet)

    async def _try(self, sheet: Sheet) -> Drawn:
        chromium = await self._running()
        try:
            async with chromium.context() as context:
                return await PageDrawing(context, sheet).draw()
        except (NotDrawnError, BrowserError, TimeoutError) as error:
            if chromium.is_dead:
                raise BrowserDiedError(chromium.death or "crash") from error
            raise NotDrawnError(str(error) if isinstance(error, NotDrawnError) else "crash") from error
        finally:
            self._note_peak(chromium)
            if chromium is not self._current and chromium.is_idle:
                await chromium.close()

    async def _running(self) -> Chromium:
        """Return a browser that can draw; the one before ends with its last page."""
        async with self._starting:
            old = self._current
            if old is not None and old.is_usable:
                return old
            self._current = None
            if old is not None and old.is_idle:
                await old.close()
            self._current = await self._start()
            return self._current

    async def _start(self) -> Chromium:
        if self._failed_starts >= _STARTS:
            raise NotDrawnError("no-browser")
        try:
            chromium = await Chromium.start(self._executable, self._memory)
        except (BrowserError, TimeoutError, OSError, IndexError) as error:
            self._failed_starts += 1
            raise NotDrawnError("no-browser") from error
        self._failed_starts = 0
        self._count("browsers", 1)
        return chromium

    def _sheet(self, item: Capture, headers: list[tuple[str, str]]) -> Sheet:
        answer = Answer(200, told(headers), item.body)
        if _essence(item) not in _MARKUP:
            answer.headers["content-type"] = "text/html"
        allowance = Allowance(Source.of(item.url))
        return Sheet(url=item.url.url, answer=answer, allowance=allowance, requests=self._requests)

    def _is_ending(self) -> bool:
        """Say whether the engine only waits for what is in flight (no public way: tests/test_facts.py)."""
        slot = self._crawler.engine._slot
        return slot is not None and slot.closing is not None

    def _note_peak(self, chromium: Chromium) -> None:
        if self._crawler.stats is not None:
            self._crawler.stats.max_value("spiderproj/render/peak_rss_mb", round(chromium.peak_bytes / 2**20, 1))

    def _count(self, event: str, count: int) -> None:
        if self._crawler.stats is not None:
            self._crawler.stats.inc_value(f"spiderproj/render/{event}", count)


def _charset(item: Capture) -> str | None:
    return mediatype.parse([item.content_type]).charset if item.content_type else None


def _essence(item: Capture) -> str | None:
    return mediatype.parse([item.content_type]).essence if item.content_type else None
