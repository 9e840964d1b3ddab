"""Where the final answer lies in a stream of received bytes, and what its payload is."""

from __future__ import annotations

import re
from hashlib import sha1
from typing import TYPE_CHECKING, Final, NamedTuple

from spiderproj.http1 import ResponseError
from spiderproj.http1.chunked import ChunkedBody

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_HEADS: Final = 512 * 1024
"""Bytes in which the heads of an answer end: the reader of answers allows half of it."""

_HEAD_END: Final = re.compile(rb"\n\r?\n")
_INTERIM: Final = re.compile(rb"[^ \t\r\n]*[ \t]+1[0-9][0-9]")
_NOT_BLANK: Final = re.compile(rb"[^\r\n]")


class Bounds(NamedTuple):
    """Offsets of an answer in its stream: where the final head begins, and where it ends and the body begins."""

    head: int
    body: int


def final_head(stream: bytes) -> Bounds | None:
    r"""Return the bounds of the final head in *stream*, past blank lines and interim answers; None when none ended.

    >>> final_head(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\nbody")
    Bounds(head=25, body=44)
    """
    start = 0
    while (begin := _NOT_BLANK.search(stream, start)) and (end := _HEAD_END.search(stream, begin.start())):
        if not _INTERIM.match(stream, begin.start()):
            return Bounds(begin.start(), end.end())
        start = end.end()
    return None


def payload_digest(body: Iterable[bytes], *, is_chunked: bool) -> tuple[bytes, int]:
    """Return SHA-1 and size of the payload: the *body* without its transfer coding (IIPC, warc-specifications #22).

    Of a chunked body that breaks off or is broken, what can be read counts.
    """
    digest, size = sha1(usedforsecurity=False), 0
    chunks = ChunkedBody() if is_chunked else None
    for piece in body:
        if chunks is not None:
            try:
                piece = chunks.feed(piece)
            except ResponseError:
                break
        digest.update(piece)
        size += len(piece)
    return digest.digest(), size
