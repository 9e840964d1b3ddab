"""What a host's answers have taught about its URLs: the type that comes behind each ending.

A family is a host's URLs with one ending. It is taken to be of one type after a run of equal answers, and the run asked
for grows with every change, so that families of mixed types (half of "download.php") never become certain.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from spiderproj.mediatype.endings import extension
from spiderproj.models import ResourceType

CERTAIN_AFTER = 20
"""Answers of one type in a row that make a family certain; as many again for each time it changed its type."""

MAX_FAMILIES = 65_536
"""Families remembered; beyond it the oldest go, so that a host that invents endings fills no memory."""


class Family(NamedTuple):
    """What is known of one family; a row to store."""

    host: str
    ending: str
    type: ResourceType
    streak: int  # answers in a row of that type
    changes: int  # how often the type was another than before

    @property
    def is_certain(self) -> bool:
        """Whether the next URL of the family may be taken to be of this type."""
        return self.streak >= CERTAIN_AFTER * (1 + self.changes)


class Families:
    """All that was learned in one crawl, and in an earlier one when its *rows* are given."""

    def __init__(self, rows: Iterable[Family] = ()) -> None:
        self._families = {(row.host, row.ending): row for row in rows}

    def learn(self, host: str, path: str, found: ResourceType) -> None:
        """Note that the URL with *path* on *host* turned out to be of type *found*."""
        key = host, extension(path)
        known = self._families.get(key)
        if known is None:
            if len(self._families) >= MAX_FAMILIES:
                del self._families[next(iter(self._families))]
            self._families[key] = Family(*key, found, streak=1, changes=0)
        elif known.type is found:
            self._families[key] = known._replace(streak=known.streak + 1)
        else:
            self._families[key] = Family(*key, found, streak=1, changes=known.changes + 1)

    def certain(self, host: str, path: str) -> Family | None:
        """Return the family of the URL with *path* on *host* when its type is certain."""
        family = self._families.get((host, extension(path)))
        return family if family is not None and family.is_certain else None

    def rows(self) -> list[Family]:
        """Return what was learned, oldest first."""
        return list(self._families.values())
