"""What a revisit finds: a row of ``changes`` for each URL that is not what it was, and the way back for a while.

Rows are written in the transaction of the answer that brought them. What an answer replaces is kept in ``replaced``
until it is clear that many others are not the same: a server that says one thing instead of everything is known for it
only by its sixth answer, and what the first five have replaced comes back then.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import orjson

from spiderproj.models import ResourceType
from spiderproj.revisit import What
from spiderproj.revisit.comparing import LinkChanges

if TYPE_CHECKING:
    from spiderproj.store.database import Database
    from spiderproj.store.decisions import Decisions
    from spiderproj.store.folder import Folder
    from spiderproj.store.visits import Visit

MAX_KEPT_BYTES: Final = 1 << 20
"""Longest body that is kept when another replaces it."""

_KEPT: Final = 200  # bodies kept beside those that share what replaced them
_LOOKED_AT: Final = 200  # pages with one content of which it is asked what they were
_REMEMBERED: Final = 10_000
_LEVEL: Final = 1  # a page of 50 KB takes 0.5 ms

_PRIOR = (
    "SELECT f.id, f.final_url, f.type, f.content_type, c.id, c.digest, c.path, c.links, c.url, c.size"
    " FROM urls AS u JOIN fetches AS f ON f.id = u.fetch LEFT JOIN contents AS c ON c.id = f.content WHERE u.id = ?"
)
_CROWD = """
SELECT main_before FROM (
    SELECT c.main_before FROM changes AS c JOIN urls AS u ON u.id = c.url
    WHERE c.main = ? AND c.visit = ? AND u.host = (SELECT host FROM urls WHERE id = ?) AND c.url != ?
        AND c.main_before IS NOT NULL AND c.main_before != c.main LIMIT ?) GROUP BY main_before
"""
_SAME = """
SELECT c.url, c.before, c.fetch, r.content, r.path, r.links, r.page_links, r.body, c.digest_before
FROM changes AS c JOIN urls AS u ON u.id = c.url JOIN replaced AS r ON r.url = c.url
WHERE c.main = ? AND c.visit = ? AND u.host = (SELECT host FROM urls WHERE id = ?) AND c.what IN (?, ?)
"""
_PRUNE = """
DELETE FROM replaced WHERE id <= ? AND NOT EXISTS (
    SELECT 1 FROM changes AS c JOIN changes AS other ON other.main = c.main AND other.visit = c.visit
    WHERE c.visit = ? AND c.url = replaced.url AND other.url != c.url)
