"""How much there is where only a part was seen: ranges that should hold the truth nine times in ten.

The number of URLs. Each page that was read is a catch, each URL it links to is an animal in it. Chao's estimator for
such incidence data (Biometrics 43, 1987) tells from the URLs that one page links to, and that two pages link to, how
many none links to: at least so many. Clench's curve (Soberón and Llorente, Conservation Biology 7, 1993) goes through
the number of URLs known after a third of the pages (by rarefaction, so that their order does not matter) and after all
of them; its limit is near the top. What lies above the known is widened by how few pages were read; the factor was
fitted to crawls of documentation sites (docs/survey.md). Where the curve is a straight line there is no limit.

Sums over URLs (bytes, whole pages). What was read counts as it is; for the rest stands the mean of those of its family
that are linked to as often, or of its type where less than three of the family were read (stratified sampling). A page
that was read because many link to it stands for itself only: indexes are larger than what they list.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

_Z = 1.645  # of the normal distribution: nine in ten lie within so many standard deviations
_WIDER = 15.0  # by how much the part beyond the known is widened, divided by the root of the pages read
_STRATUM = 3  # read URLs from which a family has a mean of its own
_FEWEST = 3  # pages, below which nothing is said of what was not seen


@dataclass(frozen=True, slots=True)
class Range:
    """What is likely, and between which two numbers the truth should be; ``high`` None: no end is in sight."""

    low: float
    likely: float
    high: float | None

    @property
    def is_exact(self) -> bool:
        """Whether nothing is left to guess."""
        return self.low == self.high

    def times(self, low: float, likely: float, high: float) -> Range:
        """Return the range of the product with a factor that lies between *low* and *high*."""
        return Range(self.low * low, self.likely * likely, None if self.high is None else self.high * high)


class End(Enum):
    """What is known of the URLs that no read page links to."""

    GUESSED = "guessed"  # by the links of the pages that were read
    KNOWN = "known"  # there are none
    OPEN = "open"  # nothing: other hosts were not looked at


class Seen(NamedTuple):
    """A URL that a crawl would ask for, as far as the survey knows it."""

    family: str
    type: str
    links: int  # read pages that link to it
    is_read: bool
    is_drawn: bool = True  # read by chance, so that it speaks for others; not because many pages link to it
    is_whole: bool = False  # read, and the answer was a whole body
    is_new: bool = False  # whole, and no other URL had brought the same body
    size: int | None = None  # bytes; None: not known


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a crawl would come to."""

    urls: Range
    pages: Range  # URLs with a whole answer
    files: Range  # different bodies
    bytes: Range  # of these


def estimate(seen: Sequence[Seen], pages: int, end: End = End.GUESSED) -> Estimate:
    """Return what a crawl would come to of which *seen* are the URLs known, by the links of so many *pages*."""
    urls = _urls(seen, pages, end)
    return Estimate(
        urls,
        _total(seen, urls, lambda one: float(one.is_whole), at_most=1.0),
        _total(seen, urls, lambda one: float(one.is_new), at_most=1.0),
        _total(seen, urls, lambda one: (one.size or 0.0) if one.is_new else 0.0),
    )


def _urls(seen: Sequence[Seen], pages: int, end: End) -> Range:
    """Return how many URLs there are."""
    known = len(seen)
    if end is not End.OPEN and (end is End.KNOWN or all(one.is_read for one in seen)):
        return Range(known, known, known)
    links = [min(one.links, pages) for one in seen if one.links]
    if end is End.OPEN or pages < _FEWEST or not links:
        return Range(known, known, None)
    limit = _clench(links, pages)
    if limit is None:
        return Range(known, known + _chao(links, pages), None)
    beyond = max(limit - len(links), _chao(links, pages), 0.0)
    high = math.ceil(known + beyond * (1 + _WIDER / math.sqrt(pages)))
    return Range(known, round(min(known + _chao(links, pages), high)), high)


def _chao(links: Sequence[int], pages: int) -> float:
    """Return how many URLs no read page links to, at least."""
    counts = Counter(links)
    once, twice = counts[1], counts[2]
    found = once * once / (2 * twice) if twice else once * (once - 1) / 2
    return found * (pages - 1) / pages


