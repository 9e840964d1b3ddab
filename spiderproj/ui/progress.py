"""How a crawl goes, second by second, from what its store has committed: cheap queries only."""

from __future__ import annotations

import time
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final

from spiderproj.stored import opened
from spiderproj.ui.copies import owner

if TYPE_CHECKING:
    from pathlib import Path

_WINDOW: Final = 10.0  # seconds that a rate is taken over
_LATEST: Final = 3000  # answers that are looked at for it
_ERRORS: Final = 20
_BARS: Final = 60  # seconds of the chart
_SHOWN_PAGES: Final = 12
_COUNTED: Final = 10_000  # queued URLs that are counted each second; of more, the last snapshot tells
_QUEUE: Final = "SELECT u.level, count(*) FROM frontier AS f JOIN urls AS u ON u.id = f.url GROUP BY 1 ORDER BY 2 DESC"
_RECENT: Final = "SELECT fetched_at FROM fetches ORDER BY id DESC LIMIT ?"
_PAGES: Final = """
SELECT u.url, f.status, f.size, f.fetched_at, f.error, coalesce(f.title, '')
FROM fetches AS f JOIN urls AS u ON u.id = f.url ORDER BY f.id DESC LIMIT ?
"""
_WRONG: Final = """
SELECT u.url, f.error, f.fetched_at FROM (SELECT * FROM fetches ORDER BY id DESC LIMIT ?) AS f
    JOIN urls AS u ON u.id = f.url WHERE f.error IS NOT NULL ORDER BY f.id DESC LIMIT ?
"""


def progress(folder: Path) -> dict[str, Any]:
    """Return what the crawl in *folder* has done, does now and has still to do."""
    running = owner(folder)
    with closing(opened(folder)) as database, database.reading():
        times = [at for (at,) in database.execute(_RECENT, (_LATEST,))]
        now = time.time()
        pending = database.scalar("SELECT count(*) FROM frontier")
        rate = rate_of(times, now)
        return {
            "state": "running" if running else database.meta("state"),
            "pid": running.pid if running else None,
            "started": running.started if running else None,
            "answers": database.scalar("SELECT max(id) FROM fetches") or 0,
            "known": database.scalar("SELECT max(id) FROM urls") or 0,
            "files": database.scalar("SELECT max(id) FROM contents") or 0,
            "pending": pending,
            "queue": dict(database.execute(_QUEUE).fetchall()) if pending <= _COUNTED else None,
            "rate": rate if running else 0.0,
            "left": pending / rate if running and rate > 0 else None,
            "limit": database.meta("limited_by") if running else None,
            "bars": bars(times, now),
            "pages": [dict(zip(("url", "status", "size", "at", "error", "title"), row, strict=True))
                      for row in database.execute(_PAGES, (_SHOWN_PAGES,))],
            "errors": [dict(zip(("url", "error", "at"), row, strict=True))
                       for row in database.execute(_WRONG, (_LATEST, _ERRORS))],
        }  # fmt: skip


def rate_of(times: list[float], now: float) -> float:
    """Return answers a second over the last ten seconds of *times*, latest first."""
    recent = [at for at in times if now - _WINDOW <= at <= now]
    if not recent:
        return 0.0
    return len(recent) / max(1.0, min(_WINDOW, now - times[-1]))


def bars(times: list[float], now: float) -> list[int]:
    """Return how many answers came in each of the last sixty seconds, the latest last."""
    counts = [0] * _BARS
    for at in times:
        age = int(now - at)
        if 0 <= age < _BARS:
            counts[_BARS - 1 - age] += 1
    return counts
