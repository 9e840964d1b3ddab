"""Keep connections alive and use them again, one exchange at a time; dial new ones when there is none."""

from __future__ import annotations

import asyncio
import ssl
from typing import TYPE_CHECKING

from spiderproj.downloader.connection import Connection
from spiderproj.downloader.errors import FetchError, FetchTimeoutError, RefusedError, ResetError, TLSError
from spiderproj.http1 import keep_alive_seconds

if TYPE_CHECKING:
    from collections.abc import Callable

    from spiderproj.downloader.budget import Budget
    from spiderproj.downloader.exchange import Exchange
    from spiderproj.downloader.resolver import Resolver
    from spiderproj.downloader.wire import Origin

CONNECT_SECONDS = 10.0
"""For the name, all addresses and the TLS handshake together."""
NEXT_ADDRESS_SECONDS = 3.0
"""After which the next address is tried, when there is one."""
IDLE_SECONDS = 15.0
KEEP_ALIVE_MARGIN = 1.0
"""A request must not be on its way when the server closes the connection."""
SWEEP_SECONDS = 0.25
_SAFE = ("GET", "HEAD")


class Pool:
    """Up to *per_origin* idle connections to an origin and *total* in all.

    *count* is called with "opened", "reused", "retried" (a kept connection died under a request), "closed_by_server"
    (an idle one), "expired", "drained" and "cut" (a stopped body was read to its end, or the connection given up).
    """

    def __init__(
        self,
        resolver: Resolver,
        budget: Budget,
        *,
        tls: ssl.SSLContext,
        per_origin: int,
        total: int,
        count: Callable[[str], None],
        local_address: tuple[str, int] | None = None,
    ) -> None:
        self.budget = budget
        self._resolver = resolver
        self._tls = tls
        self._per_origin = per_origin
        self._total = total
        self._count = count
        self._local_address = local_address
        self._open: set[Connection] = set()
        self._busy: set[Connection] = set()
        self._idle: dict[Origin, list[Connection]] = {}
        self._idle_by_age: dict[Connection, None] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._emptied: asyncio.Event | None = None

    async def fetch(self, origin: Origin, payload: bytes, exchange: Exchange) -> Connection:
        """Send *payload* and fill *exchange*; return the connection that carried it. Raises FetchError or OSError."""
        connection = self._take(origin)
        if connection is not None:
            self._count("reused")
            try:
                await self._run(connection, payload, exchange)
            except ResetError:
                if exchange.received or exchange.method not in _SAFE or self._emptied:
                    raise
                self._count("retried")  # the server closed it while the request was on its way (RFC 9112, 9.3.1)
            else:
                return connection
        connection = await self._dial(origin, exchange.deadline)
        await self._run(connection, payload, exchange)
        return connection

    async def close(self) -> None:
        """Close every connection; exchanges under way fail."""
        self._emptied = asyncio.Event()
        await self._resolver.close()
        for connection in tuple(self._open):
            connection.abort()
        if self._open:
            await asyncio.wait_for(self._emptied.wait(), CONNECT_SECONDS)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def opened(self, connection: Connection) -> None:
        """Take a new connection."""
        self._open.add(connection)
        self._count("opened")

    def ended(self, connection: Connection, exchange: Exchange, *, reusable: bool) -> None:
        """Take a connection whose exchange is over; keep it when it is *reusable*."""
        self._busy.discard(connection)
        if exchange.stopped is not None:
            self._count("drained" if reusable else "cut")
        if reusable and exchange.head is not None:
            self._keep(connection, keep_alive_seconds(exchange.head))

    def lost(self, connection: Connection, *, by_server: bool) -> None:
        """Forget a closed connection."""
        self._open.discard(connection)
        self._busy.discard(connection)
        if connection in self._idle_by_age:
            self._forget(connection)
        if by_server:
            self._count("closed_by_server")
        if self._emptied is not None and not self._open:
            self._emptied.set()

    async def _run(self, connection: Connection, payload: bytes, exchange: Exchange) -> None:
        """Carry *exchange* over *connection*."""
        self._busy.add(connection)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(SWEEP_SECONDS, self._sweep)
        try:
            await connection.run(payload, exchange)
        except asyncio.CancelledError:
            connection.abort()
            raise

    def _take(self, origin: Origin) -> Connection | None:
        """Return the idle connection to *origin* that was used last: the others may grow old and go."""
        idle = self._idle.get(origin)
        while idle:
            connection = idle[-1]
            self._forget(connection)
            if connection.usable and asyncio.get_running_loop().time() < connection.idle_until:
                return connection
            connection.abort()
        return None

    def _keep(self, connection: Connection, server_seconds: int | None) -> None:
        """Keep *connection* as long as we and the server are willing to."""
        seconds = IDLE_SECONDS
        if server_seconds is not None:
            seconds = min(seconds, server_seconds - KEEP_ALIVE_MARGIN)
        idle = self._idle.setdefault(connection.origin, [])
        idle.append(connection)
        self._idle_by_age[connection] = None
        connection.idle_until = asyncio.get_running_loop().time() + seconds
        if seconds <= 0 or len(idle) > self._per_origin:
            self._expire(connection)
        elif len(self._idle_by_age) > self._total:
            self._expire(next(iter(self._idle_by_age)))

    def _expire(self, connection: Connection) -> None:
        """Close an idle *connection*."""
        self._forget(connection)
        self._count("expired")
        connection.abort()

    def _forget(self, connection: Connection) -> None:
        """Take *connection* from the idle ones."""
        del self._idle_by_age[connection]
        idle = self._idle[connection.origin]
        if idle[-1] is connection:
            idle.pop()
        else:
            idle.remove(connection)
        if not idle:
            del self._idle[connection.origin]

    def _sweep(self) -> None:
        """End what is too slow or too old: one timer for all connections, none a request."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        for connection in tuple(self._busy):
            connection.check(now)
        for connection in [each for each in self._idle_by_age if each.idle_until <= now]:
            self._expire(connection)
        active = self._busy or self._idle_by_age
        self._timer = loop.call_later(SWEEP_SECONDS, self._sweep) if active else None

    async def _dial(self, origin: Origin, deadline: float) -> Connection:
        """Return a new connection to *origin*, before the loop time *deadline*."""
        limit = min(deadline, asyncio.get_running_loop().time() + CONNECT_SECONDS)
        try:
            async with asyncio.timeout_at(limit):
                addresses = await self._resolver.resolve(origin)
                return await self._dial_first(origin, addresses)
        except TimeoutError as error:
            raise FetchTimeoutError(f"no connection to {origin.host}:{origin.port} in time") from error

    async def _dial_first(self, origin: Origin, addresses: list[str]) -> Connection:
        """Return a connection to the first of *addresses* that accepts one."""
        for ip in addresses[:-1]:
            try:
                async with asyncio.timeout(NEXT_ADDRESS_SECONDS):
                    return await self._connect(origin, ip)
            except OSError:
                continue  # TimeoutError is one
        try:
            return await self._connect(origin, addresses[-1])
        except OSError as error:
            raise _dial_error(origin, error) from error

    async def _connect(self, origin: Origin, ip: str) -> Connection:
        """Return a connection to *ip*: a literal address that was judged, so nothing is resolved again."""
        secure = origin.scheme == "https"
        _, connection = await asyncio.get_running_loop().create_connection(
            lambda: Connection(self, origin, ip),
            ip,
            origin.port,
            ssl=self._tls if secure else None,
            server_hostname=origin.host.strip("[]") if secure else None,
            local_addr=self._local_address,
        )
        return connection


def _dial_error(origin: Origin, error: OSError) -> FetchError:
    """Return what *error* means for a fetch."""
    where = f"{origin.host}:{origin.port}"
    if isinstance(error, ssl.SSLError):
        return TLSError(f"{where}: {getattr(error, 'verify_message', '') or error.reason or error}")
    if isinstance(error, TimeoutError):
        return FetchTimeoutError(f"{where} does not answer")
    if isinstance(error, ConnectionError) and not isinstance(error, ConnectionRefusedError):
        return ResetError(f"{where} closed the connection while it was made")
    return RefusedError(f"{where} does not accept a connection: {error.strerror or error}")
