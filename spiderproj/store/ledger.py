"""The ledger: every URL that anybody links to, its one current verdict, its fetches, contents and links.

``record`` writes all that one answer of a server brings, together with the end of the URL's lease; nothing else decides
or stores a verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import orjson

from spiderproj import urls
from spiderproj.failpoints import failpoint
from spiderproj.models import CrawlURL, Decision, Level, Link, LinkRole, Reason, ResourceType, Verdict
from spiderproj.order import OrderKey
from spiderproj.scope import Judgement, Source, is_hop
from spiderproj.store.database import Database
from spiderproj.store.frontier import Frontier
from spiderproj.store.known import Known, KnownURLs

Judge = Callable[[Link, Source, ResourceType | None], Judgement]
Rank = Callable[[Judgement, str], OrderKey]

PART = 1000
"""Links that are decided in one go, with one query: 50 ms. It must be far less than KnownURLs remembers."""

_COLUMNS = "id, url, verdict, reason, depth, level, type, role, near, answered"
_KEYS_A_QUERY = 400
_ROWS_AT_ONCE = 5000
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


class LinkRow(NamedTuple):
    """A link and what was decided about its target, for ``links.jsonl``."""

    link: Link
    known: Known


class Ledger:
    """The URLs, fetches, contents and links of one crawl."""

    def __init__(self, database: Database, frontier: Frontier, judge: Judge, rank: Rank) -> None:
        self._db = database
        self._frontier = frontier
        self._judge = judge
        self._rank = rank
        self._known = KnownURLs()
        self._next_url: int = (database.scalar("SELECT max(id) FROM urls") or 0) + 1
        self._next_content: int = (database.scalar("SELECT max(id) FROM contents") or 0) + 1
        self._next_fetch: int = (database.scalar("SELECT max(id) FROM fetches") or 0) + 1

    def add_seed(self, url: str, judgement: Judgement, *, text: str = "") -> bool:
        """Queue a seed, though a link to it was refused; return False when it is queued or fetched already."""
        known = self.known(url)
        link = Link(url, text, "seed", "", "", LinkRole.NAVIGATION, None)
        source = Source(None, "", 0, LinkRole.NAVIGATION)
        if known is None:
            self._insert(link, judgement, source)
        elif known.decision == Verdict.REFUSED:
            self._let_in(known, link, source, judgement)
        else:
            return False
        return True

    def known(self, url: str) -> Known | None:
        """Return what is known about *url*, None when nobody has named it yet."""
        found = self._known.get(url)
        if found is None:
            self._load([url])
            found = self._known.get(url)
        return found

    def record(self, url: CrawlURL, outcome: Outcome, links: Sequence[Link], decision: Decision) -> list[LinkRow]:
        """Write one answer: the fetch, its links and their decisions, and the end of the lease.

        *decision* is the URL's own verdict now. Returns a row for each link, in order. A page that is stored without
        links has lost those of an earlier visit.
        """
        rows = self.decide(Source.of(url), links)
        self.record_decided(url, outcome, rows, decision)
        return rows

    def record_decided(self, url: CrawlURL, outcome: Outcome, rows: Sequence[LinkRow], decision: Decision) -> None:
        """Write one answer as ``record`` does, when its links have been decided: *rows*."""
        if rows:
            self._keep_links(url.id, rows)
        elif outcome.content is not None:
            self._db.write("DELETE FROM page_links WHERE source = ?", (url.id,))
        self._settle(url, decision, outcome.type, self._add_fetch(url, outcome))

    def record_failure(self, url: CrawlURL, outcome: Outcome, rows: Sequence[LinkRow] = ()) -> None:
        """Write an *outcome* whose error may pass, and the end of the lease.

        What is stored of the URL stays its current fetch, and the failure is in its history. A URL of which nothing is
        stored is fetched, with its error, when a server answered, and refused when none did.
        """
        if self._db.execute(_LAST_GOOD, (url.id,)).fetchone() is not None:
            self._add_fetch(url, outcome)
            self._settle(url, _FETCHED, None, None)
        elif outcome.status:
            self.record_decided(url, outcome, rows, _FETCHED)
        else:
            self.refuse(url, Decision(Verdict.REFUSED, Reason.ERROR, outcome.error or "no answer"))

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
        rows = self.decide(Source.of(url), self._links_of(url.id)) if anew else []
        self._settle(url, _FETCHED, resource_type, self._add_fetch(url, outcome))
        return rows

    def refuse(self, url: CrawlURL, decision: Decision, answered: ResourceType | None = None) -> None:
        """Write that a leased URL is not fetched after all, with its type if a server told it, and end its lease."""
        self._settle(url, decision, answered, None)

    def decide(self, source: Source, links: Sequence[Link]) -> list[LinkRow]:
        """Judge *links* of a source, adding and improving rows of ``urls`` as needed."""
        return list(chain.from_iterable(self.decide_in_parts(source, links)))

    def decide_in_parts(self, source: Source, links: Sequence[Link]) -> Iterator[list[LinkRow]]:
        """Judge *links* as ``decide`` does, some at a time, so that other work may be done between two parts.

        A commit may fall between them: whoever loses the rest to a kill still has the lease of the source.
        """
        for start in range(0, len(links), PART):
            closer: dict[int, Source] = {}
            rows = self._decide(source, links[start : start + PART], closer)
            while closer:  # no recursion: a chain of pages may be as long as the site
                page, nearer = closer.popitem()
                self._decide(nearer, self._links_of(page), closer)
            yield rows

    def _decide(self, source: Source, links: Sequence[Link], closer: dict[int, Source]) -> list[LinkRow]:
        """Judge *links*; fetched pages that came closer to a seed, whose links may be let in now, go into *closer*."""
        self._load([link.target for link in links if self._known.get(link.target) is None])
        rows = []
        for link in links:
            known = self._known.get(link.target)
            if known is None:
                known = self._insert(link, self._judge(link, source, None), source)
            elif not known.settled:
                self._improve(known, link, source)
            elif source.depth + 1 < known.depth and link.role is LinkRole.NAVIGATION and link.problem is None:
                self._come_closer(known, link, source)
                if known.decision == Verdict.FETCHED:
                    closer[known.id] = Source(known.id, link.target, known.depth, LinkRole(known.role))
            rows.append(LinkRow(link, known))
        return rows

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

    def requeue(self, *, everything: bool) -> int:
        """Queue again what failed (*everything*: and what was fetched); return how many URLs that is."""
        condition = "verdict = 'fetched' OR reason IN (?, ?, ?, ?)" if everything else "reason IN (?, ?, ?, ?)"
        return self._requeue(condition, _RETRIED)

    def _requeue_duplicates(self, content: int, owner: int) -> None:
        """Queue the URLs whose body is a stored *content* that is about to be replaced by its *owner*'s new one."""
        self._requeue(
            "id IN (SELECT f.url FROM fetches AS f JOIN urls AS u ON u.id = f.url AND u.fetch = f.id"
            " WHERE f.duplicate AND f.content = ?) AND id != ?", (content, owner))  # fmt: skip

    def _requeue(self, condition: str, values: Sequence[object]) -> int:
        """Queue the URLs that *condition* finds and that are not queued already, in steps; return how many they are."""
        statement = (
            f"SELECT {_COLUMNS}, host FROM urls WHERE id > ? AND ({condition})"  # noqa: S608 - constant texts
            f" AND id NOT IN (SELECT url FROM frontier) ORDER BY id LIMIT {_ROWS_AT_ONCE}"
        )
        count = last = 0
        while rows := self._db.execute(statement, (last, *values)).fetchall():
            count, last = count + len(rows), rows[-1][0]
            for row in rows:
                self._known.forget(row[1])
                self._db.write("UPDATE urls SET verdict = 'queued', reason = NULL, rule = '' WHERE id = ?", (row[0],))
                with self._db.reading():
                    judgement = _judgement(_known(row))
                self._frontier.add(row[0], row[10], self._rank(judgement, row[1]))
        return count

    def judge_again(self) -> None:
        """Judge all stored links anew, so that rules that are wider now let in what is missing."""
        statement = ("SELECT u.id, u.url, u.depth, u.role, u.near, u.hops, p.links FROM page_links AS p"
                     " JOIN urls AS u ON u.id = p.source WHERE u.id > ? ORDER BY u.id LIMIT 100")  # fmt: skip
        last = 0
        while rows := self._db.execute(statement, (last,)).fetchall():
            for number, url, depth, role, near, hops, stored in rows:
                source = Source(number, url, depth, LinkRole(role), bool(near), hops)
                self.decide(source, self.stored_links(stored))
            last = rows[-1][0]

    def _load(self, targets: Sequence[str]) -> None:
        """Bring what the store holds about *targets* into memory."""
        wanted = dict.fromkeys(targets)
        keys = [urls.url_key(target) for target in wanted]
        for start in range(0, len(keys), _KEYS_A_QUERY):
            part = keys[start : start + _KEYS_A_QUERY]
            marks = ",".join("?" * len(part))
            statement = f"SELECT {_COLUMNS} FROM urls WHERE key IN ({marks})"  # noqa: S608 - only question marks
            for row in self._db.execute(statement, part):
                if row[1] in wanted:
                    self._known.put(row[1], _known(row))

    def _insert(self, link: Link, judgement: Judgement, source: Source) -> Known:
        url_id = self._next_url
        self._next_url += 1
        decision, target = judgement.decision, link.target
        host_key = "" if link.problem else urls.split(target).authority
        host = self._frontier.host_id(host_key)
        resource_type = judgement.predicted
        failpoint("store.url")
        self._db.write(
            "INSERT INTO urls VALUES (?,?,?,?,?,?,?,?,?,?,?,0,?,?,?,?,?,NULL)",
            (url_id, urls.url_key(target), target, host, judgement.depth, source.id, judgement.level, judgement.role,
             judgement.near, _hops(link, source), resource_type, link.hint, link.text, decision.verdict,
             decision.reason, decision.rule),
        )  # fmt: skip
        known = Known(url_id, decision.verdict, decision.reason, judgement.depth, judgement.level, resource_type,
                      judgement.role, settled=_is_settled(decision.verdict, judgement.role, judgement.near,
                                                          decision.reason))  # fmt: skip
        self._known.put(target, known)
        if decision.verdict is Verdict.QUEUED:
            self._frontier.add(url_id, host, self._rank(judgement, target))
        return known

    def _improve(self, known: Known, link: Link, source: Source) -> None:
        """Let a link in where an earlier one was refused, or make a requisite a page of its own."""
        answered = ResourceType(known.type) if known.answered and known.type else None
        judgement = self._judge(link, source, answered)
        if judgement.decision.verdict is not Verdict.QUEUED:
            return
        if known.decision == Verdict.REFUSED:
            self._let_in(known, link, source, judgement)
        elif judgement.role is LinkRole.NAVIGATION and not judgement.near and known.decision == Verdict.QUEUED:
            self._db.write("UPDATE urls SET role = ?, near = 0, depth = ?, level = ? WHERE id = ?",
                           (judgement.role, judgement.depth, judgement.level, known.id))  # fmt: skip
            known.role, known.depth = judgement.role, judgement.depth
        known.settled = _is_settled(known.decision, judgement.role, judgement.near, known.reason)

    def _let_in(self, known: Known, link: Link, source: Source, judgement: Judgement) -> None:
        """Queue a URL that was refused, as *judgement* says."""
        self._db.write(
            "UPDATE urls SET verdict = ?, reason = NULL, rule = '', depth = ?, via = ?, level = ?, role = ?,"
            " near = ?, hops = ?, hint = ?, text = ? WHERE id = ?",
            (Verdict.QUEUED, judgement.depth, source.id, judgement.level, judgement.role, judgement.near,
             _hops(link, source), link.hint, link.text, known.id),
        )  # fmt: skip
        known.decision, known.reason, known.depth = Verdict.QUEUED, None, judgement.depth
        known.level, known.role = judgement.level, judgement.role
        known.settled = _is_settled(known.decision, judgement.role, judgement.near, None)
        host = self._frontier.host_id(urls.split(link.target).authority)
        self._frontier.add(known.id, host, self._rank(judgement, link.target))

    def _come_closer(self, known: Known, link: Link, source: Source) -> None:
        """Record a shorter way to a URL."""
        known.depth = source.depth + 1
        self._db.write("UPDATE urls SET depth = ? WHERE id = ?", (known.depth, known.id))
        if known.decision == Verdict.QUEUED:
            self._frontier.move(known.id, self._rank(_judgement(known), link.target))

    def _links_of(self, page: int) -> list[Link]:
        """Return the links that are stored of a page."""
        stored = self._db.scalar("SELECT links FROM page_links WHERE source = ?", (page,))
        return self.stored_links(stored) if stored else []

    def stored_links(self, stored: str) -> list[Link]:
        """Return the links of a ``page_links`` row."""
        with self._db.reading():
            rows = orjson.loads(stored)
            targets = self._targets([row[0] for row in rows])
            return [unpacked(row, targets[row[0]]) for row in rows]

    def _targets(self, ids: Sequence[int]) -> dict[int, str]:
        found: dict[int, str] = {}
        wanted = list(dict.fromkeys(ids))
        for start in range(0, len(wanted), _KEYS_A_QUERY):
            part = wanted[start : start + _KEYS_A_QUERY]
            marks = ",".join("?" * len(part))
            statement = f"SELECT id, url FROM urls WHERE id IN ({marks})"  # noqa: S608 - only question marks
            found.update(self._db.execute(statement, part).fetchall())
        return found

    def _keep_links(self, source: int, rows: Sequence[LinkRow]) -> None:
        packed = [
            (row.known.id, link.text, link.tag, link.attribute, link.rel, link.role, link.hint, int(link.nofollow),
             link.problem)
            for row in rows
            for link in (row.link,)
        ]  # fmt: skip
        failpoint("store.links")
        self._db.write("INSERT OR REPLACE INTO page_links VALUES (?, ?)", (source, orjson.dumps(packed).decode()))

    def _settle(self, url: CrawlURL, decision: Decision, resource_type: ResourceType | None, fetch: int | None) -> None:
        failpoint("store.settle")
        self._db.write(
            "UPDATE urls SET verdict = ?, reason = ?, rule = ?, type = coalesce(?, type), answered = answered OR ?,"
            " fetch = coalesce(?, fetch) WHERE id = ?",
            (decision.verdict, decision.reason, decision.rule, resource_type, resource_type is not None, fetch,
             url.id),
        )  # fmt: skip
        known = self._known.get(url.url)
        if known is not None:
            known.decision, known.reason = decision.verdict, decision.reason
            if resource_type is not None:
                known.type, known.answered = resource_type, True
            known.settled = _is_settled(decision.verdict, known.role, url.near, decision.reason)
        self._frontier.finish(url.id)