def _clench(links: Sequence[int], pages: int) -> float | None:
    """Return the limit of the curve, None when it has none."""
    part = max(2, pages // 3)
    if part >= pages:
        return None
    first, last = 1 / _rarefied(links, pages, part), 1 / len(links)
    slope = (first - last) / (1 / part - 1 / pages)
    inverse = last - slope / pages
    return 1 / inverse if inverse > 0.02 * last else None  # fifty times of what is known is no end in sight


def _rarefied(links: Sequence[int], pages: int, part: int) -> float:
    """Return how many of the URLs are linked to by *part* of the pages, on average over all choices of them."""
    total = _log_choose(pages, part)
    expected = 0.0
    for count, number in Counter(links).items():
        missed = math.exp(_log_choose(pages - count, part) - total) if pages - count >= part else 0.0
        expected += number * (1 - missed)
    return expected


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


class _Mean(NamedTuple):
    """Mean and variance of some read URLs, and how many they were."""

    mean: float
    variance: float
    cases: float

    @property
    def caution(self) -> float:
        """By how much few cases may have too small a variance: about what Student's distribution allows for."""
        return (1 + 1.3 / max(self.cases - 1, 1)) ** 2


def _total(seen: Sequence[Seen], urls: Range, value: Callable[[Seen], float], at_most: float | None = None) -> Range:
    """Return the sum of the *value* of all URLs; *at_most* is the most that one can have."""
    known = sum(value(one) for one in seen if one.is_read)
    unread = [one for one in seen if not one.is_read]
    if not unread and urls.is_exact:
        return Range(known, known, known)
    means = _Means(seen, value, is_share=at_most is not None)
    middle, variance = 0.0, 0.0
    for mean, count in Counter(map(means.of, unread)).items():
        middle += count * mean.mean
        variance += (count + count * count / max(mean.cases, 1)) * mean.variance * mean.caution
    spread = _Z * math.sqrt(variance)
    every, is_bounded = means.of_all, all(map(means.is_known, unread))
    most = every.mean + _Z * math.sqrt(every.variance * every.caution / max(every.cases, 1))
    highest = most if at_most is None else min(most, at_most)
    top = middle + spread if at_most is None else min(middle + spread, len(unread) * at_most)
    return Range(
        known + max(middle - spread, 0.0),
        known + middle + (urls.likely - len(seen)) * every.mean,
        known + top + (urls.high - len(seen)) * highest if urls.high is not None and is_bounded else None,
    )


def _strata(one: Seen) -> tuple[tuple[str, str, int], ...]:
    """Return what *one* is like, the closest first: its family, then its type, each with how much is linked to it."""
    links = one.links.bit_length()
    return (("family", one.family, links), ("type", one.type, links), ("family", one.family, 0), ("type", one.type, 0))


class _Means:
    """Means of the read URLs by strata; beyond a family, a read URL counts by how many unread ones its family has."""

    def __init__(self, seen: Sequence[Seen], value: Callable[[Seen], float], *, is_share: bool) -> None:
        self._is_share = is_share
        drawn = [one for one in seen if one.is_read and one.is_drawn] or [one for one in seen if one.is_read]
        unread = Counter(one.family for one in seen if not one.is_read)
        read = Counter(one.family for one in drawn)
        found = defaultdict(list)
        for one in drawn:
            pair = value(one), (unread[one.family] or 0.5) / read[one.family]
            for stratum in (*_strata(one), ("all", "", 0)):
                found[stratum].append(pair)
        self._types = {one.type for one in drawn}
        self._means = {name: self._mean(pairs) for name, pairs in found.items() if len(pairs) >= _STRATUM}
        self.of_all = self._mean(found["all", "", 0])

    def is_known(self, one: Seen) -> bool:
        """Say whether anything like an unread URL was read."""
        return one.type in self._types

    def of(self, one: Seen) -> _Mean:
        """Return what stands for an unread URL."""
        return next((self._means[stratum] for stratum in _strata(one) if stratum in self._means), self.of_all)

    def _mean(self, pairs: Sequence[tuple[float, float]]) -> _Mean:
        """Return mean and variance of weighted values; their number is that of as many of equal weight (Kish).

        Shares that are all or none are taken as if half a case more had been seen each way (Jeffreys).
        """
        if not pairs:
            return _Mean(0.0, 0.0, 0.0)
        weight = math.fsum(share for _, share in pairs)
        count = weight * weight / math.fsum(share * share for _, share in pairs)
        mean = math.fsum(each * share for each, share in pairs) / weight
        if self._is_share:
            smoothed = (mean * count + 0.5) / (count + 1)
            return _Mean(mean, smoothed * (1 - smoothed), count)
        if len(pairs) == 1:
            return _Mean(mean, mean * mean, 1.0)
        squares = math.fsum(share * (each - mean) ** 2 for each, share in pairs) / weight
        return _Mean(mean, squares * len(pairs) / (len(pairs) - 1), count)
