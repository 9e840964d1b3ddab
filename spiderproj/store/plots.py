"""The charts of the report, counted from a store: each a few dozen numbers, however large the crawl."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from spiderproj.models import Level, ResourceType
from spiderproj.report import MAX_BARS, Chart, Grid, Pace, Picture, Ranking, Stretch
from spiderproj.store.database import Database
from spiderproj.store.samples import Sample, samples

FETCHED: Final = "FROM urls AS u JOIN fetches AS f ON f.id = u.fetch WHERE u.verdict = 'fetched'"
WHOLE: Final = f"{FETCHED} AND f.error IS NULL AND (f.status BETWEEN 200 AND 299 OR f.status = 304)"
ANSWERS: Final = f"SELECT coalesce(f.error, 'HTTP ' || f.status), count(*) {FETCHED} GROUP BY 1 ORDER BY 2 DESC, 1"

_SIZES: Final = ("under 1 KiB", "1 to 10 KiB", "10 to 100 KiB", "100 KiB to 1 MiB", "1 to 10 MiB", "over 10 MiB")
_RANKED: Final = 10
_LIMITS: Final = 6
_DETAILS: Final = re.compile(r":| until| \d")  # where the numbers of what limits a crawl begin


def charts(database: Database) -> Iterator[Picture]:
    """Yield when answers came, how fast, what they were, and where they lie."""
    yield _over_time(database)
    yield _pace(database)
    yield _by_status(database)
    yield _by_place(database)
    yield _by_depth(database)
    yield _by_size(database)


def types_by_level(database: Database) -> list[tuple[str, list[int]]]:
    """Return for each type how many URLs with a whole answer lie at each level."""
    found: Counter[tuple[str, str]] = Counter()
    for kind, level, count in database.execute(
        f"SELECT coalesce(u.type, 'other'), u.level, count(*) {WHOLE} GROUP BY 1, 2"
    ):
        found[kind, level] += count
    kinds = [kind for kind in ResourceType if any(found[kind, level] for level in Level)]
    return [(kind, [found[kind, level] for level in Level]) for kind in kinds]


def limit_of(words: str) -> str:
    """Return what limits a crawl without the numbers.

    >>> limit_of("adaptive delay 2.25 s"), limit_of("Retry-After until 08:49:44")
    ('adaptive delay', 'Retry-After')
    """
    return _DETAILS.split(words, maxsplit=1)[0].strip() or "nothing yet"


def _over_time(database: Database) -> Chart:
    first, last = database.execute("SELECT min(fetched_at), max(fetched_at) FROM fetches").fetchone()
    if first is None:
        return Chart("Answers over time", "answers", [])
    width = max(1.0, (last - first) / (MAX_BARS - 1))
    found = dict(database.execute("SELECT CAST((fetched_at - ?) / ? AS INTEGER), count(*) FROM fetches GROUP BY 1",
                                  (first, width)).fetchall())  # fmt: skip
    bars = [(f"from {place * width:,.0f} s", found.get(place, 0)) for place in range(max(found) + 1)]
    return Chart("Answers over time", "answers", bars[:MAX_BARS])


def _by_status(database: Database) -> Ranking:
    rows = database.execute(ANSWERS).fetchmany(_RANKED)
    return Ranking("Answers by status", "URLs", rows)


def _by_place(database: Database) -> Grid:
    return Grid("Levels and types", "URLs with a whole answer", [*Level], types_by_level(database))


def _by_depth(database: Database) -> Chart:
    query = f"SELECT u.depth, count(*) {WHOLE} GROUP BY 1 ORDER BY 1 LIMIT {MAX_BARS}"
    return Chart("Pages by depth", "pages", [(_hops(depth), count) for depth, count in database.execute(query)])


def _hops(depth: int) -> str:
    return f"{depth} hop" if depth == 1 else f"{depth} hops"


def _by_size(database: Database) -> Ranking:
    found = dict(database.execute(
        "SELECT CASE WHEN size < 1024 THEN 0 WHEN size < 10240 THEN 1 WHEN size < 102400 THEN 2"
        " WHEN size < 1048576 THEN 3 WHEN size < 10485760 THEN 4 ELSE 5 END, count(*) FROM contents GROUP BY 1"
    ).fetchall())  # fmt: skip
    bars = [(name, found.get(place, 0)) for place, name in enumerate(_SIZES)] if found else []
    return Ranking("Files by size", "files", bars)


def _pace(database: Database) -> Pace:
    """Return the speed between samples of one run each, as few as can be looked at."""
    pairs = [(one, other) for one, other in pairwise(samples(database)) if _is_stretch(one, other)]
    together = -(-len(pairs) // MAX_BARS)
    stretches: list[Stretch] = []
    lasted: Counter[str] = Counter()
    begin = 0.0
    for place in range(0, len(pairs), together or 1):
        part = pairs[place : place + together]
        seconds, limits = _limits(part)
        lasted.update(limits)
        stretches.append(_stretch(part, begin, seconds, max(limits, key=limits.__getitem__)))
        begin += seconds
    return Pace("Speed, and what limited it", stretches, lasted.most_common(_LIMITS))


def _is_stretch(one: Sample, other: Sample) -> bool:
    return one.run == other.run and other.time > one.time and other.pages >= one.pages


def _limits(pairs: Sequence[tuple[Sample, Sample]]) -> tuple[float, dict[str, float]]:
    """Return how long *pairs* lasted, and for how long what limited the crawl."""
    lasted: dict[str, float] = {}
    for one, other in pairs:
        limit = limit_of(other.limited_by)
        lasted[limit] = lasted.get(limit, 0.0) + other.time - one.time
    return sum(lasted.values()), lasted


def _stretch(pairs: Sequence[tuple[Sample, Sample]], begin: float, seconds: float, limit: str) -> Stretch:
    pages = sum(other.pages - one.pages for one, other in pairs)
    received = sum(max(0, other.bytes - one.bytes) for one, other in pairs)
    last = pairs[-1][1]
    return Stretch(begin, seconds, pages, last.pending, received, limit, last.peak_rss)
