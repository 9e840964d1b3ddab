"""One page in the browser: it is given what the crawl received, and asks for the rest through us, until it is quiet."""

from __future__ import annotations

import asyncio
from base64 import b64decode
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from playwright.async_api import Error as BrowserError

from spiderproj import urls
from spiderproj.browser.requests import KINDS, Allowance, Answer, Lane, NotFetchedError, Requests

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Page, Request, Route

OWN_SECONDS: Final = 20.0
"""How long a page may take while none of its requests is on its way."""
ALL_SECONDS: Final = 120.0
"""How long it may take in all: at a polite distance, a dozen scripts are a dozen seconds or more."""
QUIET_SECONDS: Final = 0.5
MAX_DRAWN: Final = 8 * 1024 * 1024
"""Characters of a page as drawn."""

_TICK: Final = 0.05
_END_SECONDS: Final = 1.0
_READ_SECONDS: Final = 5.0
_MAX_TARGETS: Final = 10
_MAX_HEADERS: Final = 20
_HEADER_LENGTH: Final = 1000

_BLANK_IMAGE: Final = b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")

# Runs in a world of its own, where the page's scripts have changed nothing; what names of elements hide is asked of
# the prototypes. Open shadow trees are written out as declarative ones.
_SERIALISE: Final = """(limit => {
  const get = (type, name) => Object.getOwnPropertyDescriptor(type.prototype, name).get;
  const root = get(Document, 'documentElement').call(document), shadow = get(Element, 'shadowRoot');
  if (!root) return '';
  const shadowRoots = [], left = [root];
  while (left.length && shadowRoots.length < 1000) {
    const walker = Document.prototype.createTreeWalker.call(document, left.pop(), NodeFilter.SHOW_ELEMENT);
    for (let node = walker.currentNode; node; node = walker.nextNode()) {
      const found = node instanceof Element ? shadow.call(node) : null;
      if (found) { shadowRoots.push(found); left.push(found); }
    }
  }
  const shell = get(Element, 'outerHTML').call(Node.prototype.cloneNode.call(root, false));
  const inner = Element.prototype.getHTML.call(root, {shadowRoots});
  const close = shell.lastIndexOf('</');
  const standard = get(Document, 'compatMode').call(document) === 'CSS1Compat';
  const html = (standard ? '<!DOCTYPE html>' : '') + shell.slice(0, close) + inner + shell.slice(close);
  return html.length > limit ? null : html;
})(%d)"""


class NotDrawnError(Exception):
    """A page could not be drawn; its text is one word for a counter."""


class Drawn(NamedTuple):
    """A page as the browser drew it."""

    html: bytes  # the document, serialised in UTF-8
    targets: list[str]  # where its scripts wanted to go


@dataclass(slots=True, kw_only=True)
class Sheet:
    """What a page is drawn from, and what it may ask for."""

    url: str
    answer: Answer
    allowance: Allowance
    requests: Requests
    refused: Counter[str] = field(default_factory=Counter)


