"""Ask a stored crawl about one URL: its decision, the rules once more, who links to it, its fetches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from spiderproj.explanation import rules
from spiderproj.explanation.records import MAX_FETCHES, MAX_LINKERS, Explanation, Fetched, Linked
from spiderproj.explanation.rules import OF_ANSWER, OF_LINK, Answer, Rule, Step
from spiderproj.levels import Home, homes_of
from spiderproj.models import Decision, Level, Link, LinkRole, Reason, ResourceType, Verdict
from spiderproj.robots import Access, parse
from spiderproj.scope import Source
from spiderproj.store.linkers import Linker, Linkers
from spiderproj.store.robots import robots_state
from spiderproj.urls import RefusedURLError, canonical, origin, url_key

if TYPE_CHECKING:
    from spiderproj.arguments import CrawlOptions
    from spiderproj.scope import Judgement, Scope
    from spiderproj.store import Database

_ROW = "SELECT id, url, depth, via, level, type, answered, verdict, reason, rule, fetch FROM urls WHERE key = ?"
_FETCHES = """
SELECT f.fetched_at, f.status, f.seconds, f.size, f.content_type, f.final_url, f.error, c.path
FROM fetches AS f LEFT JOIN contents AS c ON c.id = f.content WHERE f.url = ? ORDER BY f.id DESC LIMIT ?
"""
_LATEST = 2**33  # the year 2242
_SEED, _SITEMAP, _LINK, _NOBODY = "seed", "sitemap", "link", "nobody"


class _Row(NamedTuple):
    id: int
    url: str
    depth: int
    via: int | None
    level: Level
    type: ResourceType | None
    answered: bool
    decision: Decision


class _Asked(NamedTuple):
    """The link that is asked about, what the rules say of it now, and the rule that the stored decision came from."""

    linker: Linker
    judgement: Judgement
    decided_by: Rule | None
    note: str | None


class Inquiry:
    """Explains the URLs of one stored crawl by the rules of its *scope*; *token* is None when robots.txt is ignored."""

    def __init__(self, database: Database, options: CrawlOptions, scope: Scope, token: str | None) -> None:
        self._db = database
        self._seeds = (*options.seeds, *options.seed_fallbacks.values())
        self._scope = scope
        self._token = token
        self._linkers = Linkers(database)
        with database.reading():
            moved = [Home(*stored) for stored in orjson.loads(database.meta("homes") or "[]")]
            self._limit = _limit(database)
        scope.homes[:] = homes_of(options.seeds, moved)

    def explain(self, text: str) -> Explanation:
        """Return why the URL that *text* means was, or was not, fetched."""
        text = text.encode("utf-8", "replace").decode()  # no lone surrogate of a command line that is not UTF-8
        row = self._row(text)
        if row is None:
            return self._explain_stranger(text)
        is_seed = row.via is None and row.url in self._seeds
        asked = None if is_seed else self._asked(row)
        linked, total = self._linked(row)
        return Explanation(
            url=row.url,
            decision=row.decision,
            decided_by=self._decided_by(row, asked),
            level=row.level,
            depth=row.depth,
            type=row.type,
            is_answered=row.answered,
            origin=_SEED if is_seed else _SITEMAP if row.via is None else _LINK,
            asked_of=asked.linker if asked is not None else None,
            steps=self._steps(row, asked),
            note=asked.note if asked is not None else None,
            linked=linked,
            linked_total=total,
            fetches=self._fetches(row.id),
        )

    def _explain_stranger(self, text: str) -> Explanation:
        """Return what would become of a URL that nobody has named: of a link to it on the first seed."""
        link = _link_to(text)
        source = Source(None, self._seeds[0], 0, LinkRole.NAVIGATION)
        judgement = self._scope.judge(link, source)
        later = [Step(rule, Answer.NOT_ASKED, "") for rule in OF_ANSWER]
        return Explanation(
            url=link.target,
            decision=None,
            decided_by=rules.rule_of(judgement.decision, link, source),
            level=judgement.level,
            depth=judgement.depth,
            type=judgement.predicted,
            is_answered=False,
            origin=_NOBODY,
            asked_of=Linker(source, link),
            steps=[*rules.steps(self._scope, link, source, judgement), *later],
            note=None,
            linked=[],
            linked_total=0,
            fetches=[],
        )

    def _row(self, text: str) -> _Row | None:
        """Return the row of the URL that *text* means, as it is or in its canonical form."""
        for url in dict.fromkeys((text, _link_to(text).target)):
            for row in self._db.execute(_ROW, (url_key(url),)).fetchall():
                if row[1] == url:
                    return self._read(row)
        return None

    def _read(self, row: Sequence[Any]) -> _Row:
        with self._db.reading():
            number, url, depth, via, level, kind, answered, verdict, reason, rule, fetch = row
            decision = Decision(Verdict(verdict), Reason(reason) if reason else None, rule)
            if self._limit is not None and decision.verdict is Verdict.QUEUED and fetch is None:
                decision = self._limit  # as refused.jsonl says: its turn did not come
            known = ResourceType(kind) if kind else None
            return _Row(number, url, depth, via, Level(level), known, bool(answered), decision)

    def _asked(self, row: _Row) -> _Asked:
        """Return the link by which the stored decision came about."""
        candidates = [] if row.via is None else self._linkers.on(row.via, row.id, row.url)
        if not candidates:
            found = Link(row.url, "", "sitemap", "loc", "", LinkRole.NAVIGATION, None)
            candidates = [Linker(Source(None, "", 0, LinkRole.NAVIGATION), found)]
        judged = [(linker, self._scope.judge(linker.link, linker.source)) for linker in candidates]
        for linker, judgement in judged:
            if row.decision.verdict is Verdict.REFUSED and judgement.decision == row.decision:
                return _Asked(linker, judgement, rules.rule_of(row.decision, linker.link, linker.source), None)
        for linker, judgement in judged:
            if rules.lets_in(judgement):
                is_refused = row.decision.verdict is Verdict.REFUSED
                return _Asked(linker, judgement, rules.rule_with_request(row.decision) if is_refused else None, None)
        linker, judgement = judged[0]
        decided_by = rules.rule_of(row.decision, linker.link, linker.source) if row.decision.reason else None
        return _Asked(linker, judgement, decided_by, f"by the rules as they are now: {judgement.decision.rule}")

    def _decided_by(self, row: _Row, asked: _Asked | None) -> Rule | None:
        if asked is not None:
            return asked.decided_by
        return rules.rule_with_request(row.decision) if row.decision.reason is not None else None

    def _steps(self, row: _Row, asked: _Asked | None) -> list[Step]:
        if asked is None:
            first = Step(Rule.URL, Answer.ADMITS, "a seed is fetched whatever the other rules say")
            before = [first, *(Step(rule, Answer.NOT_ASKED, "") for rule in OF_LINK[1:])]
            return [*before, *self._later(row, self._decided_by(row, None))]
        before = list(rules.steps(self._scope, asked.linker.link, asked.linker.source, asked.judgement))
        if asked.decided_by in OF_LINK or not rules.lets_in(asked.judgement):
            return [*before, *(Step(rule, Answer.NOT_ASKED, "") for rule in OF_ANSWER)]
        return [*before, *self._later(row, asked.decided_by)]

    def _later(self, row: _Row, decided_by: Rule | None) -> Iterator[Step]:
        """Yield what was said with the request for a URL that was let in."""
        is_over = row.decision.verdict is Verdict.QUEUED
        is_unasked = row.decision == self._limit
        said = {} if is_over or is_unasked else self._said(row)
        for rule in OF_ANSWER:
            if is_over:
                yield Step(rule, Answer.NOT_ASKED, "")
            elif rule is decided_by:
                yield Step(rule, Answer.REFUSES, row.decision.rule)
                is_over = True
            else:
                yield Step(rule, *said.get(rule, (Answer.NOT_ASKED if is_unasked else Answer.DIFFERS, "")))

    def _said(self, row: _Row) -> dict[Rule, tuple[Answer, str]]:
        """Return what the rules with a request say that do not decide, and of what."""
        found = {
            Rule.UNIQUE: (Answer.PASSES, "no page is known to be the same"),
            Rule.NOVELTY: (Answer.PASSES, "its family goes on bringing something new"),
            Rule.ROBOTS: self._robots(row.url),
            Rule.HEAD: (Answer.PASSES, "nothing told of an unwanted type"),
            Rule.LIMITS: (Answer.PASSES, "none had ended the crawl"),
        }
        if row.answered:
            found[Rule.ANSWER] = (Answer.PASSES, f"{row.type}, level {row.level}")
        for fetch in self._fetches(row.id)[-1:]:
            found[Rule.FETCH] = (Answer.PASSES, fetch.error or f"HTTP {fetch.status}")
            if self._scope.conditions and fetch.status and not fetch.error:
                found[Rule.SIZE] = (Answer.PASSES, f"{fetch.size:,} bytes")
        return found

    def _robots(self, url: str) -> tuple[Answer, str]:
        """Return what the robots.txt of the store says of *url* now."""
        if self._token is None:
            return Answer.DIFFERS, "ROBOTSTXT_OBEY=0"
        state = robots_state(self._db, origin(url))
        if state.access is not Access.RULES or state.body is None:
            return Answer.PASSES, state.cause if state.failures else "there is no robots.txt"
        found = parse(state.body, self._token)
        return Answer.PASSES if found.allows(url) else Answer.REFUSES, found.rule_for(url) or "no line is about it"

    def _linked(self, row: _Row) -> tuple[list[Linked], int]:
        """Return the first links to the URL with what they come to, and how many links there are."""
        first: list[Linked] = []
        total = 0
        for linker in self._linkers.of(row.id, row.url):
            total += 1
            if len(first) < MAX_LINKERS:
                first.append(Linked(linker, self._scope.judge(linker.link, linker.source).decision))
        return first, total

    def _fetches(self, number: int) -> list[Fetched]:
        rows = self._db.execute(_FETCHES, (number, MAX_FETCHES)).fetchall()
        fetches = [Fetched._make(row) for row in reversed(rows)]
        if not all(0 <= fetch.fetched_at < _LATEST for fetch in fetches):
            raise self._db.damaged("an answer came at a time that there is not")
        return fetches


def _limit(database: Database) -> Decision | None:
    """Return what the limit that ended the last run means for what was not asked for, None when none ended it."""
    found = orjson.loads(database.meta("limit") or "null")
    if found is None or database.meta("state") == "running":
        return None
    reason, rule = found
    return Decision(Verdict.REFUSED, Reason(reason), str(rule))


def _link_to(text: str) -> Link:
    """Return a plain link to the URL that *text* means."""
    try:
        target, problem = canonical(text), None
    except RefusedURLError as error:
        target, problem = text, error.reason
    return Link(target, "", "a", "href", "", LinkRole.NAVIGATION, None, problem=problem)
