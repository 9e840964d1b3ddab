"""What is worth a look in a stored crawl: refusals, broken links, redirects, slow and large answers, duplicates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Final

from spiderproj.models import Level
from spiderproj.report import MAX_LINES, MAX_ROWS, Column, Picture, Table
from spiderproj.store.broken import Broken
from spiderproj.store.changed import Changed
from spiderproj.store.database import Database
from spiderproj.store.learned import learned_tables
from spiderproj.store.plots import ANSWERS, FETCHED, WHOLE, charts, types_by_level
from spiderproj.store.rewrites import Rewrites
from spiderproj.store.trapped import trap_tables

_FIRST: Final = 10_000  # of all answers, the slowest and the largest that are listed
_SHOWN: Final = 20  # of these on the page
_URL = Column("URL", "url")
_SECONDS, _BYTES = Column("seconds", "number"), Column("bytes", "number")
_MOVED = f"{FETCHED} AND f.final_url IS NOT NULL"
_DUPLICATES = """
FROM contents AS c JOIN urls AS u ON u.id = c.url
    JOIN (SELECT content, count(*) AS number FROM fetches AS f WHERE duplicate
          AND EXISTS (SELECT 1 FROM urls WHERE urls.id = f.url AND urls.fetch = f.id) GROUP BY content) AS d
    ON d.content = c.id
