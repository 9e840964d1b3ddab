"""The report's table of broken links: what has no whole answer, and the pages that lead there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from spiderproj.report import MAX_ROWS, Column, Table
from spiderproj.store.linkers import Linkers

if TYPE_CHECKING:
    from spiderproj.store.database import Database

_SOURCES: Final = 3  # pages with a broken link that are named
_LOOKED_AT: Final = 10_000  # broken URLs of which those that are linked to most are found
_AT_ONCE: Final = 100_000  # broken URLs for which the links of all pages are read once
_BROKEN: Final = """
FROM urls AS u LEFT JOIN fetches AS f ON f.id = u.fetch
WHERE ((u.verdict = 'fetched' AND f.error IS NOT NULL) OR u.reason IN ('error', 'invalid'))
"""
_COLUMNS: Final = (Column("URL", "url"), Column("problem"), Column("pages", "number"),
                   *[Column("on", "url")] * _SOURCES)  # fmt: skip
_MEANING: Final = "Links that lead to no whole answer, and the first pages they stand on."

_Row = tuple[str, ...]


class Broken:
    """The broken links of one store."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._linkers = Linkers(database)

    def table(self) -> Table:
        """Return the table, what is linked to most first; its sheet has all in the order of discovery."""
        found = self._after(0, _LOOKED_AT)
        counts, sources = self._linkers.of_many(found, _SOURCES) if found else ({}, {})
        first = sorted(found, key=lambda number: (-counts.get(number, 0), number))[:MAX_ROWS]
        rows = [self._row(number, counts.get(number, 0), sources.get(number, [])) for number in first]
        return Table("Broken links", _MEANING, _COLUMNS, rows, self._db.scalar(f"SELECT count(*) {_BROKEN}"), self._all)

    def _all(self) -> Iterator[_Row]:
        last = 0
        while found := self._after(last, _AT_ONCE):
            counts, sources = self._linkers.of_many(found, _SOURCES)
            for number in found:
                yield self._row(number, counts[number], sources.get(number, []))
            last = found[-1]

    def _after(self, last: int, most: int) -> list[int]:
        """Return the next broken URLs behind *last*."""
        query = f"SELECT u.id {_BROKEN} AND u.id > ? ORDER BY u.id LIMIT ?"
        return [number for (number,) in self._db.execute(query, (last, most))]

    def _row(self, number: int, count: int, sources: Sequence[int]) -> _Row:
        url, problem = self._db.execute(
            "SELECT u.url, coalesce(f.error, u.rule) FROM urls AS u LEFT JOIN fetches AS f ON f.id = u.fetch"
            " WHERE u.id = ?", (number,)).fetchone()  # fmt: skip
        pages = [str(self._db.scalar("SELECT url FROM urls WHERE id = ?", (source,))) for source in sources]
        return (url, problem, f"{count:,}", *pages, *[""] * (_SOURCES - len(pages)))
