"""Which connections the download handler makes, keeps and refuses to make."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest
from scrapy import Request
from scrapy.exceptions import CannotResolveHostError, DownloadConnectionRefusedError, DownloadFailedError

from spiderproj.downloader import pool
from spiderproj.downloader.budget import Budget
from spiderproj.downloader.handler import HttpHandler
from tests.raw_server import Peer, always, client, fails, fake_crawler, own_loop, serve, silence, until

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
SMALL = OK + b"Content-Type: text/html\r\nContent-Length: 5\r\n\r\nhello"


@own_loop
async def test_sequential_requests_share_one_connection() -> None:
    """Ten requests one after the other take one connection, HEAD and POST among them."""

    async def answer(peer: Peer) -> None:
        head = peer.head.startswith(b"HEAD")
        await peer.send(OK + b"Content-Length: 4\r\n\r\n" + (b"" if head else peer.body or b"none"))

    async with serve(answer) as server, client() as asked:
        for _ in range(4):
            assert (await asked.get(server.url)).body == b"none"
            assert (await asked.get(server.url, method="HEAD")).body == b""
        assert (await asked.get(server.url, method="POST", body=b"a=%b")).body == b"a=%b"
        assert (await asked.get(server.url + "#x")).body == b"none"
        assert (server.connections, server.requests) == (1, 10)
        assert (asked.count("opened"), asked.count("reused")) == (1, 9)


@own_loop
async def test_as_many_connections_as_requests_at_once() -> None:
    """With c requests at a time there are c connections, however many requests there are."""
    async with serve(always(SMALL)) as server, client() as asked:
        queue = list(range(60))

        async def work() -> None:
            while queue:
                queue.pop()
                assert (await asked.get(server.url)).body == b"hello"

        await asyncio.gather(*(work() for _ in range(5)))
        assert (server.connections, server.requests) == (5, 60)


@pytest.mark.parametrize(
    ("data", "connections"),
    [
        (SMALL, 1),
        (OK + b"Connection: close\r\nContent-Length: 5\r\n\r\nhello", 3),
        (OK + b"Keep-Alive: timeout=30\r\nContent-Length: 5\r\n\r\nhello", 1),
        (OK + b"Keep-Alive: timeout=1\r\nContent-Length: 5\r\n\r\nhello", 3),
        (OK + b"Keep-Alive: timeout=30, max=0\r\nContent-Length: 5\r\n\r\nhello", 3),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello", 3),
        (b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nhello", 1),
        (SMALL + SMALL, 3),
        (OK + b"Content-Length: 50\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", 3),
        (CHUNKED + b"5\r\nhello\r\n0\r\n\r\n", 1),
    ],
)
@own_loop
async def test_when_a_connection_is_kept(data: bytes, connections: int) -> None:
    """A connection is used again only when server, framing and Keep-Alive allow it."""
    async with serve(always(data)) as server, client() as asked:
        for _ in range(3):
            assert (await asked.get(server.url)).body == b"hello"
        assert server.connections == connections


@own_loop
async def test_late_garbage_never_answers_another_request() -> None:
    """Bytes that come after the answer, when the connection is idle, close it; the next request gets its own answer."""
    late = asyncio.Event()

    async def answer(peer: Peer) -> None:
        await peer.send(SMALL)
        if peer.number == 1:
            await late.wait()
            await peer.send(OK + b"Content-Length: 4\r\n\r\nevil")

    async with serve(answer) as server, client() as asked:
        await asked.get(server.url)
        late.set()
        await until(lambda: not server.open)
        assert (await asked.get(server.url)).body == b"hello"
        assert server.connections == 2


@pytest.mark.parametrize(("method", "answered"), [("GET", True), ("HEAD", True), ("POST", False)])
@own_loop
async def test_a_kept_connection_that_dies_is_replaced_once(method: str, *, answered: bool) -> None:
    """A request on a kept connection that ends without a byte is sent again, once, when it is safe to."""

    async def answer(peer: Peer) -> None:
        if peer.requests == 1:
            await peer.send(OK + b"Content-Length: 0\r\n\r\n")
        else:
            peer.close()

    async with serve(answer) as server, client() as asked:
        await asked.get(server.url)
        if answered:
            assert (await asked.get(server.url, method=method)).status == 200
        else:
            assert await fails(asked, server.url, method=method) == "reset"
        assert (asked.count("retried"), server.connections) == ((1, 2) if answered else (0, 1))


@own_loop
async def test_an_answer_that_began_is_not_asked_for_again() -> None:
    """A kept connection that dies after the first byte of an answer is a failure, not a reason to ask again."""

    async def answer(peer: Peer) -> None:
        await peer.send(SMALL if peer.requests == 1 else b"H")
        if peer.requests > 1:
            peer.close()

    async with serve(answer) as server, client() as asked:
        await asked.get(server.url)
        assert await fails(asked, server.url) == "reset"
        assert (asked.count("retried"), server.connections) == (0, 1)


@own_loop
async def test_idle_connections_are_bounded_and_grow_old(monkeypatch: pytest.MonkeyPatch) -> None:
    """No more idle connections are kept than an origin and all may have; an old one is closed by the sweep."""
    async with serve(always(SMALL)) as one, serve(always(SMALL)) as two:
        async with client(CONCURRENT_REQUESTS_PER_DOMAIN=2, CONCURRENT_REQUESTS=1) as asked:
            await asyncio.gather(*(asked.get(one.url) for _ in range(4)))
            assert asked.count("expired") == 2
            await asked.get(two.url)
            assert asked.count("expired") == 3
        monkeypatch.setattr(pool, "IDLE_SECONDS", 0.05)
        async with client() as asked:
            await asked.get(one.url)
            await until(lambda: asked.count("expired"))


@own_loop
async def test_closed_idle_connections_are_noticed() -> None:
    """An idle connection that the server closes is counted and forgotten."""
    async with serve(always(SMALL)) as server, client() as asked:
        await asked.get(server.url)
        server.peers[0].close()
        await until(lambda: asked.count("closed_by_server"))
        assert (await asked.get(server.url)).body == b"hello"
        assert (server.connections, asked.count("retried")) == (2, 0)


class Holder:
    """Something that holds bytes."""

    paused = False

    def pause(self) -> None:
        """Note that."""
        assert not self.paused
        self.paused = True

    def resume(self) -> None:
        """Note that."""
        assert self.paused
        self.paused = False


def test_the_budget_pauses_all_but_the_oldest() -> None:
    """Above the limit only the oldest holder goes on; when it ends, all may, or else the next oldest."""
    first, second, third = holders = [Holder(), Holder(), Holder()]
    budget = Budget(10)
    budget.hold(first, 6)
    budget.hold(second, 4)
    assert not any(holder.paused for holder in holders)
    budget.hold(third, 20)
    budget.hold(first, 50)
    budget.hold(second, 5)
    assert [holder.paused for holder in holders] == [False, True, True]
    budget.release(first)
    assert [holder.paused for holder in holders] == [False, False, True]
    budget.hold(second, 9)
    budget.release(second)
    assert not third.paused
    budget.release(third)
    budget.release(third)
    budget.hold(first, 10)
    budget.hold(second, 1)
    assert second.paused
    budget.hold(third, 0)
    assert third.paused
    budget.release(first)
    assert not any(holder.paused for holder in holders)


@own_loop
async def test_bytes_in_flight_are_bounded() -> None:
    """Bodies that together exceed the budget wait for each other, and all arrive."""
    body = b"x" * 3_000_000
    held: list[int] = []

    async def answer(peer: Peer) -> None:
        await peer.send(OK + b"Content-Length: %d\r\n\r\n" % len(body))
        for start in range(0, len(body) - 100_000, 100_000):
            await peer.send(body[start : start + 100_000])
        if peer.number == 1:  # only the oldest comes here: it holds up all the others until it ends
            await until(lambda: len(budget._paused) == 7)
            await asyncio.sleep(0.1)
            held.append(budget._used)
        await peer.send(body[:100_000])

    async with serve(answer) as server, client(SPIDERPROJ_INFLIGHT_BYTES=2_000_000) as asked:
        budget = asked.handler._pool.budget
        first = asyncio.ensure_future(asked.get(server.url))
        await until(lambda: budget._used)
        responses = await asyncio.gather(first, *(asked.get(server.url) for _ in range(7)))
        assert all(response.body == body for response in responses)
        assert budget._used == 0
        assert held[0] < 2_000_000 + len(body) + 8 * 300_000


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("http://127.0.0.1:{port}/", "private-address"),
        ("http://localhost:{port}/", "private-address"),
        ("http://[::1]:{port}/", "private-address"),
        ("http://169.254.169.254/latest/meta-data/", "private-address"),
        ("http://0x7f.1:{port}/", "private-address"),
        ("http://[::ffff:127.0.0.1]:{port}/", "private-address"),
        ("http://example.org:22/", "bad-port"),
        ("http://example.org:6379/", "bad-port"),
    ],
)
@own_loop
async def test_addresses_are_judged_before_any_packet(url: str, kind: str) -> None:
    """What is not public is refused in every spelling, as is a port of another protocol."""
    async with serve(always(SMALL)) as server, client(SPIDERPROJ_ALLOWED_NETWORKS="") as asked:
        assert await fails(asked, url.format(port=server.port)) == kind
        assert server.connections == 0


@own_loop
async def test_a_seed_opens_its_own_port() -> None:
    """A seed's address is dialled on its port; another local port is refused."""
    async with serve(always(SMALL)) as server, serve(always(SMALL)) as other:
        async with client(SPIDERPROJ_ALLOWED_NETWORKS="") as asked:
            asked.handler.policy.allow_seed("127.0.0.1", server.port)
            assert (await asked.get(server.url)).status == 200
            assert await fails(asked, other.url) == "private-address"
            assert other.connections == 0
        crawler = fake_crawler(SPIDERPROJ_ALLOWED_NETWORKS="")
        crawler.spider = type("Spider", (), {"seed_addresses": [("127.0.0.1", other.port)]})()
        handler = HttpHandler.from_crawler(crawler)
        assert HttpHandler.from_crawler(crawler) is handler
        assert (await handler.download_request(Request(other.url))).status == 200
        await handler.close()


