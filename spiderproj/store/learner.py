"""``unique=strict|learn``: holds back URLs that may be a page known already, tries some, and skips the rest.

What is decided here is which URL is fetched, held or skipped; what answers say for a rule is in ``trials``, the test
itself is ``learning.Rule``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from spiderproj import learning
from spiderproj.learning import State
from spiderproj.models import CrawlURL, Decision, Reason, Verdict
from spiderproj.store.candidates import ADMITTED, Candidate, Candidates
from spiderproj.store.certificate import Certificate
from spiderproj.store.rulebook import BEFORE_ALL, Class, Rulebook, Standing
from spiderproj.store.trials import Answer, PageReadings, Trials
from spiderproj.urls import split, url_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spiderproj.content import Noise
    from spiderproj.learning import Rule
    from spiderproj.store.database import Database
    from spiderproj.store.decisions import Decisions
    from spiderproj.store.frontier import Frontier
    from spiderproj.store.known import LinkRow

_CLASSES_AT_ONCE = 64
_MEMBERS_AT_ONCE = 200


class Choice(NamedTuple):
    """What becomes of a URL that the other rules let in."""

    refusal: Decision | None = None
    is_held: bool = False


_FETCH = Choice()
_HOLD = Choice(is_held=True)


class Learner:
    """Learns rewrite rules while the crawl goes on.

    *audit_every*: one in so many skips is fetched all the same; *seed* makes the choice of the last audits repeatable.
    """

    def __init__(
        self,
        database: Database,
        frontier: Frontier,
        decisions: Decisions,
        readings: PageReadings,
        *,
        strict: bool,
        audit_every: int,
        seed: int | None = None,
    ) -> None:
        self._db = database
        self._frontier = frontier
        self._decisions = decisions
        self._strict = strict
        self._audit_every = audit_every
        self._book = Rulebook(database, strict=strict)
        self._candidates = Candidates(self._book, decisions, frontier)
        self._trials = Trials(database, self._book, readings, self._candidates, decisions, strict=strict)
        self._certificate = Certificate(database, self._book, decisions, seed)
        self._passed: dict[int, int] = {}  # rule -> the class that was looked at last

    @property
    def has_work(self) -> bool:
        """Whether URLs that were skipped are to be fetched after all, or audited."""
        return any(count > 0 for count in self._book.waiting.values()) or self._certificate.is_due

    @property
    def rules(self) -> list[Rule]:
        """What has been learned."""
        return self._book.rules()

    def noise_of(self, url: str) -> Noise:
        """Return what is known to vary by itself on pages of the kind of *url*."""
        parts = split(url)
        return self._book.template(self._frontier.host_id(parts.authority), learning.scope_template(parts.path)).noise

    def begin_anew(self) -> None:
        """Take what an earlier crawl has learned as a good guess."""
        for stored in self._book.rules():
            rule = self._book.rule(stored.id)
            rule.begin_anew(strict=self._strict)
            self._book.save(rule)

    def flush(self) -> None:
        """Write what is only in memory; comes before a commit."""
        self._book.flush()

    def decide(self, row: int, url: str, host: int) -> Choice:
        """Decide about a URL with the id *row* that has just been let in."""
        return self._decide(row, url, host, is_new=True)

    def observe(self, url: CrawlURL, answer: Answer | None, rows: Sequence[LinkRow], first_new: int) -> None:
        """Learn from the *answer* to *url*, as ``Trials.observe`` says."""
        self._trials.observe(url, self._frontier.host_id(split(url.url).authority), answer, rows, first_new)

    def advance(self) -> bool:
        """Let held URLs go whose turn it is, once their host has nothing else; say whether anything has moved."""
        for number in [number for number, count in self._book.waiting.items() if count > 0]:
            rule = self._book.rule(number)
            if recalled := self._book.members(number, Standing.RECALLED, limit=_MEMBERS_AT_ONCE):
                self._reconsider(recalled)
                return True
            if not self._frontier.has_head(rule.host) and self._advance(rule):
                return True
        if self._frontier.pending > self._frontier.held:
            return False
        return self._free_any() if self._frontier.held else self._certificate.audit()

    def _decide(self, row: int, url: str, host: int, *, is_new: bool) -> Choice:
        held: Candidate | None = None
        vacant: list[Candidate] = []
        for candidate in self._candidates.of(split(url), host, is_new=is_new):
            rule, _, known = candidate
            if rule.is_off:
                continue
            if known is None or known.url is None or known.url == row:
                vacant.append(candidate)
            elif rule.covers(known.good, known.bad):
                return self._cover(row, url, candidate, known)
            elif held is None and rule.holds_back(known.good, known.bad):
                held = candidate
        if held is not None:
            self._book.keep_class(held.rule.id, held.name, held.known or Class(None))
            self._book.enlist(row, held.rule.id, held.name, Standing.HELD)
            return _HOLD
        self._book.dismiss(row)
        for candidate in vacant:
            self._book.represent(candidate.rule, candidate.name, candidate.known, row)
        return _FETCH

    def _cover(self, row: int, url: str, candidate: Candidate, known: Class) -> Choice:
        """Skip a URL that a rule covers, or fetch it to see whether the rule is right."""
        rule, name, _ = candidate
        self._book.keep_class(rule.id, name, known)
        audits = rule.audits + self._book.count(rule.id, Standing.AUDIT)
        if audits < learning.FIRST_AUDITS or url_key(url) % self._audit_every == 0:
            self._book.enlist(row, rule.id, name, Standing.AUDIT)
            return _FETCH
        self._book.enlist(row, rule.id, name, Standing.SKIPPED)
        rule.skipped += 1
        self._book.save(rule)
        representative = self._db.scalar("SELECT url FROM urls WHERE id = ?", (known.url,))
        return Choice(Decision(Verdict.REFUSED, Reason.LEARNED, f"{rule.describe()}: as {representative}"))

    def _advance(self, rule: Rule) -> bool:
        """Go through the classes of a rule that have held members, a few at a time, round and round."""
        has_moved = False
        after = start = self._passed.get(rule.id, BEFORE_ALL)
        for _ in range(_CLASSES_AT_ONCE):
            name = self._book.next_class(rule.id, Standing.HELD, after)
            if name is None:
                if BEFORE_ALL in (after, start):
                    break
                after = start = BEFORE_ALL
                continue
            after = name
            has_moved = self._advance_class(rule, name) or has_moved
            if rule.holds and self._frontier.has_head(rule.host):
                break  # an audit comes first: it may end the rule
        self._passed[rule.id] = after
        return has_moved or self._widen(rule)

    def _advance_class(self, rule: Rule, name: int) -> bool:
        known = self._book.class_of(rule.id, name) or Class(None)
        if not self._has_representative(known):
            self._book.keep_class(rule.id, name, known._replace(url=None))
        elif rule.holds_back(known.good, known.bad) and not rule.covers(known.good, known.bad):
            return self._trials.answer(known.url or 0) is not None and self._probe(rule, name, known)
        self._reconsider(self._book.members(rule.id, Standing.HELD, name, _MEMBERS_AT_ONCE))
        return True

    def _probe(self, rule: Rule, name: int, known: Class) -> bool:
        """Fetch one of the held members of a class, if the rule wants another trial there."""
        going = self._book.on_trial(rule.id, name)
        if rule.state is State.LEARN:
            tried = known.good + known.bad + going
            if tried >= self._trials.trials_a_base(rule) or self._book.on_trial(rule.id) >= rule.wanted_trials:
                return False
        elif going:
            return False
        row = self._book.members(rule.id, Standing.HELD, name, 1)[0]
        self._book.enlist(row, rule.id, name, Standing.PROBE)
        self._frontier.free(row)
        return True

    def _widen(self, rule: Rule) -> bool:
        """Help a rule on that has too few bases to be decided: more trials on each, then base by base."""
        if not rule.is_promising or self._book.on_trial(rule.id):
            return False
        if rule.id in self._trials.widened:
            rule.give_up_breadth()
            self._book.save(rule)
        self._trials.widened[rule.id] = learning.TRIALS_ON_FEW_BASES
        return True

    def _reconsider(self, rows: Sequence[int]) -> None:
        """Decide again about members of classes."""
        for row in rows:
            url, verdict, host = self._db.execute("SELECT url, verdict, host FROM urls WHERE id = ?", (row,)).fetchone()
            choice = self._decide(row, url, host, is_new=False)
            if verdict != Verdict.QUEUED:
                if choice.refusal is None:
                    self._decisions.requeue("id = ?", (row,), is_held=choice.is_held)
            elif choice.refusal is not None:
                self._decisions.skip(row, url, choice.refusal)
            elif not choice.is_held:
                self._frontier.free(row)

    def _free_any(self) -> bool:
        """Fetch a held URL though nothing is decided: what it waits for does not come."""
        rule = next(number for number, count in self._book.waiting.items() if count > 0)
        row = self._book.members(rule, Standing.HELD, limit=1)[0]
        self._book.dismiss(row)
        self._frontier.free(row)
        return True

    def _has_representative(self, known: Class) -> bool:
        if known.url is None:
            return False
        return self._db.scalar("SELECT verdict FROM urls WHERE id = ?", (known.url,)) in ADMITTED


def forget_members(database: Database, decisions: Decisions, frontier: Frontier) -> None:
    """Let everything in that rules hold or have skipped: the crawl goes on without them."""
    if database.scalar("SELECT 1 FROM members LIMIT 1") is None:
        return
    frontier.free_all()
    decisions.requeue("reason = ?", (Reason.LEARNED,))
    database.write("DELETE FROM members")
