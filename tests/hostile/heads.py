"""Status lines and header fields."""

from __future__ import annotations

import os
from collections.abc import Iterable

from tests.hostile.answers import HTML, OK, Ask, Move, Step, endless, fixed, page, whole
from tests.hostile.cases import Case, Fate

_SMALL = b"Content-Type: text/html\r\nContent-Length: 2\r\n\r\nok"
_F, _S = Fate.FAILED, Fate.STORED


def _distinct_fields(number: int) -> bytes:
    return b"".join(b"X-%d: %b\r\n" % (number * 2000 + i, b"a" * 32) for i in range(2000))


def _many_fields(_: Ask) -> Iterable[Step]:
    yield OK
    for number in range(50):
        yield _distinct_fields(number)
    yield _SMALL


def _two_faces(ask: Ask) -> Iterable[Step]:
    """HEAD promises a terabyte of zip where GET has a page, or with ``?turned=1`` the other way round."""
    if (ask.method == "HEAD") != bool(ask.number("turned")):
        return [OK + b"Content-Type: application/zip\r\nContent-Length: 1000000000000\r\n\r\n", Move.CLOSE]
    body = page("small")
    return [*whole("" if ask.method == "HEAD" else body, "200 OK", HTML), Move.CLOSE]


_LINES: dict[str, tuple[str, bytes, Fate, str]] = {
    # name: attack, the whole answer, what becomes of it, its problem
    "long-line": (
        "a line of a megabyte",
        OK + b"X-Long: " + b"a" * 1_000_000 + b"\r\n" + _SMALL,
        _F,
        "too-many-headers",
    ),
    "http09": ("a body without a status line", b"<html>HTTP/0.9 as in 1991</html>", _F, "bad-response"),
    "version": ("HTTP/9.9", b"HTTP/9.9 200 OK\r\n" + _SMALL, Fate.ANY, ""),
    "status-text": ("a status of abc", b"HTTP/1.1 abc OK\r\n" + _SMALL, _F, "bad-response"),
    "status-negative": ("a status of -200", b"HTTP/1.1 -200 OK\r\n" + _SMALL, _F, "bad-response"),
    "status-big": ("a status of twelve digits", b"HTTP/1.1 999999999999 OK\r\n" + _SMALL, _F, "bad-response"),
    "status-101": (
        "an upgrade that nobody asked for",
        b"HTTP/1.1 101 Go\r\nUpgrade: x\r\n\r\n\x81\x05hello",
        _F,
        "bad",
    ),
    "status-204": (
        "a body where none may be, on a connection that stays open",
        b"HTTP/1.1 204 No Content\r\nContent-Length: 46\r\n\r\nmust not be read, nor leak to the next request",
        Fate.ANY,
        "",
    ),
    "status-206": (
        "a part of what was asked for whole",
        b"HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-1/1000000\r\n" + _SMALL,
        _F,
        "HTTP 206",
    ),
    "status-304": ("not modified, at the first visit", b"HTTP/1.1 304 Not Modified\r\n\r\n", _F, "HTTP 304"),
    "status-416": ("no such range, without a range", b"HTTP/1.1 416 No\r\nContent-Length: 0\r\n\r\n", _F, "HTTP 416"),
    "nul": ("NULs in fields", OK + b"X-A: a\x00b\r\nX\x00: c\r\n" + _SMALL, _S, ""),
    "no-colon": (
        "a line without colon, and one without name",
        OK + b"no colon here\r\n: nameless\r\n" + _SMALL,
        _S,
        "",
    ),
    "latin1": ("bytes over 127", b"HTTP/1.1 200 \xc9t\xe9\r\nX-A: \xff\xfe\r\n" + _SMALL, _S, ""),
    "escapes": (
        "terminal escapes in the reason and a field",
        b"HTTP/1.1 404 \x1b[2J\x1b]0;owned\x07gone\r\nX-Evil: \x1b[31mred\r\n" + _SMALL,
        _F,
        "HTTP 404",
    ),
    "disposition": (
        "a name for the file that climbs out",
        OK + b'Content-Disposition: attachment; filename="../../../../tmp/pwned.html"\r\n' + _SMALL,
        _S,
        "",
    ),
    "referrer-policy": (
        "a Python callable as Referrer-Policy",
        OK + b"Referrer-Policy: os.system\r\n" + _SMALL,
        _S,
        "",
    ),
}

CASES = [
    Case(
        name="heads.endless",
        attack="distinct fields for ever",
        fate=Fate.FAILED,
        error="too-many-headers",
        answer=lambda _: endless(OK, _distinct_fields),
        slow=True,
    ),
    Case(
        name="heads.folded",
        attack="one folded field without end: no line of it is long",
        fate=Fate.FAILED,
        error="too-many-headers",
        answer=lambda _: endless(OK + b"X-Fold: a\r\n", lambda _: (b" " + b"f" * 8000 + b"\r\n") * 8),
        slow=True,
    ),
    Case(
        name="heads.interim",
        attack="103 Early Hints for ever",
        fate=Fate.FAILED,
        error="bad-response",
        answer=lambda _: endless(b"", lambda _: b"HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n" * 200),
        slow=True,
    ),
    Case(name="heads.many", attack="100,000 fields", fate=Fate.FAILED, error="too-many-headers", answer=_many_fields),
    Case(
        name="heads.retry-after",
        attack="come again in 3,000 years",
        fate=Fate.FAILED,
        error="HTTP 503",
        answer=lambda _: whole("busy", "503 Busy", HTML, "Retry-After: 99999999999"),
        settings=("SPIDERPROJ_RETRY_AFTER_MAX=2",),
    ),
    Case(name="heads.two-faces", attack="HEAD and GET of different worlds", fate=Fate.STORED, answer=_two_faces),
    Case(
        name="heads.type-lies",
        attack="an image as text/html",
        fate=Fate.STORED,
        answer=lambda _: whole(b"\x89PNG\r\n\x1a\n" + os.urandom(4000), "200 OK", "text/html"),
    ),
    *(
        Case(
            name=f"heads.{name}",
            attack=attack,
            fate=fate,
            error=error,
            answer=fixed(raw, None if name == "status-204" else Move.CLOSE),
        )
        for name, (attack, raw, fate, error) in _LINES.items()
    ),
]
