"""The ledger: what the answers of servers brought, as fetches, contents, links, and the verdicts on URLs.

``record`` writes all that one answer brings, together with the end of the URL's lease.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from spiderproj.failpoints import failpoint
from spiderproj.models import CrawlURL, Decision, Link, Reason, ResourceType, Verdict
from spiderproj.scope import MAX_HOPS, Source
from spiderproj.store.database import Database
from spiderproj.store.decisions import Decisions
from spiderproj.store.known import LinkRow
from spiderproj.store.page_links import PageLinks
from spiderproj.urls import url_key

_RETRIED = (Reason.ERROR.value, Reason.ROBOTS.value, Reason.WINDOW.value, Reason.BUDGET.value)

_FETCHED = Decision(Verdict.FETCHED, None, "")

_VALIDATORS = (
    "SELECT f.etag, f.last_modified FROM urls AS u JOIN fetches AS f ON f.id = u.fetch"
    " JOIN contents AS c ON c.id = f.content WHERE u.id = ?"
)
_LAST_GOOD = (
    "SELECT f.type, f.content_type, f.size, f.content, f.duplicate, f.etag, f.last_modified, f.title"
    " FROM urls AS u JOIN fetches AS f ON f.id = u.fetch JOIN contents AS c ON c.id = f.content WHERE u.id = ?"
)

_LEADS_TO = (
    "SELECT f.final_url FROM urls AS u JOIN fetches AS f ON f.id = u.fetch WHERE u.key = ? AND u.url = ? AND f.id >= ?"
)


class Validators(NamedTuple):
    """What the server said to recognise a stored body by (RFC 9110, 8.8)."""

    etag: str | None
    last_modified: str | None


class Content(NamedTuple):
    """A body that is stored: under which path, and which URL brought it first."""

    id: int
    path: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one fetch of a URL came to, as a row of ``fetches``."""

    status: int  # 0 when there was no answer
    fetched_at: float
    seconds: float = 0.0
    final_url: str | None = None  # where a redirect leads
    type: ResourceType | None = None
    content_type: str | None = None
    size: int = 0
    content: int | None = None
    duplicate: bool = False
    etag: str | None = None
    last_modified: str | None = None
    title: str | None = None
    error: str | None = None


