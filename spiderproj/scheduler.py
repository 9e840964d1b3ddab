"""The frontier seen as a Scrapy scheduler: it hands out one leased URL at a time, and commits in groups."""

from __future__ import annotations

import logging
from collections import Counter
from typing import TYPE_CHECKING, Any, Self

from scrapy import Request
from scrapy.core.scheduler import BaseScheduler
from scrapy.utils.asyncio import create_looping_call
from scrapy.utils.defer import _schedule_coro

from spiderproj import steady, urls
from spiderproj.errors import ArgumentError, SpiderprojError
from spiderproj.models import CrawlURL, Link, LinkRole
from spiderproj.scope import Source

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler

    from spiderproj.downloader.turns import Downloader
    from spiderproj.job import Job

logger = logging.getLogger(__name__)

PARKED = "parked"
"""The reason of a crawl that ended because the hosts of all URLs left are out of reach, or refuse."""

_ADVANCES = 10
"""Steps with held and trapped URLs before other work has its turn: each is a few hundred rows at most."""

WINDOW = "window"
"""The reason of a crawl that ended because its window closed."""

_NOTE_LIMIT = 1.0
"""Seconds between two notes of what limits the crawl, at least."""

_LOOK_AT_CLOCK = 30.0
"""Seconds between two looks at the clock, which somebody may set, while the window is closed."""

LEASE = "crawl_url"
"""The ``meta`` key under which a request carries its frontier row; a request without it is not a crawl request."""


