"""Fetch, after all, what a crawl has refused: the chosen URLs are queued as if the user had named them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Final, NamedTuple

from spiderproj.errors import StoreDamagedError
from spiderproj.models import LinkRole, Reason, Verdict
from spiderproj.order import OrderKey
from spiderproj.store import Folder, Frontier

if TYPE_CHECKING:
    from pathlib import Path

    from scrapy.settings import BaseSettings

MOST: Final = 1000
"""URLs that are asked for at once."""
RULE: Final = "asked for by hand"
NOTHING_MORE: Final = "spiderproj.ui.asked.nothing_more"
"""The SPIDERPROJ_FILTER of a crawl that fetches what was asked for, and no link of it."""

_NEVER: Final = frozenset({Reason.INVALID, Reason.SCHEME, Reason.TOO_LONG, Reason.ROBOTS, Reason.PRIVATE_ADDRESS})
"""Reasons that asking does not change: no URL, another's wish, or an address that is not dialled."""
_FIRST: Final = OrderKey(-1, 0, 0)  # before all else
# A URL at depth 0 is what the user has named: fetched whatever its type, and whatever the filter says of it.
_QUEUE: Final = """
UPDATE urls SET verdict = 'queued', reason = NULL, rule = ?, depth = 0, role = ?, near = 0, hops = 0,
    via = iif(reason = 'trap', NULL, via) WHERE id = ?
"""
# What a link leads to may be set aside as a trap; what the user has named is not.
_LET_OUT: Final = "DELETE FROM quarantine WHERE url = ?"


class Queued(NamedTuple):
    """How many URLs were queued, how many were passed over by reason, and whether nothing else was queued."""

    queued: int
    passed_over: dict[str, int]
    is_all: bool


def ask_for(folder: Path, ids: Iterable[int], settings: BaseSettings) -> Queued:
    """Queue the refused URLs *ids* of the crawl in *folder*, before all else; LockedError while it runs."""
    target = Folder(
        folder, fsync=settings.getbool("SPIDERPROJ_FSYNC"), reserve=settings.getint("SPIDERPROJ_DISK_RESERVE")
    )
    with closing(target):
        target.recover()
        database = target.database
        if database.meta("arguments") is None:
            raise StoreDamagedError(f"{folder}: its store does not say with which arguments it was crawled")
        frontier = Frontier(database, "ui")
        is_all = frontier.pending == 0
        passed: dict[str, int] = {}
        queued = 0
        for number in dict.fromkeys(ids):
            row = database.execute("SELECT host, verdict, reason FROM urls WHERE id = ?", (number,)).fetchone()
            why = _obstacle(row)
            if why:
                passed[why] = passed.get(why, 0) + 1
                continue
            database.write(_QUEUE, (RULE, LinkRole.NAVIGATION, number))
            database.write(_LET_OUT, (number,))
            frontier.add(number, row[0], _FIRST)
            queued += 1
        if queued:
            database.set_meta("state", "stopped")  # there is something to do: no revisit of what is there
        target.commit()
        return Queued(queued, passed, is_all)


def nothing_more(_: Mapping[str, object]) -> bool:
    """Return False: no link belongs to the crawl."""
    return False


def _obstacle(row: tuple[int, str, str | None] | None) -> str:
    """Return why a URL cannot be asked for, "" when it can."""
    if row is None:
        return "unknown"
    if row[1] != Verdict.REFUSED:
        return row[1]
    return row[2] or "" if row[2] in _NEVER else ""
