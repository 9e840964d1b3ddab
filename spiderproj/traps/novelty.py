"""The novelty budget of one family of URLs: it is parked when its pages bring next to nothing that was not known.

Whatever is parked is woken now and then, with a few requests, and comes back when these find something.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Final, NamedTuple

WINDOW: Final = 50
"""Latest answers by which novelty is judged."""

FIRST_QUOTA: Final = 100
"""Answers of a family before it can be parked ..."""

CAREFUL_QUOTA: Final = 1000
"""... and before that in a crawl that is to have a row for each duplicate, too: a site's own families are smaller."""

PARK_BELOW: Final = 0.05
"""The share of new contents among the latest answers below which a family is parked ..."""

UNPARK_FROM: Final = 0.2
"""... and that among those of a wake-up from which it comes back."""

FAR_BELOW: Final = 0.2
"""The share below which a family's far dates are refused."""

WAKE_REQUESTS: Final = 20
"""Requests of a wake-up ..."""

HOPELESS_AFTER: Final = 10
"""... which ends after so many when none has brought anything: one family in ten with a share of 0.2 would do that."""

HEALTHY_FROM: Final = 0.8
"""The share from which only a sample of a family's pages is read."""

SAMPLED: Final = 8
"""One in so many pages is read of a family that is healthy: reading costs a tenth of all that a page costs ..."""

CAREFUL_SAMPLED: Final = 32
"""... and one in so many where that is to cost next to nothing."""

_RECENT: Final = (1 << WINDOW) - 1
_MAX_WAKES: Final = 30


class State(StrEnum):
    """What becomes of a family's URLs."""

    OPEN = "open"
    PARKED = "parked"  # they are set aside
    WOKEN = "woken"  # some are fetched, to see whether there is anything new by now


class Look(Enum):
    """How closely an answer is looked at."""

    BYTES = "bytes"  # new bytes are a new content
    CONTENT = "content"  # its main content is read
    NONE = "none"  # it says nothing about novelty


class Budget(NamedTuple):
    """How much a family is given, and how closely it is watched."""

    quota: int = FIRST_QUOTA
    sampled: int = SAMPLED


EAGER = Budget()
CAREFUL = Budget(CAREFUL_QUOTA, CAREFUL_SAMPLED)


@dataclass(slots=True)
class Family:
    """A family; a row to store."""

    id: int
    key: int  # hash of its name
    name: str
    state: State = State.OPEN
    fetched: int = 0  # answers that said something
    new: int = 0  # those not seen to be known
    judged: int = 0  # those that were looked at
    recent: int = 0  # the latest WINDOW of these, a bit each, 1: new
    wakes: int = 0  # in a row that found nothing
    next_wake: int = 0  # answers of the whole crawl at which it is woken
    given: int = 0  # URLs let through by this wake-up
    tried: int = 0  # of these, those with an answer
    found: int = 0  # of these, those that were new
    is_final: bool = False  # it has been woken at the end of the crawl, too
    is_kept: bool = False  # the user has released it: it is never parked again

    @property
    def novelty(self) -> float:
        """The share of new contents among the latest answers."""
        return self.recent.bit_count() / min(self.judged, WINDOW) if self.judged else 1.0

    @property
    def is_watched(self) -> bool:
        """Whether its URLs must be looked at before they are fetched."""
        return self.state is not State.OPEN or (self.fetched >= WINDOW and self.novelty < FAR_BELOW)

    @property
    def is_healthy(self) -> bool:
        """Whether enough of it is known to tell that it goes on bringing something."""
        return self.state is State.OPEN and self.fetched >= WINDOW and self.novelty >= UNPARK_FROM

    @property
    def refuses_far_dates(self) -> bool:
        """Whether a date that is far away is reason enough to leave a URL."""
        return not self.is_kept and self.fetched >= WINDOW and self.novelty < FAR_BELOW

    @property
    def wants(self) -> int:
        """How many more URLs the wake-up lets through."""
        if self.state is not State.WOKEN:
            return 0
        return (WAKE_REQUESTS if self.found else HOPELESS_AFTER) - self.given

    def look(self, budget: Budget) -> Look:
        """Say how closely the next answer is to be looked at."""
        if self.fetched < budget.quota - WINDOW and self.state is State.OPEN:
            return Look.BYTES
        if self.state is not State.OPEN or self.fetched < budget.quota or self.novelty < HEALTHY_FROM:
            return Look.CONTENT
        return Look.CONTENT if self.fetched % budget.sampled == 0 else Look.NONE

    def admit(self) -> bool:
        """Let a URL through, or not."""
        if self.state is State.WOKEN and self.wants > 0:
            self.given += 1
            return True
        return self.state is State.OPEN

    def observe(self, *, is_new: bool | None, total: int, is_judged: bool = True, budget: Budget = EAGER) -> None:
        """Take in the answer to a URL, None: it says nothing (no answer, an error), at *total* answers of the crawl."""
        if is_new is not None:
            self.fetched += 1
            self.new += is_new
            if is_judged:
                self.judged += 1
                self.recent = (self.recent << 1 | is_new) & _RECENT
        if self.state is State.WOKEN:
            self._observe_woken(is_new=bool(is_new), total=total)
        elif self._is_spent(budget):
            self._park(total)

    def wake(self, *, is_final: bool = False) -> None:
        """Let some URLs through again."""
        self.state = State.WOKEN
        self.given = self.tried = self.found = 0
        self.is_final = self.is_final or is_final

    def keep(self) -> None:
        """Let all URLs through from now on, by the user's word."""
        self.state, self.is_kept = State.OPEN, True

    def begin_anew(self) -> None:
        """Forget the answers of an earlier crawl, whose contents are new to the next; what is parked is soon woken."""
        self.fetched = self.new = self.judged = self.recent = self.wakes = 0
        self.is_final = False
        if self.state is not State.OPEN:
            self.state, self.next_wake = State.PARKED, 2 * FIRST_QUOTA

    def _is_spent(self, budget: Budget) -> bool:
        if self.state is not State.OPEN or self.is_kept or self.fetched < budget.quota:
            return False
        return self.novelty < PARK_BELOW

    def _observe_woken(self, *, is_new: bool, total: int) -> None:
        self.tried += 1
        self.found += is_new
        needed = round(UNPARK_FROM * WAKE_REQUESTS)
        if self.found >= needed:
            self.state, self.wakes, self.is_final = State.OPEN, 0, False
        elif (self.tried >= HOPELESS_AFTER and not self.found) or WAKE_REQUESTS - self.tried < needed - self.found:
            self.wakes = min(self.wakes + 1, _MAX_WAKES)
            self._park(total)

    def _park(self, total: int) -> None:
        """Set the family's URLs aside until the crawl is twice as large, and longer after each wake-up in vain."""
        self.state = State.PARKED
        self.given = self.tried = self.found = 0
        self.next_wake = min(total << (1 + self.wakes), 1 << 62)
