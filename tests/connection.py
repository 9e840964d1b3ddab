"""One client connection of the scripted server: requests out of bytes, answers in their order."""

from __future__ import annotations

import asyncio
import re
import socket
import struct
import time
from typing import TYPE_CHECKING, NamedTuple

from tests.answers import Ending

if TYPE_CHECKING:
    from tests.site import Site

_MAX_HEAD = 1 << 20


class Logged(NamedTuple):
    """One request as the server saw it."""

    time: float  # time.monotonic() at its arrival
    method: str
    target: str  # path and query as on the request line
    host: str  # Host field as sent, with its port
    headers: list[tuple[str, str]]
    body: bytes
    connection: int  # number of the connection, from 1
    port: int  # the server's port that it came in on
    status: int | None  # of the answer, None when it has no status line of ours
    route: int | None  # place of the route that answered, None for the 404 page

    def field(self, name: str) -> str:
        """Return the first header field called *name*, or ""."""
        return next((value for key, value in self.headers if key.lower() == name), "")


class Connection(asyncio.Protocol):
    """One client connection: requests out of a buffer, one answer at a time."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._buffer = b""
        self._busy = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Register with the site."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._number, self._port = self._site.opened(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """Answer nothing more."""
        self._busy = True
        self._site.closed(self._transport)

    def data_received(self, data: bytes) -> None:
        """Answer every request that is whole."""
        self._buffer += data
        self._go_on()

    def _go_on(self) -> None:
        while not self._busy and (request := self._take()) is not None:
            self._answer(*request)

    def _take(self) -> tuple[str, str, str, list[tuple[str, str]], bytes] | None:
        """Return the next whole request of the buffer: method, target, version, fields, body."""
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            if len(self._buffer) > _MAX_HEAD:
                self._transport.abort()
            return None
        first, *lines = self._buffer[:end].decode("latin-1").split("\r\n")
        headers = [(name.strip(), value.strip()) for name, _, value in (line.partition(":") for line in lines)]
        size = next((int(value) for name, value in headers if name.lower() == "content-length"), 0)
        if len(self._buffer) < end + 4 + size:
            return None
        body, self._buffer = self._buffer[end + 4 : end + 4 + size], self._buffer[end + 4 + size :]
        method, target, version = (*first.split(" ", 2), "", "")[:3]
        return method, re.sub(r"^https?://[^/?#]*", "", target) or "/", version, headers, body

    def _answer(self, method: str, target: str, version: str, headers: list[tuple[str, str]], body: bytes) -> None:
        arrived = time.monotonic()
        routes, found = self._site.find(method, target, self._port, headers)
        answer = routes.answer(found)
        fields = {name.lower(): value for name, value in headers}
        host = fields.get("host", "")
        peer = (self._number, self._port, answer.status, found.place)
        self._site.record(Logged(arrived, method, target, host, headers, body, *peer))
        keep = version != "HTTP/1.0" and fields.get("connection", "").lower() != "close"
        data, ending = answer.to(method, keep=keep)
        self._busy = True
        if answer.delay_s:
            asyncio.get_running_loop().call_later(answer.delay_s, self._send, data, ending)
        else:
            self._send(data, ending)

    def _send(self, data: bytes, ending: Ending) -> None:
        if self._transport.is_closing():
            return
        self._transport.write(data)
        if ending is Ending.KEEP:
            self._busy = False
            if self._buffer:
                asyncio.get_running_loop().call_soon(self._go_on)
        elif ending is Ending.CLOSE:
            self._transport.close()
        elif ending is Ending.RESET:
            linger_for_nothing = struct.pack("ii", 1, 0)  # close() then sends RST, not FIN
            self._transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger_for_nothing)
            self._transport.abort()
