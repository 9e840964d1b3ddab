"""One Chromium with its driver: no network, no state, bounded memory; replaced after so many pages, or its death."""

from __future__ import annotations

import asyncio
import logging
import os
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Final, Self

from playwright.async_api import Error as BrowserError
from playwright.async_api import async_playwright

from spiderproj.browser import processes

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from playwright.async_api import Browser, BrowserContext, Playwright

logger = logging.getLogger(__name__)

MAX_PAGES: Final = 100
_START_SECONDS: Final = 30.0
_CLOSE_SECONDS: Final = 5.0
_LOOK_SECONDS: Final = 0.2  # a look takes 3 ms
PROCESS_BYTES: Final = 1024 * 1024 * 1024  # of one process, by the kernel: how much it can gain between two looks
_DRIVER: Final = b"run-driver"  # on the command line of Playwright's driver

# Every request is answered by us (page.py). Should one get past: no name and no address resolves, that of the proxy
# neither, so that no socket is ever opened.
_WALL: Final = (
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-server=http://no-network.invalid:9",
    "--proxy-bypass-list=<-loopback>",
    "--disable-quic",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy",
)
_LEAN: Final = (
    "--js-flags=--max-old-space-size=512",
    "--disable-gpu",
    "--mute-audio",
)


class Chromium:
    """A running browser."""

    def __init__(self, playwright: Playwright, browser: Browser, driver: int, memory_limit: int) -> None:
        self._playwright = playwright
        self._browser = browser
        self._driver = driver
        self._memory_limit = memory_limit
        self._pages = self._users = 0
        self._watch: asyncio.Task[None] | None = None
        self.death: str | None = None  # why it was ended
        self.peak_bytes = 0

    @classmethod
    async def start(cls, executable: str, memory_limit: int) -> Self:
        """Return a new browser; raises BrowserError or TimeoutError when it does not start."""
        before = processes.children(_DRIVER)
        try:
            async with asyncio.timeout(_START_SECONDS):
                playwright = await async_playwright().start()
                driver = _new(before)[0]
                processes.limit_memory(driver, PROCESS_BYTES)
                browser = await playwright.chromium.launch(
                    executable_path=executable,
                    args=[*_WALL, *_LEAN],
                    chromium_sandbox=os.geteuid() != 0,  # Chromium refuses to run as root with it
                    env=_environment(),
                    handle_sigint=False,
                    handle_sigterm=False,
                    handle_sighup=False,
                    timeout=0,
                )
        except BaseException:
            for pid in _new(before):
                processes.end(pid)
            raise
        return cls(playwright, browser, driver, memory_limit)

    @property
    def is_usable(self) -> bool:
        """Whether another page may be drawn in it."""
        return not self.is_dead and self._pages < MAX_PAGES

    @property
    def is_dead(self) -> bool:
        """Whether its processes have ended, or were."""
        return self.death is not None or not self._browser.is_connected()

    @property
    def is_idle(self) -> bool:
        """Whether no page is drawn in it."""
        return not self._users

    @asynccontextmanager
    async def context(self) -> AsyncIterator[BrowserContext]:
        """Give a context that shares nothing with others; a browser that cannot close it is ended."""
        self._pages += 1
        self._users += 1
        if self._watch is None:
            self._watch = asyncio.ensure_future(self._look())
        context = None
        try:
            async with asyncio.timeout(_START_SECONDS):
                context = await self._browser.new_context(
                    accept_downloads=False, service_workers="block", permissions=[], locale="en-US"
                )
            yield context
        finally:
            self._users -= 1
            await self._end_context(context)

    async def close(self) -> None:
        """End the browser and its driver, by force when they do not end by themselves."""
        if self._watch is not None:
            self._watch.cancel()
        if self.death is None:
            with suppress(BrowserError, TimeoutError):
                async with asyncio.timeout(_CLOSE_SECONDS):
                    await self._browser.close()
        with suppress(Exception):  # a driver that was ended complains in many ways
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self._playwright.stop()
        processes.end(self._driver)

    def end(self, why: str) -> None:
        """End the browser's processes at once; the driver sees it, and ends with ``close``."""
        if self.death is None:
            self.death = why
            logger.warning("the browser is ended: %s", why)
            processes.end(self._driver, but_root=True)

    async def _end_context(self, context: BrowserContext | None) -> None:
        if context is None or self.death is not None:
            return
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                await context.close()
        except TimeoutError:
            self.end("hang")
        except BrowserError:
            self.end("crash")

    async def _look(self) -> None:
        """Look at the memory of all its processes while pages are drawn."""
        while self.death is None:
            if self._users:
                taken = processes.resident_bytes(processes.tree(self._driver))
                self.peak_bytes = max(self.peak_bytes, taken)
                if taken > self._memory_limit:
                    self.end("memory")
            await asyncio.sleep(_LOOK_SECONDS)


def _new(before: list[int]) -> list[int]:
    """Return the drivers that are not among those of *before*."""
    return [pid for pid in processes.children(_DRIVER) if pid not in before]


def _environment() -> dict[str, str | float | bool]:
    """Return what a browser needs to start: nothing of ours, where secrets may be."""
    return {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR", "LANG") if name in os.environ}
