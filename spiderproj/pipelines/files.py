"""Bodies on disk, under host and path; equal bodies with equal links are stored once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import xxhash

from spiderproj.errors import SpiderprojError, UnsafePathError
from spiderproj.items import Capture
from spiderproj.models import ResourceType
from spiderproj.paths import relative_path

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from spiderproj.job import Job


class FilesPipeline:
    """Write a good capture's body whole, or find the file that already holds it."""

    def __init__(self, job: Job) -> None:
        self._job = job

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Take the spider's job."""
        return cls(crawler.spider.job)  # type: ignore[union-attr]  # our spiders have one

    async def process_item(self, item: object) -> object:
        """Store *item*; a body that cannot be placed makes it a capture with a problem."""
        if isinstance(item, Capture) and item.is_good and self._job.failure is None:
            try:
                self._store(item)
            except UnsafePathError as error:
                item.problem = str(error)
            except SpiderprojError as error:
                self._job.fail(error)
                item.problem = str(error)
                item.retry = True
        if isinstance(item, Capture) and item.spool is not None and item.path is None:
            item.spool.discard()
        return item

    def _store(self, item: Capture) -> None:
        ledger, links = self._job.ledger, _links_digest(item)
        is_shared = self._job.options.unique != "off" and item.size > 0
        found = ledger.content(item.digest, links) if is_shared else None
        if found is not None and found.url != item.url.url:
            item.content, item.path, item.duplicate_of = found.id, found.path, found.url
            if item.spool is not None:
                item.spool.discard()
                item.spool = None
            return
        path = relative_path(
            item.url.url, item.type or ResourceType.OTHER, item.media_type, home_scheme=self._job.home_scheme
        )
        self._job.folder.store(path, item.digest, item.body if item.spool is None else item.spool)
        if found is None or found.path != path:
            found = ledger.add_content(item.url, item.digest, links, item.size, path)
        item.content, item.path = found.id, path


def _links_digest(item: Capture) -> int:
    """Return a number for what the body's references resolve to: equal bytes elsewhere may mean other pages.

    What a browser drew of it counts too: the pages of an application drawn by script are all the same bytes.
    """
    drawn = item.rendering.html if item.rendering is not None else b""
    if not item.links and not drawn:
        return 0
    targets = "\n".join([link.target for link in item.links]).encode("utf-8", "replace")
    value = xxhash.xxh3_64_intdigest(targets + drawn)
    return value - (1 << 64) if value >> 63 else value
