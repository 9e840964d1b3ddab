"""Read ``@FILE`` values: a list with one entry a line, and the patterns of ``allow`` and ``deny``.

``#`` begins a comment at the start of a line or after a blank. A BOM and CR LF are accepted.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from spiderproj.arguments.values import Given, existing_file, prose

if TYPE_CHECKING:
    from collections.abc import Iterator

LINE_LIMIT = 65_536  # bytes: a line of refused.jsonl with its longest URLs has about 6,000
_PATTERN_LIMIT = 10_000
_COMMENT = re.compile(r"(?:^|\s)#")


class PatternText(NamedTuple):
    """A pattern as written and where it was given: ``deny.1``, or ``deny (line 3 of the file)`` for ``@FILE``."""

    argument: str
    text: str


class Entry(NamedTuple):
    """One line of a list that says something; ``place`` tells people where, e.g. ``" (line 3 of the file)"``."""

    text: str
    place: str


def entries(given: Given) -> Iterator[Entry]:
    """Yield the entries of the file that *given* names after its ``@``, in bounded memory."""
    file_name = given._replace(text=given.text[1:].strip())
    try:
        with existing_file(file_name).open("rb") as file:
            for number, line in enumerate(_lines(file), start=1):
                place = f" (line {number} of the file)"
                if text := _stripped(given, line, place):
                    yield Entry(text, place)
    except OSError as error:
        raise given.wrong(f"@ and a file that can be read ({error.strerror})") from error


def patterns(given: Given) -> tuple[PatternText, ...]:
    """Return the pattern given, or those of ``@FILE``; whether RE2 accepts them is not looked at."""
    if not given.text.startswith("@"):
        return (PatternText(given.name, prose(given)),)
    found: list[PatternText] = []
    for entry in entries(given):
        if len(found) == _PATTERN_LIMIT:
            raise given.wrong(f"a file of at most {_PATTERN_LIMIT} patterns")
        line = Given(given.name + entry.place, entry.text, given.cwd)
        found.append(PatternText(line.name, prose(line)))
    if not found:
        raise given.wrong("a file with a pattern a line; this one has none")
    return tuple(found)


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield lines of at most one byte more than the limit, the first without its BOM."""
    first = file.readline(LINE_LIMIT + 1).removeprefix(b"\xef\xbb\xbf")
    yield first
    while line := file.readline(LINE_LIMIT + 1):
        yield line


def _stripped(given: Given, line: bytes, place: str) -> str:
    """Return the text of *line* without comment and outer blanks."""
    if len(line) > LINE_LIMIT:
        raise given.wrong(f"lines of at most {LINE_LIMIT} bytes{place}")
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        raise given.wrong(f"a text file in UTF-8{place}") from error
    if "\0" in text:
        raise given.wrong(f"a text file, not a binary one{place}")
    if "#" in text and (comment := _COMMENT.search(text)):
        text = text[: comment.start()]
    return text.strip()
