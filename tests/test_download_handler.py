"""The download handler against a server that sends the very bytes it is told."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from typing import TYPE_CHECKING, Any

import brotli
import pytest
from backports import zstd
from scrapy import Request, signals
from scrapy.exceptions import (
    DownloadCancelledError,
    DownloadTimeoutError,
    ResponseDataLossError,
    StopDownload,
)
from scrapy.http import Headers, Response

from spiderproj.downloader import errors
from spiderproj.downloader import handler as handler_module
from spiderproj.downloader.errors import BadRequestError, FetchError
from spiderproj.downloader.exchange import Patience
from tests.raw_server import Peer, always, client, fails, own_loop, serve, silence

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
SMALL = OK + b"Content-Type: text/html\r\nContent-Length: 5\r\n\r\nhello"
TEXT = b"<p>" + b"hello world " * 2000


def encoded(name: str, data: bytes) -> bytes:
    """Return an answer whose body is *data* with the content coding *name*."""
    return OK + b"Content-Encoding: %b\r\nContent-Length: %d\r\n\r\n" % (name.encode(), len(data)) + data


# What servers really send (docs/security.md, A48 to A55): the status, body and flags, or the kind of failure.
ANSWERS: dict[str, tuple[bytes, object]] = {
    "plain": (SMALL, (200, b"hello", [])),
    "no length": (OK + b"\r\nuntil the end", (200, b"until the end", [])),
    "bare LF": (b"HTTP/1.1 200 OK\nContent-Length: 5\n\nhello", (200, b"hello", [])),
    "no reason": (b"HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nhello", (200, b"hello", [])),
    "HTTP/1.0": (b"HTTP/1.0 200 OK\r\n\r\nhello", (200, b"hello", [])),
    "lower case": (b"http/1.1 200 ok\r\ncontent-length: 5\r\n\r\nhello", (200, b"hello", [])),
    "version 9.9": (b"HTTP/9.9 200 OK\r\nContent-Length: 2\r\n\r\nok", (200, b"ok", [])),
    "interim": (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: x\r\n\r\n" + SMALL, (200, b"hello", [])),
    "NUL in a header": (OK + b"X-A: a\0b\r\nContent-Length: 2\r\n\r\nok", (200, b"ok", [])),
    "no colon": (OK + b"no colon\r\n: empty name\r\nContent-Length: 2\r\n\r\nok", (200, b"ok", [])),
    "latin-1": (b"HTTP/1.1 200 \xc9t\xe9\r\nX-A: \xff\xfe\r\nContent-Length: 2\r\n\r\nok", (200, b"ok", [])),
    "escapes": (b"HTTP/1.1 404 \x1b[2J\r\nX: \x1b[31m\r\nContent-Length: 0\r\n\r\n", (404, b"", [])),
    "204 with a body": (b"HTTP/1.1 204 No\r\nContent-Length: 50\r\n\r\nthis must not be read", (204, b"", [])),
    "206": (b"HTTP/1.1 206 Part\r\nContent-Length: 5\r\n\r\n<html", (206, b"<html", [])),
    "304": (b"HTTP/1.1 304 Not Modified\r\n\r\n", (304, b"", [])),
    "599": (b"HTTP/1.1 599 Odd\r\nContent-Length: 0\r\n\r\n", (599, b"", [])),
    "length too small": (OK + b"Content-Length: 5\r\n\r\nhello<script>" + SMALL, (200, b"hello", [])),
    "length twice": (OK + b"Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello", (200, b"hello", [])),
    "length and chunked": (
        OK + b"Content-Length: 50\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", (200, b"hello", [])),
    "chunked": (CHUNKED + b"5\r\nhello\r\n6;a=b\r\n world\r\n0\r\nT: x\r\n\r\n", (200, b"hello world", [])),
    "chunked, bare LF": (CHUNKED + b"5\nhello\n0\n\n", (200, b"hello", [])),
    "gzip": (encoded("gzip", gzip.compress(TEXT)), (200, TEXT, ["decoded"])),
    "deflate": (encoded("deflate", zlib.compress(TEXT)), (200, TEXT, ["decoded"])),
    "raw deflate": (encoded("deflate", zlib.compress(TEXT)[2:-4]), (200, TEXT, ["decoded"])),
    "br": (encoded("br", brotli.compress(TEXT)), (200, TEXT, ["decoded"])),
    "zstd": (encoded("zstd", zstd.compress(TEXT)), (200, TEXT, ["decoded"])),
    "gzip twice": (encoded("gzip, gzip", gzip.compress(gzip.compress(TEXT))), (200, TEXT, ["decoded"])),
    "wrong label": (encoded("gzip", TEXT), (200, TEXT, ["encoding"])),
    "unknown coding": (encoded("rot13, x-evil", b"ok"), (200, b"ok", ["encoding"])),
    "length too large": (OK + b"Content-Length: 20000\r\n\r\n<html>only this", "dataloss"),
    "chunks cut": (CHUNKED + b"5\r\nhello\r\n", "dataloss"),
    "chunk of 2^60": (CHUNKED + b"fffffffffffffff\r\nhello", "dataloss"),
    "length negative": (OK + b"Content-Length: -5\r\n\r\nhello", "bad-response"),
    "length hexadecimal": (OK + b"Content-Length: 0x10\r\n\r\nhello", "bad-response"),
    "two lengths": (OK + b"Content-Length: 5\r\nContent-Length: 50\r\n\r\nhello", "bad-response"),
    "length of 10^20": (OK + b"Content-Length: 99999999999999999999\r\n\r\nhello", "too-large"),
    "bad chunk size": (CHUNKED + b"zz\r\nhello\r\n0\r\n\r\n", "bad-response"),
    "negative chunk": (CHUNKED + b"-5\r\nhello\r\n0\r\n\r\n", "bad-response"),
    "chunk of 2^64-1": (CHUNKED + b"ffffffffffffffff\r\nhello", "bad-response"),
    "chunk without its end": (CHUNKED + b"5\r\nhelloXX0\r\n\r\n", "bad-response"),
    "long size line": (CHUNKED + b"0" * 200_000 + b"5\r\nhello\r\n0\r\n\r\n", "bad-response"),
    "extension flood": (CHUNKED + b"5;" + b"a=b;" * 100_000 + b"\r\nhello\r\n0\r\n\r\n", "bad-response"),
    "trailer flood": (CHUNKED + b"5\r\nhello\r\n0\r\n" + b"X-T: y\r\n" * 200_000 + b"\r\n", "too-many-headers"),
    "unknown transfer coding": (OK + b"Transfer-Encoding: gibberish\r\n\r\nhello", "bad-response"),
    "HTTP/0.9": (b"<html>no status line</html>", "bad-response"),
    "status abc": (b"HTTP/1.1 abc OK\r\nContent-Length: 2\r\n\r\nok", "bad-response"),
    "status -200": (b"HTTP/1.1 -200 OK\r\nContent-Length: 2\r\n\r\nok", "bad-response"),
    "status 10^12": (b"HTTP/1.1 999999999999 OK\r\nContent-Length: 2\r\n\r\nok", "bad-response"),
    "101": (b"HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\n\r\n\x81\x05hello", "bad-response"),
    "nothing": (b"", "reset"),
    "half a head": (b"HTTP/1.1 200 OK\r\nContent-", "reset"),
    "many headers": (OK + b"X: y\r\n" * 1000 + b"\r\n", "too-many-headers"),
    "long header": (OK + b"X: " + b"a" * 1_000_000 + b"\r\nContent-Length: 2\r\n\r\nok", "too-many-headers"),
    "2000 layers": (encoded(", ".join(["gzip"] * 2000), b"x"), "bomb"),
    "gzip bomb": (encoded("gzip", gzip.compress(bytes(20_000_000))), "bomb"),
    "empty members": (encoded("gzip, gzip", gzip.compress(gzip.compress(b"") * 50_000)), "bomb"),
}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERS)
@own_loop
async def test_answers(name: str) -> None:
    """What can be read is read, with a flag where something is wrong; the rest fails with its kind."""
    data, expected = ANSWERS[name]
    async with serve(always(data, close=True)) as server, client() as asked:
        if isinstance(expected, str):
            assert await fails(asked, server.url) == expected
        else:
            response = await asked.get(server.url)
            assert (response.status, response.body, response.flags) == expected


@own_loop
async def test_what_is_not_whole_fails_or_is_flagged() -> None:
    """A body cut short fails by default, and is flagged where the setting or the request allows it."""
    async with serve(always(OK + b"Content-Length: 9\r\n\r\nhello", close=True)) as server:
        async with client() as asked:
            with pytest.raises(ResponseDataLossError):
                await asked.get(server.url)
            response = await asked.get(server.url, meta={"download_fail_on_dataloss": False})
            assert (response.body, response.flags) == (b"hello", ["dataloss"])
        async with client(DOWNLOAD_FAIL_ON_DATALOSS=False) as asked:
            assert (await asked.get(server.url)).flags == ["dataloss"]


@pytest.mark.parametrize("way", ["close", "reset"])
@pytest.mark.parametrize(
    "data",
    [SMALL, CHUNKED + b"5\r\nhello\r\n0\r\n\r\n", encoded("gzip", gzip.compress(b"hello"))],
    ids=["sized", "chunked", "gzip"],
)
@own_loop
async def test_an_end_at_every_byte_is_never_silently_whole(data: bytes, way: str) -> None:
    """FIN or RST after any byte but the last gives a failure."""
    ends = list(range(len(data)))

    async def answer(peer: Peer) -> None:
        await peer.send(data[: int(peer.head.split()[1][1:])])
        getattr(peer, way)()

    async with serve(answer) as server, client() as asked:
        kinds = [await fails(asked, f"{server.url}{end}") for end in ends]
        assert set(kinds) == {"reset", "dataloss"}
        assert server.connections == len(ends)  # a new connection that dies is not tried again here


@own_loop
async def test_a_reset_does_not_end_a_body_without_length() -> None:
    """A body that ends with its connection is whole after FIN, and lost after RST."""

    async def answer(peer: Peer) -> None:
        await peer.send(OK + b"\r\nhello")
        await asyncio.sleep(0.05)
        peer.reset()

    async with serve(answer) as server, client() as asked:
        assert await fails(asked, server.url) == "dataloss"


FLOODS = {
    "headers": (OK, b"".join(b"X-%d: aaaaaaaaaaaaaaaaaa\r\n" % number for number in range(2000)), "too-many-headers"),
    "fold": (OK + b"X: a\r\n", (b" " + b"f" * 8000 + b"\r\n") * 8, "too-many-headers"),
    "line": (OK + b"X: ", b"a" * 65536, "too-many-headers"),
    "interim": (b"", b"HTTP/1.1 103 Early\r\nLink: </a>\r\n\r\n" * 200, "bad-response"),
    "garbage": (b"", b"<html>" * 1000, "bad-response"),
    "body": (OK + b"\r\n", b"x" * 65536, "too-large"),
    "chunks": (CHUNKED, b"10000\r\n" + b"x" * 65536 + b"\r\n", "too-large"),
    "tiny chunks": (CHUNKED, b"1\r\nx\r\n" * 10_000, "too-large"),
}  # fmt: skip


@pytest.mark.parametrize("name", FLOODS)
@own_loop
async def test_floods_are_cut(name: str) -> None:
    """What has no end is cut at its limit, and the connection is closed: the server sends little more."""
    first, block, kind = FLOODS[name]
    sent = 0

    async def answer(peer: Peer) -> None:
        nonlocal sent
        await peer.send(first)
        while not peer.writer.transport.is_closing():
            await peer.send(block)
            sent += len(block)

    async with serve(answer) as server, client(DOWNLOAD_MAXSIZE=200_000) as asked:
        assert await fails(asked, server.url) == kind
        assert sent < 12_000_000  # socket buffers of both sides, and six bytes a byte of tiny chunks


@own_loop
async def test_sizes_are_limited_by_the_announcement_and_the_body() -> None:
    """The limit holds for the announced length, the bytes received and the bytes decoded; the request can set it."""
    body = bytes(range(256)) * 40
    packed = gzip.compress(b"a" * 50_000)
    async with serve(always(OK + b"Content-Length: 10240\r\n\r\n" + body)) as server, client() as asked:
        assert await fails(asked, server.url, meta={"download_maxsize": 10239}) == "too-large"
        assert (await asked.get(server.url, meta={"download_maxsize": 10240})).body == body
    async with serve(always(encoded("gzip", packed))) as server, client() as asked:
        assert await fails(asked, server.url, meta={"download_maxsize": 49_999}) == "too-large"
        assert len((await asked.get(server.url, meta={"download_maxsize": 50_000})).body) == 50_000
    async with serve(always(OK + b"Content-Length: 10240\r\n\r\n")) as server, client() as asked:
        assert (await asked.get(server.url, method="HEAD", meta={"download_maxsize": 10})).status == 200


@own_loop
async def test_what_is_over_truncate_at_is_left_out() -> None:
    """A robots.txt without end is read as far as it counts, encoded or not, and is no failure."""
    answers = [
        OK + b"Content-Length: 90000\r\n\r\n" + b"a" * 500,
        OK + b"\r\n" + b"a" * 90000,
        encoded("gzip", gzip.compress(b"a" * 300_000)),
    ]
    for answer in answers:
        async with serve(always(answer)) as server, client() as asked:
            response = await asked.get(server.url, meta={"truncate_at": 300})

            assert (response.status, response.body) == (200, b"a" * 300)
            assert "truncated" in response.flags


async def drip_head(peer: Peer) -> None:
    """Send a head without end, slowly."""
    await peer.send(OK)
    while True:
        await peer.send(b"X")
        await asyncio.sleep(0.02)


async def stall(peer: Peer) -> None:
    """Send the headers, and then nothing."""
    await peer.send(OK + b"Content-Length: 1000\r\n\r\n")
    await peer.reader.read()


async def drip(peer: Peer) -> None:
    """Send a body slowly."""
    await peer.send(OK + b"Content-Length: 1000000\r\n\r\n")
    while True:
        await peer.send(b"x")
        await asyncio.sleep(0.02)


@pytest.mark.parametrize(
    ("answer", "patience", "word"),
    [
        (silence, Patience(headers=0.1), "no headers"),
        (drip_head, Patience(headers=0.1), "no headers"),
        (stall, Patience(idle=0.1), "silent"),
        (drip, Patience(window=0.1), "bytes/s"),
    ],
)
@own_loop
async def test_slow_servers_are_given_up(
    answer: Callable[[Peer], Awaitable[None]], patience: Patience, word: str
) -> None:
    """Late headers, a silent body and a dripping one each end in a timeout that says which, and free the slot."""
    async with serve(answer) as server, client() as asked:
        asked.handler._patience = patience
        with pytest.raises(DownloadTimeoutError, match=word):
            await asked.get(server.url)
        asked.handler._patience = Patience()
        with pytest.raises(DownloadTimeoutError, match="not done"):
            await asked.get(server.url, meta={"download_timeout": 0.1})


@own_loop
async def test_the_request_is_written_as_it_is() -> None:
    """Host comes first, headers keep order and spelling, hop-by-hop ones are ours, and credentials are left out."""
    async with serve(always(SMALL)) as server, client() as asked:
        headers = {
            "X-B": ["1", "2"],
            "User-Agent": "me",
            "Connection": "close",
            "Proxy-Authorization": "x",
            "Content-Length": "9",
        }
        await asked.get(
            server.url.replace("//", "//user:secret@") + "a%20b?c=d#frag", headers=headers, method="POST", body=b"xyz"
        )
        peer = server.peers[0]
        host = f"127.0.0.1:{server.port}".encode()
        assert peer.head == (
            b"POST /a%20b?c=d HTTP/1.1\r\nHost: " + host + b"\r\nX-B: 1\r\nX-B: 2\r\nUser-Agent: me\r\n"
            b"Accept-Encoding: gzip, deflate, br, zstd\r\nContent-Length: 3\r\n\r\n"
        )
        assert peer.body == b"xyz"
        await asked.get(server.url, headers={"Accept-Encoding": "identity", "Host": "other"})
        assert peer.head == b"GET / HTTP/1.1\r\nHost: other\r\nAccept-Encoding: identity\r\n\r\n"


def raw_request(url: str, **arguments: Any) -> Request:
    """Return a request with exactly *url*, which Scrapy would have escaped."""
    request = Request("http://127.0.0.1/", **arguments)
    request._url = url
    return request


@pytest.mark.parametrize(
    "request_",
    [
        raw_request("http://127.0.0.1:80/a b"),
        raw_request("http://127.0.0.1/a\r\nX: y"),
        raw_request("http://127.0.0.1/\u00e9"),
        raw_request("http://127.0.0.1:99999/"),
        raw_request("http:///path"),
        raw_request("ftp://127.0.0.1/"),
        raw_request("http://127.0.0.1/", headers={"X": "a\r\nY: b"}),
        raw_request("http://127.0.0.1/", headers={"X\nY": "a"}),
        raw_request("http://127.0.0.1/", headers={"X": "a\0"}),
        raw_request("http://127.0.0.1/", method="GET / HTTP/1.1\r\nX: y\r\n\r\nGET"),
        raw_request("http://127.0.0.1/", method="GET /x"),
    ],
)
@own_loop
async def test_nothing_is_injected(request_: Request) -> None:
    """A control character or blank in URL, header or method is refused before anything is dialled."""
    async with client() as asked:
        with pytest.raises(BadRequestError):
            await asked.handler.download_request(request_)
        assert asked.count("opened") == 0


@own_loop
async def test_what_a_response_carries() -> None:
    """Headers, address, protocol, latency and the raw header list are there."""
    data = OK + b"SET-cookie: a=1\r\nx-b: \xff\r\nSet-Cookie: b=2\r\nContent-Length: 0\r\n\r\n"
    async with serve(always(data)) as server, client() as asked:
        request = Request(server.url)
        response = await asked.handler.download_request(request)
        expected = {"Set-Cookie": [b"a=1", b"b=2"], "X-B": [b"\xff"], "Content-Length": [b"0"]}
        assert response.headers == Headers(expected)
        assert response.headers.getlist("set-cookie") == [b"a=1", b"b=2"]
        assert request.meta["raw_headers"] == [
            ("set-cookie", "a=1"), ("x-b", "\xff"), ("set-cookie", "b=2"), ("content-length", "0"),
        ]  # fmt: skip
        assert (str(response.ip_address), response.protocol, response.url) == ("127.0.0.1", "HTTP/1.1", server.url)
        assert 0 <= request.meta["download_latency"] < 5


@pytest.mark.parametrize(("length", "event"), [(1000, "drained"), (1_000_000, "cut")])
@own_loop
async def test_a_listener_stops_the_body(length: int, event: str) -> None:
    """StopDownload at the headers leaves out the body; a short one is drained and the connection kept."""
    seen: list[object] = []

    def stop(headers: Headers, body_length: int, request: Request) -> None:
        seen.append((headers["Content-Length"], body_length))
        raise StopDownload(fail=bool(request.meta.get("fail")))

    data = OK + b"Content-Length: %d\r\n\r\n" % length + b"x" * length
    async with serve(always(data)) as server, client() as asked:
        asked.handler.crawler.signals.connect(stop, signals.headers_received)
        response = await asked.get(server.url)
        assert (response.body, response.flags) == (b"", ["download_stopped"])
        with pytest.raises(StopDownload) as caught:
            await asked.get(server.url, meta={"fail": True})
        assert isinstance(caught.value.response, Response)
        assert caught.value.response.status == 200
        assert seen == [(b"%d" % length, length)] * 2
        assert asked.count(event) == 2
        assert server.connections == (1 if event == "drained" else 2)


@own_loop
async def test_a_body_that_does_not_drain_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stopped body that does not come is given up; the response is there all the same."""
    monkeypatch.setattr("spiderproj.downloader.exchange.DRAIN_SECONDS", 0.05)

    def stop() -> None:
        raise StopDownload(fail=False)

    async with serve(stall) as server, client() as asked:
        asked.handler.crawler.signals.connect(stop, signals.headers_received)
        assert (await asked.get(server.url)).flags == ["download_stopped"]
        assert asked.count("cut") == 1


