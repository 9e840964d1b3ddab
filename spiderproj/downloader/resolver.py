"""Find the addresses of a host, and hand out none that may not be dialled."""

from __future__ import annotations

import asyncio
import socket
from functools import partial
from typing import TYPE_CHECKING

from spiderproj.addresses import literal
from spiderproj.downloader.errors import BadPortError, PrivateAddressError, ResolveError

if TYPE_CHECKING:
    from spiderproj.addresses import AddressPolicy
    from spiderproj.downloader.wire import Origin

TTL_SECONDS = 60.0
MAX_HOSTS = 10_000
MAX_ADDRESSES = 4
"""Addresses of a host that are tried."""


def not_public(origin: Origin, address: str) -> str:
    """Return what to tell of an *address* that may not be dialled."""
    where = f"{origin.host[:253]}:{origin.port}"
    return f"{where} is at {address}, not a public address: name it in a seed, or in SPIDERPROJ_ALLOWED_NETWORKS"


class Resolver:
    """A small cache before the system's resolver; *policy* judges every address, cached or not."""

    def __init__(self, policy: AddressPolicy) -> None:
        self._policy = policy
        self._known: dict[str, tuple[float, list[str]]] = {}
        self._pending: dict[str, asyncio.Task[list[str]]] = {}

    async def resolve(self, origin: Origin) -> list[str]:
        """Return the addresses to dial for *origin*, literal, in the system's order.

        Raises BadPortError; ResolveError; PrivateAddressError when any of the addresses may not be dialled: a mixed
        answer is how a name is rebound.
        """
        host, port = origin.host, origin.port
        if not self._policy.permits_port(host, port):
            raise BadPortError(f"port {port} of {host} is one of another protocol: a seed must name it")
        ip = literal(host)
        addresses = [ip] if ip else await self._lookup(host)
        for address in addresses:
            if not self._policy.permits(address, port, host):
                raise PrivateAddressError(not_public(origin, address))
        return addresses[:MAX_ADDRESSES]

    async def close(self) -> None:
        """Give up lookups under way."""
        tasks = list(self._pending.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _lookup(self, host: str) -> list[str]:
        """Return the addresses of *host*, from the cache when they are fresh."""
        known = self._known.get(host)
        if known is not None and known[0] > asyncio.get_running_loop().time():
            return known[1]
        task = self._pending.get(host)
        if task is None:
            task = self._pending[host] = asyncio.create_task(self._ask(host))
            task.add_done_callback(partial(self._done, host))
        return await asyncio.shield(task)  # others wait for the same answer

    def _done(self, host: str, task: asyncio.Task[list[str]]) -> None:
        """Forget a lookup that has ended; nobody may be waiting for its failure any more."""
        self._pending.pop(host, None)
        if not task.cancelled():
            task.exception()

    async def _ask(self, host: str) -> list[str]:
        """Return the addresses of *host* as the system's resolver gives them, and remember them."""
        loop = asyncio.get_running_loop()
        try:
            answers = await loop.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise ResolveError(f"{host[:253]} cannot be resolved: {error}") from error
        addresses = list(dict.fromkeys(str(answer[4][0]) for answer in answers))
        if not addresses:
            raise ResolveError(f"{host[:253]} has no address")
        self._known.pop(host, None)
        if len(self._known) >= MAX_HOSTS:
            del self._known[next(iter(self._known))]
        self._known[host] = (loop.time() + TTL_SECONDS, addresses)
        return addresses
