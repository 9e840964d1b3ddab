"""What is worth a look in a stored crawl: refusals, broken links, redirects, slow and large answers, duplicates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from spiderproj.models import Level
from spiderproj.report import MAX_BARS, MAX_ROWS, Chart, Column, Table
from spiderproj.store.changed import Changed
from spiderproj.store.database import Database
from spiderproj.store.learned import learned_tables
from spiderproj.store.linkers import Linkers
from spiderproj.store.rewrites import Rewrites
from spiderproj.store.trapped import trap_tables

_SOURCES: Final = 3  # pages with a broken link that are named
_LOOKED_AT: Final = 10_000  # broken URLs of which those that are linked to most are found
_FETCHED: Final = "FROM urls AS u JOIN fetches AS f ON f.id = u.fetch WHERE u.verdict = 'fetched'"
_WHOLE: Final = f"{_FETCHED} AND f.error IS NULL AND (f.status BETWEEN 200 AND 299 OR f.status = 304)"
_URL = Column("URL", "url")
_SECONDS, _BYTES = Column("seconds", "number"), Column("bytes", "number")
_BROKEN = """
FROM urls AS u LEFT JOIN fetches AS f ON f.id = u.fetch
WHERE (u.verdict = 'fetched' AND f.error IS NOT NULL) OR u.reason IN ('error', 'invalid')
"""
_MOVED = f"{_FETCHED} AND f.final_url IS NOT NULL"
_DUPLICATES = """
FROM contents AS c JOIN urls AS u ON u.id = c.url
    JOIN (SELECT content, count(*) AS number FROM fetches WHERE duplicate AND id IN (SELECT fetch FROM urls)
          GROUP BY content) AS d ON d.content = c.id
