"""The image candidates of a srcset attribute (HTML standard, "parse a srcset attribute")."""

from __future__ import annotations

import re
from collections.abc import Iterator

# After blanks and commas: the URL up to the next blank, and unless it ends in a comma its descriptors up to the next
# comma that is not inside parentheses.
_CANDIDATE = re.compile(r"([^\t\n\f\r ,][^\t\n\f\r ]*+)(?:(?<=,)|(?:[^,(]++|\([^)]*+(?:\)|\Z))*+)")


def candidates(value: str) -> list[str]:
    """Return the URL texts of a srcset, in order; those with broken descriptors too, as any of them may be shown.

    >>> candidates("a.png, b,c.png 2x, d.png 1x (e, f)")
    ['a.png', 'b,c.png', 'd.png']
    """
    return list(each_candidate(value))


def each_candidate(value: str) -> Iterator[str]:
    """Yield what candidates returns, one by one."""
    for match in _CANDIDATE.finditer(value):
        url = match[1]
        yield url.rstrip(",") if url.endswith(",") else url


def each_place(value: str) -> Iterator[tuple[int, int]]:
    """Yield where in *value* the URL texts of each_candidate begin and end."""
    for match in _CANDIDATE.finditer(value):
        start = match.start(1)
        yield start, start + len(match[1].rstrip(","))
