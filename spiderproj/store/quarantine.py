"""URLs of families that have ceased to bring anything new: set aside, tried now and then, and to be had back.

A URL is looked at when its turn has come, not when it is found: a crawl whose families all bring something pays for a
counter and a digest a page. Everything is written in the transaction of the page that brought it.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple

from spiderproj.models import CrawlURL, Decision, LinkRole, Reason, Verdict
from spiderproj.store.families import Families
from spiderproj.traps import EAGER, WINDOW, Budget, Family, Look, State, family_names, is_far
from spiderproj.urls import split, url_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spiderproj.store.database import Database
    from spiderproj.store.decisions import Decisions
    from spiderproj.store.frontier import Frontier

_AT_ONCE: Final = 200
_LOOK_EVERY: Final = 32  # answers between two looks at which family is to be woken
_WAITING: Final = (
    "EXISTS (SELECT 1 FROM quarantine AS q WHERE q.family = families.id AND (q.far = 0 OR is_kept))"
    " AND (state = 'open' OR NOT is_final)"
)
_DUE: Final = (
    "SELECT 1 FROM urls WHERE id = ? AND fetch IS NOT NULL UNION ALL SELECT 1 FROM members WHERE url = ? LIMIT 1"
)


class Brought(NamedTuple):
    """What an answer has brought, as far as its being new goes."""

    digest: int  # of its bytes, or of where it redirects
    title: str | None = None
    read: Callable[[], int] | None = None  # reads the main content of a page and returns its digest, 0: there is none


class Quarantine:
    """The tables ``quarantine`` and ``novelties``.

    *read_stored* maps the id of a fetched URL to the digest of its page's main content, 0 when it has none; *clock*
    tells the POSIX time.
    """

    def __init__(
        self,
        database: Database,
        decisions: Decisions,
        frontier: Frontier,
        read_stored: Callable[[int], int],
        clock: Callable[[], float],
        budget: Budget = EAGER,
    ) -> None:
        self._db = database
        self._decisions = decisions
        self._frontier = frontier
        self._read_stored = read_stored
        self._clock = clock
        self._budget = budget
        self._families = Families(database)
        self._total: int = database.scalar("SELECT coalesce(sum(fetched), 0) FROM families")

    @property
    def has_work(self) -> bool:
        """Whether URLs that are set aside are to be fetched after all, or some of them tried."""
        return self._families.first(_WAITING) is not None

    def admits(self, url: CrawlURL) -> bool:
        """Say whether a leased *url* is to be fetched; when not, it is refused and set aside."""
        watched = self._families.watched
        if not watched or not url.via or url.role is not LinkRole.NAVIGATION:
            return True  # a seed or a sitemap names it, or a page needs it
        parts = split(url.url)
        own, *wider = family_names(parts)
        first = watched.get(url_key(own))
        if first is not None and first.refuses_far_dates and is_far(parts, self._clock()):
            return self._is_due(url.id) or self._set_aside(url, first, far=True)
        family = self._barring([own, *wider])
        if family is None or self._is_due(url.id):
            return True
        if family.admit():
            self._families.keep(family)
            return True
        return self._set_aside(url, family, far=False)

    def observe(self, url: CrawlURL, brought: Brought | None) -> None:
        """Take in what the answer to *url* has brought, None when it is none that says anything."""
        if url.role is not LinkRole.NAVIGATION:
            return
        own, *wider = map(self._families.of, family_names(split(url.url)))
        families = [own, *wider] if own.fetched < WINDOW else [own]  # wider ones are for those that stay small
        if brought is None:
            for family in families:
                family.observe(is_new=None, total=self._total, budget=self._budget)
        else:
            self._total += 1
            self._judge(families, url.id, brought)
        for family in families:
            self._families.keep(family)
            if family.state is State.WOKEN:
                self._bring_back(family)
        if self._total % _LOOK_EVERY == 0:
            self._wake_due()

    def advance(self) -> bool:
        """Go on where nothing else is left: let go of what is released, wake what is parked; say whether."""
        family = None if self._frontier.pending else self._families.first(_WAITING)
        if family is None:
            return False
        if family.state is State.OPEN:
            self._release(family)
        else:
            family.wake(is_final=True)
            self._families.keep(family)
            self._bring_back(family)
        return True

    def begin_anew(self) -> None:
        """Forget which contents an earlier crawl has met: they are new to this one."""
        self._db.write("DELETE FROM novelties")
        self._total = 0
        self._families.begin_anew()

    def flush(self) -> None:
        """Write what is only in memory; comes before a commit."""
        self._families.flush()

    def _barring(self, names: Sequence[str]) -> Family | None:
        """Return the family on account of which a URL may be set aside; a healthy one is not barred by a wider one."""
        for name in names:
            family = self._families.watched.get(url_key(name))
            if family is not None and family.state is not State.OPEN:
                return family if name == names[0] or not self._families.of(names[0]).is_healthy else None
        return None

    def _judge(self, families: Sequence[Family], row: int, brought: Brought) -> None:
        """Let families know whether an answer has brought anything new."""
        is_new = self._note(brought.digest)
        looks = [Look.BYTES if brought.read is None else family.look(self._budget) for family in families]
        if brought.title:
            title = url_key(f"title: {brought.title}")
            if is_new and Look.CONTENT in looks:
                self._read_twin(title)
            self._note(title, row)
        if is_new and Look.CONTENT in looks and brought.read is not None and (digest := brought.read()):
            is_new = self._note(digest)
        for family, look in zip(families, looks, strict=True):
            is_judged = look is not Look.NONE
            family.observe(is_new=is_new, total=self._total, is_judged=is_judged, budget=self._budget)

    def _note(self, digest: int, row: int | None = None) -> bool:
        """Note a content, or the title of the page with the id *row*, and say whether it is new."""
        return self._db.write("INSERT OR IGNORE INTO novelties VALUES (?, ?)", (digest, row)).rowcount > 0

    def _read_twin(self, title: int) -> None:
        """Note the content of the first page with a *title*, unless that has been done: it may be the same page."""
        row = self._db.scalar("SELECT url FROM novelties WHERE digest = ?", (title,))
        if row is None:
            return
        self._db.write("UPDATE novelties SET url = NULL WHERE digest = ?", (title,))
        if digest := self._read_stored(row):
            self._note(digest)

    def _is_due(self, row: int) -> bool:
        """Say whether a URL has been fetched before, or is a trial of a learned rule."""
        return self._db.scalar(_DUE, (row, row)) is not None

    def _set_aside(self, url: CrawlURL, family: Family, *, far: bool) -> bool:
        """Refuse a URL for now, and return that it is not let in."""
        self._db.write("INSERT OR REPLACE INTO quarantine VALUES (?, ?, ?)", (url.id, family.id, far))
        self._decisions.settle(url, Decision(Verdict.REFUSED, Reason.TRAP, _rule(family, far=far)), None, None)
        return False

    def _wake_due(self) -> None:
        parked = [one for one in self._families.watched.values() if one.state is State.PARKED]
        for family in [one for one in parked if self._total >= one.next_wake]:
            family.wake()
            self._families.keep(family)
            self._bring_back(family)

    def _bring_back(self, family: Family) -> None:
        """Queue as many URLs, chosen at random, as a wake-up wants, once those let through before are answered."""
        if family.given > family.tried or family.wants <= 0:
            return
        for row in {self._any_of(family.id) for _ in range(family.wants)} - {None}:
            self._queue(row)

    def _any_of(self, family: int) -> int | None:
        """Return a URL of a family that is set aside, None when there is none."""
        bounds = "SELECT min(url), max(url) FROM quarantine WHERE family = ? AND far = 0"
        first, last = self._db.execute(bounds, (family,)).fetchone()
        if first is None:
            return None
        place = random.randint(first, last)  # noqa: S311 - a sample, no secret
        query = "SELECT url FROM quarantine WHERE family = ? AND far = 0 AND url >= ? ORDER BY url LIMIT 1"
        found: int = self._db.scalar(query, (family, place))
        return found

    def _release(self, family: Family) -> None:
        """Queue some of what is set aside of a family that is open again."""
        query = "SELECT url FROM quarantine WHERE family = ? AND (far = 0 OR ?) ORDER BY url LIMIT ?"
        for (row,) in self._db.execute(query, (family.id, family.is_kept, _AT_ONCE)).fetchall():
            self._queue(row)

    def _queue(self, row: int | None) -> None:
        self._db.write("DELETE FROM quarantine WHERE url = ?", (row,))
        self._decisions.requeue("id = ?", (row,))


def release_all(database: Database, decisions: Decisions) -> None:
    """Let everything in that is set aside: the crawl goes on without looking for traps."""
    if database.scalar("SELECT 1 FROM families LIMIT 1") is None:
        return
    decisions.requeue("id IN (SELECT url FROM quarantine)", ())
    for table in ("quarantine", "families", "novelties"):
        database.write(f"DELETE FROM {table}")  # noqa: S608 - our tables


def _rule(family: Family, *, far: bool) -> str:
    if far:
        return f"trap {family.id}: a date far away, in the family {family.name}; scrapy traps DIR --release {family.id}"
    return (
        f"trap {family.id}: {family.recent.bit_count()} of the last {min(family.judged, WINDOW)} pages of the family"
        f" {family.name} were new, {family.new} of all {family.fetched}; scrapy traps DIR --release {family.id}"
    )
