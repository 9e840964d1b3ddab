"""``scrapy crawl site``: copy a site within a scope (docs/arguments.md)."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from scrapy import Spider

from spiderproj.arguments import CrawlOptions, parse_arguments
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

logger = logging.getLogger(__name__)

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
        spider.options = parse_arguments(raw, Path.cwd())
        return spider

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

    @property
    def seed_addresses(self) -> list[tuple[str, int]]:
        """Host and port of each seed: what may be dialled although it is not public."""
        seeds = (*self.options.seeds, *self.options.seed_fallbacks.values())
        return [(parts.host, port_number(parts)) for parts in map(split, seeds)]

    async def start(self) -> AsyncIterator[Any]:
        """Sign in and read sitemaps; the seeds are in the frontier already."""
        try:
            await sign_in(self.crawler, self.job)
            await read_sitemaps(self.crawler, self.job)
        except SpiderprojError as error:
            self.job.fail(error)
        for _ in ():
            yield _

    def parse(self, response: Response, **_: Any) -> list[Capture]:  # noqa: ANN401 - Scrapy's signature
        """Return the capture that *response* is."""
        url: CrawlURL = response.meta[LEASE]
        working_on(url.url)
        try:
            item = self.reader.capture(response, url)
        except Exception as error:
            logger.exception("cannot read %s", url.url[:200])
            return [Capture(url=url, fetched_at=time.time(), problem=f"internal: {type(error).__name__}")]
        if Source.of(url).is_seed and item.final_url is not None and (home := moved_home(url.url, item.final_url)):
            self.job.move_home(url.url, home)
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
