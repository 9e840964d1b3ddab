"""A loopback server that answers with the very bytes it is told, and a download handler to ask it with.

Everything runs in a loop of its own, in a thread of its own: the reactor's loop is busy with pytest-twisted.
"""

from __future__ import annotations

import asyncio
import functools
import socket
import struct
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ParamSpec, cast

import pytest
import uvloop
from scrapy import Request
from scrapy.settings import Settings
from scrapy.signalmanager import SignalManager
from scrapy.statscollectors import MemoryStatsCollector

from spiderproj.downloader.errors import FetchError
from spiderproj.downloader.handler import HttpHandler

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine

    from scrapy.crawler import Crawler

P = ParamSpec("P")
LOOPS = (asyncio.new_event_loop, uvloop.new_event_loop)


def own_loop(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Run the async *test* in a new loop of either kind; what the loop could not tell anybody else fails it."""

    async def run(*args: P.args, **kwargs: P.kwargs) -> None:
        complaints: list[dict[str, Any]] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
        async with asyncio.timeout(30):
            await test(*args, **kwargs)
        assert not complaints, complaints

    @functools.wraps(test)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> None:
        def run_in(factory: Callable[[], asyncio.AbstractEventLoop]) -> None:
            with asyncio.Runner(loop_factory=factory) as runner:
                runner.run(run(*args, **kwargs))

        for factory in LOOPS:
            with ThreadPoolExecutor(1) as executor:
                executor.submit(run_in, factory).result()

    return wrapper


async def until(condition: Callable[[], object]) -> None:
    """Wait until *condition* holds."""
    async with asyncio.timeout(5):
        while True:
            if condition():
                return
            await asyncio.sleep(0.001)


class Peer:
    """One connection, seen from the server."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> None:
        self.reader = reader
        self.writer = writer
        self.number = number  # of the connection, from 1
        self.requests = 0  # on this connection, with this one
        self.head = b""
        self.body = b""

    async def read_request(self) -> bool:
        """Read a request; False at the end of the connection."""
        try:
            self.head = await self.reader.readuntil(b"\r\n\r\n")
            length = self.head.lower().partition(b"\r\ncontent-length: ")[2].partition(b"\r\n")[0]
            self.body = await self.reader.readexactly(int(length or b"0"))
        except (asyncio.IncompleteReadError, ConnectionError):
            return False
        self.requests += 1
        return True

    async def send(self, data: bytes) -> None:
        """Send *data*."""
        if self.writer.transport.is_closing():  # where asyncio raises this, uvloop has a RuntimeError
            raise ConnectionResetError
        self.writer.write(data)
        await self.writer.drain()

    def close(self) -> None:
        """Send FIN."""
        self.writer.close()

    def reset(self) -> None:
        """Send RST."""
        raw = self.writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


class Server:
    """Counts what comes in; ``url`` is where it listens."""

    def __init__(self, answer: Callable[[Peer], Awaitable[None]]) -> None:
        self.answer = answer
        self.connections = 0
        self.requests = 0
        self.open = 0
        self.peers: list[Peer] = []
        self.url = ""

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection."""
        self.connections += 1
        self.open += 1
        peer = Peer(reader, writer, self.connections)
        self.peers.append(peer)
        try:
            while await peer.read_request():
                self.requests += 1
                await self.answer(peer)
        except ConnectionError:
            pass
        finally:
            self.open -= 1
            writer.close()

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self.url.rpartition(":")[2].rstrip("/"))


def always(data: bytes, *, close: bool = False) -> Callable[[Peer], Awaitable[None]]:
    """Return what answers every request with *data*, and closes the connection when *close*."""

    async def answer(peer: Peer) -> None:
        await peer.send(data)
        if close:
            peer.close()

    return answer


async def silence(peer: Peer) -> None:
    """Answer nothing."""
    await peer.reader.read()


@asynccontextmanager
async def serve(
    answer: Callable[[Peer], Awaitable[None]], *, tls: ssl.SSLContext | None = None, host: str = "127.0.0.1"
) -> AsyncIterator[Server]:
    """Run a Server until the end of the block."""
    server = Server(answer)
    listener = await asyncio.start_server(server.handle, host, 0, ssl=tls)
    scheme = "https" if tls else "http"
    server.url = f"{scheme}://{host}:{listener.sockets[0].getsockname()[1]}/"
    try:
        yield server
    finally:
        listener.close()
        for peer in server.peers:
            peer.writer.transport.abort()
        await until(lambda: not server.open)


def fake_crawler(**settings: object) -> Crawler:
    """Return what the handler needs of a crawler; loopback is allowed unless *settings* say otherwise."""
    crawler = cast("Crawler", SimpleNamespace(spider=None))
    crawler.settings = Settings({"SPIDERPROJ_ALLOWED_NETWORKS": "127.0.0.0/8", "DOWNLOAD_TIMEOUT": 10} | settings)
    crawler.signals = SignalManager(crawler)
    crawler.stats = MemoryStatsCollector(crawler)
    return crawler


class Client:
    """A handler, and what it counted."""

    def __init__(self, handler: HttpHandler) -> None:
        self.handler = handler

    async def get(self, url: str, **arguments: Any) -> Any:
        """Return the response to a request; ``Any``, so that tests need not tell its kinds apart."""
        return await self.handler.download_request(Request(url, **arguments))

    def count(self, event: str) -> int:
        """Return how often a connection did *event*."""
        stats = self.handler.crawler.stats
        assert stats is not None
        return int(stats.get_value(f"spiderproj/connections/{event}", 0))


@asynccontextmanager
async def client(**settings: object) -> AsyncIterator[Client]:
    """Give a Client whose handler is closed after the block."""
    handler = HttpHandler.from_crawler(fake_crawler(**settings))
    try:
        yield Client(handler)
    finally:
        await handler.close()


async def fails(asked: Client, url: str, **arguments: Any) -> str:
    """Return the kind of the FetchError that a request ends with."""
    with pytest.raises(FetchError) as caught:
        await asked.get(url, **arguments)
    assert len(str(caught.value)) < 300
    return caught.value.kind