class Ledger:
    """The fetches, contents and links of one crawl, with the *decisions* on its URLs."""

    def __init__(self, database: Database, decisions: Decisions) -> None:
        self.decisions = decisions
        self._db = database
        self._links = PageLinks(database)
        self._next_content: int = (database.scalar("SELECT max(id) FROM contents") or 0) + 1
        self._first_fetch: int = (database.scalar("SELECT max(id) FROM fetches") or 0) + 1  # of this run
        self._next_fetch = self._first_fetch

    def record(self, url: CrawlURL, outcome: Outcome, links: Sequence[Link]) -> list[LinkRow]:
        """Write one answer: the fetch, its links and their decisions, and the end of the lease.

        The URL is fetched by that. Returns a row for each link, in order. A page that is stored without links has lost
        those of an earlier visit.
        """
        rows = self.decisions.decide(Source.of(url), links)
        self.record_decided(url, outcome, rows)
        return rows

    def record_decided(self, url: CrawlURL, outcome: Outcome, rows: Sequence[LinkRow]) -> None:
        """Write one answer as ``record`` does, when its links have been decided: *rows*."""
        if rows:
            self._links.keep(url.id, rows)
        elif outcome.content is not None:
            self._links.forget(url.id)
        self.decisions.settle(url, _FETCHED, outcome.type, self._add_fetch(url, outcome))

    def record_failure(self, url: CrawlURL, outcome: Outcome, rows: Sequence[LinkRow] = ()) -> None:
        """Write an *outcome* whose error may pass, and the end of the lease.

        What is stored of the URL stays its current fetch, and the failure is in its history. A URL of which nothing is
        stored is fetched, with its error, when a server answered, and refused when none did.
        """
        if self._db.execute(_LAST_GOOD, (url.id,)).fetchone() is not None:
            self._add_fetch(url, outcome)
            self.decisions.settle(url, _FETCHED, None, None)
        elif outcome.status:
            self.record_decided(url, outcome, rows)
        else:
            self.refuse(url, Decision(Verdict.REFUSED, Reason.ERROR, outcome.error or "no answer"))

    def is_loop(self, url: str, target: str) -> bool:
        """Return whether a redirect from *url* to *target* leads back to *url*, by the answers of this run."""
        for _ in range(MAX_HOPS):
            if target == url:
                return True
            following = self._db.scalar(_LEADS_TO, (url_key(target), target, self._first_fetch))
            if following is None:
                return False
            target = following
        return False

    def _add_fetch(self, url: CrawlURL, outcome: Outcome) -> int:
        """Write a row of ``fetches``; return its id."""
        fetch = self._next_fetch
        self._next_fetch += 1
        failpoint("store.fetch")
        self._db.write(
            "INSERT INTO fetches VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            (fetch, url.id, outcome.fetched_at, outcome.seconds, outcome.status, outcome.final_url, outcome.type,
             outcome.content_type, outcome.size, outcome.content, outcome.duplicate, outcome.etag,
             outcome.last_modified, outcome.title, outcome.error),
        )  # fmt: skip
        return fetch

    def validators(self, url: CrawlURL) -> Validators | None:
        """Return what a conditional request may ask with: only while the body they speak of is stored."""
        row = self._db.execute(_VALIDATORS, (url.id,)).fetchone()
        return Validators(*row) if row and (row[0] or row[1]) else None

    def unchanged(self, url: CrawlURL, fetched_at: float, seconds: float, *, anew: bool) -> list[LinkRow] | None:
        """Write that a revisit brought 304, and end the lease; None when the stored body is gone meanwhile.

        *anew*: judge the stored links too, and return a row for each; the rules may let in what others did not.
        """
        row = self._db.execute(_LAST_GOOD, (url.id,)).fetchone()
        if row is None:
            return None
        resource_type = ResourceType(row[0]) if row[0] else None
        outcome = Outcome(
            status=304, fetched_at=fetched_at, seconds=seconds, type=resource_type, content_type=row[1], size=row[2],
            content=row[3], duplicate=bool(row[4]), etag=row[5], last_modified=row[6], title=row[7],
        )  # fmt: skip
        rows = self.decisions.decide(Source.of(url), self._links.of(url.id)) if anew else []
        self.decisions.settle(url, _FETCHED, resource_type, self._add_fetch(url, outcome))
        return rows

    def refuse(self, url: CrawlURL, decision: Decision, answered: ResourceType | None = None) -> None:
        """Write that a leased URL is not fetched after all, with its type if a server told it, and end its lease."""
        self.decisions.settle(url, decision, answered, None)

    def content(self, digest: bytes, links: int) -> Content | None:
        """Return the stored content with this *digest* and the same resolved *links*, None when it is new."""
        row = self._db.execute(
            "SELECT c.id, c.path, u.url FROM contents AS c JOIN urls AS u ON u.id = c.url"
            " WHERE c.digest = ? AND c.links = ?", (digest, links)).fetchone()  # fmt: skip
        return Content(*row) if row else None

    def add_content(self, url: CrawlURL, digest: bytes, links: int, size: int, path: str) -> Content:
        """Record a body that has just been written to *path*."""
        failpoint("store.content")
        before = self._db.scalar("SELECT id FROM contents WHERE path = ?", (path,))
        if before is not None:  # what the file held until now, on a revisit
            self._requeue_duplicates(before, url.id)
            self._db.write("DELETE FROM contents WHERE id = ?", (before,))
        content = self._next_content  # never that of a row deleted before, which fetches may still name
        self._next_content += 1
        self._db.write("INSERT INTO contents (id, digest, links, size, path, url) VALUES (?, ?, ?, ?, ?, ?)",
                       (content, digest, links, size, path, url.id))  # fmt: skip
        return Content(content, path, url.url)

    def requeue(self, *, everything: bool, spared: Iterable[int] = ()) -> int:
        """Queue again what failed (*everything*: and what was fetched); return how many URLs that is.

        Seeds are queued although they are among those *spared*.
        """
        self._db.write("CREATE TEMP TABLE IF NOT EXISTS spared (id INTEGER PRIMARY KEY)")
        self._db.write("DELETE FROM spared")
        for number in spared:
            self._db.write("INSERT INTO spared VALUES (?)", (number,))
        fetched = "verdict = 'fetched' AND (via IS NULL OR id NOT IN (SELECT id FROM spared))"
        condition = f"({fetched}) OR reason IN (?, ?, ?, ?)" if everything else "reason IN (?, ?, ?, ?)"
        return self.decisions.requeue(condition, _RETRIED)

    def _requeue_duplicates(self, content: int, owner: int) -> None:
        """Queue the URLs whose body is a stored *content* that is about to be replaced by its *owner*'s new one."""
        self.decisions.requeue(
            "id IN (SELECT f.url FROM fetches AS f JOIN urls AS u ON u.id = f.url AND u.fetch = f.id"
            " WHERE f.duplicate AND f.content = ?) AND id != ?", (content, owner))  # fmt: skip
