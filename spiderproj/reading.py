"""From a response to a capture: what it is, whether it is whole and wanted, and what it links to."""

from __future__ import annotations

import logging
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from spiderproj import links, mediatype
from spiderproj.items import Capture
from spiderproj.models import CrawlURL, Decision, Link, LinkRole, Page, Reason, ResourceType, Verdict
from spiderproj.scope import Scope, Source
from spiderproj.urls import RefusedURLError, canonical, from_header

if TYPE_CHECKING:
    from scrapy.http import Response

logger = logging.getLogger(__name__)

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524})
"""Statuses that may be another one soon: worth another try."""

LARGE_BYTES = 256 * 1024
"""Longest body whose links are read at once: 17,000 links, 0.2 s. A larger one would hold up all other work."""

_BROKEN_FLAGS = ("dataloss", "encoding", "partial", "truncated")


class Reader:
    """Reads responses by the rules of one crawl."""

    def __init__(self, scope: Scope, *, max_links: int, follow_nofollow: bool, token: str) -> None:
        self._scope = scope
        self._max_links = max_links
        self._follow_nofollow = follow_nofollow
        self._token = token

    def capture(self, response: Response, url: CrawlURL) -> Capture:
        """Return the capture that *response* to *url* is; when ``is_unread``, ``read_links`` is still to come."""
        headers: list[tuple[str, str]] = response.meta["raw_headers"]
        item = Capture(
            url=url,
            fetched_at=time.time(),
            seconds=response.meta.get("download_latency", 0.0),
            status=response.status,
            body=response.body,
            spool=response.meta.get("spooled"),
            etag=_header(headers, "etag"),
            last_modified=_header(headers, "last-modified"),
        )
        types = [value for name, value in headers if name == "content-type"]
        item.content_type = ", ".join(types) or None
        if "gate_refused" in response.meta and 200 <= response.status < 300:
            item.type = response.meta["gate_refused"]
            item.refusal = self._unwanted(item)
        elif response.status in _REDIRECTS:
            self._read_redirect(item, headers)
        elif 200 <= response.status < 300:
            self._read_answer(item, response, types)
            if not self.is_unread(item):
                self.read_links(item, headers)
        elif response.status == 304 and _is_conditional(response):
            item.etag, item.last_modified = None, None  # the stored ones stand
        else:
            item.problem = f"HTTP {response.status}"
            item.retry = response.status in _PASSING
        return item

    def is_unread(self, item: Capture) -> bool:
        """Say whether the links of *item* are too many to be read at once."""
        return len(item.body) > LARGE_BYTES and 200 <= item.status < 300 and item.refusal is None

    def read_links(self, item: Capture, headers: list[tuple[str, str]]) -> None:
        """Fill in the links and the title of *item*, whose response has *headers*; nothing else of us is touched."""
        page = None if item.refusal is not None else self._read_page(item, headers)
        if page is not None:
            item.links, item.title = page.links, page.title
            if page.partial is not None:
                logger.warning("%s: not all of its links are read: %s", item.url.url, page.partial)

    def read_drawn(self, item: Capture, headers: list[tuple[str, str]]) -> None:
        """Fill in the links and the title of *item* as a browser has drawn it.

        Links of the page as received that scripts took away stay, behind the others: a page that fails to draw
        itself must not be less than it was.
        """
        if item.rendering is None or not item.rendering.html:
            return
        page = self._read_html(item.rendering.html, item.url.url, "utf-8", headers)
        known = {link.target for link in page.links}
        others = [*_targets(item.rendering.targets), *item.links]
        item.links = (page.links + [link for link in others if link.target not in known])[: self._max_links]
        item.title = page.title or item.title

    def _read_redirect(self, item: Capture, headers: list[tuple[str, str]]) -> None:
        location = _header(headers, "location")
        if location is None or not location.strip():
            item.problem = f"HTTP {item.status} without a Location"
            return
        try:
            item.final_url = canonical(from_header(location.encode("latin-1")), item.url.url)
            problem = None
        except RefusedURLError as error:
            problem = error.reason
        # A page that redirects to itself and sets a cookie looks whether visitors keep cookies.
        item.retry = item.final_url == item.url.url and _header(headers, "set-cookie") is not None
        target = item.final_url or location[:200]
        item.links = [Link(target, "", "redirect", "location", "", LinkRole.NAVIGATION, None, problem=problem)]

    def _read_answer(self, item: Capture, response: Response, types: list[str]) -> None:
        head = item.body[: mediatype.SNIFFED_BYTES]
        item.media_type, item.type = mediatype.true_type(types, head, item.url.url)
        broken = [flag for flag in response.flags if flag in _BROKEN_FLAGS]
        if response.status == 206:
            broken.append("HTTP 206")
        if item.type not in self._scope.wanted(item.url):
            item.refusal = self._unwanted(item)
            return
        is_named = Source.of(item.url).is_seed  # what the user names is fetched, whatever the filter says
        refusal = None if is_named else self._scope.judge_size(item.url, item.type, item.size)
        if refusal is not None:
            item.refusal = refusal
            return
        if broken:
            item.problem, item.retry = broken[0], broken[0] == "dataloss"

    def _read_page(self, item: Capture, headers: list[tuple[str, str]]) -> Page | None:
        if item.spool is not None or not item.body or item.url.near:
            return None
        types = [value for name, value in headers if name == "content-type"]
        charset = mediatype.parse(types).charset if types else None
        if item.type is ResourceType.HTML:
            return self._read_html(item.body, item.url.url, charset, headers)
        if item.type is ResourceType.STYLE:
            return links.read_css(item.body, item.url.url, header_charset=charset, headers=headers)
        if item.media_type == "image/svg+xml":
            return links.read_svg(item.body, item.url.url, header_charset=charset, headers=headers)
        return None

    def _read_html(self, body: bytes, url: str, charset: str | None, headers: list[tuple[str, str]]) -> Page:
        return links.read_html(
            body, url, header_charset=charset, headers=headers,
            follow_nofollow=self._follow_nofollow, max_links=self._max_links, token=self._token,
        )  # fmt: skip

    def _unwanted(self, item: Capture) -> Decision:
        if item.url.near:
            return Decision(Verdict.REFUSED, Reason.TYPE, f"answer: {item.type} is not wanted near an in-scope page")
        rule = f"answer: {item.type} is not wanted at level {item.url.level}"
        return Decision(Verdict.REFUSED, Reason.TYPE, rule)


def _targets(targets: list[str]) -> list[Link]:
    """Return where scripts wanted to go as links."""
    found = []
    for target in targets:
        with suppress(RefusedURLError):
            found.append(Link(canonical(target), "", "script", "location", "", LinkRole.NAVIGATION, None))
    return found


def _is_conditional(response: Response) -> bool:
    """Say whether we asked for a 304; unasked, it is no answer."""
    headers = response.request.headers if response.request is not None else {}
    return b"If-None-Match" in headers or b"If-Modified-Since" in headers


def _header(headers: list[tuple[str, str]], wanted: str) -> str | None:
    for name, value in headers:
        if name == wanted:
            return value
    return None
