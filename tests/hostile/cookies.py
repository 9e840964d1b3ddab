"""Cookies and challenges."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable

from tests.hostile.answers import HTML, OK, Ask, Step, fixed, page, whole
from tests.hostile.cases import Case, Fate

_FOR_OTHERS = (
    "a=1; Domain=.com",
    "b=2; Domain=localhost",
    "c=\x01\x02; Path=/",
    "d=4; Domain=127.0.0.1.",
    "e=5; Max-Age=99999999999999999999",
    "__Host-f=6",
    "g=7; Expires=" + "1" * 4000,
    ";;;===;;",
)
_LINK = b"<a href='/echo?after=others'>what is sent?</a>"


def _flood(ask: Ask) -> Iterable[Step]:
    """5,000 cookies of 3 kB, and the way back; of its fields alone more than a head may have."""
    few = ask.number("few")
    cookies = (f"Set-Cookie: c{few}-{i}={'v' * 3000}; Path=/" for i in range(80 if few else 5000))
    return whole(page("cookies", f"{ask.path}?few={few + 1}") if few < 4 else page("enough"), "200 OK", HTML, *cookies)


def echo(ask: Ask) -> Iterable[Step]:
    """Show what was sent."""
    return whole(f"<title>echo</title><pre>{html.escape(json.dumps(dict(ask.fields), indent=1))}</pre>")


CASES = [
    Case(
        name="cookies.flood",
        attack="15 MB of cookies in one head",
        fate=Fate.FAILED,
        error="too-many-headers",
        answer=_flood,
    ),
    Case(
        name="cookies.many",
        attack="80 cookies of 3 kB an answer, and again",
        target="/?few=1",
        fate=Fate.STORED,
        answer=_flood,
        asks=("/?few=4",),
    ),
    Case(
        name="cookies.others",
        attack="cookies for other hosts, with control bytes, without end",
        fate=Fate.STORED,
        answer=fixed(
            OK + b"Content-Type: text/html\r\nContent-Length: %d\r\n" % len(_LINK)
            + "".join(f"Set-Cookie: {value}\r\n" for value in _FOR_OTHERS).encode() + b"\r\n" + _LINK,
            None,
        ),
        asks=("/echo?after=others",),
    ),
    Case(name="cookies.echo", attack="none: shows what a crawl sends", fate=Fate.STORED, answer=echo),
    Case(
        name="cookies.challenge",
        attack="401 for ever, with escapes in the realm",
        fate=Fate.FAILED,
        error="HTTP 401",
        answer=lambda _: whole("", "401 Unauthorized", HTML, 'WWW-Authenticate: Basic realm="\x1b[31mroot password"'),
    ),
]  # fmt: skip
