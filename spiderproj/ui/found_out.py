"""What a crawl has found out by itself: learned rules, families set aside, what the last visit found changed."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from spiderproj.errors import ArgumentError
from spiderproj.store import families
from spiderproj.store.changed import Changed
from spiderproj.store.rulebook import Rulebook
from spiderproj.ui.tables import A_PAGE, DEEPEST

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spiderproj.store import Database

_COLUMNS: Final = ("url", "what", "to", "old_title", "new_title", "links_added", "links_removed", "added", "removed",
                   "error", "fetched_at")  # fmt: skip
_LISTED: Final = 200  # rules or families
_SAMPLES: Final = 3
_UNLISTED: Final = ("touched", "unchanged")  # counted only


def changes(database: Database, what: str, offset: int) -> dict[str, Any]:
    """Return what was found of how many URLs, {} before a revisit, and lines about *what* from *offset* on."""
    found = Changed(database)
    counts = found.counts()
    listed = {name: count for name, count in counts.items() if name not in _UNLISTED}
    if what and what not in listed:
        raise ArgumentError("what", what, f"one of {' '.join(listed)}")
    lines = (line for line in found.lines() if not what or line["what"] == what)
    return {
        "counts": counts,
        "rows": [{name: line[name] for name in _COLUMNS} for line in islice(lines, offset, offset + A_PAGE)],
        "offset": offset,
        "total": listed[what] if what else sum(listed.values()),
        "page": A_PAGE,
        "deepest": DEEPEST,
    }


def rules(database: Database) -> Iterator[dict[str, Any]]:
    """Yield the rules with evidence about the URLs of a crawl, those that have spared most first."""
    hosts = dict(database.execute("SELECT id, key FROM hosts").fetchall())
    found = [rule for rule in Rulebook(database, strict=False).rules() if rule.has_evidence]
    for rule in sorted(found, key=lambda one: -one.skipped)[:_LISTED]:
        yield {
            "id": rule.id,
            "where": f"{hosts.get(rule.host, '')}{rule.where}",
            "rewrite": str(rule.rewrite),
            "standing": rule.standing,
            "pin": rule.pin,
            "skipped": rule.skipped,
            "trials": rule.trials,
            "same": rule.trials - rule.failures,
        }


def traps(database: Database) -> Iterator[dict[str, Any]]:
    """Yield the families of URLs that are set aside or were released, the largest first, with samples."""
    for family in families.read(database)[:_LISTED]:
        yield {
            "id": family.id,
            "family": family.name,
            "state": family.state,
            "released": family.is_kept,
            "fetched": family.fetched,
            "new": family.new,
            "set_aside": families.set_aside(database, family.id),
            "samples": families.samples(database, family.id, _SAMPLES),
        }
