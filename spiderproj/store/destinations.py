"""Where a reference to a URL leads in the copy: to a stored file, or why there is none."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import IntEnum
from typing import Any, NamedTuple

from spiderproj.models import Reason, Verdict
from spiderproj.scope import MAX_HOPS
from spiderproj.store.database import Database
from spiderproj.urls import url_key

_SELECT = """
SELECT u.id, u.url, u.verdict, u.reason, CASE u.reason WHEN 'learned' THEN (
    SELECT r.url FROM members AS m JOIN classes AS k ON k.rule = m.rule AND k.name = m.class
    JOIN urls AS r ON r.id = k.url WHERE m.url = u.id
) ELSE f.final_url END, c.path
FROM urls AS u LEFT JOIN fetches AS f ON f.id = u.fetch LEFT JOIN contents AS c ON c.id = f.content
"""
_AT_ONCE = 400
_KEPT = 50_000  # about 20 MB
_BY_RULE = frozenset({Reason.SCOPE, Reason.LEVEL, Reason.TYPE, Reason.DEPTH, Reason.DENY, Reason.ALLOW, Reason.FILTER})
"""Reasons by which the user has said that a URL does not belong to the copy."""


class Kind(IntEnum):
    """What an audited reference is: also its place in a list of counts."""

    LOCAL = 0  # a file of the copy
    OUTSIDE = 1  # absolute on purpose: the user's rules leave it out
    BROKEN = 2  # on the site itself: its server has no whole answer for it
    MISSING = 3  # it belongs to the copy and is not there


class Destination(NamedTuple):
    """Where a URL leads: the *path* below ``files/`` of a file that is there, or the *reason* why it is missing."""

    kind: Kind
    path: str | None
    reason: str


class Destinations:
    """The destinations of the URLs of a store, with a bounded memory; *exists* tells whether a file is there."""

    def __init__(self, database: Database, exists: Callable[[str], bool]) -> None:
        self._db = database
        self._exists = exists
        self._by_id: dict[int, tuple[str, Destination]] = {}

    def of(self, ids: Iterable[int]) -> dict[str, Destination]:
        """Return the destination of each of the URLs *ids*, by URL."""
        wanted = dict.fromkeys(ids)
        missing = [number for number in wanted if number not in self._by_id]
        if len(self._by_id) + len(missing) > _KEPT:
            self._by_id = {number: self._by_id[number] for number in wanted if number in self._by_id}
        for start in range(0, len(missing), _AT_ONCE):
            part = missing[start : start + _AT_ONCE]
            marks = ",".join("?" * len(part))
            for row in self._db.execute(f"{_SELECT} WHERE u.id IN ({marks})", part).fetchall():
                self._by_id[row[0]] = (row[1], self._follow(row))
        return dict([self._by_id[number] for number in wanted if number in self._by_id])

    def of_url(self, url: str) -> Destination:
        """Return the destination of a *url* that may be unknown to the store."""
        row = self._row(url)
        return self._follow(row) if row is not None else Destination(Kind.MISSING, None, "not read")

    def _row(self, url: str) -> tuple[Any, ...] | None:
        for row in self._db.execute(f"{_SELECT} WHERE u.key = ?", (url_key(url),)).fetchall():
            if row[1] == url:
                found: tuple[Any, ...] = row
                return found
        return None

    def _follow(self, row: tuple[Any, ...]) -> Destination:
        """Return the destination of a row, through redirects; a URL that was skipped is what stands for it."""
        for _ in range(MAX_HOPS):
            leads_to = row[4]
            is_there = row[2] == Verdict.FETCHED and row[5] is not None
            if is_there or leads_to is None or (row[2] != Verdict.FETCHED and row[3] != Reason.LEARNED):
                break
            following = self._row(leads_to)
            if following is None:
                return Destination(Kind.MISSING, None, "not read")
            row = following
        return self._judged(*row[2:])

    def _judged(self, verdict: str, reason: str | None, _: str | None, path: str | None) -> Destination:
        if path is not None:
            if self._exists(path):
                return Destination(Kind.LOCAL, path, "")
            return Destination(Kind.MISSING, None, "file")
        if verdict == Verdict.QUEUED:
            return Destination(Kind.MISSING, None, verdict)
        if verdict == Verdict.FETCHED or reason == Reason.ERROR:
            return Destination(Kind.BROKEN, None, "")
        return (
            Destination(Kind.OUTSIDE, None, "") if reason in _BY_RULE else Destination(Kind.MISSING, None, reason or "")
        )
