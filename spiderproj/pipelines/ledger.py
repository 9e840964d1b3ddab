"""The end of an answer's way: its rows, its links' decisions and the end of its lease, and the JSON lines."""

from __future__ import annotations

import asyncio
import random
from functools import partial
from typing import TYPE_CHECKING, Self

from scrapy import signals

from spiderproj import mediatype, steady
from spiderproj.errors import SpiderprojError
from spiderproj.extensions.watchdog import working_on
from spiderproj.files import json_line
from spiderproj.items import Capture, LinkItem
from spiderproj.models import ResourceType
from spiderproj.revisit import What
from spiderproj.scope import Source
from spiderproj.store import PART, LinkRow, Outcome, readings
from spiderproj.store.lines import link_lines
from spiderproj.store.quarantine import Brought
from spiderproj.store.trials import Answer
from spiderproj.traps import content_digest
from spiderproj.urls import url_key

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from spiderproj.job import Job

REDIRECT_LOOP = "redirect-loop"
_GONE = frozenset({404, 410})
"""Answers that say what the page is now: there is none. No other that is not a whole body says anything about it."""


class LedgerPipeline:
    """Record every capture; put back what is to be tried again."""

    def __init__(self, crawler: Crawler, retries: int) -> None:
        self._crawler = crawler
        self._job: Job = crawler.spider.job  # type: ignore[union-attr]  # our spiders have one
        self._retries = retries
        self._has_feeds = bool(crawler.settings.getdict("FEEDS"))

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Read RETRY_TIMES."""
        return cls(crawler, crawler.settings.getint("RETRY_TIMES"))

    async def process_item(self, item: object) -> object:
        """Write what *item* says about its URL."""
        if isinstance(item, Capture) and self._job.failure is None:
            try:
                rows = await self._write(item)
            except SpiderprojError as error:
                self._job.fail(error)
            else:
                self._job.ended(item)
                if self._has_feeds and rows:
                    await self._feed(item, rows)
        return item

    async def _write(self, item: Capture) -> list[LinkRow]:
        if item.wait_until is not None:
            self._job.frontier.release(item.url.id, item.wait_until, failed=False)
        elif item.retry and item.url.attempts < self._retries:
            self._job.frontier.release(item.url.id, steady.now() + _pause(item.url.attempts), failed=True)
        elif item.is_unchanged:
            anew = self._job.judges_anew or self._has_feeds
            rows = self._job.ledger.unchanged(item.url, item.fetched_at, item.seconds, anew=anew)
            if rows is not None:
                self._learn(item, [], 0)
                return rows
            self._job.frontier.release(item.url.id, steady.now(), failed=False)  # without validators next time
        elif item.refusal is not None:
            self._job.ledger.refuse(item.url, item.refusal, item.type)
        elif item.status == 0:
            self._job.ledger.record_failure(item.url, _outcome(item))
        else:
            first_new = self._job.decisions.next_id
            rows = self._record(item, await self._decide(item))
            self._learn(item, rows, first_new)
            return rows
        self._learn(item, [], 0)
        return []

    def _learn(self, item: Capture, rows: list[LinkRow], first_new: int) -> None:
        """Let the learner know what came of *item*, unless it is still to come."""
        learner, quarantine = self._job.learner, self._job.quarantine
        if item.wait_until is not None or (item.retry and item.url.attempts < self._retries):
            return
        if learner is not None:
            says_something = (item.is_good and item.content is not None) or item.final_url is not None
            answer = Answer(item.content, item.final_url) if says_something else None
            learner.observe(item.url, answer, rows, first_new)
        if quarantine is not None:
            quarantine.observe(item.url, _brought(item))

    async def _decide(self, item: Capture) -> list[LinkRow]:
        """Return the decided links of *item*; other work is done between the parts of a long list."""
        decisions, source = self._job.decisions, Source.of(item.url)
        if len(item.links) <= PART:
            return decisions.decide(source, item.links)
        rows: list[LinkRow] = []
        for part in decisions.decide_in_parts(source, item.links):
            rows += part
            await asyncio.sleep(0)
            working_on(item.url.url)
        return rows

    def _record(self, item: Capture, rows: list[LinkRow]) -> list[LinkRow]:
        ledger = self._job.ledger
        if item.final_url is not None and ledger.is_loop(item.url.url, item.final_url):
            item.problem = REDIRECT_LOOP
        outcome = _outcome(item)
        self._keep_replaced(item)
        if item.problem is not None and item.status not in _GONE and not _is_unplaced(item):
            ledger.record_failure(item.url, outcome, rows)
        else:
            ledger.record_decided(item.url, outcome, rows)
        if self._job.changes is not None and item.comparison is not None:
            self._job.changes.note(item.url.id, item.comparison)
        self._keep_rendering(item)
        self._job.lines["pages"].append(json_line(page_line(item)))
        self._job.lines["links"].append(link_lines(item.url.url, rows))
        return rows

    def _keep_replaced(self, item: Capture) -> None:
        """Keep what *item* replaces until its change is believed; undo the replacements that are not."""
        changes, found = self._job.changes, item.comparison
        if changes is None or found is None:
            return
        if found.what is What.HELD_BACK and item.problem is not None:
            changes.take_back(item.url.id, found, item.problem)
        elif not item.is_good and item.final_url is None and item.status not in _GONE:
            item.comparison = None  # it could not be stored
        else:
            changes.keep(item.url.id, found)

    def _keep_rendering(self, item: Capture) -> None:
        """Keep the page as drawn, one of several that are the same once; a new body ends what was drawn of the old."""
        drawn, kept = item.rendering, self._job.renderings
        if drawn is not None:
            html = drawn.html if item.duplicate_of is None else b""
            kept.keep(item.url.id, drawn.sign, drawn.failure, html)
        elif item.content is not None:
            kept.forget(item.url.id)

    async def _feed(self, item: Capture, rows: list[LinkRow]) -> None:
        """Hand the links to the feeds, which listen for scraped items."""
        for row in rows:
            await self._crawler.signals.send_catch_log_async(
                signals.item_scraped,
                item=LinkItem(**link_line(item.url.url, row)),  # type: ignore[arg-type]  # the same names
                response=None,
                spider=self._crawler.spider,
            )


def _is_unplaced(item: Capture) -> bool:
    """Say whether *item* was a good answer that no file could be made of: what is there is not what its row says."""
    is_held_back = item.comparison is not None and item.comparison.what is What.HELD_BACK
    return bool(item.digest) and not is_held_back


def _brought(item: Capture) -> Brought | None:
    """Return what *item* has brought, None when it is no whole answer."""
    if item.final_url is not None:
        return Brought(url_key(item.final_url))
    if not item.is_good or not item.digest:
        return None
    digest = int.from_bytes(item.digest[:8], "big", signed=True)
    is_read = item.type is ResourceType.HTML and len(item.body) <= readings.MAX_BYTES
    return Brought(digest, item.title, partial(_main_content, item) if is_read else None)


def _main_content(item: Capture) -> int:
    """Return the digest of a page's main content, 0 when it has none."""
    drawn = item.rendering.html if item.rendering is not None else b""
    charset = None if drawn else mediatype.parse([item.content_type or ""]).charset
    return content_digest(readings.read(drawn or item.body, "utf-8" if drawn else charset))


