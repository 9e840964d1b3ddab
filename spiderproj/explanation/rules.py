"""The rules a URL is judged by, in the order in which a crawl asks them, and which of them a decision came from.

``Scope.judge`` decides; each of its rules gives reasons of its own, so a decision tells which rule gave it, and that
those before it had nothing to say.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from spiderproj.models import LinkRole, Reason, ResourceType, Verdict
from spiderproj.scope import MAX_HOPS, is_hop

if TYPE_CHECKING:
    from spiderproj.models import Decision, Link
    from spiderproj.scope import Judgement, Scope, Source


class Rule(StrEnum):
    """A rule, by the name that people see; the members are in the order of asking."""

    URL = "url"
    REDIRECTS = "redirects"
    NOFOLLOW = "nofollow"
    PATTERNS = "allow, deny"
    FILTER = "filter"
    REQUISITES = "requisites"
    PLACE = "mode, select"
    NEAR = "near"
    DEPTH = "depth"
    TRAP = "trap"
    TYPE = "type"
    # What is asked of a URL that all these let in, some of it when its turn has come:
    UNIQUE = "unique"
    NOVELTY = "novelty"
    ROBOTS = "robots.txt"
    HEAD = "gate"
    FETCH = "fetch"
    ANSWER = "answered type"
    SIZE = "filter, size known"
    LIMITS = "limits"


OF_LINK = tuple(rule for rule in Rule if rule not in {Rule.UNIQUE, Rule.NOVELTY, Rule.ROBOTS, Rule.HEAD, Rule.FETCH,
                                                      Rule.ANSWER, Rule.SIZE, Rule.LIMITS})  # fmt: skip
"""The rules that ``Scope.judge`` asks."""

OF_ANSWER = tuple(rule for rule in Rule if rule not in OF_LINK)
"""The rules that are asked with a request, of a URL that the others have let in."""

_BY_REASON = {
    Reason.INVALID: Rule.URL,
    Reason.SCHEME: Rule.URL,
    Reason.TOO_LONG: Rule.URL,
    Reason.NOFOLLOW: Rule.NOFOLLOW,
    Reason.DENY: Rule.PATTERNS,
    Reason.ALLOW: Rule.PATTERNS,
    Reason.FILTER: Rule.FILTER,
    Reason.SCOPE: Rule.PLACE,
    Reason.LEVEL: Rule.PLACE,
    Reason.DEPTH: Rule.DEPTH,
    Reason.TRAP: Rule.TRAP,
    Reason.TYPE: Rule.TYPE,
}
_WITH_REQUEST = {
    Reason.LEARNED: Rule.UNIQUE,
    Reason.TRAP: Rule.NOVELTY,
    Reason.ROBOTS: Rule.ROBOTS,
    Reason.TYPE: Rule.HEAD,
    Reason.FILTER: Rule.SIZE,
    Reason.PRIVATE_ADDRESS: Rule.FETCH,
    Reason.ERROR: Rule.FETCH,
}


class Answer(StrEnum):
    """What a rule said."""

    PASSES = "passes"
    ADMITS = "lets in"
    REFUSES = "refuses"
    DIFFERS = "does not apply"
    NOT_ASKED = "not asked"


class Step(NamedTuple):
    """One rule, what it said, and the values that it said it of."""

    rule: Rule
    answer: Answer
    value: str


def rule_of(decision: Decision, link: Link, source: Source) -> Rule | None:
    """Return the rule of ``Scope.judge`` that gave *decision* on a *link*, None when it let it in."""
    if decision.reason is None:
        return None
    if is_hop(link) and decision.reason is Reason.TRAP and source.hops >= MAX_HOPS:
        return Rule.REDIRECTS
    return _BY_REASON[decision.reason]


def rule_with_request(decision: Decision) -> Rule:
    """Return the rule that gave a refusal after the URL had been let in."""
    if decision.reason is Reason.TYPE and decision.rule.startswith("answer:"):
        return Rule.ANSWER
    return _WITH_REQUEST.get(decision.reason or Reason.BUDGET, Rule.LIMITS)


def steps(scope: Scope, link: Link, source: Source, judgement: Judgement) -> Iterator[Step]:
    """Yield what each rule of OF_LINK said of a *link* of *source* that came to *judgement*."""
    end = _end(scope, link, source, judgement)
    said = _values(scope, link, source, judgement)
    is_over = False
    for rule in OF_LINK:
        if is_over:
            yield Step(rule, Answer.NOT_ASKED, "")
        elif end is not None and rule is end.rule:
            yield end
            is_over = True
        elif rule is Rule.PLACE and judgement.near:
            yield Step(rule, Answer.DIFFERS, "another host, which near=1 may let in")
        else:
            yield Step(rule, *said.get(rule, (Answer.DIFFERS, "")))


def _end(scope: Scope, link: Link, source: Source, judgement: Judgement) -> Step | None:
    """Return the step that decided, None when every rule had to be asked."""
    refusing = rule_of(judgement.decision, link, source)
    if refusing is not None:
        return Step(refusing, Answer.REFUSES, judgement.decision.rule)
    if is_hop(link) and source.is_seed and judgement == scope.judge_seed(link.target):
        return Step(Rule.REDIRECTS, Answer.ADMITS, "where a seed leads")
    if is_hop(link) and source.near:
        return Step(Rule.REDIRECTS, Answer.ADMITS, "where a near file leads")
    if judgement.role is LinkRole.REQUISITE:
        return Step(Rule.REQUISITES, Answer.ADMITS, f"<{link.tag}> of a page that is kept")
    return None


def _values(scope: Scope, link: Link, source: Source, judgement: Judgement) -> dict[Rule, tuple[Answer, str]]:
    """Return what a rule says that does not decide, and of what."""
    predicted = judgement.predicted or "not known yet"
    found = {
        Rule.URL: (Answer.PASSES, f"http or https, {len(link.target):,} characters"),
        Rule.NOFOLLOW: (Answer.PASSES, "the link and its page do not say nofollow"),
        Rule.PLACE: (Answer.PASSES, f"level {judgement.level}, mode={scope.mode}"),
        Rule.DEPTH: (Answer.PASSES, f"{judgement.depth} of {'any' if scope.depth is None else scope.depth} hops"),
        Rule.TRAP: (Answer.PASSES, "the path does not repeat itself"),
        Rule.TYPE: (Answer.PASSES, f"{predicted}, level {judgement.level}{_near(judgement)}"),
    }
    if link.nofollow:
        found[Rule.NOFOLLOW] = (Answer.DIFFERS, "nofollow is for what is navigated to")
    if is_hop(link):
        found[Rule.REDIRECTS] = (Answer.PASSES, f"{source.hops + 1} of {MAX_HOPS} in a row")
    if scope.patterns is not None:
        found[Rule.PATTERNS] = (Answer.PASSES, "no deny is found, and an allow where there is one")
    if scope.conditions:
        found[Rule.FILTER] = (Answer.PASSES, " ".join(name for name, _ in scope.conditions))
    if judgement.near:
        found[Rule.NEAR] = (Answer.PASSES, "near=1, another host")
    return found


def _near(judgement: Judgement) -> str:
    return f", not {ResourceType.HTML} (near)" if judgement.near else ""


def lets_in(judgement: Judgement) -> bool:
    """Say whether *judgement* lets its URL in."""
    return judgement.decision.verdict is Verdict.QUEUED