"""
_UNTITLED = f"{WHOLE} AND u.type = 'html' AND coalesce(f.title, '') = '' AND NOT f.duplicate"
_SCRIPTED = "FROM renderings AS r JOIN urls AS u ON u.id = r.url WHERE r.sign IS NOT NULL OR r.failure IS NOT NULL"
_Shape = Callable[..., tuple[str, ...]]


class Review:
    """Charts and tables about one store, of bounded length each."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def charts(self) -> list[Picture]:
        """Return when answers came, how fast, what they were, and where they lie."""
        return list(charts(self._db))

    def tables(self, seeds: Sequence[str]) -> Iterator[Table]:
        """Yield the tables, what needs looking at first."""
        yield from Changed(self._db).tables()
        yield Broken(self._db).table()
        yield self._refused()
        yield self._refused_urls()
        yield from self._references()
        yield from self._scripted()
        yield from learned_tables(self._db)
        yield from trap_tables(self._db)
        yield self._statuses()
        yield self._levels()
        yield self._moved()
        yield self._slow()
        yield self._large()
        yield self._duplicates()
        yield self._untitled()
        yield self._listed(seeds)

    def _rows(self, statement: str, shape: _Shape, most: int) -> Iterator[tuple[str, ...]]:
        """Yield the first rows of *statement* as *shape* makes texts of them."""
        return (shape(*row) for row in self._db.execute(f"{statement} LIMIT {most}"))

    def _table(
        self,
        title: str,
        meaning: str,
        columns: Sequence[Column],
        first: str,
        shape: _Shape,
        total: int,
        *,
        all_: str = "",
    ) -> Table:
        """Return the table of the rows of *first*; its sheet has those of *all_*, which is read as it is written."""
        every = partial(self._rows, all_ or first, shape, MAX_LINES)
        return Table(title, meaning, columns, [*self._rows(first, shape, MAX_ROWS)], total, every)

    def _refused(self) -> Table:
        rows = self._db.execute(
            "SELECT reason, count(*) FROM urls WHERE verdict = 'refused' GROUP BY 1 ORDER BY 2 DESC, 1"
        ).fetchall()  # fmt: skip
        meaning = "URLs that were not fetched, by the reason (docs/arguments.md says what to do about each)."
        return _short("Refused, by reason", meaning, (Column("reason"), Column("URLs", "number")), map(_counted, rows))

    def _refused_urls(self) -> Table:
        """Return the first refused URLs of each reason, and for the sheet all of them."""
        columns = (Column("reason"), _URL, Column("rule"), Column("first linked on", "url"))
        return self._table(
            "Refused URLs", "The first of each reason.", columns,
            "SELECT reason, url, rule, via FROM (SELECT d.*, row_number() OVER (PARTITION BY reason ORDER BY id)"
            " AS place FROM decisions AS d WHERE verdict = 'refused') WHERE place <= 8 ORDER BY reason, place",
            _texts, self._db.scalar("SELECT count(*) FROM urls WHERE verdict = 'refused'"),
            all_="SELECT reason, url, rule, via FROM decisions WHERE verdict = 'refused' ORDER BY id",
        )  # fmt: skip

    def _references(self) -> Iterator[Table]:
        """Yield the audit of a copy that opens from disk."""
        audit = Rewrites(self._db).references()
        if not audit.total:
            return
        kinds = {"local": audit.local, "outside, by your arguments": audit.outside, "broken on the site": audit.broken}
        kinds |= {f"missing: {reason}": count for reason, count in audit.missing_by.items()}
        columns = (Column("lead to"), Column("references", "number"))
        meaning = "Where the references in its files lead."
        yield _short("References of the copy", meaning, columns, map(_counted, kinds.items()))

    def _scripted(self) -> Iterator[Table]:
        """Yield the pages that look drawn by script, those first that could not be drawn."""
        total = self._db.scalar(f"SELECT count(*) {_SCRIPTED}")
        if not total:
            return
        query = f"SELECT u.url, coalesce(r.sign, ''), coalesce(r.failure, 'no') {_SCRIPTED}"
        meaning = "Pages that are empty until their scripts have run, and pages that stand as received, not as drawn."
        columns = (_URL, Column("looks so by"), Column("could not be drawn"))
        yield self._table("Pages drawn by script", meaning, columns, f"{query} ORDER BY r.failure IS NULL, u.id",
                          _texts, total, all_=f"{query} ORDER BY r.url")  # fmt: skip

    def _statuses(self) -> Table:
        meaning = "What the latest answers were, with what is wrong with them."
        columns = (Column("answer"), Column("URLs", "number"))
        return _short("Answers", meaning, columns, map(_counted, self._db.execute(ANSWERS)))

    def _levels(self) -> Table:
        """Return levels by types: how many URLs were fetched whole."""
        rows = ((kind, *(f"{count:,}" for count in counts)) for kind, counts in types_by_level(self._db))
        columns = (Column("type"), *(Column(level, "number") for level in Level))
        return _short("Types by level", "URLs with a whole answer.", columns, rows)

    def _moved(self) -> Table:
        columns = (_URL, Column("status", "number"), Column("leads to", "url"))
        return self._table(
            "Redirects", "Links to them could lead to where they lead.", columns,
            f"SELECT u.url, f.status, f.final_url {_MOVED} ORDER BY u.id", _texts,
            self._db.scalar(f"SELECT count(*) {_MOVED}"),
        )  # fmt: skip

    def _slow(self) -> Table:
        query = f"SELECT u.url, f.seconds, f.size {WHOLE} ORDER BY f.seconds DESC, u.id"
        return self._top("Slowest answers", "Those that took longest.", (_URL, _SECONDS, _BYTES), query, _timed,
                         self._db.scalar(f"SELECT count(*) {WHOLE}"))  # fmt: skip

    def _large(self) -> Table:
        query = ("SELECT u.url, u.type, c.size FROM contents AS c JOIN urls AS u ON u.id = c.url"
                 " ORDER BY c.size DESC, c.id")  # fmt: skip
        return self._top("Largest files", "Of the bodies stored.", (_URL, Column("type"), _BYTES), query, _texts,
                         self._db.scalar("SELECT count(*) FROM contents"))  # fmt: skip

    def _top(
        self, title: str, meaning: str, columns: Sequence[Column], query: str, shape: _Shape, total: int
    ) -> Table:  # fmt: skip
        """Return a table of which only the beginning tells anything."""
        rows = [*self._rows(query, shape, _SHOWN)]
        return Table(title, meaning, columns, rows, min(total, _FIRST), partial(self._rows, query, shape, _FIRST))

    def _duplicates(self) -> Table:
        query = f"SELECT u.url, d.number, c.size {_DUPLICATES}"
        columns = (_URL, Column("other URLs", "number"), _BYTES)
        return self._table(
            "Duplicates", "Bodies that other URLs brought as well, stored once.", columns,
            f"{query} ORDER BY d.number DESC, c.id", _texts, self._db.scalar(f"SELECT count(*) {_DUPLICATES}"),
            all_=f"{query} ORDER BY c.id",
        )  # fmt: skip

    def _untitled(self) -> Table:
        return self._table(
            "Pages without a title", "Readers and search engines miss it.", (_URL,),
            f"SELECT u.url {_UNTITLED} ORDER BY u.id", _texts, self._db.scalar(f"SELECT count(*) {_UNTITLED}"),
        )  # fmt: skip

    def _listed(self, seeds: Sequence[str]) -> Table:
        """Return what no page linked to before it was let in."""
        known = frozenset(seeds)

        def found() -> Iterator[tuple[str, ...]]:
            rows = self._db.execute("SELECT url FROM urls WHERE via IS NULL ORDER BY id")
            return ((url,) for (url,) in rows if url not in known)

        meaning = "URLs that a sitemap, or an earlier run's seeds, named before any page let them in."
        total = sum(1 for _ in found())
        return Table("Found without a link", meaning, (_URL,), [*islice(found(), MAX_ROWS)], total, found)


def _short(title: str, meaning: str, columns: Sequence[Column], rows: Iterable[tuple[str, ...]]) -> Table:
    """Return a table with few rows, all of them known."""
    found = list(rows)
    return Table(title, meaning, columns, found[:MAX_ROWS], len(found), lambda: found)


def _counted(row: tuple[str, int]) -> tuple[str, ...]:
    return (str(row[0]), f"{row[1]:,}")


def _texts(*row: str | int | None) -> tuple[str, ...]:
    return tuple(f"{cell:,}" if isinstance(cell, int) else cell or "" for cell in row)


def _timed(url: str, seconds: float, size: int) -> tuple[str, ...]:
    return (url, f"{seconds:.2f}", f"{size:,}")
