"""One WARC record as bytes: a gzip member of its own, so that readers can begin at any of them (ISO 28500)."""

from __future__ import annotations

import time
import zlib
from base64 import b32encode
from functools import lru_cache
from hashlib import sha1
from typing import TYPE_CHECKING, Final, NamedTuple
from uuid import uuid4

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

VERSION: Final = "WARC/1.1"
NO_BODY: Final[tuple[bytes, ...]] = ()

_GZIP: Final = 16  # added to the size of the window: a gzip member, not a zlib stream
_SMALL: Final = 2048  # bytes of a block that needs no large window
_PACK: Final = 4  # a tenth larger than with 6, in two thirds of the time
_LEAVE: Final = 0


class Record(NamedTuple):
    """A record to be written. ``fields`` are its own WARC fields, as lines; ``body`` follows ``head`` in its block."""

    kind: str  # "response", "request", "revisit", "warcinfo"
    id: str  # a URN
    fields: str
    head: bytes
    body: Iterable[bytes] = NO_BODY  # can be iterated more than once
    body_size: int = 0
    is_packed: bool = False  # packing the body again would gain nothing


def new_id() -> str:
    """Return the name of a new record."""
    return uuid4().urn


def sha1_text(digest: bytes) -> str:
    """Return a SHA-1 *digest* as WARC fields and indexes have it.

    >>> sha1_text(sha1(b"").digest())
    'sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ'
    """
    return f"sha1:{b32encode(digest).decode()}"


@lru_cache(maxsize=64)
def capture_stamp(seconds: int) -> str:
    """Return POSIX *seconds* as the 14 digits of an index.

    >>> capture_stamp(0)
    '19700101000000'
    """
    return time.strftime("%Y%m%d%H%M%S", time.gmtime(seconds))


def warc_date(stamp: str) -> str:
    """Return 14 digits as a WARC-Date.

    >>> warc_date("19700101000000")
    '1970-01-01T00:00:00Z'
    """
    return f"{stamp[:4]}-{stamp[4:6]}-{stamp[6:8]}T{stamp[8:10]}:{stamp[10:12]}:{stamp[12:]}Z"


def member(record: Record, warcinfo: str = "") -> Iterator[bytes]:
    """Yield the gzip member of *record* in pieces; *warcinfo* is the id of its file's first record."""
    digest = sha1(record.head, usedforsecurity=False)
    for piece in record.body:
        digest.update(piece)
    described = f"WARC-Warcinfo-ID: <{warcinfo}>\r\n" if warcinfo else ""
    header = (
        f"{VERSION}\r\nWARC-Type: {record.kind}\r\nWARC-Record-ID: <{record.id}>\r\n{record.fields}{described}"
        f"WARC-Block-Digest: {sha1_text(digest.digest())}\r\n"
        f"Content-Length: {len(record.head) + record.body_size}\r\n\r\n"
    )
    packer = _packer(record)
    yield packer.compress(header.encode() + record.head)
    for piece in record.body:
        yield packer.compress(piece)
    yield packer.compress(b"\r\n\r\n") + packer.flush()


def _packer(record: Record) -> zlib._Compress:
    """Return what packs *record*: with the smallest window that serves, since setting up a large one takes 60 µs."""
    if record.is_packed:
        return zlib.compressobj(_LEAVE, zlib.DEFLATED, _GZIP + 9, 1)
    if len(record.head) + record.body_size < _SMALL:
        return zlib.compressobj(_PACK, zlib.DEFLATED, _GZIP + 12, 5)
    return zlib.compressobj(_PACK, zlib.DEFLATED, _GZIP + 15)
