"""The audits at the end of a crawl: a sample of what each rule has skipped is fetched before it may end."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from spiderproj.store.rulebook import BEFORE_ALL, Standing

if TYPE_CHECKING:
    from spiderproj.store.database import Database
    from spiderproj.store.decisions import Decisions
    from spiderproj.store.rulebook import Rulebook

_WANTED = "min(149, max(20, skipped / 20))"
"""Size of the sample: with none of 20 wrong at most 14 % of the skips are, with none of 149 2 %, at 95 %."""

_UNCERTIFIED = (
    f"SELECT id, {_WANTED} - certified FROM rules"  # noqa: S608 - our own expression
    f" WHERE skipped > 0 AND certified < {_WANTED} AND pin IS NULL LIMIT 1"
)
_MEMBERS_AT_ONCE = 200


class Certificate:
    """Says which rules still lack audits, and has them made; *seed* makes the sample repeatable."""

    def __init__(self, database: Database, book: Rulebook, decisions: Decisions, seed: int | None) -> None:
        self._db = database
        self._book = book
        self._decisions = decisions
        self._random = random.Random(seed)  # noqa: S311 - takes samples, hides nothing

    @property
    def is_due(self) -> bool:
        """Whether the skips of any rule have to be audited."""
        return self._db.execute(_UNCERTIFIED).fetchone() is not None

    def audit(self) -> bool:
        """Queue a sample of the skips of one rule; return False when none lacks it."""
        found = self._db.execute(_UNCERTIFIED).fetchone()
        if found is None:
            return False
        rule = self._book.rule(found[0])
        for _ in range(found[1]):
            name = self._any_class(rule.id)
            if name is None:
                break
            row = self._random.choice(self._book.members(rule.id, Standing.SKIPPED, name, _MEMBERS_AT_ONCE))
            self._book.enlist(row, rule.id, name, Standing.AUDIT)
            rule.skipped -= 1
            self._decisions.requeue("id = ?", (row,))
        self._book.save(rule)
        return True

    def _any_class(self, rule: int) -> int | None:
        """Return a class with a skipped member, chosen at random: names are hashes."""
        after = self._random.randint(BEFORE_ALL, -BEFORE_ALL - 1)
        name = self._book.next_class(rule, Standing.SKIPPED, after)
        return name if name is not None else self._book.next_class(rule, Standing.SKIPPED, BEFORE_ALL)
