"""What goes over the wire, as WARC records: beside the client, which knows nothing of it but a tape."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from spiderproj.downloader.errors import FetchError, FetchTimeoutError, ResetError, TooLargeError
from spiderproj.errors import SpiderprojError
from spiderproj.files.bodies import ENGINE, TEMPORARY
from spiderproj.warc import Exchanged, Original, Tape, capture_stamp, sha1_text
from spiderproj.warc.answer import MAX_HEADS, Bounds, final_head, payload_digest
from spiderproj.warc.exchange import SECRET_FIELDS, records, without_fields
from spiderproj.warc.tape import Stretch

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector

    from spiderproj.downloader.connection import Connection
    from spiderproj.downloader.exchange import Exchange
    from spiderproj.downloader.pool import Pool
    from spiderproj.downloader.wire import Origin
    from spiderproj.job import Job
    from spiderproj.warc.record import Record

LARGE: Final = 1024 * 1024
"""Bytes of a body from which its record is made in a thread."""

_SESSION: Final = frozenset({"set-cookie"})


def recorder_of(crawler: Crawler) -> Recorder | None:
    """Return what records the crawl, None when nothing is to be recorded."""
    spider: Any = crawler.spider
    options = getattr(spider, "options", None)
    return Recorder(spider.job, crawler.stats) if options is not None and options.warc else None


class Recorder:
    """Writes a record of each request and one of its answer, also of one that broke off; before anybody sees it."""

    def __init__(self, job: Job, stats: StatsCollector | None) -> None:
        self._job = job
        self._stats = stats
        login = job.login
        own = [name.lower() for pairs in login.headers.values() for name, _ in pairs] if login is not None else []
        self._secret = SECRET_FIELDS.union(own)
        self._dropped = _SESSION if login is not None else frozenset()

    async def fetch(self, pool: Pool, url: str, origin: Origin, payload: bytes, exchange: Exchange) -> Connection:
        """Do what ``pool.fetch`` does, and record it; a record that cannot be written ends the crawl."""
        exchange.tape = tape = Tape(self._job.out / ENGINE / TEMPORARY)
        try:
            connection = await self._fetch(pool, url, origin, payload, exchange)
        except SpiderprojError as error:
            self._job.fail(error)
            raise
        finally:
            tape.close()
        return connection

    async def _fetch(self, pool: Pool, url: str, origin: Origin, payload: bytes, exchange: Exchange) -> Connection:
        try:
            connection = await pool.fetch(origin, payload, exchange)
        except FetchError as error:
            await self._record(url, payload, exchange, _cut_by(error, exchange))
            raise
        await self._record(url, payload, exchange, _cut(exchange))
        return connection

    async def _record(self, url: str, request: bytes, exchange: Exchange, truncated: str) -> None:
        """Write the records of *exchange*, if an answer came and the crawl goes on."""
        tape, head = exchange.tape, exchange.head
        if tape is None or head is None or self._job.is_sealed or self._job.failure is not None:
            return
        begin = tape.read(0, MAX_HEADS)
        bounds = final_head(begin)
        if bounds is None:
            return
        size = _body_size(exchange, tape, bounds)
        is_large = size > LARGE
        body: Iterable[bytes] = Stretch(tape, bounds.body, bounds.body + size)
        if not is_large:
            body = tuple(body)
        is_chunked = "transfer-encoding" in head.fields and exchange.method != "HEAD"
        digest, payload_size = await self._digest(body, is_chunked=is_chunked, is_large=is_large)
        exchanged = Exchanged(
            url=url,
            stamp=capture_stamp(int(tape.began)),
            address=tape.address,
            request=request,
            status=head.status,
            head=without_fields(begin[bounds.head : bounds.body], self._dropped),
            body=body,
            body_size=size,
            is_chunked=is_chunked,
            has_coding="content-encoding" in head.fields,
            mime=_mime(head.fields.get("content-type")),
            digest=sha1_text(digest),
            truncated=truncated,
        )
        await self._write(exchanged, exchange.method, is_empty=not payload_size, is_large=is_large)

    async def _digest(self, body: Iterable[bytes], *, is_chunked: bool, is_large: bool) -> tuple[bytes, int]:
        if not is_large:
            return payload_digest(body, is_chunked=is_chunked)
        warcs = self._job.folder.warcs
        return await asyncio.wrap_future(warcs.beside(lambda: payload_digest(body, is_chunked=is_chunked)))

    async def _write(self, exchanged: Exchanged, method: str, *, is_empty: bool, is_large: bool) -> None:
        folder = self._job.folder
        original = self._original(exchanged, is_empty=is_empty) if method == "GET" else None
        made = records(exchanged, original, self._secret)
        if is_large and original is None:
            places = await asyncio.wrap_future(folder.warcs.append_large(made))
        else:
            places = folder.warcs.append(made)
        self._count(made)
        if method == "GET" and exchanged.status != 304:
            folder.captures.add(exchanged, places[0], is_revisit=original is not None)

    def _original(self, exchanged: Exchanged, *, is_empty: bool) -> Original | None:
        """Return the record that has the payload already, None when there is none."""
        captures = self._job.folder.captures
        if exchanged.status == 304:
            return captures.latest(exchanged.url)
        if is_empty or exchanged.truncated:
            return None
        return captures.original(exchanged.digest, is_chunked=exchanged.is_chunked)

    def _count(self, made: list[Record]) -> None:
        if self._stats is not None:
            for record in made:
                self._stats.inc_value(f"spiderproj/warc/{record.kind}")


def _body_size(exchange: Exchange, tape: Tape, bounds: Bounds) -> int:
    """Return how many bytes behind the head are the body's: what follows a body of known length is no part of it."""
    came = tape.size - bounds.body
    status = exchange.head.status if exchange.head is not None else 0
    if exchange.method == "HEAD" or status in (204, 304):
        return 0
    length = exchange.parser.length
    return came if length is None else min(came, length)


def _cut(exchange: Exchange) -> str:
    """Return why an answer without an error is not whole, "" when it is."""
    if exchange.parser.done:
        return "" if exchange.whole or exchange.stopped is not None else "disconnect"
    if exchange.stopped is not None:
        return "unspecified"
    return "length" if "truncated" in exchange.flags else "disconnect"


def _cut_by(error: FetchError, exchange: Exchange) -> str:
    """Return why an answer that ended with *error* is not whole, "" when all of it came."""
    if exchange.parser.done:
        return ""
    kinds = ((FetchTimeoutError, "time"), (TooLargeError, "length"), (ResetError, "disconnect"))
    return next((reason for kind, reason in kinds if isinstance(error, kind)), "unspecified")


def _mime(values: list[str] | None) -> str:
    """Return the media type that a Content-Type names, as indexes have it."""
    words = values[0].replace(";", " ").split(maxsplit=1) if values else []
    return words[0] if words else ""
