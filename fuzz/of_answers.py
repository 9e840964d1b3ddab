"""Targets: HTTP answers, by the parser and decoder alone and through the client, and the headers that steer a crawl."""

from __future__ import annotations

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor
from functools import cache

from fuzz.expect import body, expect, parts
from spiderproj.codings import CodingError, Decoder
from spiderproj.cookies import CookieJar
from spiderproj.downloader.budget import Budget
from spiderproj.downloader.connection import Connection
from spiderproj.downloader.errors import FetchError
from spiderproj.downloader.exchange import Exchange, Patience
from spiderproj.downloader.wire import Origin
from spiderproj.http1 import ResponseError, ResponseParser, keep_alive_seconds
from spiderproj.politeness import parse_retry_after

_MAX_SIZE = 4 * 1024 * 1024
_NOW = 1_750_000_000.0
_METHODS = ("GET", "HEAD")
_Outcome = tuple[object, ...]


def answer(data: bytes) -> None:
    """Expect one outcome however an answer is split, with clean headers."""
    data = body(data)
    for method in _METHODS:
        outcome = _parsed(method, [data])
        middle = len(data) // 2
        for pieces in ([data[:middle], data[middle:]], [data[at : at + 1] for at in range(min(len(data), 2000))]):
            if sum(map(len, pieces)) == len(data):
                expect(_parsed(method, pieces) == outcome, "one outcome however it is split", method, outcome)


def coding(data: bytes) -> None:
    """Expect one outcome, within the bounds, whatever a Content-Encoding claims and however the body is split."""
    label, content = parts(data, 2)
    content = body(content)
    outcome = _decoded(label, [content])
    expect(_decoded(label, [content[at : at + 7] for at in range(0, len(content), 7)]) == outcome, "one outcome", label)


def client(data: bytes) -> None:
    """Expect of the client, over a socket pair that is closed after the answer, what the parser alone makes of it."""
    outcome = _thread().submit(_run, data[:LONGEST_SENT]).result()
    exchange = _new_exchange()
    try:
        exchange.feed(data[:LONGEST_SENT])
        exchange.eof(clean=True)
    except FetchError as error:
        alone: _Outcome = (type(error),)
    else:
        alone = _result(exchange)
    expect(outcome == alone, "the outcome of the parser alone", outcome, alone)


def retry_after(data: bytes) -> None:
    """Expect a Retry-After to ask for nothing, or for seconds within the cap."""
    found = parse_retry_after(data.decode("latin-1"), _NOW, 300.0)
    expect(found is None or 0 <= found <= 300, "seconds within the cap", found)


def cookies(data: bytes) -> None:
    """Expect what a site sets to go back to its own origin only, as one clean line of bounded length."""
    jar = CookieJar()
    lines = data.decode("latin-1").split("\n")
    jar.store("http://www.example.co.uk:8080/a/b?c", lines, _NOW)
    for when in (_NOW, _NOW + 1e6):
        for url in ("http://www.example.co.uk:8080/a/b", "http://www.example.co.uk:8080/"):
            header = jar.header_for(url, when)
            clean = header is None or (0 < len(header) <= 8192 and header.isascii() and header.isprintable())
            expect(clean, "one clean line", header)
        for host in ("https://www.example.co.uk:8080", "http://www.example.co.uk", "http://other.co.uk:8080"):
            expect(jar.header_for(f"{host}/a/b", when) is None, "nothing for others", host, lines)


def _parsed(method: str, pieces: list[bytes]) -> _Outcome:
    parser = ResponseParser(method)
    content = b""
    try:
        for piece in pieces:
            content += parser.feed(piece)
    except ResponseError as error:
        return (error.kind,)
    whole = parser.eof()
    if parser.head is None:
        return (None, whole)
    for name, value in parser.head.headers:
        expect(name and not set(value) & set("\r\n\0"), "clean headers", name, value)
    keep_alive_seconds(parser.head)
    return (parser.head, content, parser.length, whole, parser.reusable)


def _decoded(label: bytes, pieces: list[bytes]) -> _Outcome:
    content: list[bytes] = []
    try:
        decoder = Decoder([label.decode("latin-1")])
        for piece in pieces:
            content += decoder.decode(piece)
        content += decoder.finish()
    except CodingError as error:
        return (error.kind,)
    return (b"".join(content), decoder.flags)


LONGEST_SENT = 16 * 1024
"""How much goes into the socket at once, without anybody reading, in bytes."""


class _Owner:
    """What the connection needs of a pool."""

    budget = Budget(_MAX_SIZE)

    def opened(self, connection: Connection) -> None:
        """Take nothing."""

    def ended(self, connection: Connection, exchange: Exchange, *, reusable: bool) -> None:
        """Take nothing."""

    def lost(self, connection: Connection, *, by_server: bool) -> None:
        """Take nothing."""


@cache
def _thread() -> ThreadPoolExecutor:
    """Return a thread for the client's loop: the tests' own has one already."""
    return ThreadPoolExecutor(1)


@cache
def _loop() -> asyncio.AbstractEventLoop:
    return asyncio.new_event_loop()


def _run(data: bytes) -> _Outcome:
    return _loop().run_until_complete(_exchange(data))


def _new_exchange() -> Exchange:
    patience = Patience()
    return Exchange("GET", max_size=_MAX_SIZE, deadline=60.0, patience=patience, clock=lambda: 0.0)


async def _exchange(data: bytes) -> _Outcome:
    ours, theirs = socket.socketpair()
    origin = Origin("http", "example.org", 80)
    with theirs:
        _, connection = await asyncio.get_running_loop().create_connection(
            lambda: Connection(_Owner(), origin, "127.0.0.1"), sock=ours
        )
        exchange = _new_exchange()
        waiter = connection.run(b"GET / HTTP/1.1\r\n\r\n", exchange)
        theirs.sendall(data)
        theirs.shutdown(socket.SHUT_WR)
        try:
            await waiter
        except FetchError as error:
            return (type(error),)
        finally:
            connection.abort()
            await asyncio.sleep(0)  # the transport closes its socket
    return _result(exchange)


def _result(exchange: Exchange) -> _Outcome:
    return (exchange.head, exchange.body, exchange.flags, exchange.whole)
