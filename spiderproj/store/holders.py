"""What holds back URLs of a crawl, or sets them aside, as its arguments and settings ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from spiderproj import steady, traps
from spiderproj.arguments import Unique
from spiderproj.store.learner import Learner, forget_members
from spiderproj.store.quarantine import Quarantine, release_all
from spiderproj.traps import content_digest

if TYPE_CHECKING:
    from spiderproj.store.database import Database
    from spiderproj.store.decisions import Decisions
    from spiderproj.store.frontier import Frontier
    from spiderproj.store.readings import Readings

_AUDIT_EVERY: Final = 50
"""One in so many URLs that a learned rule would skip is fetched all the same."""


def build_learner(
    unique: Unique, database: Database, frontier: Frontier, decisions: Decisions, readings: Readings
) -> Learner | None:
    """Return what learns which URLs are the same page, None when nothing is to be learned."""
    if unique not in (Unique.STRICT, Unique.LEARN):
        forget_members(database, decisions, frontier)
        return None
    strict = unique is Unique.STRICT
    return Learner(database, frontier, decisions, readings, strict=strict, audit_every=_AUDIT_EVERY)


def build_quarantine(
    unique: Unique,
    database: Database,
    frontier: Frontier,
    decisions: Decisions,
    readings: Readings,
    *,
    is_wanted: bool,
) -> Quarantine | None:
    """Return what sets aside URLs of families that bring nothing new, None when all are to be fetched."""
    if not is_wanted:
        release_all(database, decisions)
        return None

    def read_stored(row: int) -> int:
        reading = readings.stored(row)
        return 0 if reading is None else content_digest(reading)

    # Whoever wants a row for each duplicate gets it of families as large as sites have them.
    budget = traps.EAGER if unique in (Unique.STRICT, Unique.LEARN) else traps.CAREFUL
    return Quarantine(database, decisions, frontier, read_stored, steady.now, budget)
