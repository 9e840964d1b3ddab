"""The response parser: what it reads, what it refuses, and that neither splitting nor hostility changes that."""

from __future__ import annotations

import itertools
import re
import time
import tracemalloc
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spiderproj.http1 import HeadLimits, ResponseError, ResponseParser, keep_alive_seconds
from spiderproj.http1.chunked import MAX_SIZE_LINE, MAX_TRAILERS

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


def outcome(data: bytes, *, method: str = "GET", cuts: list[int] | None = None) -> object:
    """Return all there is to say about *data*, fed in the pieces that *cuts* make, and then the end."""
    parser = ResponseParser(method)
    bounds = [0, *sorted(cut % (len(data) + 1) for cut in cuts or []), len(data)]
    body = b""
    try:
        for start, end in itertools.pairwise(bounds):
            body += parser.feed(data[start:end])
        reusable = parser.reusable
        whole = parser.eof()
    except ResponseError as error:
        return error.kind
    return parser.head, body, whole, reusable


READ = [
    # answer, status, headers, body, whole, reusable
    (OK + b"Content-Length: 5\r\n\r\nhello", {"content-length": ["5"]}, b"hello", True, True),
    (OK + b"Content-Length: 0\r\n\r\n", {"content-length": ["0"]}, b"", True, True),
    (OK + b"content-length:5\r\n\r\nhello", {"content-length": ["5"]}, b"hello", True, True),
    (OK + b"Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello", {"content-length": ["5", "5"]}, b"hello", True, True),
    (OK + b"Content-Length: 5, 5\r\n\r\nhello", {"content-length": ["5, 5"]}, b"hello", True, True),
    (OK + b"Content-Length: 005\r\n\r\nhello", {"content-length": ["005"]}, b"hello", True, True),
    (OK + b"Content-Length : 5\r\n\r\nhello", {"content-length": ["5"]}, b"hello", True, True),
    (OK + b"Content-Length: 5\r\n\r\nhelloX", {"content-length": ["5"]}, b"hello", True, False),
    (OK + b"Content-Length: 5\r\n\r\nhell", {"content-length": ["5"]}, b"hell", False, False),
    (OK + b"\r\nuntil the end", {}, b"until the end", True, False),
    (b"HTTP/1.1 200\r\nContent-Length: 1\r\n\r\nx", {"content-length": ["1"]}, b"x", True, True),
    (b"http/1.1 200 ok\nContent-Length: 1\n\nx", {"content-length": ["1"]}, b"x", True, True),
    (b"HTTP/1.1  200 OK\r\nContent-Length: 1\r\n\r\nx", {"content-length": ["1"]}, b"x", True, True),
    (b"\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", {"content-length": ["1"]}, b"x", True, True),
    (b"HTTP/1.1 200 \xc9t\xe9\r\nA: \xff\xfe\r\nContent-Length: 0\r\n\r\n",
     {"a": ["\xff\xfe"], "content-length": ["0"]}, b"", True, True),
    (b"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", {"content-length": ["1"]}, b"x", True, False),
    (b"HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\nx",
     {"connection": ["Keep-Alive"], "content-length": ["1"]}, b"x", True, True),
    (b"HTTP/9.9 200 OK\r\nContent-Length: 1\r\n\r\nx", {"content-length": ["1"]}, b"x", True, False),
    (OK + b"Connection: foo, Close\r\nContent-Length: 1\r\n\r\nx",
     {"connection": ["foo, Close"], "content-length": ["1"]}, b"x", True, False),
    (OK + b"no colon\r\n: no name\r\nbad name: x\r\nX: a\0b\r\nY: a\rb\r\nZ: 1\r\n\r\n",
     {"z": ["1"]}, b"", True, False),
    (OK + b"A: b\r\n c\r\n\td\r\nB: \r\n e\r\nContent-Length: 0\r\n\r\n",
     {"a": ["b c d"], "b": ["e"], "content-length": ["0"]}, b"", True, True),
    (OK + b"A: 1\r\nB: 2\r\na: 3\r\n\r\n", {"a": ["1", "3"], "b": ["2"]}, b"", True, False),
    (b"HTTP/1.1 204 No Content\r\n\r\n", {}, b"", True, True),
    (b"HTTP/1.1 204 No Content\r\nContent-Length: 9\r\n\r\n", {"content-length": ["9"]}, b"", True, False),
    (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", {"content-length": ["9"]}, b"", True, True),
    (b"HTTP/1.1 304 Not Modified\r\n\r\nbody", {}, b"", True, False),
    (b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\n\r\n" + OK + b"Content-Length: 1\r\n\r\nx",
     {"content-length": ["1"]}, b"x", True, True),
    (CHUNKED + b"5\r\nhello\r\n3;ext=1\r\nabc\r\n0\r\nT: x\r\n\r\n",
     {"transfer-encoding": ["chunked"]}, b"helloabc", True, True),
    (CHUNKED + b"00005 \r\nhello\r\n0\r\n\r\n", {"transfer-encoding": ["chunked"]}, b"hello", True, True),
    (CHUNKED + b"5\nhello\n0\n\n", {"transfer-encoding": ["chunked"]}, b"hello", True, True),
    (CHUNKED + b"A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n",
     {"transfer-encoding": ["chunked"]}, b"0123456789" * 2, True, True),
    (CHUNKED + b"5\r\nhello\r\n0\r\n\r\nX", {"transfer-encoding": ["chunked"]}, b"hello", True, False),
    (CHUNKED + b"5\r\nhello\r\n", {"transfer-encoding": ["chunked"]}, b"hello", False, False),
    (CHUNKED + b"5\r\nhello\r\n0\r\n", {"transfer-encoding": ["chunked"]}, b"hello", False, False),
    (OK + b"Transfer-Encoding: CHUNKED\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
     {"transfer-encoding": ["CHUNKED", "chunked"]}, b"", True, True),
    (OK + b"Transfer-Encoding: identity\r\nContent-Length: 1\r\n\r\nx",
     {"transfer-encoding": ["identity"], "content-length": ["1"]}, b"x", True, True),
    (OK + b"Content-Length: 50\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
     {"content-length": ["50"], "transfer-encoding": ["chunked"]}, b"hello", True, False),
    (b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
     {"connection": ["keep-alive"], "transfer-encoding": ["chunked"]}, b"", True, False),
]  # fmt: skip

REFUSED = [
    (b"<html>HTTP/0.9</html>\r\n\r\n", "bad-response"),
    (b"SSH-2.0-OpenSSH_9.2\r\n", "bad-response"),
    (b"ICY 200 OK\r\n\r\n", "bad-response"),
    (b"HTTP/1.1 abc OK\r\n\r\n", "bad-response"),
    (b"HTTP/1.1 -200 OK\r\n\r\n", "bad-response"),
    (b"HTTP/1.1 999999999999 OK\r\n\r\n", "bad-response"),
    (b"HTTP/1.1 2000\r\n\r\n", "bad-response"),
    (b"HTTP/1.1 999 Denied\r\n\r\n", "bad-response"),
    (b"HTTP/1.1 099 x\r\n\r\n", "bad-response"),
    (b"HTTP/1.1\r\n\r\n", "bad-response"),
    (b"HTTP/1.1 101 Switching Protocols\r\n\r\n", "bad-response"),
    (b"HTTP/1.1 103 x\r\n\r\n" * 11 + OK + b"\r\n", "bad-response"),
    (OK + b"Content-Length: -5\r\n\r\nhello", "bad-response"),
    (OK + b"Content-Length: +5\r\n\r\nhello", "bad-response"),
    (OK + b"Content-Length: 0x10\r\n\r\nhello", "bad-response"),
    (OK + b"Content-Length: \xb2\r\n\r\nhello", "bad-response"),
    (OK + b"Content-Length:\r\n\r\nhello", "bad-response"),
    (OK + b"Content-Length: ,\r\n\r\nhello", "bad-response"),
    (OK + b"Content-Length: 5\r\nContent-Length: 50\r\n\r\nhello", "bad-response"),
    (OK + b"Content-Length: 5, 50\r\n\r\nhello", "bad-response"),
    (OK + b"Content-Length: 99999999999999999999\r\n\r\nhello", "too-large"),
    (OK + b"Transfer-Encoding: gibberish\r\n\r\nhello", "bad-response"),
    (OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "bad-response"),
    (CHUNKED + b"zz\r\nhello", "bad-response"),
    (CHUNKED + b"-5\r\nhello", "bad-response"),
    (CHUNKED + b"0x5\r\nhello", "bad-response"),
    (CHUNKED + b"\r\nhello", "bad-response"),
    (CHUNKED + b"ffffffffffffffff\r\nhello", "bad-response"),
    (CHUNKED + b"5\r\nhelloXX0\r\n\r\n", "bad-response"),
    (CHUNKED + b"0" * 200_000 + b"5\r\nhello\r\n0\r\n\r\n", "bad-response"),
    (CHUNKED + b"5;" + b"a=b;" * 100_000 + b"\r\nhello\r\n0\r\n\r\n", "bad-response"),
    (CHUNKED + b"0\r\n" + b"X-T: y\r\n" * 200_000 + b"\r\n", "too-many-headers"),
    (OK + b"X: " + b"a" * 70_000 + b"\r\n\r\n", "too-many-headers"),
    (OK + b"X: a\r\n" + (b" " + b"f" * 1000 + b"\r\n") * 70 + b"\r\n", "too-many-headers"),
    (OK + b"X: y\r\n" * 501 + b"\r\n", "too-many-headers"),
    (OK + (b"X: " + b"a" * 5000 + b"\r\n") * 60 + b"\r\n", "too-many-headers"),
    (b"\r\n" * 200_000, "too-many-headers"),
    (b"HTTP/1.1 103 x\r\n" + (b"X: " + b"a" * 60_000 + b"\r\n") * 3 + b"\r\n" + OK
     + (b"X: " + b"a" * 60_000 + b"\r\n") * 2 + b"\r\n", "too-many-headers"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "fields", "body", "whole", "reusable"), READ)
def test_what_is_read(data: bytes, fields: object, body: bytes, *, whole: bool, reusable: bool) -> None:
    """What servers really send is read, and the connection is reused only where nothing can go wrong."""
    result = outcome(data)
    assert isinstance(result, tuple), result
    head, *rest = result
    assert head.fields == fields
    assert rest == [body, whole, reusable]


@pytest.mark.parametrize(("data", "kind"), REFUSED)
def test_what_is_refused(data: bytes, kind: str) -> None:
    """What cannot be read safely is refused with its kind, at once or byte for byte."""
    assert outcome(data) == kind
    if len(data) < 1000:
        assert outcome(data, cuts=list(range(len(data)))) == kind


@pytest.mark.parametrize("data", [row[0] for row in READ])
def test_every_split_gives_the_same(data: bytes) -> None:
    """However an answer is cut in two, or into bytes, the outcome is the same."""
    expected = outcome(data)
    assert outcome(data, cuts=list(range(len(data)))) == expected
    for cut in range(len(data)):
        assert outcome(data, cuts=[cut]) == expected


@pytest.mark.parametrize("data", [row[0] for row in READ if row[3]])
def test_a_cut_answer_is_never_whole(data: bytes) -> None:
    """An answer that ends early is not whole, unless it ends with its connection."""
    length = re.search(rb"(?i)content-length|transfer-encoding|HTTP/1.. [23]04", data)
    for end in range(len(data) - (data[-1:] == b"X")):
        result = outcome(data[:end])
        if isinstance(result, tuple) and result[2] and length:
            assert result[1:3] == outcome(data)[1:3]  # type: ignore[index]  # both are tuples


def test_head_has_no_body() -> None:
    """The answer to HEAD ends with its headers, whatever framing they announce, even a broken one."""
    for framing in (b"Content-Length: 1000", b"Transfer-Encoding: chunked", b"Content-Length: x"):
        result = outcome(OK + framing + b"\r\n\r\n", method="HEAD")
        assert isinstance(result, tuple)
        assert result[1:] == (b"", True, True)


def test_limits_are_exact() -> None:
    """A head of just the limit is read; one byte, line or interim answer more is refused."""
    head = OK + b"A: " + b"x" * 57 + b"\r\n\r\n"
    for limits in (HeadLimits(size=len(head)), HeadLimits(line=60), HeadLimits(lines=2)):
        ResponseParser("GET", limits).feed(head)
    for limits in (HeadLimits(size=len(head) - 1), HeadLimits(line=59), HeadLimits(lines=1)):
        with pytest.raises(ResponseError):
            ResponseParser("GET", limits).feed(head)
    assert isinstance(outcome(b"HTTP/1.1 103 x\r\n\r\n" * 10 + OK + b"\r\n"), tuple)
    assert isinstance(outcome(CHUNKED + b"0" * (MAX_SIZE_LINE - 1) + b"\n\n"), tuple)
    assert outcome(CHUNKED + b"0" * (MAX_SIZE_LINE + 1) + b"\n\n") == "bad-response"
    assert isinstance(outcome(CHUNKED + b"0\n" + b"X: " + b"y" * (MAX_TRAILERS - 4) + b"\n\n"), tuple)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("timeout=5, max=100", 5), ("timeout = 5", 5), ("max=0", 0), ("timeout=7, max=0", 0), ("x", None),
     ("timeout=x", None), ("TIMEOUT=9", 9), ("timeout=99999999999", None)],
)  # fmt: skip
def test_keep_alive(value: str, seconds: int | None) -> None:
    """The Keep-Alive field tells how long the server waits, 0 when it takes no further request."""
    parser = ResponseParser("GET")
    parser.feed(OK + b"Keep-Alive: " + value.encode() + b"\r\n\r\n")
    assert parser.head is not None
    assert keep_alive_seconds(parser.head) == seconds


