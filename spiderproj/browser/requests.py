"""What a page asks for while it is drawn: judged like any requisite, fetched by our own client, or not at all.

So scope, robots.txt, the address gate, the turn of each host and the bounds of the client hold for it. Redirects are
followed here, each hop judged anew: the browser would follow one by itself.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from scrapy import Request
from scrapy.http.request import NO_CALLBACK

from spiderproj import urls
from spiderproj.downloader.errors import FetchError, NotNowError
from spiderproj.models import Link, LinkRole, ResourceType, Verdict
from spiderproj.refusals import Postponed, Refused

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from spiderproj.job import Job
    from spiderproj.scope import Source

MAX_REQUESTS: Final = 200
MAX_BYTES: Final = 32 * 1024 * 1024
_MAX_BODY: Final = 16 * 1024 * 1024
_AT_ONCE: Final = 6  # of one page, as browsers do
_TIMEOUT: Final = 20.0
_MAX_REDIRECTS: Final = 5
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_SHELF_BYTES: Final = 32 * 1024 * 1024

_HINTS: Final[Mapping[str, ResourceType | None]] = {
    "script": ResourceType.SCRIPT, "stylesheet": ResourceType.STYLE, "xhr": None, "fetch": None, "other": None,
}  # fmt: skip
KINDS: Final = frozenset(_HINTS)
"""What is fetched; pictures, fonts and media change nothing that is read."""
_SHELVED: Final = frozenset({"script", "stylesheet"})

_PASSED: Final = frozenset({
    "content-type", "content-language", "last-modified", "x-content-type-options", "content-security-policy",
    "access-control-allow-origin", "access-control-allow-credentials", "access-control-expose-headers",
    "cross-origin-resource-policy", "cross-origin-opener-policy", "cross-origin-embedder-policy",
})  # fmt: skip
"""Headers that the browser is told; the others speak of the connection, of cookies, or of what it is to fetch."""


class Answer(NamedTuple):
    """What the browser is given."""

    status: int
    headers: dict[str, str]
    body: bytes


class NotFetchedError(Exception):
    """A request of a page that is not made, or came to nothing; its text is one word for a counter."""


@dataclass(slots=True)
class Allowance:
    """What one page has asked for so far, and may still."""

    source: Source
    requests: int = 0
    size: int = 0
    is_cut: bool = False  # something was not fetched only because the crawl is ending

    def take(self) -> None:
        """Count a request; NotFetchedError when it is one too many."""
        self.requests += 1
        if self.requests > MAX_REQUESTS or self.size >= MAX_BYTES:
            raise NotFetchedError("budget")


class Requests:
    """Makes the requests of pages, by the rules of one crawl."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        job: Job = crawler.spider.job  # type: ignore[union-attr]  # our spiders have one
        self._scope = replace(job.scope, requisites=True)  # shares its homes, which may move
        self._shelf = _Shelf()

    async def fetch(self, url: str, kind: str, headers: Mapping[str, str], allowance: Allowance) -> Answer:
        """Return the answer to a page's request for *url*; *kind* is the browser's word for what it is to be.

        Raises NotFetchedError. Another origin learns nothing of ours and tells only what it shares with the page's
        (Fetch, "CORS check"): the driver makes the browser believe that everything is shared.
        """
        own = urls.origin(allowance.source.url)
        is_foreign = False
        for _ in range(_MAX_REDIRECTS + 1):
            allowance.take()
            url = self._judged(url, kind, allowance.source)
            is_foreign = is_foreign or urls.origin(url) != own
            kept = self._shelf.get((url, is_foreign)) if kind in _SHELVED else None
            if kept is not None:
                self._count("reused")
                return kept
            response = await self._download(url, _foreign(headers, own) if is_foreign else headers, allowance)
            allowance.size += len(response.body)
            location = response.headers.get(b"Location") if response.status in _REDIRECTS else None
            if location is None:
                answer = Answer(response.status, told(response.meta["raw_headers"]), response.body)
                if is_foreign and kind not in _SHELVED and not _is_shared(answer, own):
                    raise NotFetchedError("origin")
                if kind in _SHELVED and response.status == 200 and not response.flags:
                    self._shelf.put((url, is_foreign), answer)
                return answer
            url = _canonical(urls.from_header(location), url)
        raise NotFetchedError("redirects")

    def _judged(self, url: str, kind: str, source: Source) -> str:
        """Return *url* in its canonical form; NotFetchedError when it does not belong to the crawl."""
        url = _canonical(url)
        link = Link(url, "", kind, "", "", LinkRole.REQUISITE, _HINTS[kind])
        decision = self._scope.judge(link, source).decision
        if decision.verdict is not Verdict.QUEUED:
            raise NotFetchedError(decision.reason or "scope")
        return url

    async def _download(self, url: str, headers: Mapping[str, str], allowance: Allowance) -> Response:
        meta = {
            "download_slot": urls.split(url).authority,
            "verbatim_url": True,
            "download_timeout": _TIMEOUT,
            "download_maxsize": max(min(_MAX_BODY, MAX_BYTES - allowance.size), 1),
            "auxiliary": "render",
            "obeys_robots": True,
        }
        if "Origin" in headers:
            meta["anonymous"] = True
        self._count("requests")
        try:
            return await self._crawler.engine.download_async(Request(url, NO_CALLBACK, headers=headers, meta=meta))
        except NotNowError as error:
            allowance.is_cut = True
            raise NotFetchedError(error.kind) from error
        except Refused as error:
            raise NotFetchedError(error.decision.reason or "robots") from error
        except Postponed as error:
            raise NotFetchedError("robots") from error
        except FetchError as error:
            raise NotFetchedError(error.kind) from error

    def _count(self, event: str) -> None:
        if self._crawler.stats is not None:
            self._crawler.stats.inc_value(f"spiderproj/render/{event}")


