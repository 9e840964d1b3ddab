"""Write a Scrapy request as HTTP/1.1 bytes, with nothing in it that its URL and headers do not say (RFC 9112, 3)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from spiderproj.codings import ACCEPT_ENCODING
from spiderproj.downloader.errors import BadRequestError

if TYPE_CHECKING:
    from scrapy import Request

_URL = re.compile(
    r"(https?)://(?:[^/?#@]*@)?(\[[0-9A-Fa-f:.]+\]|[^/?#@:\[\]]+)(?::([0-9]{1,5}))?(/[^#]*|\?[^#]*)?(?:#.*)?"
)
_METHOD = re.compile(r"[A-Z][A-Z-]{0,31}")
_PORTS = {"http": 80, "https": 443}
_OURS = frozenset((b"Host", b"Content-Length", b"Transfer-Encoding", b"Connection", b"Proxy-Authorization"))
_ACCEPT_ENCODING = f"\r\nAccept-Encoding: {ACCEPT_ENCODING}".encode()


class Origin(NamedTuple):
    """What a connection goes to."""

    scheme: str
    host: str  # IPv6 addresses in brackets
    port: int


def read_url(url: str) -> tuple[Origin, str]:
    """Return the origin and the request target of *url*; credentials and fragment are left out.

    Raises BadRequestError for a URL that is not http(s), or has blanks, control or non-ASCII characters.
    """
    match = _URL.fullmatch(url)
    if match is None or not (url.isascii() and url.isprintable()) or " " in url:
        raise BadRequestError(f"{url[:200]!a}: expected an http or https URL in ASCII without blanks")
    scheme, host, port, target = match.groups()
    number = int(port) if port else _PORTS[scheme]
    if number > 65535:
        raise BadRequestError(f"{url[:200]!a}: expected a port up to 65535")
    if not target:
        target = "/"
    elif target[0] == "?":
        target = "/" + target
    return Origin(scheme, host, number), target


def write_request(request: Request, origin: Origin, target: str) -> bytes:
    """Return the bytes of *request*: Host first, its own headers in their order and case, then its body.

    Raises BadRequestError when a header would inject a line.
    """
    method = request.method
    headers = request.headers
    host = dict.get(headers, b"Host")  # dict's own methods: those of Headers title-case every name again
    parts = [method.encode(), b" ", target.encode(), b" HTTP/1.1\r\nHost: ", host[0] if host else _authority(origin)]
    ends = 2
    for name, values in dict.items(headers):
        if name not in _OURS:
            for value in values:
                parts += (b"\r\n", name, b": ", value)
                ends += 1
    if not dict.__contains__(headers, b"Accept-Encoding"):
        parts.append(_ACCEPT_ENCODING)
        ends += 1
    body = request.body
    if body or method in ("POST", "PUT", "PATCH"):
        parts.append(b"\r\nContent-Length: %d" % len(body))
        ends += 1
    parts.append(b"\r\n")
    head = b"".join(parts)
    if head.count(b"\n") != ends or head.count(b"\r") != ends or b"\0" in head or not _METHOD.fullmatch(method):
        raise BadRequestError(f"{method[:40]!a} {target[:100]!a}: a control character in the method or a header")
    return head + b"\r\n" + body


def _authority(origin: Origin) -> bytes:
    """Return the value of Host; the default port is left out."""
    if origin.port == _PORTS[origin.scheme]:
        return origin.host.encode()
    return b"%b:%d" % (origin.host.encode(), origin.port)
