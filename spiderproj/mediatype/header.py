"""Content-Type headers, read as browsers read them.

"Parse a MIME type" (https://mimesniff.spec.whatwg.org/#parsing-a-mime-type) and "extract a MIME type"
(https://fetch.spec.whatwg.org/#concept-header-extract-mime-type). What the types mean to a crawl is in mediatype.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

_CACHED_LENGTH = 128  # of a header; longer ones are rare, and 1,024 of any length would be a way to fill memory
_BLANK = "\t\n\r "
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_QUOTABLE = re.compile(r"[\t -~\x80-\xff]*")


class MediaType(NamedTuple):
    """A media type without its parameters but charset, which is as sent: only webencodings knows if it is one."""

    essence: str | None  # "text/html", lower case; None when there is no valid Content-Type
    charset: str | None


NOTHING = MediaType(None, None)


def parse(values: Sequence[str]) -> MediaType:
    """Return the media type that the *values* of all Content-Type headers, decoded as Latin-1, mean together.

    >>> parse(["text/html; charset=utf-8"])
    MediaType(essence='text/html', charset='utf-8')
    """
    if len(values) == 1 and len(values[0]) <= _CACHED_LENGTH:
        return _extract_cached(values[0])
    return _extract(", ".join(values))


def _extract(header: str) -> MediaType:
    """Return the last valid type of a header's list; it inherits the charset of equal ones before it."""
    result = NOTHING
    inherited: str | None = None
    for value in _members(header):
        found = _parse_one(value)
        if found.essence is None or found.essence == "*/*":
            continue
        if found.essence != result.essence:
            inherited = found.charset
        elif found.charset is None:
            found = MediaType(found.essence, inherited)
        result = found
    return result


_extract_cached = lru_cache(maxsize=1024)(_extract)


def _members(header: str) -> Iterator[str]:
    """Yield the parts between commas that stand outside quotes (fetch, "get, decode, and split")."""
    if '"' not in header:
        yield from header.split(",")
        return
    start = position = 0
    while position < len(header):
        if header[position] == '"':
            _, position = _quoted(header, position)
        elif header[position] == ",":
            yield header[start:position]
            position += 1
            start = position
        else:
            position += 1
    yield header[start:]


def _parse_one(value: str) -> MediaType:
    essence, mark, rest = value.strip(_BLANK).partition(";")
    kind, slash, subtype = essence.rstrip(_BLANK).partition("/")
    if not slash or not _TOKEN.fullmatch(kind) or not _TOKEN.fullmatch(subtype):
        return NOTHING
    charset = _charset(rest) if mark else None
    return MediaType(f"{kind}/{subtype}".lower(), charset)


def _charset(parameters: str) -> str | None:
    """Return the value of the first valid charset parameter."""
    position = 0
    while position < len(parameters):
        name, value, position = _parameter(parameters, position)
        if name.lower() == "charset" and value is not None and _QUOTABLE.fullmatch(value):
            return value
    return None


def _parameter(text: str, start: int) -> tuple[str, str | None, int]:
    """Return name, value (None when it has none) and where the next one starts (mimesniff 4.4, step 11)."""
    end = _find(text, ";", start)
    equals = text.find("=", start, end)
    if equals < 0:
        return text[start:end], None, end + 1
    name = text[start:equals].lstrip(_BLANK)
    if text.startswith('"', equals + 1):
        value, after = _quoted(text, equals + 1)
        return name, value, _find(text, ";", after) + 1
    return name, text[equals + 1 : end].rstrip(_BLANK) or None, end + 1


def _quoted(text: str, start: int) -> tuple[str, int]:
    """Return the value of the quoted string at *start* and the position after it (fetch, "HTTP quoted string")."""
    pieces = []
    position = start + 1
    while position < len(text) and text[position] != '"':
        if text[position] == "\\" and position + 1 < len(text):
            position += 1
        pieces.append(text[position])
        position += 1
    return "".join(pieces), position + 1


def _find(text: str, mark: str, start: int) -> int:
    position = text.find(mark, start)
    return len(text) if position < 0 else position