class FrontierScheduler(BaseScheduler):
    """Lease URLs in strict order, as many for each host as it may be asked at once."""

    def __init__(self, crawler: Crawler, interval: float, file_maxsize: int) -> None:
        self._crawler = crawler
        self._interval = interval
        self._file_maxsize = file_maxsize
        self._leases: Counter[str] = Counter()
        self._wake_call: Any = None
        self._commits: Any = None
        self._limit = ""
        self._limit_due = 0.0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Read SPIDERPROJ_COMMIT_INTERVAL and SPIDERPROJ_FILE_MAXSIZE."""
        settings = crawler.settings
        interval = settings.getfloat("SPIDERPROJ_COMMIT_INTERVAL")
        if not 0 < interval <= 60:
            raise ArgumentError("SPIDERPROJ_COMMIT_INTERVAL", interval, "seconds from just over 0 to 60")
        return cls(crawler, interval, settings.getint("SPIDERPROJ_FILE_MAXSIZE"))

    def open(self, spider: Spider) -> None:
        """Take the spider's job and begin to commit."""
        self.job: Job = spider.job  # type: ignore[attr-defined]  # our spiders have one
        self._spider = spider
        self._downloader: Downloader = self._crawler.engine.downloader  # type: ignore[assignment]  # the DOWNLOADER setting
        self._downloader.on_room = self._unblock
        self._downloader.counts = self.job.counts
        self.job.on_ended = self._ended
        self._commits = create_looping_call(self._commit)
        self._commits.start(self._interval, now=False)

    def close(self, reason: str) -> None:  # noqa: ARG002 - Scrapy's signature
        """Stop committing; the summary extension closes the job."""
        self._commits.stop()
        if self._wake_call is not None:
            self._wake_call.cancel()

    def has_pending_requests(self) -> bool:
        """Say whether any URL is waiting, leased or to be tried again."""
        return self.job.frontier.pending > 0 or any(holder.has_work for holder in self.job.holders)

    def enqueue_request(self, request: Request) -> bool:
        """Take in a request that a foreign component made: its URL is judged like any link."""
        try:
            url = urls.canonical(request.url)
        except urls.RefusedURLError:
            return False  # a row that cannot be read again would stop the crawl
        link = Link(url, "", "request", "", "", LinkRole.NAVIGATION, None)
        known = self.job.decisions.known(url)
        if known is None:
            self.job.decisions.decide(Source(None, "", 0, LinkRole.NAVIGATION), [link])
        return known is None

    def next_request(self) -> Request | None:
        """Return the next URL's request, None while no host is ready."""
        if self.job.failure is not None or not self.job.is_ready or not self._is_open():
            return None
        now = steady.now()
        try:
            leased = self._lease(now)
            if leased is not None:
                return self._request(leased)
            self._wake_later(now)
            self._end_when_parked()
        except SpiderprojError as error:
            self.job.fail(error)
        return None

    def _is_open(self) -> bool:
        """Say whether the window is open; while it is not, ask again now and then, or end the crawl."""
        closed = self.job.closed_for()
        if not closed:
            return True
        if not self.job.waits:
            _schedule_coro(self._crawler.engine.close_spider_async(reason=WINDOW))
        elif self._wake_call is None:
            self._wake_call = self._downloader.call_later(min(closed, _LOOK_AT_CLOCK), self._woken)
        return False

    def _lease(self, now: float) -> CrawlURL | None:
        """Lease the next URL that is no trap; when there is none, let go of some that are held or set aside."""
        quarantine = self.job.quarantine
        for _ in range(_ADVANCES):
            leased = self.job.lease(now, self._wait)
            if leased is None:
                if not any(holder.advance() for holder in self.job.holders):
                    return None
            elif quarantine is None or quarantine.admits(leased):
                return leased
        self._wake()
        return None

    def _end_when_parked(self) -> None:
        """End the crawl when every URL that is left is of a host that is given up for this run."""
        frontier = self.job.frontier
        if self._leases or frontier.pending <= frontier.held or frontier.waiting():
            return
        if all(map(self._downloader.is_parked, frontier.waiting_hosts())):
            _schedule_coro(self._crawler.engine.close_spider_async(reason=PARKED))

    def _ended(self, url: CrawlURL) -> None:
        """Note that a lease has ended, so that its host may be given another."""
        host_key = self._downloader.host_key(url.url)
        self._leases[host_key] -= 1
        if self._leases[host_key] <= 0:
            del self._leases[host_key]
        self._unblock(host_key)

    def _request(self, leased: CrawlURL) -> Request:
        host_key = self._downloader.host_key(leased.url)
        self._leases[host_key] += 1
        meta = {
            LEASE: leased,
            "download_slot": host_key,
            "verbatim_url": True,
            "spool": self.job.spool,
            "spool_maxsize": self._file_maxsize,
        }
        spider: Any = self._spider
        asks_anew = self.job.state == "new" or self.job.draws_anew
        headers = None if asks_anew else self._conditions(leased)
        return Request(leased.url, callback=spider.parse, errback=spider.failed, meta=meta, headers=headers)

    def _conditions(self, leased: CrawlURL) -> dict[str, str]:
        """Return the headers that ask for a body only where it has changed (RFC 9110, 13.1)."""
        validators = self.job.ledger.validators(leased)
        is_unrecorded = self.job.options.warc and self.job.folder.captures.stamp(leased.url) is None
        if validators is None or is_unrecorded:
            return {}
        named = {"If-None-Match": validators.etag, "If-Modified-Since": validators.last_modified}
        return {name: value for name, value in named.items() if value}

    def _wait(self, host_key: str) -> float:
        if self._leases[host_key] >= self._downloader.concurrency(host_key):
            return 1.0
        return self._downloader.wait(host_key)

    def _unblock(self, host_key: str) -> None:
        self.job.frontier.unblock(host_key)
        self._wake()

    def _wake(self) -> None:
        slot = self._crawler.engine._slot  # no public way to wake the engine (tests/test_facts.py)
        if slot is not None:
            slot.nextcall.schedule()

    def _wake_later(self, now: float) -> None:
        """Have the engine ask again when the first URL that waits for a time is ready."""
        due = self.job.frontier.next_time()
        if due is not None and self._wake_call is None:
            self._wake_call = self._downloader.call_later(max(due - now, 0.0) + 0.001, self._woken)

    def _woken(self) -> None:
        self._wake_call = None
        self._wake()

    def _commit(self) -> None:
        if self.job.failure is not None:
            return  # what was written since then is not whole
        try:
            self._note_limit(steady.now())
            self.job.commit()
            self.job.folder.check_room()
        except SpiderprojError as error:
            self.job.fail(error)

    def _note_limit(self, now: float) -> None:
        """Keep in the store what limits the crawl, for who watches it from another process."""
        if now < self._limit_due:
            return
        self._limit_due = now + _NOTE_LIMIT
        limit = self._limited_by()
        if limit != self._limit:
            self.job.database.set_meta("limited_by", limit)
            self._limit = limit

    def _limited_by(self) -> str:
        """Return what limits the crawl, in words."""
        if self.job.closed_for():
            return f"window {self.job.options.window}, closed now"
        frontier = self.job.frontier
        if frontier.pending and frontier.pending == frontier.waiting():
            return "waiting to try again what failed"
        return self._downloader.main_limit()
