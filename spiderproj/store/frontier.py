"""The frontier: URLs known and not yet fetched, handed out in strict order, one lease at a time.

Rows are plain columns, never pickled requests. ``worker`` is NULL for a URL that waits its turn, the worker's name
while it is leased, ``'~later'`` while it waits for ``ready_at`` (a retry), and ``'~held'`` while it may turn out to be
a page known already. Leases end with the process: at the start whatever is not held or waiting for its turn is put
back, found by an index that holds only such rows.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import NamedTuple

from spiderproj.failpoints import failpoint
from spiderproj.models import CrawlURL, Level, LinkRole, ResourceType
from spiderproj.order import OrderKey
from spiderproj.store.database import Database

_LATER = "~later"
_HELD = "~held"

_HEAD = (
    "SELECT first, second, third, url FROM frontier WHERE host = ? AND worker IS NULL"
    " ORDER BY first, second, third, url LIMIT 1"
)
_ROW = (
    "SELECT u.id, u.url, u.depth, v.url, u.level, u.role, u.near, u.hops, f.attempts, u.text, u.hint"
    " FROM frontier AS f JOIN urls AS u ON u.id = f.url LEFT JOIN urls AS v ON v.id = u.via WHERE f.url = ?"
)


class Head(NamedTuple):
    """The first pending URL of a host, by its order key."""

    first: int
    second: int
    third: int
    url: int
    host: int


class Frontier:
    """The pending URLs of one crawl. Hosts are numbers here; ``host_key`` tells their names."""

    def __init__(self, database: Database, worker: str) -> None:
        self._db = database
        self._worker = worker
        self._db.write("UPDATE frontier SET worker = NULL, ready_at = 0 WHERE worker < ? OR worker > ?", (_HELD, _HELD))
        self.pending: int = self._db.scalar("SELECT count(*) FROM frontier")
        self.held: int = self._db.scalar("SELECT count(*) FROM frontier WHERE worker = ?", (_HELD,))
        self._leased = 0
        self._hosts: dict[str, int] = {}
        self._keys: dict[int, str] = {}
        self._heads: dict[int, Head] = {}
        self._ready: list[Head] = []  # heap; an entry counts only while it equals its host's head
        self._blocked: set[int] = set()  # hosts that were not ready when they were asked
        self._later: list[tuple[float, int]] = []  # heap of (ready_at, url)
        for (host,) in self._db.execute("SELECT DISTINCT host FROM frontier").fetchall():
            self._renew_head(host)

    def host_id(self, key: str) -> int:
        """Return the number of the host *key*, giving it one when it is new."""
        found = self._hosts.get(key)
        if found is None:
            found = self._db.scalar("SELECT id FROM hosts WHERE key = ?", (key,))
            if found is None:
                found = self._db.write("INSERT INTO hosts (key) VALUES (?)", (key,)).lastrowid or 0
            self._hosts[key] = found
            self._keys[found] = key
        return found

    def host_key(self, host: int) -> str:
        """Return the key of the host numbered *host*."""
        key = self._keys.get(host)
        if key is None:
            key = str(self._db.scalar("SELECT key FROM hosts WHERE id = ?", (host,)))
            self._keys[host] = key
            self._hosts[key] = host
        return key

    def add(self, url: int, host: int, key: OrderKey, *, is_held: bool = False) -> None:
        """Queue a URL that is not in the frontier; one that is held is not handed out until ``free``."""
        failpoint("store.queue")
        self._db.write("INSERT INTO frontier (url, host, first, second, third, worker) VALUES (?, ?, ?, ?, ?, ?)",
                       (url, host, *key, _HELD if is_held else None))  # fmt: skip
        self.pending += 1
        self.held += is_held
        if not is_held:
            self._offer(Head._make((*key, url, host)))

    def free(self, url: int) -> None:
        """Let a held URL wait for its turn like others."""
        row = self._db.write("UPDATE frontier SET worker = NULL WHERE url = ? AND worker = ?"
                             " RETURNING first, second, third, url, host", (url, _HELD)).fetchone()  # fmt: skip
        if row:
            self.held -= 1
            self._offer(Head._make(row))

    def free_all(self) -> None:
        """Let every held URL wait for its turn."""
        self._db.write("UPDATE frontier SET worker = NULL WHERE worker = ?", (_HELD,))
        self.held = 0
        for (host,) in self._db.execute("SELECT DISTINCT host FROM frontier").fetchall():
            self._renew_head(host)

    def drop(self, url: int) -> None:
        """Take a held URL out."""
        if self._db.write("DELETE FROM frontier WHERE url = ? AND worker = ?", (url, _HELD)).rowcount:
            self.pending -= 1
            self.held -= 1

    def move(self, url: int, key: OrderKey) -> None:
        """Give a pending URL another place in the order; one that is leased keeps going."""
        statement = "UPDATE frontier SET first = ?, second = ?, third = ? WHERE url = ? RETURNING host, worker"
        row = self._db.write(statement, (*key, url)).fetchone()
        if row and row[1] is None:
            self._renew_head(row[0])

    def lease(self, now: float, wait: Callable[[str], float]) -> CrawlURL | None:
        """Hand out the first URL whose host is ready, None when there is none.

        *wait* maps a host key to 0 when the host may be asked now, to anything else when not; such a host is passed
        over until ``unblock``. StoreDamagedError when URLs are pending and none can be found.
        """
        self._wake(now)
        while self._ready:
            head = self._ready[0]
            if self._heads.get(head.host) != head or head.host in self._blocked:
                heapq.heappop(self._ready)
            elif wait(self.host_key(head.host)):
                heapq.heappop(self._ready)
                self._blocked.add(head.host)
            else:
                heapq.heappop(self._ready)
                return self._take(head)
        if self.pending > self.held and not (self._leased or self._later or self._heads):
            raise self._db.damaged(f"{self.pending} URLs of its frontier are in no order")
        return None

    def unblock(self, key: str) -> None:
        """Consider the host *key* again: a request of its has ended, or its time has come."""
        host = self._hosts.get(key)
        if host in self._blocked:
            self._blocked.discard(host)
            if head := self._heads.get(host):
                heapq.heappush(self._ready, head)

    def finish(self, url: int) -> None:
        """End the lease of a URL whose outcome is recorded."""
        failpoint("store.finish")
        self._db.write("DELETE FROM frontier WHERE url = ?", (url,))
        self.pending -= 1
        self._leased -= 1

    def release(self, url: int, ready_at: float, *, failed: bool) -> None:
        """Put a leased URL back, to be handed out again at *ready_at*; *failed* counts an attempt."""
        failpoint("store.release")
        self._leased -= 1
        self._db.write("UPDATE frontier SET worker = ?, ready_at = ?, attempts = attempts + ? WHERE url = ?",
                       (_LATER, ready_at, failed, url))  # fmt: skip
        heapq.heappush(self._later, (ready_at, url))

    def has_other_host(self, key: str) -> bool:
        """Say whether a URL of another host than *key* waits its turn."""
        return len(self._heads) > (self._hosts.get(key) in self._heads)

    def has_host(self, key: str) -> bool:
        """Say whether any URL of the host *key* has been met in this run."""
        return key in self._hosts

    def has_head(self, host: int) -> bool:
        """Say whether a URL of the host numbered *host* waits its turn."""
        return host in self._heads

    def next_time(self) -> float | None:
        """Return when the next URL that waits becomes ready, None when none waits."""
        return self._later[0][0] if self._later else None

    def waiting_hosts(self) -> list[str]:
        """Return the keys of the hosts that have URLs waiting for their turn."""
        return list(map(self.host_key, self._heads))

    def waiting(self) -> int:
        """Return how many URLs wait for a time."""
        return len(self._later)

    def _take(self, head: Head) -> CrawlURL:
        failpoint("store.lease")
        self._db.write("UPDATE frontier SET worker = ? WHERE url = ?", (self._worker, head.url))
        self._leased += 1
        self._renew_head(head.host)
        row = self._db.execute(_ROW, (head.url,)).fetchone()
        with self._db.reading():
            url, text, depth, via, level, role, near, hops, attempts, anchor, hint = row
            return CrawlURL(url, text, depth, via or "", Level(level), LinkRole(role), bool(near), hops, attempts,
                            anchor, ResourceType(hint) if hint else None)  # fmt: skip

    def _offer(self, head: Head) -> None:
        current = self._heads.get(head.host)
        if current is None or head < current:
            self._heads[head.host] = head
            if head.host not in self._blocked:
                heapq.heappush(self._ready, head)

    def _renew_head(self, host: int) -> None:
        row = self._db.execute(_HEAD, (host,)).fetchone()
        if row is None:
            self._heads.pop(host, None)
            return
        head = Head._make((*row, host))
        self._heads[host] = head
        if host not in self._blocked:
            heapq.heappush(self._ready, head)

    def _wake(self, now: float) -> None:
        while self._later and self._later[0][0] <= now:
            _, url = heapq.heappop(self._later)
            row = self._db.write("UPDATE frontier SET worker = NULL WHERE url = ? AND worker = ?"
                                 " RETURNING first, second, third, url, host", (url, _LATER)).fetchone()  # fmt: skip
            if row:
                self._offer(Head._make(row))