ADDRESSES = {
    "mixed.example": ["127.0.0.1", "10.0.0.1"],
    "good.example": ["127.0.0.1"],
    "dead.example": ["127.0.0.2", "127.0.0.1"],
}


@own_loop
async def test_names_are_resolved_once_and_judged_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """All addresses of a name must pass; the next one is tried where one refuses; a name is looked up once."""
    if type(asyncio.get_running_loop()).__module__ == "uvloop":
        return  # it has no seam to put another resolver in
    looked_up: list[str] = []
    real = socket.getaddrinfo

    def fake(host: str, port: int | None, *rest: Any) -> list[Any]:
        if not host.endswith(".example"):
            return real(host, port, *rest)
        looked_up.append(host)
        if host not in ADDRESSES:
            raise socket.gaierror(-2, "Name or service not known")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, 0)) for ip in ADDRESSES[host]]

    monkeypatch.setattr(socket, "getaddrinfo", fake)
    async with serve(always(SMALL)) as server, client() as asked:
        assert await fails(asked, f"http://mixed.example:{server.port}/") == "private-address"
        await asyncio.gather(*(asked.get(f"http://good.example:{server.port}/") for _ in range(3)))
        assert server.peers[0].head.startswith(b"GET / HTTP/1.1\r\nHost: good.example:")
        assert looked_up == ["mixed.example", "good.example"]
        assert (await asked.get(f"http://dead.example:{server.port}/")).status == 200
        with pytest.raises(CannotResolveHostError, match=r"no\.example"):
            await asked.get("http://no.example/")


@own_loop
async def test_a_refused_connection_is_named() -> None:
    """A port that nobody listens on is refused, with Scrapy's exception."""
    async with serve(always(SMALL)) as server:
        url = server.url
    async with client() as asked:
        with pytest.raises(DownloadConnectionRefusedError, match="does not accept"):
            await asked.get(url)


@own_loop
async def test_closing_ends_what_is_under_way() -> None:
    """A cancelled request closes its connection, and closing the handler fails the others."""
    async with serve(silence) as server, client() as asked:
        first, second = (asyncio.ensure_future(asked.get(server.url)) for _ in range(2))
        await until(lambda: server.requests == 2)
        first.cancel()
        await until(lambda: server.open == 1)
        await asked.handler.close()
        with pytest.raises(DownloadFailedError):
            await second
        await asyncio.gather(first, return_exceptions=True)
        assert first.cancelled()
