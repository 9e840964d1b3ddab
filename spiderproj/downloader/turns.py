"""Whose turn it is: every request, whoever made it, waits for its host's concurrency, delay and back-off here.

Replaces Scrapy's downloader core, which does not enforce the per-host concurrency (tests/test_facts.py) and spends two
tasks and a Deferred on each request. Its interface to the engine is kept.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter, deque
from collections.abc import Callable
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

from scrapy.core.downloader import Downloader as ScrapyDownloader
from scrapy.settings import SETTINGS_PRIORITIES

from spiderproj import steady, urls
from spiderproj.addresses import literal
from spiderproj.downloader.errors import NotNowError
from spiderproj.politeness import HostPoliteness

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)

_IDLE_SLOTS = 10_000  # hosts whose politeness stays in memory
_LOOK_AGAIN = 1.0  # seconds after which a request that waits for its turn looks whether the crawl is ending


class HostSlot:
    """One host's turns."""

    def __init__(self, politeness: HostPoliteness, concurrency: int) -> None:
        self.politeness = politeness
        self.concurrency = concurrency
        self.active = 0
        self.started = 0
        self.queue: deque[asyncio.Future[None]] = deque()
        self.timer: asyncio.TimerHandle | None = None

    def wait(self, now: float) -> float:
        """Return the seconds until another request may start; infinite while only the end of one can make room."""
        if self.queue or self.active >= self.concurrency:
            return float("inf")
        return max(self.politeness.ready_at() - now, 0.0)


