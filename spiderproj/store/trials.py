"""What answers say for or against the rules: pages of one class held against their representative."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from spiderproj import learning
from spiderproj.content import CALIBRATIONS, Reading, Sameness, digests, same
from spiderproj.learning import State, Trial
from spiderproj.models import Verdict
from spiderproj.store.candidates import Candidate
from spiderproj.store.rulebook import Class, Standing
from spiderproj.urls import split

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spiderproj.learning import Rule
    from spiderproj.models import CrawlURL
    from spiderproj.store.candidates import Candidates
    from spiderproj.store.database import Database
    from spiderproj.store.decisions import Decisions
    from spiderproj.store.known import LinkRow
    from spiderproj.store.rulebook import Member, Rulebook, Template
    from spiderproj.urls import URLParts

_MUCH_TEXT = 200  # characters of main text that outweigh lists of links which differ
_ANSWER = (
    "SELECT u.verdict, f.final_url, f.content, f.error FROM urls AS u"
    " LEFT JOIN fetches AS f ON f.id = u.fetch WHERE u.id = ?"
)


class Answer(NamedTuple):
    """What a fetch says about the content of a URL."""

    content: int | None  # the stored body
    final_url: str | None  # where it redirects


class _Page(NamedTuple):
    """A URL that is judged, with its answer."""

    row: int
    url: str
    answer: Answer
    canonical: str | None = None  # what it says its own URL should be (RFC 6596)


class PageReadings(Protocol):
    """The main content of stored pages, by the ids of their URLs."""

    def of(self, row: int) -> Reading | None:
        """Return that of the page as it is stored, None when there is none to be had."""
        ...

    def kept(self, row: int) -> Reading | None:
        """Return what was kept of it."""
        ...

    def keep(self, row: int, reading: Reading | None) -> None:
        """Keep it; None forgets what was kept."""
        ...


class Trials:
    """Judges answers. *strict*: pages are the same only when nothing of their text differs but its order."""

    def __init__(
        self,
        database: Database,
        book: Rulebook,
        readings: PageReadings,
        candidates: Candidates,
        decisions: Decisions,
        *,
        strict: bool,
    ) -> None:
        self._db = database
        self._book = book
        self._readings = readings
        self._candidates = candidates
        self._decisions = decisions
        self._strict = strict
        self.widened: dict[int, int] = {}  # rule -> trials on each base that count, where it is not the usual number

    def trials_a_base(self, rule: Rule) -> int:
        """Return how many trials on one base count: more say little about other bases."""
        return self.widened.get(rule.id, learning.TRIALS_A_BASE)

    def observe(self, url: CrawlURL, host: int, answer: Answer | None, rows: Sequence[LinkRow], first_new: int) -> None:
        """Learn from the *answer* to *url*, None when it says nothing about the content.

        *rows* are its decided links; those with ids from *first_new* on were not known before.
        """
        member = self._book.member(url.id)
        if member is not None:
            self._book.dismiss(url.id)
        if answer is None:
            self._judge_waiting(member)
            return
        canonical = next((link.target for link, _ in rows if link.rel == "canonical" and link.problem is None), None)
        page, parts = _Page(url.id, url.url, answer, canonical), split(url.url)
        candidates = list(self._candidates.of(parts, host, is_new=False))
        before = self._readings.kept(url.id)
        self._readings.keep(url.id, None)
        if member is not None and member.standing is Standing.AGAIN and before is not None:
            self._compare_fetches(before, page, host)
        is_closed = self._is_closed(parts, rows, first_new)
        for candidate in candidates:
            trial = None
            if member is not None and member.rule == candidate.rule.id:
                trial = Trial.AUDIT if member.standing is Standing.AUDIT else Trial.PROBE
            self._judge(page, candidate, is_closed=is_closed, trial=trial)
        self._judge_waiting(member)

    def answer(self, row: int) -> Answer | None:
        """Return what is stored of the answer to a URL, None while there is none that says anything."""
        verdict, final_url, content, error = self._db.execute(_ANSWER, (row,)).fetchone()
        if verdict != Verdict.FETCHED or error is not None or (content is None and final_url is None):
            return None
        return Answer(content, final_url)

    def _compare_fetches(self, before: Reading, page: _Page, host: int) -> None:
        """Learn from two fetches of one URL what changes of itself."""
        after, template = self._readings.of(page.row), self._template(host, page.url)
        if after is not None:
            template.is_changed = True
            template.noise.calibrate(before, after)

    def _judge(self, page: _Page, candidate: Candidate, *, is_closed: bool, trial: Trial | None) -> None:
        """Hold a page against the representative of its class, and let the rule know."""
        rule, name, known = candidate
        if known is None or known.url is None or known.url == page.row:
            self._book.represent(rule, name, known, page.row)
            return
        answer = self.answer(known.url)
        if answer is None:
            return
        other = _Page(known.url, self._url(known.url), answer)
        template = self._learn(rule.host, page, other)
        if any(self._is_shared(one, template) for one in (page, other)):
            return  # a page that many addresses give says nothing about any of them
        if answer.final_url == page.url:  # what the representative leads to had better be the representative
            self._conclude(candidate, known._replace(url=page.row), success=is_closed, trial=trial)
            return
        is_same = self._is_same(page, other, template)
        if is_closed and not is_same and self._may_be_noise(page, other) and not template.noise.is_calibrated:
            self._book.enlist(page.row, rule.id, name, Standing.JUDGED)
            self._calibrate(rule, known.url, template)
            return
        says_so = page.canonical == other.url
        self._conclude(candidate, known, success=is_closed and is_same, trial=trial, is_confirmed=says_so)

    def _conclude(
        self, candidate: Candidate, known: Class, *, success: bool, trial: Trial | None, is_confirmed: bool = False
    ) -> None:
        rule, name, _ = candidate
        tried, good = known.good + known.bad, known.good + success
        counts = tried < self.trials_a_base(rule)
        before = rule.observe(
            success=success, counts=counts, good=good, is_new_base=tried == 0, trial=trial, is_confirmed=is_confirmed
        )
        self._book.keep_class(rule.id, name, known._replace(good=good, bad=known.bad + (not success)))
        if before is not rule.state and rule.state is not State.ON:
            rule.skipped -= self._book.recall(rule.id)
        elif not success:
            rule.skipped -= self._book.recall(rule.id, name)
        self._book.save(rule)

    def _is_closed(self, parts: URLParts, rows: Sequence[LinkRow], first_new: int) -> bool:
        """Say whether a page leads nowhere new but within its own family: same template, same parameter names.

        Without this a second page of a list, whose text is short, would count as the first. What is held or skipped is
        not new: something stands for it.
        """
        family = _family(parts)
        return not any(
            known.id >= first_new
            and known.decision == Verdict.QUEUED
            and _family(split(link.target)) != family
            and self._book.member(known.id) is None
            for link, known in rows
        )

    def _calibrate(self, rule: Rule, representative: int, template: Template) -> None:
        """Have some representatives fetched a second time, which shows what changes of itself."""
        if self._book.count(rule.id, Standing.AGAIN):
            return
        wanted = CALIBRATIONS - template.noise.calibrations
        others = [row for row in self._book.representatives(rule.id, CALIBRATIONS) if row[0] != representative]
        names = {row: name for row, name in others if self.answer(row) is not None}
        for row in [representative, *names][:wanted]:
            self._readings.of(row)  # is kept, and so there to be compared with the second
            self._book.enlist(row, rule.id, names.get(row, 0), Standing.AGAIN)
            self._decisions.requeue("id = ?", (row,))

    def _judge_waiting(self, member: Member | None) -> None:
        """Judge what has waited for the last of the second fetches, which *member* was."""
        if member is None or member.standing is not Standing.AGAIN or self._book.count(member.rule, Standing.AGAIN):
            return
        rule = self._book.rule(member.rule)
        for row in self._book.members(rule.id, Standing.JUDGED):
            waiting = self._book.member(row)
            self._book.dismiss(row)
            known = self._book.class_of(rule.id, waiting.name) if waiting is not None else None
            if waiting is None or known is None or known.url is None:
                continue
            page, other = self._page(row), self._page(known.url)
            if page is None or other is None:
                continue
            success = self._is_same(page, other, self._template(rule.host, page.url))
            self._conclude(Candidate(rule, waiting.name, known), known, success=success, trial=Trial.PROBE)

    def _is_same(self, page: _Page, other: _Page, template: Template) -> bool:
        """Say whether a URL answers with the content of the *other*, which stands for its class."""
        if page.answer.final_url is not None:
            return page.answer.final_url in (other.url, other.answer.final_url)
        if other.answer.final_url is not None:
            return False
        first, second = self._readings.of(page.row), self._readings.of(other.row)
        if page.answer.content == other.answer.content:
            return first is None or not first.is_empty
        return (
            first is not None
            and second is not None
            and self._is_enough(same(first, second, template.noise), first, second)
        )

    def _is_enough(self, found: Sameness, first: Reading, second: Reading) -> bool:
        if self._strict:
            return found >= Sameness.UNORDERED
        is_text = min(first.characters, second.characters) >= _MUCH_TEXT and not (first.is_list or second.is_list)
        return found >= (Sameness.LINKS if is_text else Sameness.DATES)

    def _may_be_noise(self, *pages: _Page) -> bool:
        """Say whether pages may differ in noise only: a second fetch of one of them would tell."""
        return all(self._readings.of(page.row) is not None for page in pages)

    def _learn(self, host: int, *pages: _Page) -> Template:
        """Take in what pages say about their template."""
        template = self._template(host, pages[0].url)
        template.is_changed = True
        for page in pages:
            if (reading := self._readings.of(page.row)) is not None:
                template.noise.observe(reading)
                template.shared.note(digests(reading)[1], split(page.url).path)
        return template

    def _is_shared(self, page: _Page, template: Template) -> bool:
        reading = self._readings.of(page.row)
        return reading is not None and template.shared.is_error(digests(reading)[1])

    def _page(self, row: int) -> _Page | None:
        answer = self.answer(row)
        return None if answer is None else _Page(row, self._url(row), answer)

    def _template(self, host: int, url: str) -> Template:
        return self._book.template(host, learning.scope_template(split(url).path))

    def _url(self, row: int) -> str:
        return str(self._db.scalar("SELECT url FROM urls WHERE id = ?", (row,)))


def _family(parts: URLParts) -> tuple[str, str, frozenset[str]]:
    return parts.authority, learning.scope_template(parts.path), learning.parameter_names(parts.query)
