"""What a landing page tells of a copy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

MAX_ENTRIES = 1000
"""Stored pages and files that are listed by title; of the others their folders are."""
MAX_FOLDERS = 200
MAX_SEEDS = 50


class Entry(NamedTuple):
    """A stored page or file: its title, and its path below ``files/``."""

    title: str
    path: str

    @property
    def folder(self) -> str:
        """The folder it lies in, "" at the root."""
        return self.path.rpartition("/")[0]


class Holding(NamedTuple):
    """How many files of one type are stored, and their bytes."""

    type: str
    files: int
    bytes: int


class Start(NamedTuple):
    """Where the crawl began, and what came of it."""

    url: str
    path: str | None  # below ``files/``, None when nothing is stored
    title: str = ""


@dataclass(frozen=True, kw_only=True)
class Copy:
    """A copy as its landing page shows it. Texts may be anything that a site has sent; they are shortened there."""

    title: str  # of the first start page, "" when it has none
    starts: Sequence[Start]  # at most MAX_SEEDS
    more_starts: int  # seeds beyond these
    crawled: tuple[float, float] | None  # when the first and the latest answer came, POSIX seconds; None: none came
    keywords: str  # the user's, "" for none
    words: Sequence[str]  # the crawl's own, the heaviest first
    totals: Mapping[str, int]  # name: count
    holdings: Sequence[Holding]
    verdicts: Mapping[str, int]
    refused: Mapping[str, int]  # by reason
    errors: Mapping[str, int]  # by kind
    arguments: Mapping[str, str]
    entries: Sequence[Entry]  # at most MAX_ENTRIES
    unlisted: Mapping[str, int]  # at most MAX_FOLDERS: pages and files in them that are not among the entries
    unlisted_total: int
