"""The one web server of the tests: scripted by routes, on loopback, with a log of every request.

A ``Site`` answers what its routes say (``tests/routes.py`` explains their keys) and 404 for anything else. It runs in
a thread of its own on three addresses that share the routes and the log: ``base`` (http://127.0.0.1:PORT), ``alt``
(the same port as http://localhost:PORT, another host to a crawler) and ``other`` (127.0.0.1 on a second port).
Connections are kept alive and answered in order; every request is logged before its answer is sent.

    with Site([page("/", link("/a")), page("/a")]) as site:
        ...  # fetch site.base + "/"
        assert site.hits("GET /a") == 1

By hand: ``python -m tests.site case.json`` serves a case and prints a JSON line for each request.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import json
import re
import threading
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from tests.connection import Connection
from tests.routes import Routes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from tests.answers import RouteSpec
    from tests.connection import Logged
    from tests.routes import Found


class Site:
    """A running scripted server; a context manager that closes it."""

    def __init__(self, routes: Iterable[RouteSpec] = (), *, folder: Path | None = None, port: int = 0) -> None:
        self.log: list[Logged] = []
        self._news = threading.Condition()
        self._loop = asyncio.new_event_loop()
        self._transports: set[asyncio.Transport] = set()
        self._connections = 0
        self._servers: list[asyncio.Server] = []
        listening: Future[None] = Future()
        self._thread = threading.Thread(target=self._run, args=(port, listening), name="site", daemon=True)
        self._thread.start()
        listening.result()
        self.port, self._second = (server.sockets[0].getsockname()[1] for server in self._servers[:2])
        self.base, self.alt = f"http://127.0.0.1:{self.port}", f"http://localhost:{self.port}"
        self.other = f"http://127.0.0.1:{self._second}"
        self._folder = folder
        self.set_routes(routes)

    @property
    def names(self) -> dict[str, str]:
        """What the placeholders in routes and cases stand for."""
        host = f"127.0.0.1:{self.port}"
        return {"BASE": self.base, "ALT": self.alt, "OTHER": self.other, "HOST": host, "PORT": str(self.port)}

    def set_routes(self, routes: Iterable[RouteSpec]) -> None:
        """Answer by *routes* from now on: the site has changed."""
        self.routes = Routes(routes, self.names, self._folder)

    def hits(self, request: str) -> int:
        """Return how often *request* was made: "GET /x", "HEAD /x", "ANY /x", or with a base: "GET http://h:1/x"."""
        return sum(1 for _ in self.requests(request))

    def requests(self, request: str) -> list[Logged]:
        """Return the log's entries that *request* names, in order of arrival."""
        method, _, url = request.partition(" ")
        host, target = _host_and_target(url, self.base)
        return [r for r in list(self.log) if r.target == target and r.host == host and method in ("ANY", r.method)]

    def wait_for(self, condition: Callable[[Site], bool], timeout_s: float = 10) -> bool:
        """Return whether *condition* of this site became true, asked after every request, within *timeout_s*."""
        with self._news:
            return self._news.wait_for(lambda: condition(self), timeout_s)

    def follow(self) -> Iterator[Logged]:
        """Yield every request as it arrives, from the first one, for ever."""
        for number in itertools.count():
            with self._news:
                while len(self.log) <= number:
                    self._news.wait()
            yield self.log[number]

    def close(self) -> None:
        """Stop listening, drop every connection and end the thread."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop)
            self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self, port: int, listening: Future[None]) -> None:
        """Open both ports and serve them; the loop lives in this thread only, whatever loop the caller runs in."""
        try:
            self._loop.run_until_complete(self._listen(port))
        except OSError as error:
            listening.set_exception(error)
            return
        listening.set_result(None)
        self._loop.run_forever()
        self._loop.close()

    async def _listen(self, port: int) -> None:
        """Listen on 127.0.0.1 and, where there is IPv6, on ::1, which localhost may mean."""
        await self._open("127.0.0.1", port)
        await self._open("127.0.0.1", 0)
        for number in [server.sockets[0].getsockname()[1] for server in self._servers]:
            with contextlib.suppress(OSError):
                await self._open("::1", number)

    async def _open(self, address: str, port: int) -> None:
        loop = asyncio.get_running_loop()
        self._servers.append(await loop.create_server(lambda: Connection(self), address, port, backlog=1024))

    def _stop(self) -> None:
        for server in self._servers:
            server.close()
        for transport in tuple(self._transports):
            transport.abort()
        self._loop.call_soon(self._loop.stop)

    def opened(self, transport: asyncio.Transport) -> tuple[int, int]:
        """Return the number of a new connection and the server's port of it."""
        self._transports.add(transport)
        self._connections += 1
        return self._connections, transport.get_extra_info("sockname")[1]

    def closed(self, transport: asyncio.Transport) -> None:
        """Forget a connection."""
        self._transports.discard(transport)

    def record(self, entry: Logged) -> None:
        """Log a request and tell whoever waits for it."""
        with self._news:
            self.log.append(entry)
            self._news.notify_all()

    def find(self, method: str, target: str, port: int, headers: list[tuple[str, str]]) -> tuple[Routes, Found]:
        """Return the routes in force and the one that fits a request."""
        return self.routes, self.routes.find(method, target, "other" if port == self._second else "", headers)


def load(path: Path) -> Mapping[str, Any]:
    """Return a case as it is written in *path*, a ``case.json``."""
    case: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return case


def _host_and_target(url: str, base: str) -> tuple[str, str]:
    """Return the Host field and the request target that *url* (absolute, or a path on *base*) leads to."""
    if not re.match(r"https?://", url):
        url = base + url
    host, slash, rest = url.split("//", 1)[1].partition("/")
    return host, slash + rest or "/"


def main() -> None:
    """Serve a case until interrupted."""
    parser = argparse.ArgumentParser(description="Serve a case and print a JSON line for each request.")
    parser.add_argument("case", type=Path)
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    with Site(load(options.case)["routes"], folder=options.case.parent, port=options.port) as site:
        print(json.dumps(site.names), flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            for entry in site.follow():
                print(json.dumps({**entry._asdict(), "body": entry.body.decode("latin-1")}), flush=True)


if __name__ == "__main__":
    main()
