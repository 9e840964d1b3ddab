"""In which form each document of the copy stands on disk, and what its references came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import orjson

from spiderproj.store.database import Database

_DOCUMENTS = """
SELECT c.path, c.digest, u.url, f.type, f.content_type, p.links, r.signature, r.form, u.id, g.digest
FROM contents AS c JOIN urls AS u ON u.id = c.url
    JOIN fetches AS f ON f.id = (SELECT max(id) FROM fetches WHERE url = c.url AND content = c.id)
    LEFT JOIN page_links AS p ON p.source = c.url LEFT JOIN rewrites AS r ON r.path = c.path
    LEFT JOIN renderings AS g ON g.url = c.url AND g.body IS NOT NULL
WHERE c.path > ? AND f.type IN ('html', 'style', 'image') ORDER BY c.path LIMIT ?
"""
_REWRITTEN = """
SELECT c.path, c.digest FROM rewrites AS r JOIN contents AS c ON c.path = r.path
WHERE r.path > ? AND r.form IS NOT NULL ORDER BY r.path LIMIT ?
"""
_USES = """
SELECT 1 FROM contents AS c JOIN rewrites AS r ON r.path = c.path WHERE c.digest = ? AND r.form IS NOT NULL LIMIT 1
"""
_AT_ONCE = 100  # rows with their links in memory


class Document(NamedTuple):
    """A stored body that may hold references, and what is known of its form."""

    path: str
    digest: bytes
    url: str
    type: str
    content_type: str | None
    links: str | None  # a row of page_links
    signature: int | None  # of all that its form depends on, when it was made
    form: bytes | None  # xxh3 of the rewritten form, empty when that is uncertain; None: as received
    source: int  # the id of url
    drawn: int | None  # the digest of its rendering, which the copy shows in its place


class References(NamedTuple):
    """The audit of a copy: how many references its files hold, and what they lead to."""

    total: int
    local: int
    outside: int
    broken: int
    missing: int
    missing_by: dict[str, int]


class Rewrites:
    """The table ``rewrites``."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def documents(self) -> Iterator[Document]:
        """Yield every document, those of a folder together; rows may be written meanwhile."""
        last = ""
        while rows := self._db.execute(_DOCUMENTS, (last, _AT_ONCE)).fetchall():
            yield from map(Document._make, rows)
            last = rows[-1][0]

    def keep(self, path: str, signature: int, form: bytes | None, found: Sequence[int], missing: Counter[str]) -> None:
        """Note the form of the file at *path*, and how many of its references are of each Kind."""
        reasons = orjson.dumps(missing).decode() if missing else None
        self._db.write("INSERT OR REPLACE INTO rewrites VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                       (path, signature, form, *found, reasons))  # fmt: skip

    def forget(self, path: str) -> None:
        """Note that the form of the file at *path* is not known."""
        self._db.write("DELETE FROM rewrites WHERE path = ?", (path,))

    def forget_strangers(self) -> None:
        """Drop the rows of files that are no longer in the copy."""
        self._db.write("DELETE FROM rewrites WHERE path NOT IN (SELECT path FROM contents)")

    def rewritten(self) -> Iterator[tuple[str, bytes]]:
        """Yield path and original's digest of each file that is not as received; rows may be written meanwhile."""
        last = ""
        while rows := self._db.execute(_REWRITTEN, (last, _AT_ONCE)).fetchall():
            yield from rows
            last = rows[-1][0]

    def uncertain(self) -> list[tuple[str, bytes]]:
        """Return path and original's digest of each file that was being replaced when a kill came."""
        return self._db.execute(
            "SELECT c.path, c.digest FROM rewrites AS r JOIN contents AS c ON c.path = r.path WHERE r.form = x''"
        ).fetchall()

    def uses(self, digest: str) -> bool:
        """Return whether the original with this *digest*, in hexadecimal, belongs to a file that is not as received."""
        try:
            return self._db.scalar(_USES, (bytes.fromhex(digest),)) is not None
        except ValueError:
            return False

    def references(self) -> References:
        """Return the audit of the whole copy."""
        counts = self._db.execute("SELECT total(local), total(outside), total(broken), total(missing) FROM rewrites")
        local, outside, broken, missing = map(int, counts.fetchone())
        reasons: Counter[str] = Counter()
        for (stored,) in self._db.execute("SELECT reasons FROM rewrites WHERE reasons IS NOT NULL"):
            reasons.update(orjson.loads(stored))
        total = local + outside + broken + missing
        return References(total, local, outside, broken, missing, dict(reasons.most_common()))
