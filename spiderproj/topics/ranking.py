"""Which of many copies an expression means most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import log2
from pathlib import Path
from typing import NamedTuple

from spiderproj.topics.document import KeyWords
from spiderproj.topics.expression import Expression


class Match(NamedTuple):
    """A copy that an expression means."""

    copy: Path
    key_words: KeyWords
    score: float
    words: dict[str, float]  # those asked for that it has, with their weights, the best first


def ranked(expression: Expression, copies: Iterable[tuple[Path, KeyWords]]) -> list[Match]:
    """Return the *copies* that *expression* means, the best first.

    A word adds to the score by its weight in the copy and by how few of the copies have it, both in bits: what is on
    every page of every copy tells nothing.
    """
    total, having = 0, Counter[str]()
    matches: list[tuple[Path, KeyWords, dict[str, float]]] = []
    for copy, key_words in copies:
        held = key_words.all_words()
        found = {word: held[word] for word in expression.found(held)}
        total += 1
        having.update(found.keys())
        if expression.matches(held):
            matches.append((copy, key_words, found))
    scored = [_scored(copy, key_words, found, total, having) for copy, key_words, found in matches]
    return sorted(scored, key=lambda match: (-match.score, match.copy))


def _scored(copy: Path, key_words: KeyWords, found: dict[str, float], total: int, having: Counter[str]) -> Match:
    points = {word: log2(1 + weight) * log2(1 + total / having[word]) for word, weight in found.items()}
    best = sorted(found, key=lambda word: (-points[word], word))
    return Match(copy, key_words, round(sum(points.values()), 2), {word: found[word] for word in best})