FLOODS = [
    (OK, b"".join(b"X-%d: aaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n" % i for i in range(1500))),
    (OK + b"X: a\r\n", b" f\r\n" * 15_000),
    (OK + b"X: ", b" " * 60_000),
    (OK + b"X: ", b"\t" * 60_000),
    (b"", b"\r\n" * 30_000),
    (b"", b"H" * 60_000),
    (CHUNKED, b"1\r\nx\r\n" * 10_000),
    (CHUNKED, b"1;\nx\n" * 10_000),
    (CHUNKED, b"1" * 15),
    (CHUNKED + b"1;", b"x" * 60_000),
    (CHUNKED + b"0\r\n", b"X: y\r\n" * 10_000),
]


@pytest.mark.parametrize(("first", "block"), FLOODS)
def test_floods_cost_little(first: bytes, block: bytes) -> None:
    """An endless head, or a body of endless tiny parts, is cut or passed on, with little memory and time."""
    parser = ResponseParser("GET")
    tracemalloc.start()
    try:
        parser.feed(first)
        parser.feed(block)
        peak = tracemalloc.get_traced_memory()[1]
    except ResponseError:
        peak = tracemalloc.get_traced_memory()[1]
        return
    finally:
        tracemalloc.stop()
        assert peak < 5_000_000
    start = time.process_time()
    with suppress(ResponseError):
        for _ in range(10):
            parser.feed(block)
    assert time.process_time() - start < 3.0