def unpacked(row: Sequence[Any], target: str) -> Link:
    """Return the link that an array of ``page_links`` stands for."""
    _, text, tag, attribute, rel, role, hint, nofollow, problem = row
    return Link(target, text, tag, attribute, rel, LinkRole(role), ResourceType(hint) if hint else None,
                bool(nofollow), Reason(problem) if problem else None)  # fmt: skip


def _known(row: Sequence[Any]) -> Known:
    url_id, _, verdict, reason, depth, level, resource_type, role, near, answered = row[:10]
    settled = _is_settled(verdict, role, near, reason)
    return Known(url_id, verdict, reason, depth, level, resource_type, role, settled=settled, answered=bool(answered))


def _is_settled(verdict: str, role: str, near: object, reason: object) -> bool:
    """Say whether another link cannot improve a verdict: the URL is in for good, or out for what it is."""
    if verdict == Verdict.REFUSED:
        return reason in _FINAL
    return role == LinkRole.NAVIGATION and not near


_FINAL = frozenset({Reason.INVALID, Reason.SCHEME, Reason.TOO_LONG, Reason.DENY, Reason.ALLOW, Reason.ROBOTS,
                    Reason.ERROR, Reason.PRIVATE_ADDRESS, Reason.TRAP, Reason.BUDGET})  # fmt: skip


def _judgement(known: Known) -> Judgement:
    """Return the judgement that a row already in the store stands for."""
    resource_type = ResourceType(known.type) if known.type else None
    decision = Decision(Verdict.QUEUED, None, "")
    return Judgement(decision, Level(known.level), known.depth, LinkRole(known.role), near=False,
                     predicted=resource_type)  # fmt: skip


def _hops(link: Link, source: Source) -> int:
    return source.hops + 1 if is_hop(link) else 0