"""


class Prior(NamedTuple):
    """What a URL was before: its current fetch, and the body of it that is stored."""

    fetch: int
    final_url: str | None
    type: ResourceType | None
    content_type: str | None
    content: int | None
    digest: bytes
    path: str
    links: int
    owner: int  # the URL whose body it is
    size: int


@dataclass(slots=True, kw_only=True)
class Comparison:
    """What came of holding an answer against what was stored."""

    what: What
    prior: Prior | None = None
    main: int | None = None  # revisit.main_digest, or the key of where a redirect leads
    main_before: int | None = None
    digest: bytes | None = None
    links: LinkChanges = LinkChanges()  # noqa: RUF009 - immutable
    body_before: bytes = b""


class _Replaced(NamedTuple):
    """What an answer has replaced."""

    url: int
    before: int  # its fetch
    fetch: int  # that of the answer
    content: int
    path: str
    links: int
    page_links: str | None
    body: bytes | None  # None: it is still stored, or was too long
    digest: bytes


class Changes:
    """The changes of one *visit*."""

    def __init__(self, database: Database, folder: Folder, decisions: Decisions, visit: Visit) -> None:
        self._db = database
        self._folder = folder
        self._decisions = decisions
        self._visit = visit
        self._undone: set[int] = set()  # contents of which nothing is left that could be undone

    def prior(self, url: int) -> Prior | None:
        """Return what the URL with the id *url* was before this visit, None when nothing was known or it is past."""
        row = self._db.execute(_PRIOR, (url,)).fetchone()
        if row is None:
            return None
        with self._db.reading():
            kind = ResourceType(row[2]) if row[2] else None
            return Prior(row[0], row[1], kind, row[3], row[4], row[5] or b"", row[6] or "", row[7] or 0, row[8] or 0,
                         row[9] or 0)  # fmt: skip

    def is_visited(self, prior: Prior) -> bool:
        """Return whether a *prior* answer is one of this visit already."""
        return prior.fetch >= self._visit.first_fetch

    def crowd(self, url: int, comparison: Comparison) -> int:
        """Return how many pages of the host of *url* that said different things say what it says now, it included."""
        values = (comparison.main, self._visit.number, url, url, _LOOKED_AT)
        before = {main for (main,) in self._db.execute(_CROWD, values)}
        if comparison.main_before is not None:
            before.add(comparison.main_before)
        return len(before)

    def note(self, url: int, comparison: Comparison) -> None:
        """Write the row of the answer to *url* that has just been recorded."""
        prior, links = comparison.prior, comparison.links
        samples = orjson.dumps([links.new, links.lost]).decode() if links.added or links.removed else ""
        fetch = self._db.scalar("SELECT max(id) FROM fetches WHERE url = ?", (url,))
        self._db.write(
            "INSERT OR REPLACE INTO changes VALUES (?,?,?,?,?,?,?,?,?,NULL,?,?,?)",
            (self._visit.number, url, comparison.what, fetch, prior.fetch if prior else None, comparison.main,
             comparison.main_before, comparison.digest, prior.digest or None if prior else None, links.added,
             links.removed, samples),
        )  # fmt: skip

    def keep(self, url: int, comparison: Comparison) -> None:
        """Keep what the answer to *url* is about to replace, for ``take_back``."""
        prior = comparison.prior
        if prior is None or prior.content is None or comparison.what not in (What.CHANGED, What.MOVED):
            return
        body = comparison.body_before if prior.owner == url and len(comparison.body_before) <= MAX_KEPT_BYTES else b""
        links = self._db.scalar("SELECT links FROM page_links WHERE source = ?", (url,))
        number = self._db.write(
            "INSERT OR REPLACE INTO replaced (url, content, path, links, page_links, body) VALUES (?,?,?,?,?,?)",
            (url, prior.content, prior.path, prior.links, links, zlib.compress(body, _LEVEL) if body else None),
        ).lastrowid  # fmt: skip
        if number is not None and number % _KEPT == 0:
            self._db.write(_PRUNE, (number - _KEPT, self._visit.number))

    def take_back(self, url: int, comparison: Comparison, reason: str) -> None:
        """Undo what answers equal to that of *url* have replaced: they were no changes, for this *reason*."""
        if comparison.main is None or comparison.main in self._undone:
            return
        if len(self._undone) >= _REMEMBERED:
            self._undone.clear()
        self._undone.add(comparison.main)
        values = (comparison.main, self._visit.number, url, What.CHANGED, What.MOVED)
        found = [_Replaced(*row) for row in self._db.execute(_SAME, values).fetchall()]
        found = [replaced for replaced in found if self._can_come_back(replaced)]
        for replaced in found:  # all rows first: whoever shares a body that goes is not asked for again
            self._take_back(replaced, reason)
        for replaced in found:
            if not self._is_stored(replaced.content):
                self._bring_back(replaced)

    def _can_come_back(self, replaced: _Replaced) -> bool:
        if self._is_stored(replaced.content):
            return True
        is_anothers = "SELECT 1 FROM contents WHERE path = ? AND url != ?"
        return bool(replaced.body) and self._db.scalar(is_anothers, (replaced.path, replaced.url)) is None

    def _is_stored(self, content: int) -> bool:
        return self._db.scalar("SELECT 1 FROM contents WHERE id = ?", (content,)) is not None

    def _take_back(self, replaced: _Replaced, reason: str) -> None:
        url = replaced.url
        self._db.write("UPDATE urls SET fetch = ? WHERE id = ?", (replaced.before, url))
        self._db.write("UPDATE fetches SET error = ?, content = NULL, duplicate = 0 WHERE id = ?",
                       (reason, replaced.fetch))  # fmt: skip
        self._db.write("UPDATE changes SET what = ? WHERE visit = ? AND url = ?",
                       (What.HELD_BACK, self._visit.number, url))  # fmt: skip
        for table, column in (("replaced", "url"), ("readings", "url"), ("page_links", "source")):
            self._db.write(f"DELETE FROM {table} WHERE {column} = ?", (url,))  # noqa: S608 - our own names
        if replaced.page_links is not None:
            self._db.write("INSERT INTO page_links VALUES (?, ?)", (url, replaced.page_links))

    def _bring_back(self, replaced: _Replaced) -> None:
        """Store a body again, in place of what replaced it."""
        url, path, body = replaced.url, replaced.path, zlib.decompress(replaced.body or b"")
        self._folder.store(path, replaced.digest, body)
        for (wrong,) in self._db.execute("SELECT id FROM contents WHERE path = ?", (path,)).fetchall():
            self._decisions.requeue(
                "id IN (SELECT f.url FROM fetches AS f JOIN urls AS u ON u.id = f.url AND u.fetch = f.id"
                " WHERE f.duplicate AND f.content = ?) AND id != ?", (wrong, url))  # fmt: skip
            self._db.write("DELETE FROM contents WHERE id = ?", (wrong,))
        self._db.write("INSERT INTO contents (id, digest, links, size, path, url) VALUES (?, ?, ?, ?, ?, ?)",
                       (replaced.content, replaced.digest, replaced.links, len(body), path, url))  # fmt: skip
