"""robots.txt, asked before anything else of an origin (RFC 9309); the rules themselves are in spiderproj.robots."""

from __future__ import annotations

import asyncio
import logging
import time
from functools import lru_cache
from typing import TYPE_CHECKING, Self

from scrapy import Request
from scrapy.exceptions import NotConfigured
from scrapy.http.request import NO_CALLBACK

from spiderproj import steady, urls
from spiderproj.downloader.errors import NotNowError, PrivateAddressError
from spiderproj.models import Reason
from spiderproj.refusals import Postponed, Refused
from spiderproj.robots import Access, RobotsRules, RobotsState, parse, redirect_target
from spiderproj.scheduler import LEASE
from spiderproj.store.robots import keep_robots_state, robots_state

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from spiderproj.downloader.turns import Downloader
    from spiderproj.job import Job

logger = logging.getLogger(__name__)

_BODY_LIMIT = 600 * 1024  # bytes read of a robots.txt; the first 500 KiB count
_TIMEOUT = 30.0  # seconds for one answer, or DOWNLOAD_TIMEOUT when that is less
_PUT_OFF = 20.0  # seconds after which it is looked again whether other hosts have work
_RULES_KEPT = 2000  # origins whose parsed rules stay in memory


class RobotsMiddleware:
    """Refuse what robots.txt refuses; hold an origin's URLs while its robots.txt cannot be had."""

    def __init__(self, crawler: Crawler, token: str, patience: float, timeout: float) -> None:
        self._crawler = crawler
        self._job: Job = crawler.spider.job  # type: ignore[union-attr]  # our spiders have one
        self._patience = patience
        self._timeout = min(timeout, _TIMEOUT)
        self._rules = lru_cache(_RULES_KEPT)(lambda body: parse(body, token))
        self._guessed = frozenset(map(urls.origin, self._job.options.seed_fallbacks))
        self._states: dict[str, RobotsState] = {}
        self._asking: dict[str, asyncio.Task[RobotsState]] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Read ROBOTSTXT_OBEY, ROBOTSTXT_USER_AGENT, SPIDERPROJ_ROBOTS_WAIT and DOWNLOAD_TIMEOUT."""
        settings = crawler.settings
        if not settings.getbool("ROBOTSTXT_OBEY"):
            raise NotConfigured
        token = settings.get("ROBOTSTXT_USER_AGENT") or "spiderproj"
        return cls(crawler, token, settings.getfloat("SPIDERPROJ_ROBOTS_WAIT"), settings.getfloat("DOWNLOAD_TIMEOUT"))

    async def process_request(self, request: Request) -> None:
        """Let a request through when its origin's rules do: one of the crawl, or of a page that is drawn."""
        if LEASE not in request.meta and "obeys_robots" not in request.meta:
            return
        origin = urls.origin(request.url)
        state = self._states.get(origin) or robots_state(self._job.database, origin)
        if state.is_due(steady.now()):
            state = await self._renew(origin, state)
        if state.access is Access.RULES and state.body is not None:
            rules = self._rules(state.body)
            self._note_delay(origin, rules)
            if not rules.allows(request.url):
                raise Refused(Reason.ROBOTS, f"robots.txt: {rules.rule_for(request.url)}")
        elif state.access is Access.DISALLOW:
            self._hold(request, state)

    def _hold(self, request: Request, state: RobotsState) -> None:
        """Put the URL off while other hosts have work; give it up when only waiting would be left."""
        host_key = request.meta["download_slot"]
        if self._job.frontier.has_other_host(host_key) and not self._has_second_try(urls.origin(request.url), state):
            raise Postponed(min(state.retry_at, steady.now() + _PUT_OFF), state.cause)
        raise Refused(Reason.ROBOTS, f"unreachable: {state.cause}, so nothing may be fetched (RFC 9309, 2.3.1.4)")

    def _note_delay(self, origin: str, rules: RobotsRules) -> None:
        if rules.crawl_delay:
            downloader: Downloader = self._crawler.engine.downloader  # type: ignore[assignment]  # the DOWNLOADER setting
            downloader.set_crawl_delay(urls.split(origin + "/").authority, rules.crawl_delay)

    async def _renew(self, origin: str, state: RobotsState) -> RobotsState:
        """Ask for an origin's robots.txt, once for all the URLs that wait for it."""
        task = self._asking.get(origin)
        if task is None:
            task = asyncio.ensure_future(self._ask_patiently(origin, state))
            self._asking[origin] = task
            task.add_done_callback(lambda _: self._asking.pop(origin, None))
        return await asyncio.shield(task)

    async def _ask_patiently(self, origin: str, state: RobotsState) -> RobotsState:
        began, pause = time.monotonic(), 1.0
        while True:
            state = await self._ask(origin, state)
            self._states[origin] = state
            keep_robots_state(self._job.database, origin, state)
            left = self._patience - (time.monotonic() - began)
            if state.access is not Access.DISALLOW or left < pause or self._has_second_try(origin, state):
                return state
            logger.info("%s at %s: asking again in %.0f s", state.cause, origin, pause)
            await asyncio.sleep(pause)
            pause *= 2

    def _has_second_try(self, origin: str, state: RobotsState) -> bool:
        """Say whether http:// comes next for a seed without a scheme, whose https:// gave no answer."""
        return not state.status and origin in self._guessed

    async def _ask(self, origin: str, state: RobotsState) -> RobotsState:
        url, hops = f"{origin}/robots.txt", 0
        while True:
            try:
                response = await self._fetch(url)
            except PrivateAddressError as error:
                if hops:
                    return state.failed(steady.now())
                raise Refused(Reason.PRIVATE_ADDRESS, str(error)) from error
            if response is None:
                return state.failed(steady.now())
            location = response.headers.get(b"Location")
            target = redirect_target(url, response.status, urls.from_header(location) if location else None, hops)
            if target is None:
                return state.answered(response.status, response.body, steady.now())
            url, hops = target, hops + 1

    async def _fetch(self, url: str) -> Response | None:
        host_key = urls.split(url).authority
        meta = {
            "download_slot": host_key,
            "verbatim_url": True,
            "truncate_at": _BODY_LIMIT,
            "download_timeout": self._timeout,
            "auxiliary": "robots",
        }
        request = Request(url, callback=NO_CALLBACK, meta=meta)
        try:
            return await self._crawler.engine.download_async(request)
        except (PrivateAddressError, NotNowError):
            raise
        except Exception as error:  # noqa: BLE001 - whatever went wrong, the file is out of reach
            logger.debug("no answer from %s: %s", url, error)
            return None