def test_a_dripped_head_is_linear() -> None:
    """A head that comes byte by byte costs a step a byte, not a copy."""
    parser = ResponseParser("GET")
    parser.feed(OK + b"X: ")
    start = time.process_time()
    for _ in range(60_000):
        parser.feed(b"y")
    assert time.process_time() - start < 2.0


PIECES = st.sampled_from(
    [OK, b"HTTP/1.0 204 x\r\n", b"HTTP/1.1 100 \r\n\r\n", b"Content-Length: 3\r\n", b"Transfer-Encoding: chunked\r\n",
     b"\r\n", b"\n", b"\r", b" ", b"3\r\nabc\r\n", b"0\r\n\r\n", b"A: b\r\n", b"\0", b"Connection: close\r\n", b"abc"]
)  # fmt: skip


@settings(deadline=None, max_examples=300)
@given(
    st.one_of(st.binary(max_size=200), st.lists(PIECES | st.binary(max_size=5), max_size=14).map(b"".join)),
    st.lists(st.integers(0, 300), max_size=6),
    st.sampled_from(["GET", "HEAD"]),
)
def test_arbitrary_bytes(data: bytes, cuts: list[int], method: str) -> None:
    """Arbitrary bytes raise nothing but ResponseError, and splitting them changes nothing."""
    assert outcome(data, method=method, cuts=cuts) == outcome(data, method=method)
