"""What a store remembers of the robots.txt of each origin."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import orjson

from spiderproj.robots import RobotsState

if TYPE_CHECKING:
    from spiderproj.store.database import Database


def robots_state(database: Database, origin: str) -> RobotsState:
    """Return what is remembered of the robots.txt of *origin*; StoreDamagedError when that cannot be."""
    row = database.execute("SELECT state, body FROM robots WHERE origin = ?", (origin,)).fetchone()
    with database.reading():
        return RobotsState(**orjson.loads(row[0]), body=row[1]) if row else RobotsState()


def keep_robots_state(database: Database, origin: str, state: RobotsState) -> None:
    """Remember the robots.txt of *origin* for later runs."""
    columns = asdict(state)
    body = columns.pop("body")
    database.write("INSERT OR REPLACE INTO robots VALUES (?, ?, ?)", (origin, orjson.dumps(columns).decode(), body))
