"""Reading many URLs of the store by id, most of them again and again, as lines of ``links.jsonl`` name them."""

from __future__ import annotations

from collections.abc import Sequence

from spiderproj.store.database import Database
from spiderproj.store.lines import Target, target_of

_SELECT = "SELECT id, url, depth, level, type, verdict, reason FROM urls"
_AT_ONCE = 400
_KEPT = 50_000  # about 20 MB


class Targets:
    """What a line says of a URL, by its id, with a bounded memory."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._kept: dict[int, Target] = {}

    def of(self, ids: Sequence[int]) -> dict[int, Target]:
        """Return what a line says of each of *ids*; the dictionary may hold others too."""
        missing = [number for number in dict.fromkeys(ids) if number not in self._kept]
        if not missing:
            return self._kept
        if len(self._kept) > _KEPT:
            kept = self._kept
            self._kept = {number: kept[number] for number in ids if number in kept}
        for start in range(0, len(missing), _AT_ONCE):
            self._load(missing[start : start + _AT_ONCE])
        return self._kept

    def _load(self, ids: Sequence[int]) -> None:
        marks = ",".join("?" * len(ids))
        statement = f"{_SELECT} WHERE id IN ({marks})"
        for number, *row in self._db.execute(statement, ids):
            self._kept[number] = target_of(*row)
