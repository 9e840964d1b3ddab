"""Which visit of a crawl this is: 0 is the first crawl, 1 the first revisit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import orjson

if TYPE_CHECKING:
    from spiderproj.store.database import Database

_META: Final = "visit"


class Visit(NamedTuple):
    """A revisit, over all its runs."""

    number: int
    first_fetch: int  # the id of its first answer: what has a lower one was known before


def begin_visit(database: Database) -> None:
    """Note that a finished crawl is visited again; what was kept for the visit before is dropped."""
    before = current_visit(database)
    number = 1 if before is None else before.number + 1
    first = (database.scalar("SELECT max(id) FROM fetches") or 0) + 1
    database.set_meta(_META, orjson.dumps([number, first]).decode())
    database.write("DELETE FROM replaced")
    database.write("UPDATE changes SET samples = '' WHERE visit = ?", (number - 1,))


def current_visit(database: Database) -> Visit | None:
    """Return the visit that is going on or was the last, None before there was one."""
    stored = database.meta(_META)
    if stored is None:
        return None
    with database.reading():
        number, first = orjson.loads(stored)
        return Visit(int(number), int(first))
