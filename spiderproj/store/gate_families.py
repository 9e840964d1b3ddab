"""The rows of what the gate has learned, so that a crawl that goes on does not ask everything again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from spiderproj.gate import Family
from spiderproj.models import ResourceType

if TYPE_CHECKING:
    from collections.abc import Iterable

    from spiderproj.store.database import Database


def load_gate(database: Database) -> list[Family]:
    """Return what is known of each family."""
    found = []
    for host, name, answers, *heads in database.execute("SELECT * FROM gate").fetchall():
        with database.reading():
            seen, counts, latest = orjson.loads(answers)
            found.append(Family(host, name, int(seen), _by_type(counts), _by_type(latest), *heads))
    return found


def save_gate(database: Database, families: Iterable[Family]) -> None:
    """Write *families*."""
    for one in families:
        answers = orjson.dumps([one.seen, one.counts, one.latest], option=orjson.OPT_NON_STR_KEYS).decode()
        heads = (one.good_heads, one.bad_heads, one.failures, one.lies)
        values = (one.host, one.name, answers, *heads)
        database.write("INSERT OR REPLACE INTO gate VALUES (?, ?, ?, ?, ?, ?, ?)", values)


def _by_type(stored: dict[str, int]) -> dict[ResourceType, int]:
    return {ResourceType(kind): int(number) for kind, number in stored.items()}
