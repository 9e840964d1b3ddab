"""Read the head of an HTTP/1.x response, tolerantly and within limits (RFC 9112, 4 and 5)."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

_STATUS_LINE = re.compile(r"HTTP/([0-9]{1,3}\.[0-9]{1,3})[ \t]+([0-9]{3})(?:[ \t]|\Z)", re.IGNORECASE | re.ASCII)
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_FOLD = re.compile(r"\n[ \t]+")
_DIRT = re.compile(r"[\0\r]")
_SHORT_LINE = 128


class ResponseError(ValueError):
    """An answer that cannot be read; ``kind`` is "bad-response", "too-many-headers" or "too-large"."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class HeadLimits(NamedTuple):
    """What the heads of one answer, its interim ones included, may cost."""

    size: int = 256 * 1024  # bytes of all heads and of blank lines before them
    line: int = 64 * 1024  # characters of one field with its continuation lines
    lines: int = 500  # lines of one head
    interim: int = 10  # 1xx answers before the final one


class Head(NamedTuple):
    """Status line and fields of a response; names are lower case, values are latin-1 text."""

    version: str  # "HTTP/1.1"
    status: int  # 100 to 599
    headers: list[tuple[str, str]]  # as received, in order
    fields: dict[str, list[str]]  # the same by name


def parse_head(block: bytes, limits: HeadLimits) -> Head:
    """Return the Head in *block*, which runs from the status line to the line end before the blank line.

    Lines end with CR LF or LF. A line without a colon, with a name that is no token, or with NUL or CR in its value
    is dropped: browsers keep such pages. Raises ResponseError for a bad status line and beyond *limits*.
    """
    text = block.decode("latin-1").replace("\r\n", "\n")
    if text.count("\n") > limits.lines:
        raise ResponseError("too-many-headers", f"more than {limits.lines} header lines")
    if "\n " in text or "\n\t" in text:
        text = _FOLD.sub(" ", text)
    lines = text.split("\n")
    if len(text) > limits.line and max(map(len, lines)) > limits.line:
        raise ResponseError("too-many-headers", f"a header line over {limits.line} bytes")
    first = lines[0]
    version, status = _known_status_line(first) if len(first) <= _SHORT_LINE else _status_line(first)
    dirty = "\0" in text or "\r" in text
    headers = []
    fields: dict[str, list[str]] = {}
    for line in lines[1:]:
        field = _known_field(line) if len(line) <= _SHORT_LINE else _field(line)
        if field is None or (dirty and _DIRT.search(field[1])):
            continue
        headers.append(field)
        if field[0] in fields:
            fields[field[0]].append(field[1])
        else:
            fields[field[0]] = [field[1]]
    return Head(version, status, headers, fields)


def _status_line(line: str) -> tuple[str, int]:
    """Return version and status of a status *line*."""
    match = _STATUS_LINE.match(line)
    if match is None:
        raise ResponseError("bad-response", f"not an HTTP/1.x status line: {line[:80]!a}")
    status = int(match[2])
    if not 100 <= status <= 599:
        raise ResponseError("bad-response", f"status {status}: expected 100 to 599")
    return f"HTTP/{match[1]}", status


def _field(line: str) -> tuple[str, str] | None:
    """Return lower-case name and value of a header *line*, None when it is none; blanks before the colon may be."""
    name, colon, value = line.partition(":")
    name = name.rstrip(" \t")
    if not colon or not _TOKEN.fullmatch(name):
        return None
    return name.lower(), value.strip(" \t\r")


# Most lines come with every answer of a server, and a hit costs a tenth. Short ones only: at most 1 MB is kept.
_known_field = lru_cache(maxsize=2048)(_field)
_known_status_line = lru_cache(maxsize=64)(_status_line)
