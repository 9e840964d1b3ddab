"""Lists of a stored crawl's URLs: filtered, sorted, a page at a time, from a snapshot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from spiderproj.errors import ArgumentError
from spiderproj.models import Level, ResourceType

if TYPE_CHECKING:
    from spiderproj.ui.snapshot import Cell, Snapshot

A_PAGE: Final = 50
"""Rows of a list that are shown at once."""
DEEPEST: Final = 10_000
"""Rows of a list that can be reached by paging; more is found by narrowing it."""

VIEWS: Final[Mapping[str, str]] = {
    "all": "1",
    "fetched": "verdict = 'fetched'",
    "stored": "path IS NOT NULL AND error IS NULL",
    "queued": "verdict = 'queued'",
    "refused": "verdict = 'refused'",
    "broken": "broken",
    "duplicates": "duplicate AND verdict = 'fetched'",
}
_SORTS: Final = ("id", "url", "text", "size", "depth", "level", "type", "host", "reason", "status", "seconds", "title")
_EQUAL: Final = ("level", "type", "reason", "host", "family")
_IN_CELLS: Final = frozenset({"level", "type", "reason"})
_COLUMNS: Final = ("id", "url", "host", "level", "type", "depth", "text", "verdict", "reason", "rule", "status", "size",
                   "seconds", "title", "error", "path", "family", "duplicate")  # fmt: skip
_TWIN: Final = "SELECT url FROM rows WHERE content = ? AND NOT duplicate LIMIT 1"


class Asked(NamedTuple):
    """A list that is asked for."""

    view: str
    equal: Mapping[str, str]  # column: value
    text: str  # found in the URL, the link's text or the title
    sort: str
    is_descending: bool
    offset: int


def asked(query: Mapping[str, str]) -> Asked:
    """Return the list that a *query* asks for; ArgumentError names what is wrong with it."""
    view, sort, offset = query.get("view", "all"), query.get("sort", "id"), query.get("offset", "0")
    if view not in VIEWS:
        raise ArgumentError("view", view, f"one of {' '.join(VIEWS)}")
    if sort not in _SORTS:
        raise ArgumentError("sort", sort, f"one of {' '.join(_SORTS)}")
    equal = {name: query[name] for name in _EQUAL if query.get(name)}
    return Asked(view, equal, query.get("text", "")[:200], sort, query.get("desc") == "1", offset_of(offset))


def offset_of(text: str) -> int:
    """Return the row that a list begins with; ArgumentError when that is none."""
    if not (text.isascii() and text.isdecimal() and len(text) <= 6 and int(text) <= DEEPEST):
        raise ArgumentError("offset", text, f"a whole number up to {DEEPEST}")
    return int(text)


def page(snapshot: Snapshot, wanted: Asked) -> dict[str, Any]:
    """Return rows and total of a list; the total is None where there are more than can be counted quickly."""
    where, values = _where(wanted)
    direction = "DESC" if wanted.is_descending else "ASC"
    last = "NULLS LAST" if wanted.sort in ("size", "status", "seconds") else ""  # an index gives NULLs first
    order = f"{wanted.sort} {direction} {last}, id" if wanted.sort != "id" else f"id {direction}"
    statement = f"SELECT {', '.join(_COLUMNS)}, content FROM rows WHERE {where} ORDER BY {order} LIMIT ? OFFSET ?"  # noqa: S608 - names of ours
    found = snapshot.rows(statement, (*values, A_PAGE, wanted.offset))
    return {
        "rows": list(_shaped(snapshot, found)),
        "offset": wanted.offset,
        "total": _total(snapshot, wanted, where, values),
        "page": A_PAGE,
        "deepest": DEEPEST,
    }


def facets(snapshot: Snapshot) -> dict[str, Any]:
    """Return what the lists can be narrowed by, with the number of URLs of each."""
    return {
        "total": snapshot.total,
        "made_at": snapshot.made_at,
        "levels": list(Level),
        "types": [*ResourceType, ""],
        "matrix": matrix(snapshot.cells),
        "verdicts": _by(snapshot.cells, "verdict"),
        "reasons": _by([cell for cell in snapshot.cells if cell.verdict == "refused"], "reason"),
        "queue": _by([cell for cell in snapshot.cells if cell.verdict == "queued"], "level"),
        "depths": {str(depth): count for depth, count in sorted(_by(snapshot.cells, "depth").items())},
        "hosts": snapshot.hosts,
        "families": snapshot.families,
        "stored": snapshot.stored,
        "broken": snapshot.broken,
        "duplicates": snapshot.duplicates,
    }


def matrix(cells: Sequence[Cell]) -> dict[str, dict[str, dict[str, int]]]:
    """Return level, type, verdict: how many URLs; the type "" is not known yet."""
    found: dict[str, dict[str, dict[str, int]]] = {}
    for cell in cells:
        counts = found.setdefault(cell.level, {}).setdefault(cell.type, {})
        counts[cell.verdict] = counts.get(cell.verdict, 0) + cell.number
    return found


def _by(cells: Sequence[Cell], name: str) -> dict[Any, int]:
    counts: Counter[Any] = Counter()
    for cell in cells:
        counts[getattr(cell, name)] += cell.number
    return dict(counts.most_common())


def _where(wanted: Asked) -> tuple[str, list[object]]:
    parts, values = [VIEWS[wanted.view]], list[object]()
    for name, value in wanted.equal.items():
        parts.append(f"{name} = ?")
        values.append("" if value == "not known" else value)
    if wanted.text:
        parts.append("(url LIKE ? ESCAPE '\\' OR text LIKE ? ESCAPE '\\' OR title LIKE ? ESCAPE '\\')")
        escaped = wanted.text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        values += [f"%{escaped}%"] * 3
    return " AND ".join(parts), values


def _total(snapshot: Snapshot, wanted: Asked, where: str, values: Sequence[object]) -> int | None:
    """Return how many rows the list has, None where they are more than DEEPEST and only a scan could tell."""
    if wanted.view in ("all", "fetched", "queued", "refused") and not wanted.text and wanted.equal.keys() <= _IN_CELLS:
        chosen = {name: "" if value == "not known" else value for name, value in wanted.equal.items()}
        return sum(
            cell.number
            for cell in snapshot.cells
            if wanted.view in ("all", cell.verdict) and all(getattr(cell, name) == chosen[name] for name in chosen)
        )
    limited = f"SELECT count(*) FROM (SELECT 1 FROM rows WHERE {where} LIMIT {DEEPEST + 1})"  # noqa: S608 - names of ours
    count: int = snapshot.rows(limited, values)[0][0]
    return count if count <= DEEPEST else None


def _shaped(snapshot: Snapshot, found: Sequence[Any]) -> Iterator[dict[str, Any]]:
    for row in found:
        values = dict(zip(_COLUMNS, row, strict=False))
        if values.pop("duplicate"):
            twin = snapshot.rows(_TWIN, (row[-1],))
            values["twin"] = twin[0][0] if twin else None
        yield values
