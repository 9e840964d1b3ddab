"""The index of an archive: a line of CDXJ a capture, sorted, in gzip members that a viewer can fetch one at a time."""

from __future__ import annotations

import gzip
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

import orjson

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LINES: Final = 3000
"""Lines of the index in one gzip member."""

HEADER: Final = b'!meta 0 {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}\n'
"""The first line of the index of members."""


class Capture(NamedTuple):
    """A record that can be looked up."""

    key: str  # SURT
    stamp: str  # 14 digits
    url: str
    mime: str  # "warc/revisit" for a revisit
    status: int
    digest: str  # of the payload: "sha1:..."
    length: int  # bytes of the record's gzip member
    offset: int
    file: str


def line(capture: Capture) -> bytes:
    """Return the line of *capture*."""
    fields = {
        "url": capture.url,
        "mime": capture.mime,
        "status": str(capture.status),
        "digest": capture.digest,
        "length": str(capture.length),
        "offset": str(capture.offset),
        "filename": capture.file,
    }
    return f"{capture.key} {capture.stamp} ".encode() + orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE)


def members(captures: Iterable[Capture]) -> Iterator[tuple[bytes, bytes]]:
    """Yield the gzip members of the index of *captures*, which come sorted, each with its line in the index of members.

    That line has the key and stamp of the first capture, and where the member lies.
    """
    remaining, offset = iter(captures), 0
    while block := list(islice(remaining, LINES)):
        packed = gzip.compress(b"".join(map(line, block)), mtime=0)
        place = orjson.dumps({"offset": offset, "length": len(packed)}, option=orjson.OPT_APPEND_NEWLINE)
        yield packed, f"{block[0].key} {block[0].stamp} ".encode() + place
        offset += len(packed)
