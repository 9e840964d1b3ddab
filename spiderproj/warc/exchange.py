"""Which records a request and its answer become, and what must not be in them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from spiderproj.warc.record import NO_BODY, Record, new_id, warc_date

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

SECRET_FIELDS: Final = frozenset({"authorization", "cookie", "proxy-authorization"})
"""Request fields that are never written, in lower case."""

_PROFILE: Final = "http://netpreserve.org/warc/1.1/revisit/"
_ANSWER_TYPE: Final = "Content-Type: application/http;msgtype=response\r\n"
_REQUEST_TYPE: Final = "Content-Type: application/http;msgtype=request\r\n"
_PACKED: Final = re.compile(
    r"(?:audio|video|font)/|image/(?!svg|bmp|x-icon)|application/(?:zip|gzip|x-7z|pdf|epub|vnd\.openxml)"
)


class Original(NamedTuple):
    """An earlier record whose payload is the one of a revisit."""

    url: str
    stamp: str  # 14 digits
    digest: str  # of its payload: "sha1:..."


class Exchanged(NamedTuple):
    """One request and its answer; the bodies as they went over the wire."""

    url: str
    stamp: str  # when the request went out, 14 digits
    address: str
    request: bytes
    status: int
    head: bytes
    body: Iterable[bytes]  # can be iterated more than once
    body_size: int
    is_chunked: bool
    has_coding: bool
    mime: str  # media type by the headers, "" when they name none
    digest: str  # of the payload: "sha1:..."
    truncated: str  # why the answer is not whole, as WARC-Truncated says it; "" when it is


def records(exchanged: Exchanged, original: Original | None, secret: Collection[str]) -> list[Record]:
    """Return the record of the answer and that of the request, without the *secret* fields (names in lower case).

    With an *original* the answer is a revisit of it, with its head only. A chunked body is written with its framing,
    and then the record has no payload digest: the standard means that of the payload without framing, and the checkers
    in use read it as that of the bytes in the record. Revisits have it: theirs is nobody's bytes.
    """
    common = (
        f"WARC-Target-URI: {exchanged.url}\r\nWARC-Date: {warc_date(exchanged.stamp)}\r\n"
        f"WARC-IP-Address: {exchanged.address}\r\n"
    )
    is_revisit = original is not None or exchanged.status == 304
    answer = _revisit(exchanged, original, common) if is_revisit else _response(exchanged, common)
    head, has_body = without_secrets(exchanged.request, secret)
    cut = "WARC-Truncated: unspecified\r\n" if has_body else ""
    fields = f"{common}WARC-Concurrent-To: <{answer.id}>\r\n{cut}{_REQUEST_TYPE}"
    return [answer, Record("request", new_id(), fields, head)]


def without_secrets(request: bytes, secret: Collection[str]) -> tuple[bytes, bool]:
    """Return the head of *request* without the fields whose names are *secret*, and whether it had a body."""
    end = request.index(b"\r\n\r\n") + 4
    return without_fields(request[:end], secret), len(request) > end


def without_fields(head: bytes, names: Collection[str]) -> bytes:
    """Return *head* without the fields of these lower-case *names*, continuation lines included."""
    kept, is_dropped = [], False
    for line in head.split(b"\n"):
        if not line.startswith((b" ", b"\t")):
            is_dropped = line.partition(b":")[0].strip(b" \t\r").decode("latin-1").lower() in names
        if not is_dropped:
            kept.append(line)
    return b"\n".join(kept)


def _response(exchanged: Exchanged, common: str) -> Record:
    payload = "" if exchanged.is_chunked else f"WARC-Payload-Digest: {exchanged.digest}\r\n"
    cut = f"WARC-Truncated: {exchanged.truncated}\r\n" if exchanged.truncated else ""
    is_packed = exchanged.has_coding or _PACKED.match(exchanged.mime) is not None
    return Record(
        "response", new_id(), f"{common}{payload}{cut}{_ANSWER_TYPE}",
        exchanged.head, exchanged.body, exchanged.body_size, is_packed,
    )  # fmt: skip


def _revisit(exchanged: Exchanged, original: Original | None, common: str) -> Record:
    profile = "server-not-modified" if exchanged.status == 304 else "identical-payload-digest"
    refers = ""
    if original is not None:
        refers = (
            f"WARC-Refers-To-Target-URI: {original.url}\r\nWARC-Refers-To-Date: {warc_date(original.stamp)}\r\n"
            f"WARC-Payload-Digest: {original.digest}\r\n"
        )
    fields = f"{common}WARC-Profile: {_PROFILE}{profile}\r\n{refers}{_ANSWER_TYPE}"
    return Record("revisit", new_id(), fields, exchanged.head, NO_BODY)
