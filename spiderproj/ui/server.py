"""The page's HTTP: every request judged by its head, bodies bounded, answers as JSON, work done in threads."""

from __future__ import annotations

import time
from concurrent.futures import CancelledError, Future
from importlib import resources
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

import orjson
from twisted.web import server
from twisted.web.resource import Resource

from spiderproj.display import one_line
from spiderproj.errors import ArgumentError, SpiderprojError
from spiderproj.landing.style import CSS
from spiderproj.ui.access import MAX_BODY, Attempts, Guard, Head, Session, cookie_of
from spiderproj.ui.tickets import PATIENCE, Tickets

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from twisted.internet.base import ReactorBase

    from spiderproj.ui.context import Handler

_STATUSES: Final = {2: 422, 3: 409, 4: 409, 5: 507, 8: 409}  # by exit status
_MAX_ERROR: Final = 2000
_KEY: Final = "x-spiderproj-key"
_TYPES: Final = {"html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8",
                 "js": "text/javascript; charset=utf-8"}  # fmt: skip
HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def assets() -> dict[str, tuple[str, bytes]]:
    """Return the files of the page by their paths, each with its type; read once, so that no path leads elsewhere."""
    found = {}
    for entry in resources.files("spiderproj.ui").joinpath("static").iterdir():
        kind = _TYPES.get(entry.name.rpartition(".")[2])
        if kind is not None:
            found[f"/{entry.name}"] = (kind, entry.read_bytes())
    found["/"] = found.pop("/index.html")
    found["/base.css"] = (_TYPES["css"], CSS.encode())
    return found