class Pieces:
    """A Spool in memory."""

    def __init__(self, fail: OSError | None = None) -> None:
        self.data = b""
        self.fail = fail

    def write(self, data: bytes, /) -> None:
        """Keep *data*, or fail."""
        if self.fail:
            raise self.fail
        self.data += data


@own_loop
async def test_a_body_goes_to_its_spool() -> None:
    """A body that is spooled is decoded on the way, not kept, and has its own limit."""
    spool = Pieces()
    asks: list[tuple[int, bytes | None]] = []

    def ask(status: int, headers: Headers) -> Pieces:
        asks.append((status, headers["Content-Encoding"]))
        return spool

    async with serve(always(encoded("gzip", gzip.compress(TEXT)))) as server, client(DOWNLOAD_MAXSIZE=100) as asked:
        request = Request(server.url, meta={"spool": ask, "spool_maxsize": 1_000_000})
        response = await asked.handler.download_request(request)
        assert (response.body, response.flags) == (b"", ["decoded", "spooled"])
        assert spool.data == TEXT
        assert request.meta["spooled"] is spool
        assert asks == [(200, b"gzip")]
        assert await fails(asked, server.url, meta={"spool": ask, "spool_maxsize": 1000}) == "too-large"
        assert await fails(asked, server.url, meta={"spool": lambda *_: None, "spool_maxsize": 10**6}) == "too-large"
        with pytest.raises(OSError, match="full"):
            await asked.get(server.url, meta={"spool": lambda *_: Pieces(OSError(28, "full"))})


