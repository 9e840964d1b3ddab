"""``__doc.txt``: the key words of a copy as a text file, for people and for ``scrapy topics``.

Lines of ``name: value``, then a line a word, heaviest first: what it counts, a blank, the word. A file found on a disk
may be anything; what is no such line is passed over, so that a person may write into it or make one by hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from spiderproj.display import one_line
from spiderproj.topics.words import MAX_WORD, words

NAME: Final = "__doc.txt"
MAX_BYTES: Final = 256 * 1024
"""How much of a file is read; what ``render`` gives is shorter."""
MAX_WORDS: Final = 1000
MAX_SEEDS: Final = 10

_KEYWORD_WEIGHT: Final = 1000.0  # of a word that the user gave: more than any word of the crawl's own
_LIMITS: Final = {"keywords": 10_000, "seed": 2_000, "title": 500, "crawled": 40}  # characters
_WORD_LINE: Final = re.compile(rf"([0-9]{{1,7}}(?:\.[0-9]{{1,3}})?) (\S{{1,{MAX_WORD}}})")
_HEAD: Final = f"# The key words of a copy of a site. Search those of many copies: scrapy topics EXPR ({NAME})"
_WORDS_HEAD: Final = (
    "# Points in a hundred pages, and the word: 3 for a page's title, 2 for its headings, 1 for a link to it."
)


@dataclass(frozen=True, kw_only=True)
class KeyWords:
    """What ``__doc.txt`` says of a copy; "" for what is not known."""

    keywords: str = ""  # the user's
    seeds: tuple[str, ...] = ()
    title: str = ""  # of the page where the crawl began
    crawled: str = ""  # the day of the latest answer, in UTC
    words: Mapping[str, float] = field(default_factory=dict)  # points in a hundred pages, heaviest first

    def all_words(self) -> dict[str, float]:
        """Return every word that a search finds, with its weight: those of the crawl, and the user's above them."""
        return {**self.words, **{word: _KEYWORD_WEIGHT * share for word, share in words(self.keywords).items()}}


def render(key_words: KeyWords) -> bytes:
    """Return the file for *key_words*; ``read`` gives them back, weights to a tenth."""
    return "".join(f"{line}\n" for line in _lines(key_words)).encode()


def read(data: bytes) -> KeyWords:
    """Return what a file says, whatever *data* is: its first MAX_BYTES are looked at."""
    values: dict[str, list[str]] = {name: [] for name in _LIMITS}
    found: dict[str, float] = {}
    for line in data[:MAX_BYTES].decode("utf-8", "replace").split("\n"):
        name, _, value = line.partition(":")
        if name in values:
            values[name].append(one_line(value, _LIMITS[name]))
        elif len(found) < MAX_WORDS and (match := _WORD_LINE.fullmatch(line.rstrip("\r"))):
            for word in words(match[2]):
                found.setdefault(word, float(match[1]))
    first = {name: next(iter(texts), "") for name, texts in values.items()}
    return KeyWords(
        keywords=first["keywords"],
        seeds=tuple(values["seed"][:MAX_SEEDS]),
        title=first["title"],
        crawled=first["crawled"],
        words=found,
    )


def _lines(key_words: KeyWords) -> Iterator[str]:
    yield _HEAD
    values = [("title", key_words.title), ("keywords", key_words.keywords), ("crawled", key_words.crawled)]
    values += [("seed", seed) for seed in key_words.seeds[:MAX_SEEDS]]
    for name, value in values:
        if line := one_line(value, _LIMITS[name]):
            yield f"{name}: {line}"
    yield _WORDS_HEAD
    for word, weight in list(key_words.words.items())[:MAX_WORDS]:
        yield f"{max(weight, 0.1):.1f} {word}"
