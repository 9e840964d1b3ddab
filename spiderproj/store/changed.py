"""The changes of the last revisit, read from its store: counted, in lines, and as tables for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import orjson

from spiderproj.report import MAX_LINES, MAX_ROWS, Column, Table
from spiderproj.revisit import What
from spiderproj.store.visits import Visit, current_visit
from spiderproj.templates import template
from spiderproj.urls import split

if TYPE_CHECKING:
    from spiderproj.store.database import Database

_FAILED: Final = "failed"
_UNCHANGED: Final = "unchanged"
_SKIPPED: Final = "skipped"
_EDITED: Final = 0.5  # share of a template's pages that change at once when it is the template that was changed
_MANY: Final = 5  # pages of which that is said at least
_TEMPLATES: Final = 10_000  # that are counted
_SAMPLES: Final = 3
_TARGET = "(SELECT t.id FROM urls AS t WHERE t.key = c.main AND t.url = f.final_url)"
_ROWS = """
SELECT u.url, c.what, o.url, c.digest_before, c.digest, b.title, f.title, c.added, c.removed, c.samples,
    b.fetched_at, f.fetched_at, f.error, f.final_url
FROM changes AS c JOIN urls AS u ON u.id = c.url LEFT JOIN urls AS o ON o.id = c.other
    LEFT JOIN fetches AS b ON b.id = c.before LEFT JOIN fetches AS f ON f.id = c.fetch
WHERE c.visit = ? AND c.what != 'touched' AND NOT (c.what = 'new' AND c.other IS NOT NULL) ORDER BY c.url
"""
_FAILURES = """
FROM fetches AS f JOIN urls AS u ON u.id = f.url JOIN fetches AS b ON b.id = u.fetch
WHERE f.id >= ? AND b.id < ? AND f.error IS NOT NULL
    AND f.id = (SELECT max(last.id) FROM fetches AS last WHERE last.url = f.url)
    AND NOT EXISTS (SELECT 1 FROM changes AS c WHERE c.visit = ? AND c.url = f.url)
"""
_SAME = """
FROM urls AS u JOIN fetches AS f ON f.id = u.fetch
WHERE f.id >= ? AND f.error IS NULL AND NOT EXISTS (SELECT 1 FROM changes AS c WHERE c.visit = ? AND c.url = u.id)
"""
_LEFT_OUT = """
FROM urls AS u WHERE u.verdict = 'fetched' AND u.fetch < ?
    AND NOT EXISTS (SELECT 1 FROM fetches AS f WHERE f.url = u.id AND f.id >= ?)
"""
_COLUMNS: Final = (Column("URL", "url"), Column("before"), Column("now"), Column("links added", "number"),
                   Column("links removed", "number"))  # fmt: skip
_MEANINGS: Final = {
    What.HELD_BACK: "Answers that were not believed: what was stored before stays. When they are right, run again with"
    " -s SPIDERPROJ_ACCEPT_CHANGES=1.",
    What.CHANGED: "Pages and files that say something else than at the visit before.",
    What.NEW: "Of these nothing was stored at the visit before.",
    What.MOVED: "The same content at another URL, or a redirect where a page was.",
    What.GONE: "404 or 410 now; what was stored of them is still there.",
}
_TITLES: Final = {What.HELD_BACK: "Held back", What.CHANGED: "Changed", What.NEW: "New", What.MOVED: "Moved",
                  What.GONE: "Gone"}  # fmt: skip


class Changed:
    """What the last revisit of a *database* found; without one there is nothing."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._visit: Visit | None = current_visit(database)

    def counts(self) -> dict[str, int]:
        """Return how many URLs each thing was found of, ``unchanged`` and ``failed`` too; {} before a revisit."""
        if self._visit is None:
            return {}
        number, first = self._visit
        query = ("SELECT what, count(*) FROM changes WHERE visit = ? AND NOT (what = 'new' AND other IS NOT NULL)"
                 " GROUP BY 1")  # fmt: skip
        counts = dict.fromkeys([*What], 0) | dict(self._db.execute(query, (number,)).fetchall())
        failed = self._db.scalar(f"SELECT count(*) {_FAILURES}", (first, first, number))
        same = self._db.scalar(f"SELECT count(*) {_SAME}", (first, number))
        skipped = self._db.scalar(f"SELECT count(*) {_LEFT_OUT}", (first, first))
        counts |= {_FAILED: failed, _UNCHANGED: same, _SKIPPED: skipped}
        return {str(name): count for name, count in counts.items()}

    def lines(self) -> Iterator[dict[str, object]]:
        """Yield the lines of ``changes.jsonl``: what changed in the order of discovery, then what failed."""
        if self._visit is None:
            return
        number, first = self._visit
        for row in self._db.execute(_ROWS, (number,)):
            yield _line(*row)
        query = f"SELECT u.url, b.title, b.fetched_at, f.fetched_at, f.error {_FAILURES} ORDER BY u.id"
        for url, title, before, now, error in self._db.execute(query, (first, first, number)):
            yield _line(url, _FAILED, None, None, None, title, None, 0, 0, "", before, now, error, None)

    def tables(self) -> Iterator[Table]:
        """Yield the tables of the report: what is held back, edits of templates, then the rest by what it is."""
        if self._visit is None:
            return
        yield self._table(What.HELD_BACK)
        yield self._edits()
        for what in (What.CHANGED, What.NEW, What.MOVED, What.GONE):
            yield self._table(what)

    def _table(self, what: What) -> Table:
        number = self._visit.number if self._visit is not None else 0
        query = _ROWS.replace("ORDER BY", "AND c.what = ? ORDER BY")

        def rows(most: int) -> Iterator[Sequence[str]]:
            found = self._db.execute(f"{query} LIMIT {most}", (number, what))
            return (_shown(_line(*row)) for row in found)

        first, total = list(rows(MAX_ROWS)), self.counts()[what]
        return Table(_TITLES[what], _MEANINGS[what], _COLUMNS, first, total, partial(rows, MAX_LINES))

    def _edits(self) -> Table:
        """Return the templates of which most pages have changed at once."""
        visited, changed, samples = self._by_template()
        edited = [(name, count) for name, count in changed.most_common() if _is_edit(count, visited[name])]
        rows = [(name, f"{count:,}", f"{visited[name]:,}", *_padded(samples[name])) for name, count in edited]
        columns = (Column("template"), Column("changed", "number"), Column("visited", "number"),
                   *(Column(f"page {place}", "url") for place in range(1, _SAMPLES + 1)))  # fmt: skip
        meaning = (
            "Kinds of pages of which most have changed at once, or what surrounds their content: one edit, likely."
        )
        return Table("Edits of templates", meaning, columns, rows[:MAX_ROWS], len(rows), lambda: rows)

    def _by_template(self) -> tuple[Counter[str], Counter[str], dict[str, list[str]]]:
        """Return for each template how many pages were visited, how many changed, and some that did."""
        number, first = self._visit or Visit(0, 0)
        visited: Counter[str] = Counter()
        changed: Counter[str] = Counter()
        samples: dict[str, list[str]] = {}
        query = ("SELECT u.url, c.what FROM urls AS u JOIN fetches AS f ON f.id = u.fetch"
                 " LEFT JOIN changes AS c ON c.url = u.id AND c.visit = ? WHERE f.id >= ?")  # fmt: skip
        for url, what in self._db.execute(query, (number, first)):
            parts = split(url)
            name = f"{parts.authority}{template(parts.path)}"
            if name not in visited and len(visited) >= _TEMPLATES:
                continue
            visited[name] += 1
            if what in (What.CHANGED, What.TOUCHED):
                changed[name] += 1
                if len(sample := samples.setdefault(name, [])) < _SAMPLES:
                    sample.append(url)
        return visited, changed, samples


