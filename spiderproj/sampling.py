"""A survey's place between scheduler and frontier: the next lease is the next of the sample, until enough was asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import orjson

from spiderproj.order import OrderKey
from spiderproj.survey import Sample

if TYPE_CHECKING:
    from spiderproj.job import Job
    from spiderproj.models import CrawlURL

_FIRST = OrderKey(-1, 0, 0)  # before any depth
_AGAIN = "SELECT 1 FROM frontier WHERE first = ? AND worker IS NULL LIMIT 1"
_IDS_A_QUERY = 400
HUBS = "survey.hubs"
"""Name in the store's ``meta``: the ids of the URLs that were read because many pages link to them."""


class Sampler:
    """Hands out the URLs of *job* in the order of a sample, until *budget* requests are made or on their way."""

    def __init__(self, job: Job, budget: int, requests: Callable[[], int]) -> None:
        self._job = job
        self._budget = budget
        self._requests = requests
        self._sample = Sample()
        self._handed = 0
        self._next: int | None = None
        self._last_fetch = 0
        self._hubs: list[int] = orjson.loads(job.database.meta(HUBS) or "[]")
        for number, url in job.database.execute("SELECT u.id, u.url FROM frontier AS f JOIN urls AS u ON u.id = f.url"):
            self._sample.add(number, url)
        job.lease = self.lease
        job.database.set_meta(HUBS, orjson.dumps(self._hubs).decode())

    @property
    def is_done(self) -> bool:
        """Whether nothing is on its way, and nothing more will be."""
        if self._in_flight:
            return False
        frontier = self._job.frontier
        return not frontier.pending or self._is_enough or not (frontier.waiting() or self._has_next())

    def lease(self, now: float, wait: Callable[[str], float]) -> CrawlURL | None:
        """Lease the next URL of the sample, None when its host is not ready or enough was asked."""
        if self._is_enough:
            return None
        if not self._has_next():
            return None
        leased = self._job.frontier.lease(now, wait)
        if leased is not None:
            self._handed += 1
        return leased

    @property
    def _in_flight(self) -> int:
        return self._handed - self._job.run_ended

    @property
    def _is_enough(self) -> bool:
        return self._requests() + self._in_flight >= self._budget

    def _has_next(self) -> bool:
        """See to it that the next of the sample, or one that is to be tried again, stands before all others."""
        self._learn()
        place = self._place(self._next) if self._next is not None else None
        if self._next is None or place is None:
            self._next = None
            self._choose()
        elif place != _FIRST.first:  # a shorter way to it was found, and gave it another place
            self._job.frontier.move(self._next, _FIRST)
        return self._next is not None or self._job.database.scalar(_AGAIN, (_FIRST.first,)) is not None

    def _choose(self) -> None:
        while (taken := self._sample.take()) is not None:
            if self._place(taken.number) is not None:
                self._job.frontier.move(taken.number, _FIRST)
                self._next = taken.number
                if taken.is_hub:
                    self._hubs.append(taken.number)
                    self._job.database.set_meta(HUBS, orjson.dumps(self._hubs).decode())
                return

    def _place(self, number: int) -> int | None:
        """Return the first key of a URL that waits for its turn, None for one that does not."""
        place: int | None = self._job.database.scalar(
            "SELECT first FROM frontier WHERE url = ? AND worker IS NULL", (number,)
        )
        return place

    def _learn(self) -> None:
        """Add to the sample what the pages link to that were read since the last time."""
        database = self._job.database
        rows = database.execute("SELECT f.id, p.links FROM fetches AS f LEFT JOIN page_links AS p ON p.source = f.url"
                                " WHERE f.id > ? ORDER BY f.id", (self._last_fetch,)).fetchall()  # fmt: skip
        for fetch, links in rows:
            self._last_fetch = fetch
            if links is not None:
                with database.reading():
                    targets = list({row[0] for row in orjson.loads(links)})
                self._add([number for number in targets if not self._sample.is_waiting(number)])
                for number in targets:
                    if self._sample.is_waiting(number):
                        self._sample.linked(number)

    def _add(self, numbers: list[int]) -> None:
        """Make those of the URLs *numbers* candidates that wait in the frontier."""
        for start in range(0, len(numbers), _IDS_A_QUERY):
            part = numbers[start : start + _IDS_A_QUERY]
            marks = ",".join("?" * len(part))
            for number, url in self._job.database.execute(
                "SELECT u.id, u.url FROM frontier AS f JOIN urls AS u ON u.id = f.url"  # noqa: S608 - question marks
                f" WHERE f.worker IS NULL AND f.url IN ({marks})", part,
            ):  # fmt: skip
                self._sample.add(number, url)
