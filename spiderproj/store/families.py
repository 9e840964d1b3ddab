"""The rows of families of URLs: what their answers have brought, and what is set aside of them."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Final

from spiderproj.display import one_line
from spiderproj.traps import Family, State
from spiderproj.urls import url_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spiderproj.store.database import Database

MAX_OPEN: Final = 4096
"""Families in memory that need no look; of the others there is at most one for each fifty answers."""

_NAME: Final = 200  # characters of a name that are kept
_COLUMNS: Final = ", ".join(one.name for one in fields(Family))
_MARKS: Final = ", ".join("?" for _ in fields(Family))
_SELECT: Final = f"SELECT {_COLUMNS} FROM families"  # noqa: S608 - our columns
_LISTED: Final = " WHERE state != 'open' OR is_kept OR id IN (SELECT family FROM quarantine) ORDER BY fetched DESC, id"


class Families:
    """The table ``families``; ``watched`` are those whose URLs must be looked at before they are fetched."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._next: int = (database.scalar("SELECT max(id) FROM families") or 0) + 1
        self._open: dict[int, Family] = {}
        self._changed: dict[int, Family] = {}
        self.watched: dict[int, Family] = {}
        self._watch()

    def of(self, name: str) -> Family:
        """Return the family called *name*, a new one when nothing is known of it; ``keep`` it when it is changed."""
        key = url_key(name)
        found = self.watched.get(key) or self._open.get(key) or self._changed.get(key)
        if found is None:
            found = next(iter(self._read(" WHERE key = ?", (key,))), None)
        if found is None:
            found = Family(self._next, key, one_line(name, _NAME))
            self._next += 1
        return found

    def first(self, condition: str) -> Family | None:
        """Return the first family, as it is in memory, that a *condition* on its row finds."""
        self.flush()
        found = next(iter(self._read(f" WHERE {condition} ORDER BY id LIMIT 1")), None)
        return None if found is None else self.watched.get(found.key) or self._open.get(found.key) or found

    def keep(self, family: Family) -> None:
        """Take in that a *family* has changed."""
        self._changed[family.key] = family
        if family.is_watched:
            self.watched[family.key] = family
            self._open.pop(family.key, None)
            return
        self.watched.pop(family.key, None)
        if family.key not in self._open and len(self._open) >= MAX_OPEN:
            del self._open[next(iter(self._open))]
        self._open[family.key] = family

    def flush(self) -> None:
        """Write what is only in memory."""
        for family in self._changed.values():
            save(self._db, family)
        self._changed.clear()

    def begin_anew(self) -> None:
        """Forget what the answers of an earlier crawl have brought."""
        self.flush()
        self._open.clear()
        self.watched.clear()
        for family in self._read(""):
            family.begin_anew()
            save(self._db, family)
        self._watch()

    def _watch(self) -> None:
        for family in self._read(f" WHERE state != '{State.OPEN}' OR judged >= 50"):
            family.given = family.tried  # what was in flight has no answer any more
            if family.is_watched:
                self.watched[family.key] = family

    def _read(self, clauses: str, values: Sequence[object] = ()) -> list[Family]:
        return read(self._db, clauses, values)


def read(database: Database, clauses: str = _LISTED, values: Sequence[object] = ()) -> list[Family]:
    """Return families, by default those that are parked or of which URLs are set aside, the largest first."""
    found = []
    for row in database.execute(_SELECT + clauses, values).fetchall():
        with database.reading():
            family = Family(*row)
            family.state = State(family.state)
            family.is_final, family.is_kept = bool(family.is_final), bool(family.is_kept)
        found.append(family)
    return found


def save(database: Database, family: Family) -> None:
    """Write a *family*."""
    values = [getattr(family, one.name) for one in fields(Family)]
    database.write(f"INSERT OR REPLACE INTO families ({_COLUMNS}) VALUES ({_MARKS})", values)  # noqa: S608 - ours


def set_aside(database: Database, family: int) -> int:
    """Return how many URLs of a *family* are set aside."""
    return int(database.scalar("SELECT count(*) FROM quarantine WHERE family = ?", (family,)))


def samples(database: Database, family: int, count: int) -> list[str]:
    """Return *count* URLs of a *family* that are set aside, those known longest."""
    query = "SELECT u.url FROM quarantine AS q JOIN urls AS u ON u.id = q.url WHERE q.family = ? ORDER BY q.url LIMIT ?"
    return [url for (url,) in database.execute(query, (family, count))]
