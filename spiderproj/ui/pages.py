"""The stored pages and files, served from an origin of their own, where nothing of them can run or ask for anything."""

from __future__ import annotations

import re
from contextlib import closing
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from twisted.internet import threads
from twisted.protocols.basic import FileSender
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET

from spiderproj import mediatype
from spiderproj.files import FileStore
from spiderproj.files.output import FILES
from spiderproj.stored import opened

if TYPE_CHECKING:
    from io import BufferedReader

    from twisted.python.failure import Failure
    from twisted.web.server import Request

    from spiderproj.ui.copies import Copies

_SHOWN: Final = re.compile(
    r"(?:image|audio|video|font)/[a-z0-9.+-]{1,60}|text/(?:html|css|plain)|application/xhtml\+xml"
)
_AS_TEXT: Final = re.compile(r"(?:text|application)/(?:javascript|json|xml|csv|markdown)")
_CHARSET: Final = re.compile(r"[A-Za-z0-9._:-]{1,40}")
_TYPE: Final = """
SELECT f.content_type FROM contents AS c JOIN urls AS u ON u.id = c.url JOIN fetches AS f ON f.id = u.fetch
WHERE c.path = ?
"""
_MAX_PATH: Final = 8192


class Pages(Resource):
    """Answers ``/KEY/NAME/PATH`` with the file at PATH of the crawl NAME; to whoever does not know KEY with 404."""

    isLeaf = True  # noqa: N815 - Twisted's name

    def __init__(self, copies: Copies, key: str, hosts: frozenset[str], origin: str) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # Twisted's, without annotations
        self._copies = copies
        self._key = key
        self._hosts = hosts
        policy = ("sandbox", "default-src 'none'", f"img-src {origin} data:", f"media-src {origin} data:",
                  f"style-src {origin} 'unsafe-inline'", f"font-src {origin} data:", f"frame-src {origin}",
                  "form-action 'none'", "base-uri 'none'", "frame-ancestors 'none'")  # fmt: skip
        self._headers = {
            "Content-Security-Policy": "; ".join(policy),
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cache-Control": "no-store",
            "X-Robots-Tag": "noindex",
        }

    def render(self, request: Request) -> int | bytes:
        """Answer GET and HEAD."""
        for name, value in self._headers.items():
            request.setHeader(name, value)
        if _text(request.getHeader("host")) not in self._hosts:
            return _said(request, 421, "this server does not answer to that Host")
        if request.method not in (b"GET", b"HEAD"):
            return _said(request, 405, "GET or HEAD")
        target: bytes = request.path
        found = threads.deferToThread(self._find, target.decode("latin-1"))
        found.addCallback(self._answer, request)
        found.addErrback(self._failed, request)
        return NOT_DONE_YET

    def _find(self, target: str) -> tuple[BufferedReader, str] | None:
        """Return the open file that *target* names, and its type; None when there is none."""
        _, key, name, *rest = [*target[:_MAX_PATH].split("/", 3), "", "", ""]
        path = unquote(rest[0], errors="strict")
        if key != self._key or not path:
            return None
        folder = self._copies.known(unquote(name))
        with closing(opened(folder)) as database:
            kind = database.scalar(_TYPE, (path,))
            if kind is None and database.scalar("SELECT 1 FROM contents WHERE path = ?", (path,)) is None:
                return None
        store = FileStore(folder / FILES)
        try:
            return store.open_read(path), kind or ""
        finally:
            store.close()

    def _failed(self, _: Failure, request: Request) -> None:
        """Answer for what cannot be read: no crawl or path of ours, a symlink in its place, a store that is damaged."""
        if request.channel is not None:
            _finish(request, 404, "there is no such file")

    def _answer(self, found: tuple[BufferedReader, str] | None, request: Request) -> None:
        if request.channel is None:  # nobody waits any more
            if found is not None:
                found[0].close()
            return
        if found is None:
            _finish(request, 404, "there is no such file")
            return
        file, header = found
        for name, value in shown_as(header).items():
            request.setHeader(name, value)
        file.seek(0, 2)
        request.setHeader("Content-Length", str(file.tell()))
        file.seek(0)
        if request.method == b"HEAD":
            file.close()
            request.finish()
            return
        sent = FileSender().beginFileTransfer(file, request)
        sent.addBoth(_sent, file, request)


def shown_as(header: str) -> dict[str, str]:
    """Return the headers by which a browser may show a file that was received with this Content-Type *header*."""
    known = mediatype.parse([header]) if header else mediatype.MediaType(None, None)
    essence = known.essence or ""
    charset = f"; charset={known.charset}" if known.charset and _CHARSET.fullmatch(known.charset) else ""
    if _SHOWN.fullmatch(essence):
        return {"Content-Type": essence + charset}
    if _AS_TEXT.fullmatch(essence):
        return {"Content-Type": "text/plain" + charset}
    return {"Content-Type": "application/octet-stream", "Content-Disposition": "attachment"}


def _sent(_: object, file: BufferedReader, request: Request) -> None:
    file.close()
    if request.channel is not None:
        request.finish()


def _text(header: str | bytes | None) -> str:
    return header.decode("latin-1") if isinstance(header, bytes) else header or ""


def _said(request: Request, status: int, text: str) -> bytes:
    request.setResponseCode(status)
    request.setHeader("Content-Type", "text/plain; charset=utf-8")
    return f"{text}\n".encode()


def _finish(request: Request, status: int, text: str) -> None:
    request.write(_said(request, status, text))
    request.finish()
