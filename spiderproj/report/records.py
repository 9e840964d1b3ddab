"""What a report tells of a crawl: figures, charts and tables, each of bounded length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

MAX_ROWS = 100
"""Rows of a table; the others are counted."""
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


class Chart(NamedTuple):
    """A number for each of at most MAX_BARS names, in their order."""

    title: str
    unit: str
    bars: Sequence[tuple[str, int]]


@dataclass(frozen=True, kw_only=True)
class Report:
    """A crawl as its report shows it."""

    name: str  # title of the first page, or the host
    crawled: tuple[float, float] | None  # when the first and the latest answer came, POSIX seconds
    figures: Mapping[str, str]
    charts: Sequence[Chart]
    tables: Sequence[Table]