class Lane:
    """Lets a page have some requests at once; those that wait here can be dropped, those on their way cannot."""

    def __init__(self) -> None:
        self._room = asyncio.Semaphore(_AT_ONCE)
        self._sent: set[asyncio.Task[Answer]] = set()

    async def send(self, requests: Requests, url: str, kind: str, headers: Mapping[str, str], of: Allowance) -> Answer:
        """Return what ``Requests.fetch`` gives; to cancel it leaves the request itself alone."""
        async with self._room:
            task = asyncio.ensure_future(requests.fetch(url, kind, headers, of))
            self._sent.add(task)
            task.add_done_callback(self._done)
            return await asyncio.shield(task)

    def _done(self, task: asyncio.Task[Answer]) -> None:
        self._sent.discard(task)
        if not task.cancelled():
            task.exception()  # nobody may be waiting for it any more


class _Shelf:
    """Scripts and styles that other pages need again, up to a number of bytes; the least used go first."""

    def __init__(self) -> None:
        self._answers: OrderedDict[tuple[str, bool], Answer] = OrderedDict()
        self._size = 0

    def get(self, key: tuple[str, bool]) -> Answer | None:
        """Return the answer kept of a URL, as another origin or as the page's own is told it."""
        answer = self._answers.get(key)
        if answer is not None:
            self._answers.move_to_end(key)
        return answer

    def put(self, key: tuple[str, bool], answer: Answer) -> None:
        """Keep an answer."""
        old = self._answers.pop(key, None)
        self._size += len(answer.body) - (len(old.body) if old is not None else 0)
        self._answers[key] = answer
        while self._size > _SHELF_BYTES:
            _, dropped = self._answers.popitem(last=False)
            self._size -= len(dropped.body)


def told(headers: list[tuple[str, str]]) -> dict[str, str]:
    """Return what the browser is told of an answer's *headers*; several of one name are joined (RFC 9110, 5.3)."""
    found: dict[str, str] = {}
    for name, value in headers:
        if name in _PASSED:
            found[name] = f"{found[name]}, {value}" if name in found else value
    return found


def _foreign(headers: Mapping[str, str], own: str) -> dict[str, str]:
    """Return what another origin is told: what is wanted, and by whom."""
    accept = {"accept": headers["accept"]} if "accept" in headers else {}
    return {**accept, "Origin": own}


def _is_shared(answer: Answer, own: str) -> bool:
    """Say whether another origin shares *answer* with pages of *own*."""
    return answer.headers.get("access-control-allow-origin") in ("*", own)


def _canonical(url: str, base: str | None = None) -> str:
    try:
        return urls.canonical(url, base) if base else urls.canonical(url)
    except urls.RefusedURLError as error:
        raise NotFetchedError(error.reason) from error
