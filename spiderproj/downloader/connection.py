"""One TCP or TLS connection to an origin, as an asyncio protocol that carries one exchange at a time."""

from __future__ import annotations

import asyncio
from ipaddress import ip_address
from typing import TYPE_CHECKING, Protocol, cast

from spiderproj.downloader.errors import FetchError, FetchTimeoutError, ResetError
from spiderproj.errors import SpiderprojError

if TYPE_CHECKING:
    from ipaddress import IPv4Address, IPv6Address

    from spiderproj.downloader.budget import Budget
    from spiderproj.downloader.exchange import Exchange
    from spiderproj.downloader.wire import Origin


class Owner(Protocol):
    """What a connection tells of itself."""

    budget: Budget

    def opened(self, connection: Connection) -> None:
        """Take a new connection."""

    def ended(self, connection: Connection, exchange: Exchange, *, reusable: bool) -> None:
        """Take a connection whose exchange is over; one that is not reusable is closed already."""

    def lost(self, connection: Connection, *, by_server: bool) -> None:
        """Forget a closed connection; *by_server*: it was idle, and the server closed it."""


class Connection(asyncio.Protocol):
    """A connection to *origin*; ``address`` is the one dialled, ``idle_until`` when it is too old to be used."""

    def __init__(self, owner: Owner, origin: Origin, ip: str) -> None:
        self.origin = origin
        self.address: IPv4Address | IPv6Address = ip_address(ip)
        self.idle_until = 0.0
        self._owner = owner
        self._exchange: Exchange | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._closing = False
        self._aborted = False

    @property
    def usable(self) -> bool:
        """Tell whether a request can be sent."""
        return not self._closing and not self._transport.is_closing()

    def run(self, payload: bytes, exchange: Exchange) -> asyncio.Future[None]:
        """Send *payload*; the future ends with the exchange, or with the FetchError that ended it."""
        self._exchange = exchange
        self._waiter = waiter = asyncio.get_running_loop().create_future()
        exchange.begin()
        if exchange.tape is not None:
            exchange.tape.begin(self.address)
        self._transport.write(payload)
        return waiter

    def abort(self) -> None:
        """Close at once; an exchange under way fails."""
        if self._exchange is not None:
            self._end(ResetError("the connection was closed on our side"))
        self._close()

    def check(self, now: float) -> None:
        """End the exchange when the server is too slow."""
        if self._exchange is not None:
            try:
                self._exchange.check(now)
            except FetchTimeoutError as error:
                self._end(None if self._exchange.stopped else error)

    def pause(self) -> None:
        """Read no more until ``resume``: too much is in memory."""
        self._transport.pause_reading()
        if self._exchange is not None:
            self._exchange.pause()

    def resume(self) -> None:
        """Read on."""
        self._transport.resume_reading()
        if self._exchange is not None:
            self._exchange.resume()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the transport."""
        self._transport = cast("asyncio.Transport", transport)
        self._owner.opened(self)

    def data_received(self, data: bytes) -> None:
        """Give *data* to the exchange; bytes that nobody asked for are never the answer to a later request."""
        exchange = self._exchange
        if exchange is None:
            self._close()
            return
        try:
            exchange.feed(data)
        except (FetchError, SpiderprojError, OSError) as error:  # the spool cannot write
            self._end(error)
            return
        if exchange.over:
            self._end(None)
        elif exchange.held:
            self._owner.budget.hold(self, exchange.held)

    def eof_received(self) -> None:
        """Take the server's end; the transport closes itself."""
        self._closing = True
        self._cut(clean=True)

    def connection_lost(self, exc: Exception | None) -> None:
        """Take the end of the connection, a reset when *exc* is given."""
        self._closing = True
        by_server = self._exchange is None and not self._aborted
        self._cut(clean=exc is None)
        self._owner.lost(self, by_server=by_server)

    def _cut(self, *, clean: bool) -> None:
        """End the exchange because the connection ended."""
        if self._exchange is None:
            return
        try:
            self._exchange.eof(clean=clean)
        except (FetchError, SpiderprojError, OSError) as error:
            self._end(error)
        else:
            self._end(None)

    def _end(self, error: Exception | None) -> None:
        """End the exchange with *error*, or well; keep the connection when it can be."""
        exchange, waiter = self._exchange, self._waiter
        if exchange is None or waiter is None:
            return
        self._exchange = self._waiter = None
        self._owner.budget.release(self)
        reusable = error is None and exchange.parser.reusable and self.usable and self._sent()
        if not reusable:
            self._close()
        self._owner.ended(self, exchange, reusable=reusable)
        if waiter.done():
            return  # cancelled
        if error is None:
            waiter.set_result(None)
        else:
            waiter.set_exception(error)

    def _sent(self) -> bool:
        """Tell whether the request has left us: an early answer may come before its body has."""
        return self._transport.get_write_buffer_size() == 0

    def _close(self) -> None:
        """Close without waiting for anything."""
        self._aborted = True
        self._transport.abort()
