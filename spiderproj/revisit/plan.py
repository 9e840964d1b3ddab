"""Which pages to ask for in one window: the likeliest to have changed, none too old, and some at random."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from itertools import chain
from typing import Final, NamedTuple

WEEK: Final = 7 * 24 * 3600.0
MAX_AGE: Final = 8 * WEEK
"""Seconds after which a page is asked for again, whatever is thought of it; a plan may come one visit later."""

AUDIT: Final = 0.02
"""Share of the pages that are left out that is asked for all the same, to know what is missed."""

COVERAGE: Final = 0.95
"""Share of the expected changes that is enough."""

_OVERHEAD: Final = 1.1  # requests for a page: redirects, retries, robots.txt


class Why(StrEnum):
    """What a page is asked for, in the order in which it is."""

    NEW = "new"
    AGE = "age"
    AUDIT = "audit"
    LIKELY = "likely"


class Candidate(NamedTuple):
    """A page that could be asked for."""

    id: int
    probability: float  # that it has changed
    last: float  # when it was asked last, POSIX seconds
    phase: float  # 0 to 1, by its URL: when in MAX_AGE it falls due
    importance: float = 1.0


class Plan(NamedTuple):
    """The pages of one window, in the order in which they are to be asked for."""

    chosen: Sequence[tuple[int, Why]]
    caught: float  # changes that are expected to be caught
    expected: float  # changes there are, as far as known
    skipped: int
    sample: frozenset[int] = frozenset()  # visited though they promise as little as what is skipped
    dropped: int = 0  # pages that were likely to have changed, for want of time

    @property
    def counts(self) -> dict[str, int]:
        """How many pages are asked for what."""
        return {why.value: count for why, count in Counter(why for _, why in self.chosen).items()}

    def within(self, requests: int) -> Plan:
        """Return the plan when only so many *requests* are left to it: the unlikeliest pages go, nothing else does."""
        likely = sum(why is Why.LIKELY for _, why in self.chosen)
        dropped = min(likely, max(0, len(self.chosen) - requests))
        return self._replace(
            chosen=self.chosen[: len(self.chosen) - dropped],
            skipped=self.skipped + dropped,
            dropped=self.dropped + dropped,
        )


def budget_of(rate: float, seconds: float) -> int:
    """Return how many pages can be asked for in so many *seconds* at a *rate* of requests a second."""
    return int(rate * seconds / _OVERHEAD)


def is_due(candidate: Candidate, now: float) -> bool:
    """Return whether a page has come of age since it was asked last: each at its own time, or all would at once."""
    offset = candidate.phase * MAX_AGE
    return (now + offset) // MAX_AGE > (candidate.last + offset) // MAX_AGE


def make_plan(
    pages: Sequence[Candidate],
    *,
    now: float,
    budget: int,
    new: Sequence[int] = (),
    coverage: float = COVERAGE,
    audit: float = AUDIT,
    seed: int = 0,
) -> Plan:
    """Return what to ask for with a *budget* of pages; *new* are the ids of those never asked for.

    Pages are chosen by what they promise, falling, until the budget or the coverage is reached. *seed* makes the audit
    repeatable. What is due by age or new is asked for beyond the budget too: the plan says so by its length.
    """
    due, others = _split(pages, now)
    others.sort(key=_promise, reverse=True)
    expected = sum(page.probability for page in pages)
    caught = sum(page.probability for page in due)
    room = budget - len(new) - len(due)
    most = int((room - audit * len(others)) / (1 - audit))  # the audit takes its share of what it leaves
    taken, gained = _likeliest(others, most, coverage * expected - caught)
    rest = others[taken:]
    count = max(0, min(round(len(rest) * audit), room - taken))
    audited = random.Random(seed).sample(rest, count)  # noqa: S311 - takes samples, hides nothing
    cut = _promise(rest[0]) if rest else 0.0
    sample = frozenset(page.id for page in (*audited, *(page for page in due if _promise(page) < cut)))
    chosen = chain(
        ((page, Why.NEW) for page in new),
        ((page.id, Why.AGE) for page in due),
        ((page.id, Why.AUDIT) for page in audited),
        ((page.id, Why.LIKELY) for page in others[:taken]),
    )
    caught += gained + sum(page.probability for page in audited)
    return Plan(list(chosen), caught, expected, len(rest) - count, sample)


def missed(plan: Plan, found: Sequence[tuple[bool, float]], interval: float) -> float:
    """Return how many of the pages that a *plan* skips have changed in the last *interval* seconds.

    *found* says of each page of its ``sample`` whether it had changed, and in how many seconds: a change found after
    four weeks is one of the last week with a chance of a quarter. 0.0 without a sample.
    """
    if not found:
        return 0.0
    return plan.skipped * sum(interval / max(gap, interval) for changed, gap in found if changed) / len(found)


def _promise(page: Candidate) -> float:
    return page.probability * page.importance


def _split(pages: Sequence[Candidate], now: float) -> tuple[list[Candidate], list[Candidate]]:
    due: list[Candidate] = []
    others: list[Candidate] = []
    for page in pages:
        (due if is_due(page, now) else others).append(page)
    return due, others


def _likeliest(pages: Sequence[Candidate], most: int, wanted: float) -> tuple[int, float]:
    """Return how many of the sorted *pages* give the *wanted* changes, at *most* so many, and what they give."""
    gained = 0.0
    for count, page in enumerate(pages):
        if gained >= wanted or count >= most:
            return count, gained
        gained += page.probability
    return len(pages), gained
