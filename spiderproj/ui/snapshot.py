"""A stored crawl as one flat, indexed table in a temporary file, so that any list of it is there in milliseconds.

The store is made for crawling: sorting 200,000 URLs by size, or searching them, would take a second of it each time.
The table is built by one statement, off the event loop and without Python's lock, and anew when the store has changed.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from spiderproj.store import Database
from spiderproj.ui.families import family

if TYPE_CHECKING:
    from pathlib import Path

_REST: Final = 1.5  # seconds between two builds at least
_SHARE: Final = 8  # building takes at most about one part in so many of the time
_TABLE: Final = """
CREATE TABLE rows AS
SELECT u.id, u.via, u.url, h.key AS host, u.level, coalesce(u.type, '') AS type, u.depth, u.role, u.near, u.hops,
    u.hint, u.answered, u.text, u.verdict, coalesce(u.reason, '') AS reason, u.rule, f.status, f.size, f.seconds,
    f.fetched_at, f.title, f.final_url, f.error, c.path, f.duplicate, f.content, family(u.url) AS family,
    u.verdict = 'fetched' AND f.error IS NOT NULL OR coalesce(u.reason, '') IN ('error', 'invalid') AS broken
FROM store.urls AS u JOIN store.hosts AS h ON h.id = u.host
    LEFT JOIN store.fetches AS f ON f.id = u.fetch LEFT JOIN store.contents AS c ON c.id = f.content
"""
_INDEXES: Final = (
    "CREATE UNIQUE INDEX rows_id ON rows (id)",
    "CREATE INDEX rows_kind ON rows (verdict, level, type, reason, depth)",
    "CREATE INDEX rows_host ON rows (host)",
    "CREATE INDEX rows_family ON rows (family)",
    "CREATE INDEX rows_url ON rows (url)",
    "CREATE INDEX rows_text ON rows (text)",
    "CREATE INDEX rows_size ON rows (size)",
    "CREATE INDEX rows_depth ON rows (depth)",
    "CREATE INDEX rows_level ON rows (level)",
    "CREATE INDEX rows_type ON rows (type)",
    "CREATE INDEX rows_twin ON rows (content) WHERE NOT duplicate",
    "CREATE INDEX rows_duplicate ON rows (id) WHERE duplicate",
    "CREATE INDEX rows_broken ON rows (id) WHERE broken",
)


_CELLS: Final = "SELECT verdict, level, type, reason, depth, count(*) FROM rows GROUP BY 1, 2, 3, 4, 5"
_LARGEST: Final = "SELECT {0}, count(*) FROM rows GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 200"


class Stamp(NamedTuple):
    """What changes whenever a store does."""

    store: tuple[int, int]
    log: tuple[int, int]


class Cell(NamedTuple):
    """How many URLs have these five in common."""

    verdict: str
    level: str
    type: str
    reason: str
    depth: int
    number: int


class Snapshot:
    """The table of one state of a store, which several threads may ask, and what is counted once for all."""

    def __init__(self, path: Path, stamp: Stamp) -> None:
        self.stamp = stamp
        self.made_at = time.time()
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False)
        self._connection.execute("PRAGMA mmap_size = 1073741824")
        path.unlink()  # open, so readable until it is closed; nothing is left behind by a kill
        self.cells = [Cell._make(row) for row in self.rows(_CELLS)]
        self.hosts: dict[str, int] = dict(self.rows(_LARGEST.format("host")))
        self.families: dict[str, int] = dict(self.rows(_LARGEST.format("family")))
        self.total = sum(cell.number for cell in self.cells)
        self.stored: int = self.rows("SELECT count(*) FROM rows WHERE path IS NOT NULL AND error IS NULL")[0][0]
        self.broken: int = self.rows("SELECT count(*) FROM rows WHERE broken")[0][0]
        self.duplicates: int = self.rows("SELECT count(*) FROM rows WHERE duplicate")[0][0]

    def rows(self, statement: str, values: Sequence[object] = ()) -> list[Any]:
        """Return all rows of a statement."""
        with self._lock:
            return self._connection.execute(statement, values).fetchall()


class Snapshots:
    """The latest snapshot of each store, built by *run* (which runs a function in a thread) in the folder *place*."""

    def __init__(self, place: Path, run: Callable[[Callable[[], None]], object]) -> None:
        self._place = place
        self._run = run
        self._lock = threading.Lock()
        self._made: dict[Path, Snapshot] = {}
        self._failed: dict[Path, tuple[Stamp, Exception]] = {}
        self._building: set[Path] = set()
        self._next: dict[Path, float] = {}
        self._number = 0

    def of(self, store: Path, *, is_still: bool) -> Snapshot | None:
        """Return the latest snapshot, None while the first is being built; raises what building it raised.

        Of a store that *is_still*, because no crawl writes to it, only what it holds now is given.
        """
        stamp = stamp_of(store)
        with self._lock:
            made = self._made.get(store)
            failed = self._failed.get(store)
            if failed is not None and failed[0] == stamp:
                raise failed[1]
            is_due = is_still or time.monotonic() >= self._next.get(store, 0.0)
            is_current = made is not None and made.stamp == stamp
            if not is_current and is_due and store not in self._building:
                self._building.add(store)
                self._number += 1
                path = self._place / f"{self._number}.db"
                self._run(lambda: self._build(store, stamp, path))
            return made if is_current or not is_still else None

    def _build(self, store: Path, stamp: Stamp, path: Path) -> None:
        began = time.monotonic()
        try:
            made: Snapshot | None = build(store, stamp, path)
            error: Exception | None = None
        except Exception as problem:  # noqa: BLE001 - whatever it is, it is the answer to who asks next
            made, error = None, problem
        with self._lock:
            self._building.discard(store)
            self._next[store] = time.monotonic() + max(_REST, _SHARE * (time.monotonic() - began))
            if made is not None:
                self._made[store] = made  # the old one goes when its last reader does
            elif error is not None:
                self._failed[store] = (stamp, error)


def stamp_of(store: Path) -> Stamp:
    """Return what tells whether the *store* has changed."""

    def of(path: Path) -> tuple[int, int]:
        with suppress(OSError):
            status = path.stat()
            return status.st_mtime_ns, status.st_size
        return 0, 0

    return Stamp(of(store), of(store.with_name(f"{store.name}-wal")))


def build(store: Path, stamp: Stamp, path: Path) -> Snapshot:
    """Return a snapshot of the *store*, made at *path*; StoreDamagedError and the like when it cannot be read."""
    Database(store, read_only=True).close()  # says what is wrong with it
    with closing(sqlite3.connect(path, isolation_level=None)) as made:
        for pragma in ("journal_mode = OFF", "synchronous = OFF", "temp_store = MEMORY", "cache_size = -65536"):
            made.execute(f"PRAGMA {pragma}")
        made.create_function("family", 1, family, deterministic=True)
        made.execute("ATTACH ? AS store", (f"{store.absolute().as_uri()}?mode=ro",))
        made.execute(_TABLE)
        for index in _INDEXES:
            made.execute(index)
    return Snapshot(path, stamp)
