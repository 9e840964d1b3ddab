"""The links of each page, packed in one row: a million links a row each would make half of the store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from spiderproj.failpoints import failpoint
from spiderproj.models import Link, LinkRole, Reason, ResourceType
from spiderproj.store.database import Database
from spiderproj.store.known import LinkRow

_IDS_A_QUERY = 400


class PageLinks:
    """The table ``page_links``."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def of(self, page: int) -> list[Link]:
        """Return the links that are stored of a page."""
        stored = self._db.scalar("SELECT links FROM page_links WHERE source = ?", (page,))
        return self.unpack(stored) if stored else []

    def unpack(self, stored: str) -> list[Link]:
        """Return the links of a ``page_links`` row."""
        with self._db.reading():
            rows = orjson.loads(stored)
            targets = self._targets([row[0] for row in rows])
            return [unpacked(row, targets[row[0]]) for row in rows]

    def _targets(self, ids: Sequence[int]) -> dict[int, str]:
        found: dict[int, str] = {}
        wanted = list(dict.fromkeys(ids))
        for start in range(0, len(wanted), _IDS_A_QUERY):
            part = wanted[start : start + _IDS_A_QUERY]
            marks = ",".join("?" * len(part))
            statement = f"SELECT id, url FROM urls WHERE id IN ({marks})"  # noqa: S608 - only question marks
            found.update(self._db.execute(statement, part).fetchall())
        return found

    def keep(self, source: int, rows: Sequence[LinkRow]) -> None:
        """Store the links of the page *source*."""
        packed = [
            (row.known.id, link.text, link.tag, link.attribute, link.rel, link.role, link.hint, int(link.nofollow),
             link.problem)
            for row in rows
            for link in (row.link,)
        ]  # fmt: skip
        failpoint("store.links")
        self._db.write("INSERT OR REPLACE INTO page_links VALUES (?, ?)", (source, orjson.dumps(packed).decode()))

    def forget(self, source: int) -> None:
        """Drop the links of the page *source*: it has none any more."""
        self._db.write("DELETE FROM page_links WHERE source = ?", (source,))


def unpacked(row: Sequence[Any], target: str) -> Link:
    """Return the link that an array of ``page_links`` stands for."""
    _, text, tag, attribute, rel, role, hint, nofollow, problem = row
    return Link(target, text, tag, attribute, rel, LinkRole(role), ResourceType(hint) if hint else None,
                bool(nofollow), Reason(problem) if problem else None)  # fmt: skip
