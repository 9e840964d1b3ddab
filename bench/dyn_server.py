"""Serve a virtual site of a million pages and more, each computed from its URL, and count what is asked for.

    python -m bench.dyn_server --pages 1200000 --port 8804

Page 0 is ``/``, page i is ``/d<i // 10000>/e<i // 100 % 100>/p<i>.html``. A page links to its 20 children (20 i + 1
...), so that the tree reaches every page, to its parent, to pages 1 to 8, and to twelve pages chosen by a fixed hash;
a complete crawl from ``/`` is exactly N pages and robots.txt. Every page has an ETag and answers If-None-Match.

``--faults 5`` has five pages of a hundred fail when they are asked for first: a 500, nothing at all, half a body, no
last chunk. ``--traps`` has one page of 500 lead to a path that grows for ever and to a redirect that
never ends, and all of them to a calendar without end.

``--latency 200`` has each answer come 200 ms after its request.

At the end (SIGINT, SIGTERM) it prints one line of JSON: ms from the first request to the last answer, distinct pages,
repeated GETs, unknown URLs, answers of 304, faults, pages and redirects of traps, requests by method, connections, and
the most that were open at once. Ask for ``/-/counts`` to see it meanwhile.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import signal
import time
from collections import Counter

_FANOUT, _CROSS = 20, 12
_TRAPPED = 500  # one page of so many leads into a trap
_GOLDEN, _MASK = 0x9E3779B97F4A7C15, (1 << 64) - 1
_PAGE = re.compile(r"/d(\d+)/e(\d+)/p(\d+)\.html")
_FILLER = (
    b"<p>" + b"alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho " * 4 + b"</p>\n"
)
_HTML = b"text/html; charset=utf-8"
_OK, _MISSING = b"200 OK", b"404 Not Found"
_LAST = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/html\r\n"


class VirtualSite:
    """The pages, and the count of what was asked for; so many of a hundred are *faulty* at first."""

    def __init__(self, pages: int, page_bytes: int, faulty: int = 0, *, has_traps: bool = False) -> None:
        self._pages, self._bytes = pages, page_bytes
        self._faulty, self._has_traps = faulty, has_traps
        self._failed, self._served = bytearray(pages), bytearray(pages)
        self._nav = b"".join(b'<a href="%s">Section %d</a> ' % (path(n), n) for n in range(1, min(9, pages)))
        self.counts: Counter[str] = Counter()
        self._began: float | None = None

    def tick(self) -> None:
        """Note that an answer has been sent."""
        if self._began is not None:
            self.counts["ms"] = round(1000 * (time.monotonic() - self._began))

    def answer(self, method: str, target: str, etag: str) -> bytes:
        """Return the whole response to a request; the connection ends after one that says so, or is empty."""
        self._began = self._began or time.monotonic()
        self.counts[method] += 1
        if target == "/robots.txt":
            return _head_only(_response(_OK, b"text/plain", b"User-agent: *\nDisallow:\n"), method)
        if target == "/-/counts":
            return _response(_OK, b"application/json", json.dumps(self.counts).encode())
        number = self._number(target)
        if number is None:
            return _head_only(self._beside(target), method)
        if method == "GET" and self._fails(number):
            return self._fault(number)
        own = f'"{number}"'
        if method == "GET":
            self.counts["repeats" if self._served[number] else "distinct"] += 1
            self._served[number] = 1
        if etag == own:
            self.counts["not_modified"] += 1
            return b"HTTP/1.1 304 Not Modified\r\nConnection: keep-alive\r\nETag: %s\r\n\r\n" % own.encode()
        return _head_only(_response(_OK, _HTML, self.body(number), own.encode()), method)

    def body(self, number: int) -> bytes:
        """Return page *number*: its links, then text up to the size asked for."""
        children = range(number * _FANOUT + 1, min(number * _FANOUT + _FANOUT + 1, self._pages))
        lines = [
            b'<!doctype html><html><head><meta charset="utf-8"><title>Page %d</title></head><body>' % number,
            self._nav,
            *(b'<a href="%s">child %d</a>' % (path(child), child) for child in children),
            b'<a href="%s">up</a>' % path(max(0, number - 1) // _FANOUT),
            *(b'<a href="%s#s">see %d</a>' % (path(other), other) for other in self._others(number)),
            *(b'<a href="%s">more</a>' % trap for trap in self._traps(number)),
        ]
        missing = self._bytes - sum(map(len, lines))
        return b"\n".join([*lines, _FILLER * max(0, missing // len(_FILLER)), b"</body></html>\n"])

    def _others(self, number: int) -> list[int]:
        state, found = (number + 1) * _GOLDEN & _MASK, []
        for step in range(1, _CROSS + 1):
            state = (state * _GOLDEN + step) & _MASK
            found.append((state >> 20) % self._pages)
        return found

    def _traps(self, number: int) -> list[bytes]:
        if not self._has_traps:
            return []
        own = [b"/trap/%d/" % number, b"/far/%d?hop=1" % number] if number % _TRAPPED == 7 else []
        return [*own, b"/calendar?month=1"]

    def _beside(self, target: str) -> bytes:
        """Return what is no page: a step of a trap, or 404."""
        place, _, number = target.rpartition("=")
        if self._has_traps and target.startswith("/trap/"):
            self.counts["traps"] += 1
            return _response(_OK, _HTML, b'<a href="a/">a</a><a href="b/">b</a><a href="a/b/a/b/">%d</a>' % len(target))
        if self._has_traps and place.startswith(("/far/", "/calendar?")) and number.isdigit():
            self.counts["traps"] += 1
            following = f"{place}={int(number) + 1}".encode()
            if place.startswith("/calendar?"):
                return _response(_OK, _HTML, b'<a href="%s">next month</a>' % following)
            return b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: %s\r\n\r\n" % following
        self.counts["missing"] += 1
        return _response(_MISSING, b"text/html", b"<h1>404</h1>\n")

    def _fails(self, number: int) -> bool:
        """Return whether this is the first request of a page that fails at first, and count it."""
        if not number or self._failed[number] or _mixed(number) % 100 >= self._faulty:
            return False
        self._failed[number] = 1
        self.counts["faults"] += 1
        return True

    def _fault(self, number: int) -> bytes:
        body = self.body(number)
        half = body[: len(body) // 2]
        return (
            b"",
            _response(b"500 Internal Server Error", b"text/html", b"<h1>500</h1>\n"),
            _LAST + b"Content-Length: %d\r\n\r\n%s" % (len(body), half),
            _LAST + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n" % (len(half), half),
        )[number % 4]

    def _number(self, target: str) -> int | None:
        """Return the page that *target* names, None when it is not exactly a page's path."""
        if target == "/":
            return 0
        match = _PAGE.fullmatch(target)
        number = int(match[3]) if match else 0
        return number if 0 < number < self._pages and path(number) == target.encode() else None