@own_loop
async def test_a_proxy_is_left_to_scrapy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request with a proxy goes to Scrapy's handler, unless its host is an address that may not be reached."""
    taken: list[str] = []

    class Proxied:
        """Scrapy's handler, as far as it is needed."""

        def __init__(self, crawler: object) -> None:
            self.crawler = crawler

        @classmethod
        def from_crawler(cls, crawler: object) -> Proxied:
            """Return one."""
            return cls(crawler)

        async def download_request(self, request: Request) -> Response:
            """Take the request."""
            taken.append(request.url)
            return Response(request.url)

        async def close(self) -> None:
            """Note the end."""
            taken.append("closed")

    monkeypatch.setattr(handler_module, "_FOR_PROXIES", Proxied)
    async with client(SPIDERPROJ_ALLOWED_NETWORKS="") as asked:
        await asked.get("http://example.org/", meta={"proxy": "http://127.0.0.1:3128"})
        for url in ("http://10.0.0.1/", "http://localhost/", "http://[::1]/"):
            assert await fails(asked, url, meta={"proxy": "http://127.0.0.1:3128"}) == "private-address"
    assert taken == ["http://example.org/", "closed"]


def test_what_fails_for_good_is_not_retried() -> None:
    """Failures that would come again are DownloadCancelledError, which RetryMiddleware leaves; kinds are distinct."""
    found = [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, FetchError)]
    permanent = {each.kind for each in found if issubclass(each, DownloadCancelledError)}
    assert permanent == {"tls", "too-large", "too-many-headers", "bomb", "private-address", "bad-port", "bad-request"}
    assert len({each.kind for each in found}) == len(found)
