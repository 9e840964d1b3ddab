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
_RECENT: Final = """
SELECT f.fetched_at, f.seconds, f.status, f.size, f.error IS NOT NULL FROM fetches AS f ORDER BY f.id DESC LIMIT ?
"""
_PAGES: Final = """
SELECT u.url, f.status, f.size, f.fetched_at, f.error, coalesce(f.title, '')
FROM fetches AS f JOIN urls AS u ON u.id = f.url ORDER BY f.id DESC LIMIT ?
"""
_WRONG: Final = """
SELECT u.url, f.error, f.fetched_at FROM (SELECT * FROM fetches ORDER BY id DESC LIMIT ?) AS f
    JOIN urls AS u ON u.id = f.url WHERE f.error IS NOT NULL ORDER BY f.id DESC LIMIT ?
"""
_HOSTS: Final = """
SELECT h.key, count(*), sum(f.worker IS NOT NULL AND f.worker != '~later'), sum(coalesce(f.worker, '') = '~later')
FROM frontier AS f JOIN hosts AS h ON h.id = f.host GROUP BY f.host ORDER BY 2 DESC LIMIT 8
"""


def progress(folder: Path) -> dict[str, Any]:
    """Return what the crawl in *folder* has done, does now and has still to do."""
    running = owner(folder)
    with closing(opened(folder)) as database, database.reading():
        rows = database.execute(_RECENT, (_LATEST,)).fetchall()
        now = time.time()
        pending = database.scalar("SELECT count(*) FROM frontier")
        hosts = [
            dict(zip(("host", "pending", "leased", "later"), row, strict=True)) for row in database.execute(_HOSTS)
        ]
        rate = rate_of([row[0] for row in rows], now)
        return {
            "state": "running" if running else database.meta("state"),
            "pid": running.pid if running else None,
            "started": running.started if running else None,
            "answers": database.scalar("SELECT max(id) FROM fetches") or 0,
            "known": database.scalar("SELECT max(id) FROM urls") or 0,
            "files": database.scalar("SELECT max(id) FROM contents") or 0,
            "pending": pending,
            "rate": rate if running else 0.0,
            "left": pending / rate if running and rate > 0 else None,
            "limit": limit_of(hosts, [row[1] for row in rows[:50]], rate) if running else None,
            "bars": bars([row[0] for row in rows], now),
            "hosts": hosts,
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


def limit_of(hosts: list[dict[str, Any]], seconds: list[float], rate: float) -> str:
    """Return what the speed seems to be limited by, in words, from what the store shows."""
    if not hosts:
        return "nothing is queued"
    waiting = sum(host["later"] for host in hosts)
    leased = sum(host["leased"] for host in hosts)
    if waiting and waiting == sum(host["pending"] for host in hosts):
        return "waiting to try again what failed"
    typical = sorted(seconds)[len(seconds) // 2] if seconds else 0.0
    if leased > 1 and typical * rate > leased / 3:
        return f"the server: an answer takes {typical:.1f} s"
    if len(hosts) == 1:
        return "politeness: one host is asked, at its own pace"
    return "politeness: each host is asked at its own pace"
