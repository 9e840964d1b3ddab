"""``scrapy crawl survey``: look at a site before crawling it (docs/survey.md)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
from scrapy.utils.defer import _schedule_coro
from scrapy.utils.misc import load_object

from spiderproj.errors import ArgumentError, SpiderprojError
from spiderproj.exports import write_whole
from spiderproj.job import Job
from spiderproj.politeness import forecast
from spiderproj.probing import Listed, Probes, probe
from spiderproj.sampling import HUBS, Sampler
from spiderproj.sitemaps import SitemapWalk
from spiderproj.sources import sign_in, sitemap_files
from spiderproj.spiders.site import SiteSpider
from spiderproj.store import Database
from spiderproj.store.sampled import sampled
from spiderproj.survey import SurveyOptions, parse_survey_arguments, render
from spiderproj.survey.records import Rate, SitemapFile

if TYPE_CHECKING:
    from spiderproj.downloader.turns import Downloader

RESULT = "survey.json"

_LOOK_AT = "spiderproj.findings.look"
"""Imported only where a survey ends: every crawl imports the spiders."""
_PROBES = 50  # requests that are kept for what is asked beside reading pages, or a fifth of all
_SITEMAPS, _ENTRIES = 10, 100_000  # sitemaps that are read, and entries that are kept of them
_LOOK = 0.05  # seconds between two looks whether the sample is whole


class SurveySpider(SiteSpider):
    """Read some pages of a site, and say what it holds and what each kind of crawl would come to."""

    name = "survey"
    survey_options: SurveyOptions
    text: str | None = None  # what was found, for people

    def take_arguments(self, raw: dict[str, str]) -> None:
        """Check the arguments; ArgumentError before any request."""
        self.survey_options = parse_survey_arguments(raw, Path.cwd())
        self.options = self.survey_options.crawl

    @cached_property
    def job(self) -> Job:
        """The survey's job; an earlier survey that is whole is set aside, one that is not goes on."""
        _check_folder(self.options.out)
        is_whole = (self.options.out / RESULT).is_file()
        self.options = replace(self.options, fresh=is_whole)
        job = Job(self.options, self.settings)
        limit = self.survey_options.fetches
        self._sampler = Sampler(job, limit - min(_PROBES, limit // 5), self._spent)
        return job

    async def start(self) -> AsyncIterator[Any]:
        """Read sitemaps while the sample is read, ask the rest, and write what was found."""
        job = self.job
        self._began, self._cpu_before, self._spent_before = time.monotonic(), time.process_time(), self._spent()
        try:
            await sign_in(self.crawler, job)
            listed = await self._listed()
            while self._is_open and not self._sampler.is_done:  # noqa: ASYNC110 - nothing tells of all that ends it
                await asyncio.sleep(_LOOK)
            cpu = (time.process_time() - self._cpu_before) / max(self._spent() - self._spent_before, 1)
            if self._is_open:
                probes = await probe(self.crawler, sampled(job.database), self._left)
                job.commit()
                await self._write(listed, probes, self._rate(cpu))
        except SpiderprojError as error:
            job.fail(error)
        _schedule_coro(self.crawler.engine.close_spider_async(reason="finished"))
        for _ in ():
            yield _

    @property
    def _is_open(self) -> bool:
        return not self.job.is_sealed and self.job.failure is None

    def _spent(self) -> int:
        """Return how many requests were made; one that a closing connection swallowed was made twice."""
        again: int = self.crawler.stats.get_value("spiderproj/connections/retried", 0)
        return again + sum(self._requests().values())

    def _requests(self) -> dict[str, int]:
        return {name.removeprefix("requests."): count for name, count in sorted(self.job.counts.items())
                if name.startswith("requests.")}  # fmt: skip

    def _left(self) -> int:
        return self.survey_options.fetches - self._spent()

    async def _listed(self) -> Listed:
        """Read some of the sitemaps."""
        listed, most = Listed(), min(_SITEMAPS, self.survey_options.fetches // 10)
        async with aclosing(sitemap_files(self.crawler, self.job, SitemapWalk())) as files:
            async for url, found in files:
                listed.add(SitemapFile(url=url, kind=found.kind, entries=len(found.entries)), found, _ENTRIES)
                if len(listed.files) >= most:
                    break
        return listed

    def _rate(self, cpu: float) -> Rate:
        """Return how fast a crawl may ask; a request takes *cpu* seconds of this machine's processor."""
        downloader: Downloader = self.crawler.engine.downloader  # type: ignore[assignment]  # the DOWNLOADER setting
        slot = downloader.slot_of(self.options.seeds[0])
        latency = slot.politeness.learned(time.monotonic(), time.time()).mean_latency
        hourly = forecast(slot.politeness.delay, slot.concurrency, latency)
        return Rate(
            requests=self._requests(), limit=self.survey_options.fetches, seconds=time.monotonic() - self._began,
            seconds_per_request=max(3600 / hourly, cpu), delay=slot.politeness.delay,
            limited_by=downloader.limited_by(downloader.host_key(self.options.seeds[0])),
        )  # fmt: skip

    async def _write(self, listed: Listed, probes: Probes, rate: Rate) -> None:
        """Write ``survey.json``; what is to be said is worked out beside the event loop."""
        look = load_object(_LOOK_AT)
        survey = await asyncio.to_thread(look, self.survey_options, self.settings, listed, probes, rate)
        if survey is not None:
            write_whole(self.options.out / RESULT, [orjson.dumps(survey, option=orjson.OPT_INDENT_2) + b"\n"])
            self.text = render(survey)


def _check_folder(out: Path) -> None:
    """Raise ArgumentError when *out* holds a crawl: a survey would go on with it under other arguments."""
    if not (out / "crawl.db").is_file():
        return
    with Database(out / "crawl.db", read_only=True) as database:
        if database.meta(HUBS) is None and database.scalar("SELECT 1 FROM fetches LIMIT 1") is not None:
            raise ArgumentError("out", str(out), "a folder of the survey's own: this one holds a crawl")
