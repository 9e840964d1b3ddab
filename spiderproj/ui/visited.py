"""What the last visit of a crawl found changed, a page of lines at a time."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from spiderproj.errors import ArgumentError
from spiderproj.store.changed import Changed
from spiderproj.ui.tables import A_PAGE, DEEPEST

if TYPE_CHECKING:
    from spiderproj.store import Database

_COLUMNS: Final = ("url", "what", "to", "old_title", "new_title", "links_added", "links_removed", "added", "removed",
                   "error", "fetched_at")  # fmt: skip
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