def path(number: int) -> bytes:
    """Return the one path of page *number*."""
    return b"/d%d/e%d/p%d.html" % (number // 10_000, number // 100 % 100, number) if number else b"/"


def _mixed(number: int) -> int:
    return ((number + 1) * _GOLDEN & _MASK) >> 20


def _response(status: bytes, content_type: bytes, body: bytes, etag: bytes = b"") -> bytes:
    head = b"HTTP/1.1 %s\r\nConnection: keep-alive\r\nContent-Type: %s\r\nContent-Length: %d\r\n%s\r\n"
    return head % (status, content_type, len(body), b"ETag: %s\r\n" % etag if etag else b"") + body


def _head_only(response: bytes, method: str) -> bytes:
    return response[: response.index(b"\r\n\r\n") + 4] if method == "HEAD" else response


class Connection(asyncio.Protocol):
    """One client: GET and HEAD, kept alive, answered in order."""

    open_now = 0

    def __init__(self, site: VirtualSite, latency_s: float = 0.0) -> None:
        self._site, self._latency_s, self._buffer = site, latency_s, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Count it."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        Connection.open_now += 1
        counts = self._site.counts
        counts["connections"] += 1
        counts["most_open"] = max(counts["most_open"], Connection.open_now)

    def connection_lost(self, _exc: Exception | None) -> None:
        """Count it off."""
        Connection.open_now -= 1

    def data_received(self, data: bytes) -> None:
        """Answer every request that is whole."""
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            first, *lines = self._buffer[:end].decode("latin-1").split("\r\n")
            self._buffer = self._buffer[end + 4 :]
            method, target, _ = (*first.split(" "), "", "")[:3]
            etag = next((line[14:].strip() for line in lines if line.lower().startswith("if-none-match:")), "")
            response = self._site.answer(method, target, etag)
            is_last = not response or response.startswith(_LAST) or "connection: close" in map(str.lower, lines)
            if self._latency_s:
                asyncio.get_running_loop().call_later(self._latency_s, self._send, response, is_last)
            else:
                self._send(response, is_last)

    def _send(self, response: bytes, is_last: bool) -> None:
        self._transport.write(response)
        self._site.tick()
        if is_last:
            self._transport.close()


async def serve(site: VirtualSite, port: int, latency_s: float = 0.0) -> None:
    """Serve *site* on 127.0.0.1 until SIGINT or SIGTERM."""
    loop, done = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, done.set)
    server = await loop.create_server(lambda: Connection(site, latency_s), "127.0.0.1", port, backlog=4096)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/", flush=True)
    await done.wait()
    server.close()
    print(json.dumps(site.counts), flush=True)


def main() -> None:
    """Serve, and print the counts at the end."""
    parser = argparse.ArgumentParser(description="Serve a virtual site of a million pages.")
    parser.add_argument("--pages", type=int, default=1_200_000)
    parser.add_argument("--bytes", type=int, default=4000, help="about so many a page, at least its links")
    parser.add_argument("--port", type=int, default=8804)
    parser.add_argument("--faults", type=int, default=0, metavar="PERCENT", help="pages that fail at first")
    parser.add_argument("--traps", action="store_true", help="pages lead into traps")
    parser.add_argument("--latency", type=float, default=0, metavar="MS", help="between a request and its answer")
    options = parser.parse_args()
    site = VirtualSite(options.pages, options.bytes, options.faults, has_traps=options.traps)
    asyncio.run(serve(site, options.port, options.latency / 1000))


if __name__ == "__main__":
    main()
