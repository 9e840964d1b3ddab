"""One canonical form of a URL, and its parts.

The canonical form is the WHATWG URL serialisation (https://url.spec.whatwg.org/) without credentials and fragment,
limited to http and https. Everything that compares, stores, dials or names a URL uses this one form: two readings of
one URL are how crawlers are led astray (docs/security.md, A34).
"""

from __future__ import annotations

from typing import NamedTuple

import ada_url
import xxhash

from spiderproj.errors import InvalidURLError
from spiderproj.models import Reason

MAX_URL_LENGTH = 2083
"""Longest URL that is fetched, in characters; the limit browsers and search engines have kept."""

_DEFAULT_PORTS = {"http": "80", "https": "443"}


class URLParts(NamedTuple):
    """The parts of a canonical URL; ``port`` is "" for the scheme's default, ``query`` is None when there is no "?"."""

    scheme: str
    host: str
    port: str
    path: str
    query: str | None

    @property
    def authority(self) -> str:
        """Host with its port when that is not the default: what scope and politeness go by ("host key")."""
        return f"{self.host}:{self.port}" if self.port else self.host


class RefusedURLError(InvalidURLError):
    """A URL that can never be fetched; ``reason`` is INVALID, SCHEME or TOO_LONG."""

    def __init__(self, url: str, reason: Reason) -> None:
        super().__init__(f"{url[:200]!r} cannot be fetched: {reason.value}")
        self.reason = reason


def canonical(url: str, base: str | None = None) -> str:
    """Return the canonical form of *url*, resolved against the absolute *base* when it is relative.

    Raises RefusedURLError with its reason: INVALID (the URL rules do not accept it), SCHEME (neither http nor
    https), TOO_LONG (over MAX_URL_LENGTH characters).

    >>> canonical("../B?x=1#top", "http://Example.org:80/a/c")
    'http://example.org/B?x=1'
    """
    if len(url) > 4 * MAX_URL_LENGTH:
        raise RefusedURLError(url, Reason.TOO_LONG)
    try:
        href: str = ada_url.join_url(base, url) if base else ada_url.normalize_url(url)
    except (ValueError, UnicodeError) as error:
        raise RefusedURLError(url, Reason.INVALID) from error
    fragment = href.find("#")
    if fragment >= 0:
        href = href[:fragment]
    if not href.startswith(("http://", "https://")):
        raise RefusedURLError(url, Reason.SCHEME)
    start = href.index("//") + 2
    at = href.rfind("@", start, href.index("/", start))
    if at >= 0:
        href = href[:start] + href[at + 1 :]
    if len(href) > MAX_URL_LENGTH:
        raise RefusedURLError(url, Reason.TOO_LONG)
    return href


def split(url: str) -> URLParts:
    """Return the parts of a canonical *url* by cutting the string; nothing is decoded.

    >>> split("http://h:8080/a/b?c=d")
    URLParts(scheme='http', host='h', port='8080', path='/a/b', query='c=d')
    """
    scheme, _, rest = url.partition("://")
    slash = rest.find("/")
    authority, target = (rest[:slash], rest[slash:]) if slash >= 0 else (rest, "/")
    path, mark, query = target.partition("?")
    colon = authority.rfind(":")
    if colon > authority.rfind("]"):
        host, port = authority[:colon], authority[colon + 1 :]
    else:
        host, port = authority, ""
    return URLParts(scheme, host, port, path, query if mark else None)


def origin(url: str) -> str:
    """Return scheme, host and port of a canonical *url*: what robots.txt goes by (RFC 9309, 2.3).

    >>> origin("https://h:444/a?b")
    'https://h:444'
    """
    end = url.find("/", 8)  # past "https://"
    return url if end < 0 else url[:end]


def port_number(parts: URLParts) -> int:
    """Return the TCP port that *parts* means."""
    return int(parts.port or _DEFAULT_PORTS[parts.scheme])


def directory(path: str) -> str:
    """Return *path* up to and with its last slash: the directory a page lies in.

    >>> directory("/a/b/c.html")
    '/a/b/'
    """
    return path[: path.rfind("/") + 1]


def from_header(value: bytes) -> str:
    r"""Return the URL reference that a header field holds: bytes beyond ASCII percent-encoded as they came.

    RFC 9110 10.2.2 wants a URI-reference; browsers do the same with what is none.

    >>> from_header(b"/caf\xc3\xa9")
    '/caf%C3%A9'
    """
    if value.isascii():
        return value.decode("ascii")
    return "".join([chr(byte) if byte < 0x80 else f"%{byte:02X}" for byte in value])


def url_key(url: str) -> int:
    """Return the signed 64-bit xxh3 of a canonical *url*: its key in the store.

    Expected collisions: 4e-8 at 1.2 million URLs, 0.03 at a billion; the store compares the text on a hit.
    """
    value = xxhash.xxh3_64_intdigest(url.encode())
    return value - (1 << 64) if value >> 63 else value
