"""What other arguments would change: the decisions of a rehearsal beside those of the store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

    from spiderproj.store import Database

_SAME: Final = "s.key = r.key AND s.url = r.url"
_IN: Final = f"""
FROM urls AS r LEFT JOIN stored.urls AS s ON {_SAME}
WHERE r.verdict != 'refused' AND (s.id IS NULL OR s.verdict = 'refused')
"""
_OUT: Final = f"""
FROM stored.urls AS s LEFT JOIN urls AS r ON {_SAME}
WHERE s.verdict != 'refused' AND (r.id IS NULL OR r.verdict = 'refused')
"""
_STAYS: Final = f"""
SELECT count(*) FROM urls AS r JOIN stored.urls AS s ON {_SAME} WHERE r.verdict != 'refused' AND s.verdict != 'refused'
"""  # noqa: S608
_NEW: Final = "new"
UNLINKED: Final = "not linked"
"""The reason of a URL that nothing links to that the other arguments let in."""


class Change(NamedTuple):
    """A URL that comes in or goes, with the reason why it was out, or is then."""

    url: str
    reason: str
    rule: str
    level: str
    type: str | None


@dataclass(frozen=True, kw_only=True)
class Changes:
    """All URLs that come in, or that go: how many, by what, and the first of them."""

    total: int
    by_reason: dict[str, int]
    by_level: dict[str, int]
    by_type: dict[str, int]
    samples: list[Change]


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """What comes in, what goes, and how much stays."""

    comes_in: Changes
    goes: Changes
    stays: int


def compare(rehearsed: Database, store: Path, samples: int) -> Comparison:
    """Return how the decisions *rehearsed* differ from those in the *store*, with the first *samples* URLs."""
    rehearsed.execute("ATTACH ? AS stored", (f"{store.absolute().as_uri()}?mode=ro",))
    try:
        return Comparison(
            comes_in=_changes(rehearsed, _IN, f"coalesce(s.reason, '{_NEW}')", "coalesce(s.rule, '')", "r", samples),
            goes=_changes(rehearsed, _OUT, f"coalesce(r.reason, '{UNLINKED}')", "coalesce(r.rule, '')", "s", samples),
            stays=rehearsed.scalar(_STAYS),
        )
    finally:
        rehearsed.execute("DETACH stored")


def _changes(database: Database, which: str, reason: str, rule: str, of: str, samples: int) -> Changes:
    def by(column: str) -> dict[str, int]:
        rows = database.execute(f"SELECT {column}, count(*) {which} GROUP BY 1 ORDER BY 2 DESC, 1")
        return dict(rows.fetchall())

    columns = f"{of}.url, {reason}, {rule}, {of}.level, {of}.type"
    first = database.execute(f"SELECT {columns} {which} ORDER BY {of}.id LIMIT ?", (samples,))
    by_reason = by(reason)
    return Changes(
        total=sum(by_reason.values()),
        by_reason=by_reason,
        by_level=by(f"{of}.level"),
        by_type=by(f"coalesce({of}.type, 'not known')"),
        samples=list(map(Change._make, first)),
    )
