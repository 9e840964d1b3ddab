"""What a survey asks beside reading pages: HEADs for the sizes of files, HEADs beside GETs, conditional requests.

Each goes the way of every request: robots.txt, the host's turn, the address gate. None is sent beyond the limit.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice, zip_longest
from typing import TYPE_CHECKING, NamedTuple

from scrapy import Request
from scrapy.http.request import NO_CALLBACK

from spiderproj import mediatype, urls
from spiderproj.models import Level, Reason
from spiderproj.survey import family_of
from spiderproj.survey.records import HeadHonesty, SitemapFile, Validators

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Headers, Response

    from spiderproj.sitemaps import Sitemap
    from spiderproj.store.sampled import SampledURL

logger = logging.getLogger(__name__)

_CONDITIONAL, _BESIDE, _FILES = 6, 8, 36  # requests of each kind at most
_UNWANTED = frozenset({Reason.TYPE.value, Reason.LEVEL.value})
_SHOWN = 200  # characters of a header


class FileHead(NamedTuple):
    """What a HEAD told of a file."""

    is_whole: bool
    size: int | None


@dataclass(slots=True)
class Probes:
    """All that was asked beside reading pages; ``files`` by URL."""

    files: dict[str, FileHead] = field(default_factory=dict)
    head: HeadHonesty = field(default_factory=HeadHonesty)
    validators: Validators = field(default_factory=Validators)


@dataclass(slots=True)
class Listed:
    """What was read of the sitemaps."""

    files: list[SitemapFile] = field(default_factory=list)
    urls: int = 0
    entries: dict[str, float | None] = field(default_factory=dict)  # the first of them, with their lastmod

    children: set[str] = field(default_factory=set)  # that an index lists, and that were not read

    @property
    def unread(self) -> int:
        """How many sitemaps that an index lists were not read."""
        return len(self.children)

    def add(self, file: SitemapFile, found: Sitemap, most: int) -> None:
        """Note what a sitemap lists; of all only *most* entries are kept."""
        self.children.update(found.children)
        self.children.discard(file.url)
        self.files.append(file)
        self.urls += file.entries
        for entry in found.entries[: most - len(self.entries)]:
            self.entries[entry.loc] = entry.lastmod


async def probe(crawler: Crawler, rows: Iterable[SampledURL], left: Callable[[], int]) -> Probes:
    """Ask about some of *rows*, as long as requests are *left*."""
    found, known = Probes(), list(rows)
    whole = [row for row in known if row.is_whole]
    found.validators.pages = len(whole)
    found.validators.etag = sum(row.etag is not None for row in whole)
    found.validators.last_modified = sum(row.last_modified is not None for row in whole)
    asking = _Asking(crawler, left)
    for row in islice(_spread(row for row in whole if row.etag or row.last_modified), _CONDITIONAL):
        await asking.conditionally(row, found.validators)
    for row in islice(_spread(whole), _BESIDE):
        await asking.beside(row, found.head)
    for row in islice(_spread(filter(_is_file, known)), _FILES):
        await asking.size(row, found.files)
    return found


class _Asking:
    """Sends one request after another."""

    def __init__(self, crawler: Crawler, left: Callable[[], int]) -> None:
        self._crawler = crawler
        self._left = left
        self._timeout = crawler.settings.getfloat("SPIDERPROJ_HEAD_TIMEOUT")

    async def conditionally(self, row: SampledURL, validators: Validators) -> None:
        """Ask for a page that was read moments ago, if it has changed since."""
        named = {"If-None-Match": row.etag, "If-Modified-Since": row.last_modified}
        response = await self._ask(row.url, "GET", {name: value for name, value in named.items() if value})
        if response is not None:
            validators.asked += 1
            validators.unchanged += response.status == 304
            etag = _text(response.headers, b"ETag")
            validators.etags_changed += response.status == 200 and etag is not None and etag != row.etag

    async def beside(self, row: SampledURL, honesty: HeadHonesty) -> None:
        """Ask with HEAD what was got with GET."""
        if self._left() < 1:
            return
        response = await self._ask(row.url, "HEAD")
        honesty.asked += 1
        if response is None or response.status >= 400:
            honesty.failed += 1
            status = "no answer" if response is None else f"status {response.status}"
            honesty.differences.append(f"{row.url}: {status}, where GET has {row.status}")
        elif (difference := _difference(row, response)) is not None:
            honesty.differences.append(f"{row.url}: {difference}")
        else:
            honesty.same += 1

    async def size(self, row: SampledURL, files: dict[str, FileHead]) -> None:
        """Ask how large a file is."""
        response = await self._ask(row.url, "HEAD")
        if response is not None:
            files[row.url] = FileHead(200 <= response.status < 300, _length(response.headers))

    async def _ask(self, url: str, method: str, headers: dict[str, str] | None = None) -> Response | None:
        """Return the answer, None when there is none, or nothing is left."""
        if self._left() < 1:
            return None
        meta = {
            "download_slot": urls.split(url).authority,
            "verbatim_url": True,
            "download_timeout": self._timeout,
            "auxiliary": "survey",
            "obeys_robots": True,
        }
        try:
            request = Request(url, NO_CALLBACK, method, headers, meta=meta)
            return await self._crawler.engine.download_async(request)
        except Exception as error:  # noqa: BLE001 - what cannot be asked stays unknown
            logger.info("no answer to a %s of %s: %s", method, url, error)
            return None


def _spread(rows: Iterable[SampledURL]) -> Iterator[SampledURL]:
    """Yield *rows* in turn: one of each type, then another family of each."""
    kinds: dict[str, dict[object, list[SampledURL]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        kinds[row.type][family_of(row.url)].append(row)
    turns = (_in_turn(families.values()) for families in kinds.values())
    return _in_turn(turns)


def _in_turn(many: Iterable[Iterable[SampledURL]]) -> Iterator[SampledURL]:
    return (row for row in chain.from_iterable(zip_longest(*many)) if row is not None)


def _is_file(row: SampledURL) -> bool:
    """Say whether *row* is a file of the seed's host that was not fetched because of what it is."""
    return row.level != Level.OTHER and row.type != "html" and row.fetch is None and row.reason in _UNWANTED


def _difference(row: SampledURL, response: Response) -> str | None:
    """Return what the answer to a HEAD has that the one to the GET had not, None when they agree."""
    if response.status != row.status:
        return f"status {response.status}, where GET has {row.status}"
    said, got = _text(response.headers, b"Content-Type"), row.content_type
    if mediatype.parse([said] if said else []).essence != mediatype.parse([got] if got else []).essence:
        return f"Content-Type {said!a}, where GET has {got!a}"
    length = _length(response.headers)
    if length is not None and row.size is not None and length != row.size:
        return f"Content-Length {length}, where GET brings {row.size} bytes"
    return None


def _length(headers: Headers) -> int | None:
    """Return the length that *headers* tell of the body as it will be stored."""
    length = headers.get(b"Content-Length")
    if headers.get(b"Content-Encoding") or length is None or not length.isdigit() or len(length) > 18:
        return None
    return int(length)


def _text(headers: Headers, name: bytes) -> str | None:
    value = headers.get(name)
    return None if value is None else value.decode("latin-1")[:_SHOWN]