class BoundedRequest(server.Request):
    """A request whose body is refused before it is read when it is too long, or when its length is not said."""

    is_refused = False

    def gotLength(self, length: int | None) -> None:  # noqa: N802 - Twisted's name
        """Take in the body, or answer 413 at once and hang up."""
        if length is not None and length <= MAX_BODY:
            super().gotLength(length)  # type: ignore[no-untyped-call]  # Twisted's, without annotations
            return
        self.is_refused = True
        self.content = BytesIO()
        channel: Any = self.channel
        channel.transport.write(b"HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
        channel.loseConnection()

    def handleContentChunk(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        """Keep a part of the body, unless it is refused."""
        if not self.is_refused:
            super().handleContentChunk(data)  # type: ignore[no-untyped-call]  # Twisted's, without annotations

    def requestReceived(self, command: bytes, path: bytes, version: bytes) -> None:  # noqa: N802 - Twisted's name
        """Answer, unless that was done."""
        if not self.is_refused:
            super().requestReceived(command, path, version)  # type: ignore[no-untyped-call]  # Twisted's, without annotations


class Page(Resource):
    """The page and its data. *cookie* is the name of the session's cookie: other ports of a host share its cookies."""

    isLeaf = True  # noqa: N815 - Twisted's name

    def __init__(
        self,
        reads: Mapping[str, Handler],
        writes: Mapping[str, Handler],
        tickets: Tickets[Any],
        guard: Guard,
        session: Session,
        *,
        cookie: str,
        reactor: ReactorBase,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # Twisted's, without annotations
        self._reads = reads
        self._writes = writes
        self._tickets = tickets
        self._guard = guard
        self._session = session
        self._cookie = cookie
        self._reactor: Any = reactor
        self._assets = assets()
        self._attempts = Attempts(time.monotonic)

    def render(self, request: server.Request) -> int | bytes:
        """Answer a request of any method."""
        for name, value in HEADERS.items():
            request.setHeader(name, value)
        head = self._head(request)
        refusal = self._guard.refusal(head)
        if refusal is not None:
            return _said(request, refusal.status, {"error": refusal.why})
        if not head.path.startswith("/api/"):
            return self._asset(request, head.path)
        if head.method == "POST":
            return self._post(request, head.path)
        query = _query(request)
        if head.path == "/api/ticket":
            work = self._tickets.take(query.get("id", ""))
            return _unknown(request) if work is None else self._wait(request, work)
        handler = self._reads.get(head.path)
        return (
            _unknown(request) if handler is None else self._wait(request, self._tickets.submit(lambda: handler(query)))
        )

    def _head(self, request: server.Request) -> Head:
        def header(name: str) -> str:
            values = request.requestHeaders.getRawHeaders(name.encode()) or []
            return ", ".join(value.decode("latin-1") for value in values)

        return Head(
            method=request.method.decode("latin-1"),
            path=request.path.decode("latin-1"),
            host=header("host").lower(),
            origin=header("origin"),
            fetch_site=header("sec-fetch-site"),
            media_type=header("content-type").partition(";")[0].strip().lower(),
            cookie=cookie_of(header("cookie"), self._cookie),
            key=header(_KEY),
        )

    def _asset(self, request: server.Request, path: str) -> bytes:
        kind, body = self._assets.get(path, ("", b""))
        if not kind:
            return _unknown(request)
        request.setHeader("Content-Type", kind)
        return body

    def _post(self, request: server.Request, path: str) -> int | bytes:
        content: Any = request.content
        try:
            body = orjson.loads(content.read() or b"{}")
        except orjson.JSONDecodeError as error:
            return _said(request, 400, {"error": f"not JSON: {error}"})
        if not isinstance(body, dict):
            return _said(request, 400, {"error": "a JSON object"})
        if path == "/api/enter":
            return self._enter(request, body.get("token"))
        handler = self._writes.get(path)
        return (
            _unknown(request) if handler is None else self._wait(request, self._tickets.submit(lambda: handler(body)))
        )

    def _enter(self, request: server.Request, token: object) -> bytes:
        """Give the session's secrets to who knows the token or the password."""
        if not self._attempts.is_open():
            return _said(request, 429, {"error": "too many attempts: wait two seconds"})
        if not isinstance(token, str) or not self._session.opens(token):
            self._attempts.failed()
            return _said(request, 401, {"error": "that is not the token of this start, nor the password"})
        self._attempts.succeeded()
        cookie = f"{self._cookie}={self._session.cookie}; Path=/; HttpOnly; SameSite=Strict"
        request.setHeader("Set-Cookie", cookie)
        return _said(request, 200, {"key": self._session.key})

    def _wait(self, request: server.Request, work: Future[Any]) -> int:
        """Answer with what *work* gives, or soon with a ticket for it."""
        timer = self._reactor.callLater(PATIENCE, lambda: answer(202))
        gone = request.notifyFinish()
        gone.addErrback(lambda _: timer.active() and timer.cancel())

        def answer(status: int) -> None:
            if timer.active():
                timer.cancel()
            elif status != 202:
                return  # the ticket was given
            if request.channel is None or request.finished:
                return
            if status == 202:
                body = _said(request, 202, {"ticket": self._tickets.deposit(work)})
            else:
                body = _outcome(request, work)
            request.write(body)
            request.finish()

        work.add_done_callback(lambda _: self._reactor.callFromThread(answer, 200))
        return server.NOT_DONE_YET


def _outcome(request: server.Request, work: Future[Any]) -> bytes:
    """Return the answer that *work* came to."""
    try:
        return _said(request, 200, work.result(0))
    except ArgumentError as error:
        return _said(request, 422, {"error": f"expected {error.expected}", "field": one_line(error.name, 60)})
    except SpiderprojError as error:
        status = _STATUSES.get(error.exit_status, 500)
        return _said(request, status, {"error": one_line(str(error), _MAX_ERROR)})
    except CancelledError:
        return _said(request, 503, {"error": "given up: too much was asked for at once"})
    except Exception as error:  # noqa: BLE001 - a fault of ours is told, and the server goes on
        return _said(request, 500, {"error": f"internal: {type(error).__name__}: {one_line(str(error), 300)}"})


def _said(request: server.Request, status: int, values: object) -> bytes:
    request.setResponseCode(status)
    request.setHeader("Content-Type", "application/json")
    return orjson.dumps(values, option=orjson.OPT_NON_STR_KEYS)


def _unknown(request: server.Request) -> bytes:
    return _said(request, 404, {"error": "there is nothing of that name"})


def _query(request: server.Request) -> Mapping[str, str]:
    decode: Callable[[bytes], str] = lambda raw: raw.decode("utf-8", "replace")  # noqa: E731 - a name for a method
    return {decode(name): decode(values[0]) for name, values in request.args.items()}
