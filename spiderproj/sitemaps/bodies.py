"""The bytes of a sitemap as text: gzip undone, encoding found, both within bounds."""

from __future__ import annotations

import codecs
import re
import zlib
from collections.abc import Iterator

from webencodings import lookup

MAX_BYTES = 50 * 1024 * 1024
"""Longest sitemap read, in bytes after gzip: the protocol's own limit."""

_MAX_RATIO = 300  # of unzipped to zipped bytes. A long and very regular urlset reaches 60; DEFLATE can do 1,030
_RATIO_FROM = 1024 * 1024  # the ratio counts from here on: small files may be as regular as they like
_MAX_MEMBERS = 100  # of a gzip file; tools that append make a few, millions of empty ones only waste time
_CUT = f"only the first {MAX_BYTES >> 20} MB are read"
_GZIP_MAGIC = b"\x1f\x8b"
_STEP = 64 * 1024
_PIECE = 4 * 1024 * 1024  # unzipped at a time, so that a file is in memory once
_DECLARED = re.compile(rb"<\?xml[^>]{0,200}?encoding\s{0,9}=\s{0,9}[\"']([A-Za-z0-9._:-]{1,40})")
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (b"<\0", "utf-16-le"),  # no mark, yet plain to see
    (b"\0<", "utf-16-be"),
)


def unpack(body: bytes, problems: list[str]) -> bytes | bytearray:
    """Return at most MAX_BYTES of *body*, with one layer of gzip undone; what was cut is noted in *problems*."""
    if not body.startswith(_GZIP_MAGIC):
        if len(body) > MAX_BYTES:
            problems.append(_CUT)
        return body[:MAX_BYTES]
    unzipped = _gunzip(body, problems)
    if unzipped.startswith(_GZIP_MAGIC):
        problems.append("gzip within gzip")
        return b""
    if len(unzipped) > MAX_BYTES:
        problems.append(_CUT)
        del unzipped[MAX_BYTES:]
    return unzipped


def decode(body: bytes | bytearray) -> Iterator[str]:
    """Yield *body* as text, piece by piece, without a byte order mark; what cannot be decoded becomes U+FFFD.

    A mark wins; then bytes that are UTF-8 are read so, whatever the XML declaration says (it is wrong more often
    than other bytes form UTF-8 by chance); then the declaration, if it names an encoding of the WHATWG's.
    """
    decoder = codecs.getincrementaldecoder(_codec_name(body))(errors="replace")
    first = True
    for start in range(0, len(body), _STEP):
        text = decoder.decode(body[start : start + _STEP], final=start + _STEP >= len(body))
        yield text.lstrip("\ufeff") if first else text
        first = False


def _gunzip(body: bytes, problems: list[str]) -> bytearray:
    """Return what the gzip members of *body* hold, as far as they are sound and within bounds."""
    unzipped = bytearray()
    limit = min(MAX_BYTES + 1, max(_RATIO_FROM, len(body) * _MAX_RATIO))
    for _ in range(_MAX_MEMBERS):
        inflater = zlib.decompressobj(wbits=31)
        try:
            _inflate(inflater, body, unzipped, limit)
        except zlib.error:
            problems.append("the gzip data are damaged")
            break
        if len(unzipped) >= limit:
            if limit <= MAX_BYTES:
                problems.append(f"gzip holds more than {_MAX_RATIO} times its size")
            break
        if not inflater.eof:
            problems.append("the gzip data end early")
            break
        body = inflater.unused_data
        if not body.startswith(_GZIP_MAGIC):  # the end, or padding
            break
    else:
        problems.append(f"only {_MAX_MEMBERS} gzip members are read")
    return unzipped


def _inflate(inflater: zlib._Decompress, body: bytes, unzipped: bytearray, limit: int) -> None:
    """Add what *body* holds to *unzipped*, up to *limit* bytes of it."""
    while not inflater.eof and len(unzipped) < limit:
        piece = inflater.decompress(body, min(_PIECE, limit - len(unzipped)))
        unzipped += piece
        body = inflater.unconsumed_tail
        if not piece and not body:
            return


def _codec_name(body: bytes | bytearray) -> str:
    """Return the name of Python's codec to read *body* with; one the WHATWG knows, never another."""
    for mark, codec in _MARKS:
        if body.startswith(mark):
            return codec
    found = _DECLARED.match(body[:_STEP].lstrip(b" \t\r\n")[:300])
    encoding = lookup(found[1].decode("ascii")) if found else None
    if encoding is None or encoding.name in {"utf-16le", "utf-16be", "x-user-defined"} or _is_utf8(body):
        return "utf-8"  # UTF-16 would have shown itself above
    name: str = encoding.codec_info.name
    return name


def _is_utf8(body: bytes | bytearray) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(body), _STEP):
            decoder.decode(body[start : start + _STEP])
    except UnicodeDecodeError:
        return False
    return True
