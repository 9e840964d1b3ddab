"""Who may ask the page's server what: checked before anything is looked up, by the head of a request alone.

A web page of another origin can make a browser send requests here, and can make its own name resolve to this address
(DNS rebinding). So the ``Host`` must be a name of ours, ``Origin`` and ``Sec-Fetch-Site`` must say that our own page
asks, and data needs two secrets made anew at each start: a cookie, which scripts cannot read, and a key in a header,
which other ports of this host are not sent (cookies know no ports, RFC 6265, 8.5).
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

MAX_BODY: Final = 64 * 1024
"""Bytes of a request's body."""

_FREE_FAILURES: Final = 5
_PAUSE: Final = 2.0  # seconds between two attempts after these
_READS: Final = frozenset({"GET", "HEAD"})
_OWN: Final = frozenset({"same-origin", ""})
_OWN_OR_TYPED: Final = frozenset({"same-origin", "none", ""})


class Head(NamedTuple):
    """What the head of a request says, "" for what it does not; *secrets* by cookie and by header."""

    method: str
    path: str
    host: str
    origin: str
    fetch_site: str
    media_type: str
    cookie: str
    key: str


class Refusal(NamedTuple):
    """The status that a request is answered with, and why, for who reads it."""

    status: int
    why: str


@dataclass(frozen=True)
class Session:
    """The secrets of one start of the server."""

    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))  # in the address that is printed
    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    key: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    files: str = field(default_factory=lambda: secrets.token_urlsafe(18))  # in the addresses of the copies' pages
    password: str = ""

    def opens(self, given: str) -> bool:
        """Return whether *given* is the token, or the password."""
        is_token = _same(given, self.token)
        return is_token or (bool(self.password) and _same(given, self.password))


class Guard:
    """Judges requests to a server that answers to *hosts* (name and port), of which *enter* is the way in."""

    def __init__(
        self, hosts: frozenset[str], session: Session, *, scheme: str = "http", enter: str = "/api/enter"
    ) -> None:
        self._hosts = hosts
        self._origins = {host: f"{scheme}://{host}" for host in hosts}
        self._session = session
        self._enter = enter

    def refusal(self, head: Head) -> Refusal | None:
        """Return why the request is not answered, None when it is."""
        if head.host not in self._hosts:
            return Refusal(421, "this server does not answer to that Host")
        if head.method not in _READS and head.method != "POST":
            return Refusal(405, "GET, HEAD or POST")
        is_data = head.path.startswith("/api/")
        if head.fetch_site not in (_OWN if is_data else _OWN_OR_TYPED):
            return Refusal(403, "another site asks")
        own = self._origins[head.host]
        if head.method == "POST":
            return self._post_refusal(head, own)
        if head.origin not in ("", own):
            return Refusal(403, "another origin asks")
        return self._stranger(head) if is_data else None

    def _post_refusal(self, head: Head, own: str) -> Refusal | None:
        if head.origin != own:
            return Refusal(403, "a POST needs the Origin of this page")
        if not head.path.startswith("/api/"):
            return Refusal(405, "GET or HEAD")
        if head.media_type != "application/json":
            return Refusal(415, "application/json")
        return None if head.path == self._enter else self._stranger(head)

    def _stranger(self, head: Head) -> Refusal | None:
        known = _same(head.cookie, self._session.cookie) & _same(head.key, self._session.key)
        return None if known else Refusal(401, "open the address that scrapy ui has printed")


class Attempts:
    """Slows down who guesses: after five failures one attempt in two seconds. *clock* gives seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._failures = 0
        self._next = 0.0

    def is_open(self) -> bool:
        """Return whether an attempt may be made now."""
        return self._clock() >= self._next

    def failed(self) -> None:
        """Note a failure."""
        self._failures += 1
        if self._failures >= _FREE_FAILURES:
            self._next = self._clock() + _PAUSE

    def succeeded(self) -> None:
        """Forget the failures."""
        self._failures = 0


def cookie_of(header: str, name: str) -> str:
    """Return the value of the cookie *name* in a Cookie header, "" when there is none."""
    for pair in header.split(";"):
        key, _, value = pair.strip().partition("=")
        if key == name:
            return value
    return ""


def _same(given: str, secret: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), secret.encode())
