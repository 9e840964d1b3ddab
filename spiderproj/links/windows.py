"""Search a long text a window at a time: one search over all of it may hold Python's lock for a second.

Between two windows other threads run. Short texts are searched as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_WINDOW = 1024 * 1024
_OVERLAP = 64


def tokens(pattern: re.Pattern[str], text: str, start: int) -> Iterator[re.Match[str]]:
    """Return what ``pattern.finditer(text, start)`` yields.

    The pattern must begin with "<" and one more character, and match to the end of a text that cuts its token off.
    """
    if len(text) - start <= _WINDOW:
        return pattern.finditer(text, start)
    return _windowed(pattern, text, start)


def search(pattern: re.Pattern[str], text: str, start: int) -> re.Match[str] | None:
    """Return what ``pattern.search(text, start)`` finds; a match and what it looks ahead to is short (_OVERLAP)."""
    while (end := start + _WINDOW) < len(text):
        match = pattern.search(text, start, end)
        if match is not None:
            return match
        start = end - _OVERLAP
    return pattern.search(text, start)


def _windowed(pattern: re.Pattern[str], text: str, start: int) -> Iterator[re.Match[str]]:
    size, width = len(text), _WINDOW
    while start < size:
        end = min(start + width, size)
        cut = None
        for match in pattern.finditer(text, start, end):
            if match.end() == end < size:
                cut = match.start()
                break
            yield match
        if cut is None:
            start, width = (end - 1 if text[end - 1] == "<" and end < size else end), _WINDOW
        else:  # looked at again from its start; when it fills a window, in one go with all that follows
            start, width = cut, size if cut == start else _WINDOW
