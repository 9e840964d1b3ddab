"""How a crawl went while it worked: a sample now and then, at most MAX_SAMPLES over all runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spiderproj.store.database import Database

MAX_SAMPLES: Final = 500

_FIRST_INTERVAL: Final = 1.0  # seconds between two samples; doubled each time that there are too many
_LONGEST: Final = 200  # characters of what limits
_INTERVAL: Final = "sample_seconds"
_THIN: Final = """
DELETE FROM samples WHERE id IN (SELECT id FROM (SELECT id, row_number() OVER (ORDER BY id) AS place FROM samples)
                                 WHERE place % 2 = 0)
"""


class Sample(NamedTuple):
    """Where a crawl stood at a time; pages and bytes are those of its run so far."""

    time: float  # POSIX seconds
    run: int
    pages: int
    pending: int
    bytes: int  # of bodies, decoded
    limited_by: str  # in the words of a status line
    peak_rss: int  # bytes


class Samples:
    """Takes the samples of one run into a store."""

    def __init__(self, database: Database) -> None:
        self._db = database
        with database.reading():
            self._interval = float(database.meta(_INTERVAL) or _FIRST_INTERVAL)
        self._run: int = database.scalar("SELECT coalesce(max(run), 0) + 1 FROM samples")
        self._fetch: int = database.scalar("SELECT coalesce(max(id), 0) FROM fetches")
        self._bytes = 0
        self._latest = 0.0

    def is_due(self, now: float) -> bool:
        """Say whether a sample is to be taken; also when the clock was set back."""
        return not 0 <= now - self._latest < self._interval

    def add(self, now: float, *, pages: int, pending: int, limited_by: str, peak_rss: int) -> None:
        """Take a sample; the next commit makes it last."""
        self._latest = now
        newest, size = self._db.execute(
            "SELECT max(id), coalesce(sum(size), 0) FROM fetches WHERE id > ?", (self._fetch,)
        ).fetchone()
        self._fetch = newest or self._fetch
        self._bytes += size
        row = Sample(now, self._run, pages, pending, self._bytes, limited_by[:_LONGEST], peak_rss)
        self._db.write("INSERT INTO samples VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)", row)
        if self._db.scalar("SELECT count(*) FROM samples") > MAX_SAMPLES:
            self._db.write(_THIN)
            self._interval *= 2
            self._db.set_meta(_INTERVAL, str(self._interval))


def samples(database: Database) -> Iterator[Sample]:
    """Yield all samples, in their order."""
    columns = ", ".join(Sample._fields)
    yield from map(Sample._make, database.execute(f"SELECT {columns} FROM samples ORDER BY id"))  # noqa: S608 - ours