def _outcome(item: Capture) -> Outcome:
    return Outcome(
        status=item.status,
        fetched_at=item.fetched_at,
        seconds=item.seconds,
        final_url=item.final_url,
        type=item.type,
        content_type=item.content_type,
        size=item.size,
        content=item.content,
        duplicate=item.duplicate_of is not None,
        etag=item.etag,
        last_modified=item.last_modified,
        title=item.title,
        error=item.problem,
    )


def page_line(item: Capture) -> dict[str, object]:
    """Return the line of ``pages.jsonl`` for *item*."""
    return {
        "url": item.url.url,
        "final_url": item.final_url or item.url.url,
        "status": item.status,
        "type": item.type,
        "content_type": item.content_type,
        "size": item.size,
        "digest": f"sha256:{item.digest.hex()}" if item.digest else None,
        "duplicate_of": item.duplicate_of,
        "path": f"files/{item.path}" if item.path else None,
        "depth": item.url.depth,
        "level": item.url.level,
        "via": item.url.via or None,
        "fetched_at": item.fetched_at,
        "etag": item.etag,
        "last_modified": item.last_modified,
        "title": item.title,
        "error": item.problem,
    }


def link_line(source: str, row: LinkRow) -> dict[str, object]:
    """Return the line of ``links.jsonl`` for a link and the decision on its target."""
    link, known = row
    return {
        "source": source,
        "target": link.target,
        "text": link.text,
        "tag": link.tag,
        "attribute": link.attribute,
        "rel": link.rel,
        "depth": known.depth,
        "level": known.level,
        "type": known.type,
        "decision": known.decision,
        "reason": known.reason,
    }


def _pause(attempts: int) -> float:
    """Return the seconds before another try: 1, 2, 4 ... with a fifth of jitter."""
    return float(2**attempts) * random.uniform(0.9, 1.1)  # noqa: S311 - spreads load, hides nothing
