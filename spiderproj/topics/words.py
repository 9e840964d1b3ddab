"""Words out of text in any language, and how much each of them counts in a copy.

No list of any language's small words is kept: how a word is written tells enough, and ``ranking`` gives little for a
word that every copy has.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise
from typing import Final

MAX_WORD: Final = 40
"""Characters of the longest word; what is longer is a digest, a URL or an attack."""

_SMALL: Final = 3
_SMALL_SHARE: Final = 0.25
_LEARNT: Final = 10_000  # characters
_KEPT: Final = 4096  # runs: the words of a site are few
_DISTINCT: Final = 100_000  # words of one tally: 10 MB
_UNSPACED: Final = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff]+)"
)
"""A run in scripts that put no space between words: Thai, Lao, Burmese, Khmer, kana and Han."""


class _Characters(dict[int, str | None]):
    """Maps a character's code to itself where it belongs to words, to nothing where it formats them, else to a blank.

    Each is learnt once.
    """

    def __missing__(self, code: int) -> str | None:
        character = chr(code)
        category = unicodedata.category(character)
        found = character if category[0] in "LMN" else None if category == "Cf" else " "
        if len(self) < _LEARNT:
            self[code] = found
        return found


_CHARACTERS: Final = _Characters()


def words(text: str) -> dict[str, float]:
    """Return each word of *text* once, in their order, with the share of a full word that it counts.

    Words are runs of letters, marks and digits, compared without regard to case and form (NFKC). A run without spaces
    in a script that has none gives its pairs of characters, as search engines do. Single letters are no words; numbers
    and words of up to three small letters ("the", "de", "und") count a quarter.

    >>> words("Öffnen and save in SQLite")
    {'öffnen': 1.0, 'and': 0.25, 'save': 1.0, 'in': 0.25, 'sqlite': 1.0}
    >>> list(words("日本語"))
    ['日本', '本語']
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    found: dict[str, float] = {}
    for run in text.translate(_CHARACTERS).split():
        for word, share in _of_run(run):
            if share > found.get(word, 0.0):
                found[word] = share
    return found


@lru_cache(_KEPT)
def _of_run(run: str) -> tuple[tuple[str, float], ...]:
    """Return the words of a run of word characters, with their shares."""
    share = _SMALL_SHARE if run.isdecimal() or (len(run) <= _SMALL and run.islower()) else 1.0
    pieces = [run.lower()] if run.isascii() else _UNSPACED.split(unicodedata.normalize("NFKC", run.casefold()))
    found: list[str] = []
    for index, piece in enumerate(pieces):
        if index % 2 == 0:
            found += [piece] if 1 < len(piece) <= MAX_WORD else []
        else:
            found += map("".join, pairwise(piece)) if len(piece) > 1 else [piece]
    return tuple((word, share) for word in found)


class Tally:
    """Adds up what the words of many pages count, with a bounded memory."""

    def __init__(self) -> None:
        self._points: dict[str, float] = {}

    def add(self, text: str, points: float) -> None:
        """Count *points* for each different word of *text*."""
        held = self._points
        for word, share in words(text).items():
            if word in held:
                held[word] += share * points
            elif len(held) < _DISTINCT:
                held[word] = share * points

    def heaviest(self, limit: int) -> Iterable[tuple[str, float]]:
        """Return the *limit* words with the most points, with their points."""
        return sorted(self._points.items(), key=lambda item: (-item[1], item[0]))[:limit]
