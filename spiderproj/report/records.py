"""What a report tells of a crawl: figures, charts and tables, each of bounded length."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

MAX_ROWS = 100
"""Rows of a table on the page; the others are counted, and are in its sheet."""
MAX_LINES = 1_048_575
"""Rows of a sheet: what a spreadsheet opens, less the names of the columns."""
MAX_BARS = 60


class Column(NamedTuple):
    """A column of a table: its name, and what its cells hold."""

    name: str
    kind: str = "text"  # or "url", "number"


class Table(NamedTuple):
    """Rows of texts, the most telling first; cells may be anything that a site has sent."""

    title: str
    meaning: str  # a sentence for people
    columns: Sequence[Column]
    rows: Sequence[Sequence[str]]  # at most MAX_ROWS
    total: int  # of rows, those beyond included
    every: Callable[[], Iterable[Sequence[str]]] | None = None  # reads all rows, None when these are all

    @property
    def sheet(self) -> str:
        """The name of the file with all rows, "" where there are none."""
        return f"{re.sub('[^a-z0-9]+', '-', self.title.lower()).strip('-')}.csv" if self.rows else ""


class Chart(NamedTuple):
    """A number for each of at most MAX_BARS names that are steps of one scale, in their order."""

    title: str
    unit: str
    bars: Sequence[tuple[str, int]]


class Ranking(NamedTuple):
    """A number for each of a few names, to be read one beside the other."""

    title: str
    unit: str
    bars: Sequence[tuple[str, int]]


class Grid(NamedTuple):
    """A number for each name of *across* in each row."""

    title: str
    unit: str
    across: Sequence[str]
    rows: Sequence[tuple[str, Sequence[int]]]


class Stretch(NamedTuple):
    """A part of the time that a crawl worked."""

    begin: float  # seconds of work before it
    seconds: float
    pages: int
    pending: int  # URLs in the queue at its end
    bytes: int
    limit: str  # what kept the crawl from being faster, most of the time
    peak_rss: int  # bytes, until its end


class Pace(NamedTuple):
    """How fast a crawl was, in at most MAX_BARS stretches, and for how many seconds what limited it."""

    title: str
    stretches: Sequence[Stretch]
    limits: Sequence[tuple[str, float]]  # the longest first


Picture = Chart | Ranking | Grid | Pace


@dataclass(frozen=True, kw_only=True)
class Report:
    """A crawl as its report shows it."""

    name: str  # title of the first page, or the host
    crawled: tuple[float, float] | None  # when the first and the latest answer came, POSIX seconds
    figures: Mapping[str, str]
    charts: Sequence[Picture]
    tables: Sequence[Table]
