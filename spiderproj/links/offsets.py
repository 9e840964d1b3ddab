"""From places in a text in which pieces were replaced back to places in the text it was made of."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from typing import NamedTuple


class _Piece(NamedTuple):
    """A piece of another length than what it replaced: where it is now, and where that was."""

    start: int
    end: int
    old_start: int
    old_end: int


class Offsets:
    """The way back from boundaries between characters; inside a piece it leads to the end of what was replaced."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._pieces: list[_Piece] = []

    def note(self, piece: _Piece) -> None:
        """Add the next piece."""
        self._starts.append(piece.start)
        self._pieces.append(piece)

    def __call__(self, position: int) -> int:
        """Return where *position* was before the pieces were replaced."""
        index = bisect_right(self._starts, position) - 1
        if index < 0:
            return position
        piece = self._pieces[index]
        if position == piece.start:
            return piece.old_start
        return piece.old_end + max(position - piece.end, 0)


def substituted(pattern: re.Pattern[str], replace: Callable[[re.Match[str]], str], text: str) -> tuple[str, Offsets]:
    """Return what ``pattern.sub`` makes of *text*, and the way back.

    >>> made, back = substituted(re.compile("&amp;"), lambda _: "&", "a&amp;b")
    >>> made, back(2)
    ('a&b', 6)
    """
    offsets = Offsets()
    shorter = 0

    def note(match: re.Match[str]) -> str:
        nonlocal shorter
        new, (start, end) = replace(match), match.span()
        if len(new) != end - start:
            offsets.note(_Piece(start - shorter, start - shorter + len(new), start, end))
            shorter += end - start - len(new)
        return new

    return pattern.sub(note, text), offsets
