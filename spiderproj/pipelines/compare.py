"""On a revisit: hold an answer against what is stored, before anything of it is replaced."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Self

from spiderproj import mediatype
from spiderproj.errors import SpiderprojError
from spiderproj.items import Capture
from spiderproj.models import LinkRole, ResourceType
from spiderproj.revisit import Seen, What, crowd, is_change, link_changes, main_digest, suspicion
from spiderproj.scope import Source
from spiderproj.store import readings
from spiderproj.store.changes import MAX_KEPT_BYTES, Comparison, Prior
from spiderproj.store.page_links import PageLinks
from spiderproj.urls import url_key

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy.crawler import Crawler

    from spiderproj.content import Reading
    from spiderproj.job import Job
    from spiderproj.models import Link
    from spiderproj.store.changes import Changes

_GONE = frozenset({404, 410})
_BESIDE = 64 * 1024
"""Bytes that are read in 10 ms; longer bodies are read beside the event loop."""


class ComparePipeline:
    """Say what a revisit finds changed, and hold back what is not believed: it gets a problem, and replaces nothing."""

    def __init__(self, job: Job, *, accepts: bool) -> None:
        self._job = job
        self._accepts = accepts
        self._links = PageLinks(job.database)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Take the spider's job, and read SPIDERPROJ_ACCEPT_CHANGES."""
        return cls(crawler.spider.job, accepts=crawler.settings.getbool("SPIDERPROJ_ACCEPT_CHANGES"))  # type: ignore[union-attr]  # our spiders have one

    async def process_item(self, item: object) -> object:
        """Fill in the ``comparison`` of *item*, when this is a revisit and the answer says something."""
        changes = self._job.changes
        if changes is None or not isinstance(item, Capture) or self._job.failure is not None:
            return item
        if item.is_good or item.final_url is not None or item.status in _GONE:
            try:
                await self._compare(item, changes)
            except SpiderprojError as error:
                self._job.fail(error)
        return item

    async def _compare(self, item: Capture, changes: Changes) -> None:
        prior = changes.prior(item.url.id)
        if prior is not None and changes.is_visited(prior):
            return
        if prior is None or (prior.content is None and prior.final_url is None):
            found = await self._new(item) if item.is_good else None
        elif item.is_good:
            found = await self._another(item, prior)
        elif item.final_url == prior.final_url and prior.content is None:
            found = None  # the same redirect, or gone as before
        else:
            found = await self._no_body(item, prior)
        if found is not None and not self._accepts and (reason := self._disbelief(item, found, changes)) is not None:
            found.what, item.problem, item.links = What.HELD_BACK, reason, []
        item.comparison = found

    def _disbelief(self, item: Capture, found: Comparison, changes: Changes) -> str | None:
        """Return why an answer is held back: for itself, or because too many others are the same; None when not."""
        if found.what is What.HELD_BACK:
            return item.problem
        if found.main is None or found.main == found.main_before:
            return None
        return crowd(changes.crowd(item.url.id, found), redirects=item.final_url is not None)

    async def _new(self, item: Capture) -> Comparison:
        seen = await self._seen(item)
        return Comparison(what=What.NEW, main=main_digest(seen), digest=item.digest)

    async def _no_body(self, item: Capture, prior: Prior) -> Comparison:
        """Return what an answer without a body says of a page or a redirect: a redirect, or that it is gone."""
        if item.final_url is None:
            found = Comparison(what=What.GONE, prior=prior)
        else:
            what = What.CHANGED if prior.content is None else What.MOVED
            found = Comparison(what=what, prior=prior, main=url_key(item.final_url))
        if prior.content is not None:
            before, found.body_before = await self._before(item, prior, is_drawn=False)
            found.main_before = main_digest(before)
        return found

    async def _another(self, item: Capture, prior: Prior) -> Comparison | None:
        """Return what another body for a URL says, None when it is the same body."""
        drawn = item.rendering.html if item.rendering is not None else b""
        if item.digest == prior.digest and not drawn:
            return None
        if prior.content is None:
            found = await self._new(item)
            found.what, found.prior = What.CHANGED, prior
            return found
        is_drawn = bool(drawn) and self._job.renderings.of(item.url.id) is not None
        before, body = await self._before(item, prior, is_drawn=is_drawn)
        after = await self._seen(item, is_drawn=is_drawn)
        learner = self._job.learner
        has_changed = is_change(before, after, None if learner is None else learner.noise_of(item.url.url))
        if item.digest == prior.digest and not has_changed:
            return None
        found = Comparison(
            what=What.CHANGED if has_changed else What.TOUCHED,
            prior=prior,
            main=main_digest(after),
            main_before=main_digest(before),
            digest=item.digest,
            links=link_changes(before.links, after.links),
            body_before=body,
        )
        if not self._accepts:
            reason = suspicion(before, after, is_seed=Source.of(item.url).is_seed)
            if reason is not None:
                found.what, item.problem = What.HELD_BACK, reason
        return found

    async def _before(self, item: Capture, prior: Prior, *, is_drawn: bool) -> tuple[Seen, bytes]:
        """Return what is stored of a URL, as it is compared and as bytes: none when it is long, or gone."""
        is_page = prior.type is ResourceType.HTML
        drawn = self._job.renderings.of(item.url.id) if is_drawn else None
        is_short = prior.size <= MAX_KEPT_BYTES
        body = (self._job.folder.body(prior.path, prior.digest) if is_short else None) or b""
        text = (drawn, "utf-8") if drawn else (body, _charset(prior.content_type))
        reading = await _read(*text) if is_page and body else None
        return Seen(prior.digest, reading, _targets(self._links.of(item.url.id)), is_page), body

    async def _seen(self, item: Capture, *, is_drawn: bool = False) -> Seen:
        is_page = item.type is ResourceType.HTML
        drawn = item.rendering.html if item.rendering is not None and is_drawn else b""
        text = (drawn, "utf-8") if drawn else (item.body, _charset(item.content_type))
        return Seen(item.digest, await _read(*text) if is_page else None, _targets(item.links), is_page)


async def _read(body: bytes, charset: str | None) -> Reading | None:
    """Return the reading of a page, None for one that is too long."""
    if len(body) > readings.MAX_BYTES:
        return None
    if len(body) > _BESIDE:
        return await asyncio.to_thread(partial(readings.read, body, charset))
    return readings.read(body, charset)


def _charset(content_type: str | None) -> str | None:
    return mediatype.parse([content_type or ""]).charset


def _targets(links: Iterable[Link]) -> tuple[str, ...]:
    return tuple(link.target for link in links if link.role is LinkRole.NAVIGATION and link.problem is None)
