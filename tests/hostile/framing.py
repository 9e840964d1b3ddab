"""How long a body is, and when it comes."""

from __future__ import annotations

from tests.hostile.answers import HTML, OK, Move, dripping, endless, fixed
from tests.hostile.cases import Case, Fate

_TYPE = f"Content-Type: {HTML}\r\n".encode()
_BLOCK = b"<p>" + b"no end in sight " * 4096
_CHUNKED = OK + _TYPE + b"Transfer-Encoding: chunked\r\n\r\n"


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def _length(value: bytes, body: bytes = b"hello") -> bytes:
    return OK + _TYPE + b"Content-Length: " + value + b"\r\n\r\n" + body


_STREAMS = [
    Case(
        name="framing.endless",
        attack="a body without length or end, at full speed",
        fate=Fate.FAILED,
        error="too-large",
        answer=lambda _: endless(OK + _TYPE + b"\r\n<html>", lambda _: _BLOCK),
        slow=True,
    ),
    Case(
        name="framing.endless-chunks",
        attack="chunks for ever",
        fate=Fate.FAILED,
        error="too-large",
        answer=lambda _: endless(_CHUNKED, lambda _: _chunk(_BLOCK)),
        slow=True,
    ),
    Case(
        name="framing.endless-file",
        attack="a file without end, which goes to disk",
        fate=Fate.FAILED,
        error="too-large",
        answer=lambda _: endless(OK + b"Content-Type: application/zip\r\n\r\nPK\3\4", lambda _: _BLOCK),
        settings=("SPIDERPROJ_FILE_MAXSIZE=200000000",),
        slow=True,
    ),
    Case(
        name="framing.drip",
        attack="a byte of the body a second",
        fate=Fate.FAILED,
        error="timeout",
        answer=lambda _: dripping(_length(b"1000000", b"<html>"), b"x", 1.0),
        seconds=200,
    ),
    Case(
        name="framing.drip-head",
        attack="a byte of the head a second",
        fate=Fate.FAILED,
        error="timeout",
        answer=lambda _: dripping(OK, b"X", 1.0),
        seconds=200,
    ),
    Case(
        name="framing.stall",
        attack="a head with a length, and no body",
        fate=Fate.FAILED,
        error="timeout",
        answer=lambda _: [_length(b"1000", b""), Move.HOLD],
        seconds=200,
    ),
    Case(
        name="framing.mute",
        attack="no answer at all",
        fate=Fate.FAILED,
        error="timeout",
        answer=lambda _: [Move.HOLD],
        seconds=200,
    ),
    Case(
        name="framing.closed",
        attack="FIN in place of an answer",
        fate=Fate.FAILED,
        error="reset",
        answer=lambda _: [Move.CLOSE],
    ),
    Case(
        name="framing.reset",
        attack="RST in place of an answer",
        fate=Fate.FAILED,
        error="reset",
        answer=lambda _: [Move.RESET],
    ),
    Case(
        name="framing.reset-midway",
        attack="half a body, then RST",
        fate=Fate.FAILED,
        error="dataloss",
        answer=lambda _: [_length(b"20000", b"h" * 10_000), 0.05, Move.RESET],
    ),
]

_LENGTHS: dict[str, tuple[str, bytes, Fate, str]] = {
    # name: attack, the whole answer, what becomes of it, its problem
    "short": ("20,000 bytes promised, 21 sent", _length(b"20000", b"<html><body>only this"), Fate.FAILED, "dataloss"),
    "huge": ("10^20 bytes promised", _length(b"9" * 20), Fate.FAILED, "too-large"),
    "negative": ("a length of -5", _length(b"-5"), Fate.FAILED, "bad-response"),
    "hexadecimal": ("a length of 0x10", _length(b"0x10"), Fate.FAILED, "bad-response"),
    "two-lengths": (
        "two lengths that differ",
        _length(b"5\r\nContent-Length: 50"),
        Fate.FAILED,
        "bad-response",
    ),
    "both": (
        "a length and chunks: chunks count",
        OK + _TYPE + b"Content-Length: 50\r\nTransfer-Encoding: chunked\r\n\r\n" + _chunk(b"hello") + b"0\r\n\r\n",
        Fate.STORED,
        "",
    ),
    "unknown-coding": (
        "a transfer coding that nobody knows",
        OK + _TYPE + b"Transfer-Encoding: gibberish\r\n\r\nhello",
        Fate.FAILED,
        "bad-response",
    ),
    "size-not-hex": ("a chunk size of zz", _CHUNKED + b"zz\r\nhello\r\n0\r\n\r\n", Fate.FAILED, "bad-response"),
    "size-negative": ("a chunk size of -5", _CHUNKED + b"-5\r\nhello\r\n0\r\n\r\n", Fate.FAILED, "bad-response"),
    "size-huge": ("a chunk of 2^64-1 bytes", _CHUNKED + b"f" * 16 + b"\r\nhello", Fate.FAILED, "bad-response"),
    "size-long": (
        "200 kB of zeros before a chunk size",
        _CHUNKED + b"0" * 200_000 + _chunk(b"hello") + b"0\r\n\r\n",
        Fate.FAILED,
        "bad-response",
    ),
    "no-line-end": ("a chunk without its line end", _CHUNKED + b"5\r\nhelloXX0\r\n\r\n", Fate.FAILED, "bad-response"),
    "no-last-chunk": ("no last chunk", _CHUNKED + _chunk(b"hello"), Fate.FAILED, "dataloss"),
    "extensions": (
        "400 kB of chunk extensions",
        _CHUNKED + b"5;" + b"a=b;" * 100_000 + b"\r\nhello\r\n0\r\n\r\n",
        Fate.FAILED,
        "bad-response",
    ),
    "trailers": (
        "1.6 MB of trailers",
        _CHUNKED + _chunk(b"hello") + b"0\r\n" + b"X-T: y\r\n" * 200_000 + b"\r\n",
        Fate.FAILED,
        "too-many-headers",
    ),
}

_SURPLUS = Case(
    name="framing.long",
    attack="more bytes than promised, shaped like the answer to another request, on a connection that stays open",
    fate=Fate.STORED,
    answer=fixed(_length(b"5") + b"<b>extra</b>HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsplit!", None),
)

CASES = [
    *_STREAMS,
    *(
        Case(name=f"framing.{name}", attack=attack, fate=fate, error=error, answer=fixed(raw))
        for name, (attack, raw, fate, error) in _LENGTHS.items()
    ),
    _SURPLUS,
]
