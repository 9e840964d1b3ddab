"""What a host's answers have taught about its URLs: how often which type came, and how HEAD does.

A family is a host's URLs with one path template and the same names of parameters; one for each ending and one for the
whole host stand behind it. Shares are shrunk: what little is known of a family is weighed with what its ending has
taught, and that with the guess that the ending alone allows (two answers' worth each).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from spiderproj.models import ResourceType
from spiderproj.urls import url_key

CERTAIN_AFTER: Final = 20
"""Unwanted answers in a row that make a family certain, where the ending says so too; as many again for each wanted
one that it has had."""

CERTAIN_ALONE: Final = 50
"""The same where the ending does not say so: if one in twenty were wanted, so many in a row would be rare (8 %)."""

FAILURES_ALLOWED: Final = 3
"""HEADs in a row without an answer of use, where GET succeeds, until a family is sent no more: two may be chance."""

LIES_ALLOWED: Final = 2
"""HEADs of another type than GET's, to another decision: one may be an error page, two are how the host works."""

BAD_HEADS_ALLOWED: Final = 20
"""HEADs of no use until a whole host is sent no more, unless most of its HEADs are good."""

MAX_FAMILIES: Final = 16_384
"""Families remembered, 0.5 kB each; beyond it the oldest go, so that a host that invents paths fills no memory."""

_PRIOR: Final = 2  # answers that a guess is worth
_NAME: Final = 120  # characters of a name that are kept


@dataclass(slots=True)
class Family:
    """What is known of one family; a row to store."""

    host: str
    name: str  # "/post/{n}?page", "*.png" for an ending, "" for the whole host
    seen: int = 0  # answers
    counts: dict[ResourceType, int] = field(default_factory=dict)
    latest: dict[ResourceType, int] = field(default_factory=dict)  # the number of the latest answer of each type
    good_heads: int = 0
    bad_heads: int = 0  # of no use, or wrong
    failures: int = 0  # of no use, in a row
    lies: int = 0

    def learn(self, found: ResourceType) -> None:
        """Take in an answer of type *found*."""
        self.seen += 1
        self.counts[found] = self.counts.get(found, 0) + 1
        self.latest[found] = self.seen

    def wanted(self, types: frozenset[ResourceType]) -> int:
        """Return how many answers were of one of the wanted *types*."""
        return sum([count for kind, count in self.counts.items() if kind in types])

    def unwanted_share(self, types: frozenset[ResourceType], guess: float) -> float:
        """Return the share of answers that are of none of the wanted *types*, with *guess* for what is not seen yet."""
        return (self.seen - self.wanted(types) + _PRIOR * guess) / (self.seen + _PRIOR)

    def is_certain(self, types: frozenset[ResourceType], *, as_expected: bool) -> bool:
        """Return whether the next answer may be taken to be of none of the wanted *types*, *as_expected* or not."""
        needed = (CERTAIN_AFTER if as_expected else CERTAIN_ALONE) * (1 + self.wanted(types))
        in_a_row = self.seen - max([place for kind, place in self.latest.items() if kind in types], default=0)
        return in_a_row >= needed

    def note_head(self, *, failed: bool, lied: bool) -> None:
        """Take in how a HEAD did beside the GET after it."""
        self.failures = self.failures + 1 if failed else 0
        self.lies += lied
        self.bad_heads += failed or lied
        self.good_heads += not (failed or lied)

    @property
    def answers_heads(self) -> bool:
        """Whether HEAD is worth sending."""
        return self.failures < FAILURES_ALLOWED and self.lies < LIES_ALLOWED

    @property
    def refuses_heads(self) -> bool:
        """Whether, of a whole host, no family need be tried."""
        return self.bad_heads >= BAD_HEADS_ALLOWED and self.bad_heads > self.good_heads


class Families:
    """All that was learned, in earlier runs too when their *rows* are given."""

    def __init__(self, rows: Iterable[Family] = ()) -> None:
        self._families = {_key(row.host, row.name): row for row in rows}
        self._changed: dict[int, Family] = {}

    def get(self, host: str, name: str) -> Family | None:
        """Return what is known of a family, None when nothing is."""
        return self._families.get(_key(host, name))

    def change(self, host: str, name: str) -> Family:
        """Return a family that is about to be changed, a new one when nothing is known of it."""
        key = _key(host, name)
        found = self._families.pop(key, None)
        if found is None:
            if len(self._families) >= MAX_FAMILIES:
                del self._families[next(iter(self._families))]
            found = Family(host, name[:_NAME])
        self._families[key] = self._changed[key] = found
        return found

    def changed(self) -> list[Family]:
        """Return what has changed since this was asked last."""
        found = list(self._changed.values())
        self._changed.clear()
        return found

    def rows(self) -> list[Family]:
        """Return what was learned, what was taught last at the end."""
        return list(self._families.values())


def _key(host: str, name: str) -> int:
    return url_key(f"{host} {name[:_NAME]}")
