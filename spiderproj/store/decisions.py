"""The rows of ``urls``: every URL that anybody links to, and its one current verdict, judged link by link.

Verdicts only get better: another link may let in what an earlier one could not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from spiderproj import urls
from spiderproj.failpoints import failpoint
from spiderproj.models import CrawlURL, Decision, Level, Link, LinkRole, Reason, ResourceType, Verdict
from spiderproj.order import OrderKey
from spiderproj.scope import Judgement, Source, is_hop
from spiderproj.store.database import Database
from spiderproj.store.frontier import Frontier
from spiderproj.store.known import Known, KnownURLs, LinkRow
from spiderproj.store.page_links import PageLinks

if TYPE_CHECKING:
    from spiderproj.store.learner import Learner

Judge = Callable[[Link, Source, ResourceType | None], Judgement]
Rank = Callable[[Judgement, str], OrderKey]

PART = 1000
"""Links that are decided in one go, with one query: 50 ms. It must be far less than KnownURLs remembers."""

_COLUMNS = "id, url, verdict, reason, depth, level, type, role, near, answered"
_KEYS_A_QUERY = 400
_ROWS_AT_ONCE = 5000


class Decisions:
    """Decides about URLs, and queues those that are let in."""

    def __init__(self, database: Database, frontier: Frontier, judge: Judge, rank: Rank) -> None:
        self._db = database
        self._frontier = frontier
        self._judge = judge
        self._rank = rank
        self.learner: Learner | None = None  # what holds and skips URLs, with unique=strict|learn
        self._known = KnownURLs()
        self._links = PageLinks(database)
        self._next_url: int = (database.scalar("SELECT max(id) FROM urls") or 0) + 1

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
                self._decide(nearer, self._links.of(page), closer)
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

    def judge_again(self) -> None:
        """Judge all stored links anew, so that rules that are wider now let in what is missing."""
        statement = ("SELECT u.id, u.url, u.depth, u.role, u.near, u.hops, p.links FROM page_links AS p"
                     " JOIN urls AS u ON u.id = p.source WHERE u.id > ? ORDER BY u.id LIMIT 100")  # fmt: skip
        last = 0
        while rows := self._db.execute(statement, (last,)).fetchall():
            for number, url, depth, role, near, hops, stored in rows:
                source = Source(number, url, depth, LinkRole(role), bool(near), hops)
                self.decide(source, self._links.unpack(stored))
            last = rows[-1][0]

    @property
    def next_id(self) -> int:
        """The id of the next URL that nobody has named yet."""
        return self._next_url

    def skip(self, row: int, url: str, refusal: Decision) -> None:
        """Refuse a held *url*, whose id is *row*, after all."""
        self._frontier.drop(row)
        self._known.forget(url)
        self._db.write("UPDATE urls SET verdict = ?, reason = ?, rule = ? WHERE id = ?",
                       (refusal.verdict, refusal.reason, refusal.rule, row))  # fmt: skip

    def requeue(self, condition: str, values: Sequence[object], *, is_held: bool = False) -> int:
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
                self._frontier.add(row[0], row[10], self._rank(judgement, row[1]), is_held=is_held)
        return count

    def settle(self, url: CrawlURL, decision: Decision, resource_type: ResourceType | None, fetch: int | None) -> None:
        """Write the verdict of a leased URL, its type and its current *fetch* where known, and end its lease."""
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
        decision, is_held = self._spared(url_id, link, host, decision)
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
            self._frontier.add(url_id, host, self._rank(judgement, target), is_held=is_held)
        return known

    def _spared(self, row: int, link: Link, host: int, decision: Decision) -> tuple[Decision, bool]:
        """Return *decision* as the learner leaves it, and whether the URL is held back."""
        if self.learner is None or decision.verdict is not Verdict.QUEUED or link.tag == "seed" or is_hop(link):
            return decision, False
        choice = self.learner.decide(row, link.target, host)
        return choice.refusal or decision, choice.is_held

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
        host = self._frontier.host_id(urls.split(link.target).authority)
        decision, is_held = self._spared(known.id, link, host, judgement.decision)
        self._db.write(
            "UPDATE urls SET verdict = ?, reason = ?, rule = ?, depth = ?, via = ?, level = ?, role = ?,"
            " near = ?, hops = ?, hint = ?, text = ? WHERE id = ?",
            (*decision, judgement.depth, source.id, judgement.level, judgement.role, judgement.near,
             _hops(link, source), link.hint, link.text, known.id),
        )  # fmt: skip
        known.decision, known.reason, known.depth = decision.verdict, decision.reason, judgement.depth
        known.level, known.role = judgement.level, judgement.role
        known.settled = _is_settled(known.decision, judgement.role, judgement.near, known.reason)
        if decision.verdict is Verdict.QUEUED:
            self._frontier.add(known.id, host, self._rank(judgement, link.target), is_held=is_held)

    def _come_closer(self, known: Known, link: Link, source: Source) -> None:
        """Record a shorter way to a URL."""
        known.depth = source.depth + 1
        self._db.write("UPDATE urls SET depth = ? WHERE id = ?", (known.depth, known.id))
        if known.decision == Verdict.QUEUED:
            self._frontier.move(known.id, self._rank(_judgement(known), link.target))


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
                    Reason.ERROR, Reason.PRIVATE_ADDRESS, Reason.TRAP, Reason.BUDGET, Reason.LEARNED})  # fmt: skip


def _judgement(known: Known) -> Judgement:
    """Return the judgement that a row already in the store stands for."""
    resource_type = ResourceType(known.type) if known.type else None
    decision = Decision(Verdict.QUEUED, None, "")
    return Judgement(decision, Level(known.level), known.depth, LinkRole(known.role), near=False,
                     predicted=resource_type)  # fmt: skip


def _hops(link: Link, source: Source) -> int:
    return source.hops + 1 if is_hop(link) else 0