"""
_UNTITLED = f"{_WHOLE} AND u.type = 'html' AND coalesce(f.title, '') = '' AND NOT f.duplicate"
_SCRIPTED = "FROM renderings AS r JOIN urls AS u ON u.id = r.url WHERE r.sign IS NOT NULL OR r.failure IS NOT NULL"
_SIZES: Final = ("under 1 KiB", "1 to 10 KiB", "10 to 100 KiB", "100 KiB to 1 MiB", "1 to 10 MiB", "over 10 MiB")


class Review:
    """Charts and tables about one store, of bounded length each."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def charts(self) -> list[Chart]:
        """Return pages over time, by depth and by size."""
        return [self._over_time(), self._by_depth(), self._by_size()]

    def tables(self, seeds: Sequence[str]) -> Iterator[Table]:
        """Yield the tables, what needs looking at first."""
        yield from Changed(self._db).tables()
        yield self._broken()
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

    def _rows(self, statement: str, values: Sequence[object] = ()) -> list[Any]:
        """Return the first rows of *statement*."""
        return self._db.execute(f"{statement} LIMIT {MAX_ROWS}", values).fetchall()

    def _over_time(self) -> Chart:
        first, last = self._db.execute("SELECT min(fetched_at), max(fetched_at) FROM fetches").fetchone()
        if first is None:
            return Chart("Answers over time", "answers", [])
        width = max(1.0, (last - first) / (MAX_BARS - 1))
        found = dict(self._db.execute("SELECT CAST((fetched_at - ?) / ? AS INTEGER), count(*) FROM fetches GROUP BY 1",
                                      (first, width)).fetchall())  # fmt: skip
        bars = [(f"from {place * width:,.0f} s", found.get(place, 0)) for place in range(max(found) + 1)]
        return Chart("Answers over time", "answers", bars[:MAX_BARS])

    def _by_depth(self) -> Chart:
        rows = self._db.execute(f"SELECT u.depth, count(*) {_WHOLE} GROUP BY 1 ORDER BY 1 LIMIT {MAX_BARS}").fetchall()
        return Chart("Pages by depth", "pages", [(f"{depth} hops", count) for depth, count in rows])

    def _by_size(self) -> Chart:
        found = dict(self._db.execute(
            "SELECT CASE WHEN size < 1024 THEN 0 WHEN size < 10240 THEN 1 WHEN size < 102400 THEN 2"
            " WHEN size < 1048576 THEN 3 WHEN size < 10485760 THEN 4 ELSE 5 END, count(*) FROM contents GROUP BY 1"
        ).fetchall())  # fmt: skip
        bars = [(name, found.get(place, 0)) for place, name in enumerate(_SIZES)] if found else []
        return Chart("Files by size", "files", bars)

    def _broken(self) -> Table:
        """Return what has no whole answer, the most linked to first, with pages that link to it."""
        found = [number for (number,) in self._db.execute(f"SELECT u.id {_BROKEN} ORDER BY u.id LIMIT {_LOOKED_AT}")]
        counts, sources = Linkers(self._db).of_many(found, _SOURCES) if found else ({}, {})
        first = sorted(found, key=lambda number: (-counts.get(number, 0), number))[:MAX_ROWS]
        rows = [self._broken_row(number, counts.get(number, 0), sources.get(number, [])) for number in first]
        columns = (_URL, Column("problem"), Column("pages", "number"), *[Column("on", "url")] * _SOURCES)
        meaning = "Links that lead to no whole answer, and the first pages they stand on."
        return Table("Broken links", meaning, columns, rows, self._db.scalar(f"SELECT count(*) {_BROKEN}"))

    def _broken_row(self, number: int, count: int, sources: Sequence[int]) -> tuple[str, ...]:
        url, problem = self._db.execute(
            "SELECT u.url, coalesce(f.error, u.rule) FROM urls AS u LEFT JOIN fetches AS f ON f.id = u.fetch"
            " WHERE u.id = ?", (number,)).fetchone()  # fmt: skip
        pages = [str(self._db.scalar("SELECT url FROM urls WHERE id = ?", (source,))) for source in sources]
        return (url, problem, f"{count:,}", *pages, *[""] * (_SOURCES - len(pages)))

    def _refused(self) -> Table:
        rows = self._db.execute(
            "SELECT reason, count(*) FROM urls WHERE verdict = 'refused' GROUP BY 1 ORDER BY 2 DESC, 1"
        ).fetchall()  # fmt: skip
        shown = [(str(reason), f"{count:,}") for reason, count in rows[:MAX_ROWS]]
        meaning = "URLs that were not fetched, by the reason (docs/arguments.md says what to do about each)."
        return Table("Refused, by reason", meaning, (Column("reason"), Column("URLs", "number")), shown, len(rows))

    def _refused_urls(self) -> Table:
        """Return the first refused URLs of each reason."""
        rows = self._db.execute(
            "SELECT reason, url, rule, via FROM (SELECT d.*, row_number() OVER (PARTITION BY reason ORDER BY id)"
            " AS place FROM decisions AS d WHERE verdict = 'refused') WHERE place <= 8 ORDER BY reason, place"
        ).fetchall()  # fmt: skip
        shown = [(reason, url, rule, via or "") for reason, url, rule, via in rows[:MAX_ROWS]]
        columns = (Column("reason"), _URL, Column("rule"), Column("first linked on", "url"))
        total = self._db.scalar("SELECT count(*) FROM urls WHERE verdict = 'refused'")
        return Table("Refused, the first of each reason", "All are in refused.jsonl.", columns, shown, total)

    def _references(self) -> Iterator[Table]:
        """Yield the audit of a copy that opens from disk."""
        audit = Rewrites(self._db).references()
        if not audit.total:
            return
        kinds = {"local": audit.local, "outside, by your arguments": audit.outside, "broken on the site": audit.broken}
        kinds |= {f"missing: {reason}": count for reason, count in audit.missing_by.items()}
        rows = [(name, f"{count:,}") for name, count in kinds.items()][:MAX_ROWS]
        columns = (Column("lead to"), Column("references", "number"))
        yield Table("References of the copy", "Where the references in its files lead.", columns, rows, len(kinds))

    def _scripted(self) -> Iterator[Table]:
        """Yield the pages that look drawn by script, those first that could not be drawn."""
        total = self._db.scalar(f"SELECT count(*) {_SCRIPTED}")
        if not total:
            return
        rows = self._rows("SELECT u.url, coalesce(r.sign, ''), coalesce(r.failure, 'no')"
                          f" {_SCRIPTED} ORDER BY r.failure IS NULL, u.id")  # fmt: skip
        meaning = "Pages that are empty until their scripts have run, and pages that stand as received, not as drawn."
        columns = (_URL, Column("looks so by"), Column("could not be drawn"))
        yield Table("Pages drawn by script", meaning, columns, rows, total)

    def _statuses(self) -> Table:
        rows = self._db.execute(
            f"SELECT coalesce(f.error, 'HTTP ' || f.status), count(*) {_FETCHED} GROUP BY 1 ORDER BY 2 DESC, 1"
        ).fetchall()  # fmt: skip
        shown = [(name, f"{count:,}") for name, count in rows[:MAX_ROWS]]
        meaning = "What the latest answers were, with what is wrong with them."
        return Table("Answers", meaning, (Column("answer"), Column("URLs", "number")), shown, len(rows))

    def _levels(self) -> Table:
        """Return levels by types: how many URLs were fetched whole."""
        found: dict[str, dict[str, int]] = {}
        for kind, level, count in self._db.execute(
            f"SELECT coalesce(u.type, 'other'), u.level, count(*) {_WHOLE} GROUP BY 1, 2 ORDER BY 1"
        ):
            found.setdefault(kind, {})[level] = count
        rows = [(kind, *(f"{counts.get(level, 0):,}" for level in Level)) for kind, counts in found.items()][:MAX_ROWS]
        columns = (Column("type"), *(Column(level, "number") for level in Level))
        return Table("Types by level", "URLs with a whole answer.", columns, rows, len(found))

    def _moved(self) -> Table:
        rows = self._rows(f"SELECT u.url, f.status, f.final_url {_MOVED} ORDER BY u.id")
        shown = [(url, str(status), final_url) for url, status, final_url in rows]
        total = self._db.scalar(f"SELECT count(*) {_MOVED}")
        columns = (_URL, Column("status", "number"), Column("leads to", "url"))
        return Table("Redirects", "Links to them could lead to where they lead.", columns, shown, total)

    def _slow(self) -> Table:
        rows = self._rows(f"SELECT u.url, f.seconds, f.size {_WHOLE} ORDER BY f.seconds DESC, u.id")
        shown = [(url, f"{seconds:.2f}", f"{size:,}") for url, seconds, size in rows[:20]]
        return Table("Slowest answers", "Those that took longest.", (_URL, _SECONDS, _BYTES), shown, len(shown))

    def _large(self) -> Table:
        rows = self._rows("SELECT u.url, u.type, c.size FROM contents AS c JOIN urls AS u ON u.id = c.url"
                          " ORDER BY c.size DESC, c.id")  # fmt: skip
        shown = [(url, kind or "", f"{size:,}") for url, kind, size in rows[:20]]
        return Table("Largest files", "Of the bodies stored.", (_URL, Column("type"), _BYTES), shown, len(shown))

    def _duplicates(self) -> Table:
        rows = self._rows(f"SELECT u.url, d.number, c.size {_DUPLICATES} ORDER BY d.number DESC, c.id")
        shown = [(url, f"{number:,}", f"{size:,}") for url, number, size in rows]
        total = self._db.scalar(f"SELECT count(*) {_DUPLICATES}")
        columns = (_URL, Column("other URLs", "number"), _BYTES)
        return Table("Duplicates", "Bodies that other URLs brought as well, stored once.", columns, shown, total)

    def _untitled(self) -> Table:
        rows = self._rows(f"SELECT u.url {_UNTITLED} ORDER BY u.id")
        total = self._db.scalar(f"SELECT count(*) {_UNTITLED}")
        return Table("Pages without a title", "Readers and search engines miss it.", (_URL,), rows, total)

    def _listed(self, seeds: Sequence[str]) -> Table:
        """Return what no page linked to before it was let in."""
        known = frozenset(seeds)
        found = [(url,) for (url,) in self._db.execute("SELECT url FROM urls WHERE via IS NULL ORDER BY id")
                 if url not in known]  # fmt: skip
        meaning = "URLs that a sitemap, or an earlier run's seeds, named before any page let them in."
        return Table("Found without a link", meaning, (_URL,), found[:MAX_ROWS], len(found))
