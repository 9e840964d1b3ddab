"""Which known URL is looked at next: spread over families, with every fourth look at what is linked to most.

Pages that everything links to are the indexes of a site: they tell of the most others. The rest is drawn at random from
its family (by the hash of the URL, so that a second look at the same site is the same), from large families more often,
by the square root of their size.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from typing import NamedTuple

from spiderproj.mediatype import predict
from spiderproj.models import ResourceType
from spiderproj.survey.families import Family, family_of
from spiderproj.urls import split, url_key

HUB_EVERY = 4
"""One look in so many goes to the URL that is linked to most."""

MAX_WAITING = 50_000
"""URLs that are candidates at most; those found later are known, but not looked at."""


class _Members:
    """The URLs of a family: how many are known, how many were taken, and those that wait, in random order."""

    __slots__ = ("is_of_files", "known", "taken", "waiting")

    def __init__(self, *, is_of_files: bool) -> None:
        self.known = self.taken = 0
        self.is_of_files = is_of_files
        self.waiting: list[tuple[int, int]] = []

    @property
    def is_open(self) -> bool:
        """Whether more of them are to be looked at."""
        return not self.is_of_files or self.taken < FILES

    @property
    def share(self) -> float:
        """How much was looked at, by the square root of the size; the family with the smallest comes next."""
        return (self.taken + 0.5) / math.sqrt(self.known)


FILES = 3
"""URLs that are looked at of a family whose ending says that it is of files: they tell whether it lies."""


class Taken(NamedTuple):
    """A URL to look at, by its number; ``is_hub``: because many pages link to it."""

    number: int
    is_hub: bool


class Sample:
    """The candidates of one survey, by their numbers in the store."""

    def __init__(self) -> None:
        self._families: dict[Family, _Members] = {}
        self._waiting: dict[int, Family] = {}
        self._links: Counter[int] = Counter()
        self._taken = 0
        self._added: set[int] = set()

    def add(self, number: int, url: str) -> None:
        """Make the URL a candidate, unless it was one or there are too many."""
        if number in self._added or len(self._waiting) >= MAX_WAITING:
            return
        self._added.add(number)
        family = family_of(url)
        members = self._families.get(family)
        if members is None:
            members = self._families[family] = _Members(is_of_files=_looks_like_file(url))
        members.known += 1
        heapq.heappush(members.waiting, (url_key(url), number))
        self._waiting[number] = family

    def is_waiting(self, number: int) -> bool:
        """Say whether the URL is a candidate."""
        return number in self._waiting

    def linked(self, number: int) -> None:
        """Note that one more page links to the candidate."""
        self._links[number] += 1

    def take(self) -> Taken | None:
        """Return the URL to look at next, None when there is no candidate; it is none any more."""
        if not self._waiting:
            return None
        self._taken += 1
        is_hub = self._taken % HUB_EVERY == 0
        number = self._most_linked() if is_hub else self._drawn()
        if number is None and (not is_hub or (number := self._drawn()) is None):
            return None
        self._families[self._waiting.pop(number)].taken += 1
        self._links.pop(number, None)
        return Taken(number, is_hub)

    def _most_linked(self) -> int | None:
        pages = (number for number, family in self._waiting.items() if not self._families[family].is_of_files)
        return max(pages, key=lambda number: (self._links[number], -number), default=None)

    def _drawn(self) -> int | None:
        """Return the next of the family of which least was looked at."""
        while live := [members for members in self._families.values() if members.waiting and members.is_open]:
            chosen = min(live, key=lambda members: members.share)
            number = heapq.heappop(chosen.waiting)[1]
            if number in self._waiting:
                return number
        return None


def _looks_like_file(url: str) -> bool:
    parts = split(url)
    return predict(parts.path, parts.query) not in (None, ResourceType.HTML)