class PageDrawing:
    """Draws one page in a context of its own."""

    def __init__(self, context: BrowserContext, sheet: Sheet) -> None:
        self._context = context
        self._sheet = sheet
        self._lane = Lane()
        self._page: Page | None = None
        self._routing = 0
        self._answered = asyncio.Event()
        self._answered.set()
        self._targets: dict[str, None] = {}
        self._is_given = self._is_loaded = self._is_crashed = self._is_over = False
        self._asking: set[asyncio.Task[Answer]] = set()
        self._clock = asyncio.get_running_loop().time

    async def draw(self) -> Drawn:
        """Return the page as it is when it has become quiet; NotDrawnError when it does not, or dies."""
        try:
            async with asyncio.timeout(ALL_SECONDS + 2 * _READ_SECONDS):
                return await self._draw()
        except BrowserError as error:
            raise NotDrawnError("crash") from error
        except TimeoutError as error:
            raise NotDrawnError("crash" if self._is_crashed else "timeout") from error
        finally:
            await self._end()

    async def _end(self) -> None:
        """Let go of what is still asked for; the driver wants each question answered before its page is closed."""
        self._is_over = True
        for task in tuple(self._asking):
            task.cancel()
        with suppress(TimeoutError):
            async with asyncio.timeout(_END_SECONDS if self._is_alive() else 0):
                await self._answered.wait()

    async def _draw(self) -> Drawn:
        context = self._context
        await context.route("**/*", self._route)
        self._page = page = await context.new_page()
        context.on("page", self._close_other)
        page.on("load", self._loaded)
        page.on("crash", self._crashed)
        self._session = await context.new_cdp_session(page)
        self._active_at = self._clock()
        async with asyncio.timeout(OWN_SECONDS):
            await page.goto(self._sheet.url, wait_until="commit", timeout=0)
        await self._wait()
        async with asyncio.timeout(_READ_SECONDS):
            html = await self._evaluate(_SERIALISE % MAX_DRAWN)
        if html is None:
            raise NotDrawnError("too-large")
        return Drawn(html.encode("utf-8", "replace"), list(self._targets))

    async def _wait(self) -> None:
        """Wait until the page is loaded and nothing has happened for a moment, or its time is over."""
        began, own = self._clock(), 0.0
        while True:
            if self._is_crashed or not self._is_alive():
                raise NotDrawnError("crash")
            before = self._clock()
            if own >= OWN_SECONDS or before - began >= ALL_SECONDS:
                return  # what is there may still be read
            if self._is_loaded and not self._asking:
                if await self._is_quiet(OWN_SECONDS - own):
                    return
            else:
                await asyncio.sleep(_TICK)
            if not self._asking:
                own += self._clock() - before

    async def _is_quiet(self, patience: float) -> bool:
        """Say whether the page asks for nothing for a moment; by its own timers, which a busy machine delays too."""
        before = self._active_at
        with suppress(TimeoutError):
            async with asyncio.timeout(patience):
                await self._evaluate(f"new Promise(done => setTimeout(done, {QUIET_SECONDS * 1000}))")
                return before == self._active_at and not self._asking
        return False

    async def _evaluate(self, expression: str) -> str | None:
        """Return what *expression* comes to in a world of ours, where the page has changed nothing."""
        session = self._session
        frames = await session.send("Page.getFrameTree")
        frame = frames["frameTree"]["frame"]["id"]
        world = await session.send("Page.createIsolatedWorld", {"frameId": frame, "worldName": "spiderproj"})
        asked = {"expression": expression, "contextId": world["executionContextId"]}
        found = await session.send("Runtime.evaluate", {**asked, "awaitPromise": True, "returnByValue": True})
        if "exceptionDetails" in found:
            raise NotDrawnError("unreadable")
        text: str | None = found["result"].get("value")
        return text

    def _is_alive(self) -> bool:
        browser = self._context.browser
        return browser is not None and browser.is_connected()

    async def _route(self, route: Route) -> None:
        """Answer a request of the page, whatever it is for; nothing goes past here."""
        self._active_at = self._clock()
        self._routing += 1
        self._answered.clear()
        with suppress(BrowserError):  # the page may be gone
            try:
                await self._fulfil(route)
            except NotFetchedError as error:
                self._sheet.refused[str(error)] += 1
                await route.abort("blockedbyclient")
        self._routing -= 1
        if not self._routing:
            self._answered.set()
        self._active_at = self._clock()

    async def _fulfil(self, route: Route) -> None:
        request = route.request
        kind = request.resource_type
        if request.is_navigation_request():
            await self._navigate(route, request)
        elif request.method != "GET":
            raise NotFetchedError("method")
        elif kind == "image":
            await route.fulfill(status=200, content_type="image/gif", body=_BLANK_IMAGE)
        elif kind not in KINDS:
            raise NotFetchedError("kind")
        else:
            answer = await self._ask(request)
            await route.fulfill(status=answer.status, headers=answer.headers, body=answer.body)

    async def _navigate(self, route: Route, request: Request) -> None:
        """Give the page itself, once; where its scripts want to go is noted, and the page stays."""
        if not self._is_given:
            self._is_given = True
            answer = self._sheet.answer
            await route.fulfill(status=answer.status, headers=answer.headers, body=answer.body)
            return
        is_own = self._page is not None and request.frame == self._page.main_frame
        if is_own and request.method == "GET" and len(self._targets) < _MAX_TARGETS:
            self._targets[request.url[: 4 * urls.MAX_URL_LENGTH]] = None
        self._sheet.refused["navigation"] += 1
        await route.fulfill(status=204)

    async def _ask(self, request: Request) -> Answer:
        if self._is_over:
            raise NotFetchedError("over")
        sheet, headers = self._sheet, self._headers(request)
        sending = self._lane.send(sheet.requests, request.url, request.resource_type, headers, sheet.allowance)
        task = asyncio.ensure_future(sending)
        self._asking.add(task)
        try:
            return await task
        except asyncio.CancelledError as error:
            if not self._is_over:
                raise
            raise NotFetchedError("over") from error
        finally:
            self._asking.discard(task)

    def _headers(self, request: Request) -> dict[str, str]:
        """Return what is told to the server: what is wanted, and to the page's own origin its own fields too."""
        is_own = request.url.startswith(f"{urls.origin(self._sheet.url)}/")
        found = {}
        for name, value in request.headers.items():
            if name == "accept" or (is_own and name.startswith("x-")):
                found[name] = value[:_HEADER_LENGTH]
        return dict(list(found.items())[:_MAX_HEADERS])

    def _loaded(self, _: Page) -> None:
        self._is_loaded = True
        self._active_at = self._clock()

    def _crashed(self, _: Page) -> None:
        self._is_crashed = True

    async def _close_other(self, page: Page) -> None:
        """Close a window that the page has opened."""
        self._sheet.refused["window"] += 1
        with suppress(BrowserError):
            await page.close()
