"""What a copy holds, for those who look at it from outside: pages with their titles, files by type, URLs by verdict."""

from __future__ import annotations

from typing import NamedTuple

from spiderproj.store.database import Database

_HELD = """
FROM urls AS u JOIN fetches AS f ON f.id = u.fetch JOIN contents AS c ON c.id = f.content
WHERE u.verdict = 'fetched' AND f.error IS NULL AND NOT f.duplicate
"""
_VISITED = f"{_HELD} AND u.role = 'navigation'"  # what a person goes to, not what pages are shown with
_TITLE = "coalesce(nullif(f.title, ''), nullif(u.text, ''), u.url)"
_LATEST = 2**33  # the year 2242
_FOLDER = "rtrim(c.path, replace(c.path, '/', ''))"  # up to its last slash
_TITLE_OF = """
SELECT f.title FROM contents AS c JOIN urls AS u ON u.id = c.url JOIN fetches AS f ON f.id = u.fetch WHERE c.path = ?
"""


class StoredPage(NamedTuple):
    """An HTML page of the copy, with what it is called: by itself, and by the first link to it."""

    path: str  # below files/
    title: str | None
    link_text: str
    content_type: str | None


class Inventory:
    """What a store says of its copy."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def pages(self, limit: int) -> list[StoredPage]:
        """Return the HTML pages, each body once, in the order of their discovery: the first *limit*."""
        rows = self._db.execute(
            f"SELECT c.path, f.title, u.text, f.content_type {_HELD} AND f.type = 'html' ORDER BY u.id LIMIT ?",
            (limit,),
        )
        return list(map(StoredPage._make, rows))

    def visited(self, limit: int) -> list[tuple[str, str]]:
        """Return title and path of the pages and files that links lead to, the nearest to the seed first."""
        rows = self._db.execute(f"SELECT {_TITLE}, c.path {_VISITED} ORDER BY u.depth, u.id LIMIT ?", (limit,))
        return rows.fetchall()

    def visited_by_folder(self) -> dict[str, int]:
        """Return how many such pages and files each folder has, the fullest first; "" is the root."""
        rows = self._db.execute(f"SELECT {_FOLDER}, count(*) {_VISITED} GROUP BY 1 ORDER BY 2 DESC, 1")
        return {folder.rstrip("/"): count for folder, count in rows}

    def title_of(self, path: str) -> str:
        """Return the title of the page at *path*, "" when it has none."""
        return self._db.scalar(_TITLE_OF, (path,)) or ""

    def by_type(self) -> list[tuple[str, int, int]]:
        """Return type, number and bytes of the stored files."""
        rows = self._db.execute(
            "SELECT coalesce(u.type, 'other'), count(DISTINCT c.path), sum(c.size)"
            " FROM contents AS c JOIN urls AS u ON u.id = c.url GROUP BY 1 ORDER BY 2 DESC, 1"
        )
        return rows.fetchall()

    def by_verdict(self) -> dict[str, int]:
        """Return the number of URLs by their verdict."""
        return dict(self._db.execute("SELECT verdict, count(*) FROM urls GROUP BY 1 ORDER BY 2 DESC, 1").fetchall())

    def times(self) -> tuple[float, float] | None:
        """Return when the first and the latest answer came; None when none did, ValueError when that cannot be."""
        first, last = self._db.execute("SELECT min(fetched_at), max(fetched_at) FROM fetches").fetchone()
        if first is None:
            return None
        if not 0 <= first <= last < _LATEST:
            raise ValueError(f"answers came between {first} and {last}")
        return first, last