def pair_moves(database: Database) -> None:
    """Find out what has moved: gone pages whose content is at a new URL, and where redirects lead."""
    visit = current_visit(database)
    if visit is None:
        return
    number = visit.number
    database.write(
        f"UPDATE changes AS c SET other = (SELECT {_TARGET} FROM fetches AS f WHERE f.id = c.fetch)"  # noqa: S608 - ours
        " WHERE visit = ? AND what = 'moved' AND other IS NULL", (number,)
    )  # fmt: skip
    gone = "SELECT url, main_before FROM changes WHERE visit = ? AND what = 'gone' AND main_before IS NOT NULL"
    for url, main in database.execute(gone, (number,)).fetchall():
        found = database.scalar("SELECT url FROM changes WHERE main = ? AND visit = ? AND what = 'new'"
                                " AND other IS NULL LIMIT 1", (main, number))  # fmt: skip
        if found is not None:
            database.write("UPDATE changes SET what = 'moved', other = ? WHERE visit = ? AND url = ?",
                           (found, number, url))  # fmt: skip
            database.write("UPDATE changes SET other = ? WHERE visit = ? AND url = ?", (url, number, found))


def _line(
    url: str, what: str, other: str | None, digest_before: bytes | None, digest: bytes | None, title_before: str | None,
    title: str | None, added: int, removed: int, samples: str, before: float | None, now: float | None,
    error: str | None, final_url: str | None,
) -> dict[str, Any]:  # fmt: skip
    new, lost = orjson.loads(samples) if samples else ([], [])
    return {
        "url": url,
        "what": what,
        "to": (final_url or other) if what != What.NEW else None,
        "template": template(split(url).path),
        "old_digest": _digest(digest_before),
        "new_digest": _digest(digest),
        "old_title": title_before,
        "new_title": title,
        "links_added": added,
        "links_removed": removed,
        "added": new,
        "removed": lost,
        "previous_at": before,
        "fetched_at": now,
        "error": error,
    }


def _digest(digest: bytes | None) -> str | None:
    return f"sha256:{digest.hex()}" if digest else None


def _shown(line: dict[str, Any]) -> tuple[str, ...]:
    now = line["to"] or (line["error"] if line["what"] != What.CHANGED else None) or line["new_title"] or ""
    return (line["url"], line["old_title"] or "", now, f"{line['links_added']:,}", f"{line['links_removed']:,}")


def _is_edit(changed: int, visited: int) -> bool:
    return changed >= _MANY and changed > visited * _EDITED


def _padded(sample: list[str]) -> list[str]:
    return sample + [""] * (_SAMPLES - len(sample))