class Downloader(ScrapyDownloader):
    """Scrapy's downloader with our turns; set ``on_room`` to hear of a host that may be asked again."""

    on_room: Callable[[str], None]
    counts: Counter[str]

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._crawler = crawler
        self._hosts: dict[str, HostSlot] = {}
        self._retry_after_max = crawler.settings.getfloat("SPIDERPROJ_RETRY_AFTER_MAX")
        self._is_delay_explicit = _is_explicit(crawler.settings, "DOWNLOAD_DELAY")
        self._room_timers: dict[str, asyncio.TimerHandle] = {}
        self.on_room = lambda _: None
        self.counts = Counter()

    def host_key(self, url: str) -> str:
        """Return what politeness goes by: host and port."""
        return urls.split(url).authority

    def concurrency(self, host_key: str) -> int:
        """Return how many requests the host may be answering at once."""
        return self._slot(host_key).concurrency

    def wait(self, host_key: str) -> float:
        """Return 0 when the host may be asked now; else see to it that ``on_room`` is called when it may."""
        wait = self._slot(host_key).wait(time.monotonic())
        if 0 < wait < float("inf") and host_key not in self._room_timers:
            self._room_timers[host_key] = self.call_later(wait, self._room, host_key)
        return wait

    def call_later(self, seconds: float, function: Callable[..., None], *args: object) -> asyncio.TimerHandle:
        """Call *function* after *seconds*."""
        return asyncio.get_running_loop().call_later(seconds, function, *args)

    def set_crawl_delay(self, host_key: str, seconds: float) -> None:
        """Take over a Crawl-delay of robots.txt."""
        self._slot(host_key).politeness.set_crawl_delay(seconds)

    def limited_by(self, host_key: str) -> str:
        """Return what limits the host, in words."""
        return self._slot(host_key).politeness.limited_by(time.monotonic())

    def main_limit(self) -> str:
        """Return what limits the host that is asked most, in words."""
        busiest = max(self._hosts.values(), key=lambda slot: slot.started, default=None)
        return busiest.politeness.limited_by(time.monotonic()) if busiest else "nothing yet"

    def slot_of(self, url: str) -> HostSlot:
        """Return the turns of the host of *url*."""
        return self._slot(self.host_key(url))

    def is_parked(self, host_key: str) -> bool:
        """Say whether the host is given up for this run."""
        return self._slot(host_key).politeness.parked

    def close(self) -> None:
        """Cancel what still waits."""
        super().close()
        for timer in (*self._room_timers.values(), *(slot.timer for slot in self._hosts.values() if slot.timer)):
            timer.cancel()

    async def _enqueue_request(self, request: Request) -> Response:
        """Wait for the request's turn and send it; the engine calls this behind the downloader middlewares."""
        host_key = request.meta.get("download_slot") or self.host_key(request.url)
        slot = self._slot(host_key)
        await self._turn(slot)
        self.counts[f"requests.{request.method}"] += 1
        began = time.monotonic()
        try:
            response = await self.handlers.download_request_async(request)
        except Exception as error:
            self._note_failure(host_key, slot, error)
            raise
        else:
            self._note_answer(
                host_key, slot, response, request.meta.get("download_latency", 0.0) or (time.monotonic() - began)
            )
            return response
        finally:
            slot.active -= 1
            self._next(slot)
            if not slot.queue:
                self.on_room(host_key)

    async def _turn(self, slot: HostSlot) -> None:
        now = time.monotonic()
        if slot.wait(now) > 0:
            turn = asyncio.get_running_loop().create_future()
            slot.queue.append(turn)
            self._next(slot)
            await turn
        else:
            self._start(slot, now)

    def _start(self, slot: HostSlot, now: float) -> None:
        slot.active += 1
        slot.started += 1
        slot.politeness.on_start(now)

    def _next(self, slot: HostSlot) -> None:
        """Give turns to those who wait, as far as the host allows."""
        while slot.queue and slot.active < slot.concurrency:
            now = time.monotonic()
            wait = slot.politeness.ready_at() - now
            if wait > 0:
                if slot.politeness.parked or self._is_ending():
                    self._give_back(slot, steady.now() + (0 if slot.politeness.parked else wait))
                elif slot.timer is None:
                    slot.timer = self.call_later(min(wait, _LOOK_AGAIN), self._timed, slot)
                return
            turn = slot.queue.popleft()
            if not turn.cancelled():
                self._start(slot, now)
                turn.set_result(None)

    def _is_ending(self) -> bool:
        """Say whether the engine only waits for what is in flight (no public way: tests/test_facts.py)."""
        slot = self._crawler.engine._slot
        return slot is not None and slot.closing is not None

    def _give_back(self, slot: HostSlot, until: float) -> None:
        """Send away those who wait: a turn that may come in an hour, or never, must not hold the end of a crawl."""
        while slot.queue:
            turn = slot.queue.popleft()
            if not turn.cancelled():
                turn.set_exception(NotNowError(until))

    def _timed(self, slot: HostSlot) -> None:
        slot.timer = None
        self._next(slot)

    def _room(self, host_key: str) -> None:
        self._room_timers.pop(host_key, None)
        self.on_room(host_key)

    def _note_answer(self, host_key: str, slot: HostSlot, response: Response, latency: float) -> None:
        retry_after = response.headers.get(b"Retry-After") if response.status in {429, 503} else None
        wait = slot.politeness.on_response(
            time.monotonic(), time.time(), response.status, latency,
            retry_after.decode("latin-1") if retry_after else None,
        )  # fmt: skip
        if wait is not None:
            logger.info("%s: %s", host_key, wait.cause)

    def _note_failure(self, host_key: str, slot: HostSlot, error: Exception) -> None:
        kind = getattr(error, "kind", type(error).__name__)
        if kind in _OF_THE_HOST:
            wait = slot.politeness.on_failure(time.monotonic(), time.time(), kind)
            if wait is not None:
                logger.info("%s: %s", host_key, wait.cause)

    def _slot(self, host_key: str) -> HostSlot:
        slot = self._hosts.get(host_key)
        if slot is None:
            if len(self._hosts) >= _IDLE_SLOTS:
                self._forget_idle()
            own: dict[str, Any] = self.per_slot_settings.get(host_key, {})
            base = own.get("delay", self._base_delay(host_key))
            concurrency = own.get("concurrency", self.domain_concurrency)
            politeness = HostPoliteness(base_delay=base, concurrency=concurrency, retry_after_max=self._retry_after_max)
            slot = self._hosts[host_key] = HostSlot(politeness, concurrency)
        return slot

    def _base_delay(self, host_key: str) -> float:
        if not self._is_delay_explicit and _is_loopback(host_key):
            return 0.0
        return self._delay

    def _forget_idle(self) -> None:
        now = time.monotonic()
        idle = [key for key, slot in self._hosts.items() if not slot.active and slot.wait(now) == 0]
        for key in idle[: _IDLE_SLOTS // 2]:
            del self._hosts[key]


_OF_THE_HOST = frozenset({"timeout", "refused", "dns", "reset"})
"""Kinds of failure that speak of the host, not of one page."""


def _is_loopback(host_key: str) -> bool:
    host = urls.split(f"http://{host_key}/").host
    address = literal(host)
    return ip_address(address).is_loopback if address else host == "localhost" or host.endswith(".localhost")


def _is_explicit(settings: BaseSettings, name: str) -> bool:
    """Say whether somebody set *name* on purpose, over the default of the add-on."""
    return (settings.getpriority(name) or 0) > SETTINGS_PRIORITIES["addon"]
