"""When to ask for a URL's type before its body: HEAD, GET at once, or nothing (docs/arguments.md, "Gate").

A state machine without I/O: it is told what the server answered and says what to do next. A HEAD costs a turn of the
host's delay just as a GET does, so ``auto`` asks only where there is doubt, and what a host's answers have taught
replaces the question where it is certain. A GET of an unwanted type is stopped at its headers, whatever was asked
before.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import NamedTuple

from spiderproj.gate.families import Families, Family
from spiderproj.gate.headers import Head, HeadAnswer, is_plain_text, judge_head, known_type
from spiderproj.learning import parameter_names, scope_template
from spiderproj.mediatype import extension, predict
from spiderproj.models import Reason, ResourceType
from spiderproj.urls import URLParts

AUDIT_EVERY = 50
"""One in so many URLs that learning would refuse is asked for all the same: it must be able to notice its errors."""

HEAD_FROM = 0.03
"""The share of unwanted types from which a HEAD is worth its turn; a single file among forty pages is not."""

_GUESSES = {True: 0.01, False: 0.9, None: 0.5}
"""The share that is unwanted among URLs whose ending means a wanted type, another, or nothing."""

_EVERY_TYPE = frozenset(ResourceType)


class GateMode(StrEnum):
    """The values of the ``gate`` argument."""

    AUTO = "auto"
    HEAD = "head"
    GET = "get"
    EXTENSION = "extension"


class Ask(Enum):
    """What to send for a URL."""

    GET = "get"
    HEAD = "head"
    REFUSE = "refuse"


class Advice(NamedTuple):
    """What to send; with REFUSE, the reason and rule of the decision."""

    ask: Ask
    reason: Reason | None = None
    rule: str = ""


_GET = Advice(Ask.GET)
_HEAD = Advice(Ask.HEAD)


@dataclass(slots=True)
class GateCounts:
    """How often the gate did what, for the crawl's statistics."""

    get: int = 0
    head: int = 0
    refused_by_context: int = 0
    refused_by_ending: int = 0
    refused_by_learning: int = 0
    audits: int = 0
    head_failures: int = 0
    head_lies: int = 0
    hosts_without_head: int = 0


class Gate:
    """The gate of one crawl, with what it has learned.

    *mode* is a value of GateMode; *families* are the rows of an earlier crawl.
    """

    def __init__(self, mode: str, families: Iterable[Family] = ()) -> None:
        self._same_for_all = {GateMode.HEAD: self._head, GateMode.GET: self._get}.get(GateMode(mode))
        self._ending_decides = mode == GateMode.EXTENSION
        self.counts = GateCounts()
        self._families = Families(families)

    def before(
        self, parts: URLParts, host: str, hint: ResourceType | None, wanted: frozenset[ResourceType], key: int
    ) -> Advice:
        """Return what to send for a URL.

        *host* is its host key, *hint* what the context of its link says it is, *wanted* the types acceptable for it,
        *key* its url_key, by which audits are chosen, so that a replay gives the same advice.
        """
        if self._same_for_all is not None:
            return self._same_for_all()
        if wanted >= _EVERY_TYPE:
            return self._get()
        if self._ending_decides:
            return self._by_ending(parts, predict(parts.path, parts.query), wanted)
        if hint is not None and hint is not ResourceType.HTML:
            return self._by_context(hint, wanted)
        return self._learned(parts, host, hint or predict(parts.path, parts.query), wanted, key)

    def on_head(self, parts: URLParts, host: str, head: Head) -> None:
        """Learn from the answer to a HEAD.

        ``text/plain`` teaches nothing: servers say it on HEAD where GET says ``text/html`` (linkchecker issue 414).
        """
        found = known_type(head.status, head.values)
        if found is not None and not is_plain_text(head.values):
            self._learn(parts, host, found)

    def on_get(
        self,
        parts: URLParts,
        host: str,
        found: ResourceType | None,
        wanted: frozenset[ResourceType],
        head: Head | None = None,
    ) -> None:
        """Learn from a GET that succeeded (2xx): its true type, None when not known, and the HEAD sent before it."""
        said = None if head is None else known_type(head.status, head.values)
        if found is not None and (found is not said or (head is not None and is_plain_text(head.values))):
            self._learn(parts, host, found)
        if head is not None:
            self._compare(parts, host, found, wanted, head)

    def head_usable(self, parts: URLParts, host: str) -> bool:
        """Return whether HEAD is still worth sending for URLs like that of *parts* on *host*."""
        whole, own = self._families.get(host, ""), self._families.get(host, _name(parts))
        return not (whole is not None and whole.refuses_heads) and (own is None or own.answers_heads)

    def rows(self) -> list[Family]:
        """Return what was learned, for the next run's Gate."""
        return self._families.rows()

    def changed(self) -> list[Family]:
        """Return what of it has changed since this was asked last."""
        return self._families.changed()

    def _by_context(self, hint: ResourceType, wanted: frozenset[ResourceType]) -> Advice:
        if hint in wanted:
            return self._get()
        self.counts.refused_by_context += 1
        return Advice(Ask.REFUSE, Reason.TYPE, f"gate=auto: linked as {hint.value}, which is not wanted")

    def _by_ending(self, parts: URLParts, likely: ResourceType | None, wanted: frozenset[ResourceType]) -> Advice:
        if likely is None or likely in wanted:
            return self._get()
        self.counts.refused_by_ending += 1
        ending = extension(parts.path) or "no ending"
        return Advice(Ask.REFUSE, Reason.TYPE, f"gate=extension: {ending} means {likely.value}, which is not wanted")

    def _learned(
        self, parts: URLParts, host: str, likely: ResourceType | None, wanted: frozenset[ResourceType], key: int
    ) -> Advice:
        """Return what the answers to URLs like this one advise: GET, HEAD where it is in doubt, or neither."""
        ending = extension(parts.path)
        own, alike = self._families.get(host, _name(parts)), self._families.get(host, f"*.{ending}")
        share = _GUESSES[None if likely is None else likely in wanted]
        for family in (alike, own):
            if family is not None:
                share = family.unwanted_share(wanted, share)
        if share < HEAD_FROM:
            return self._get()
        expected = likely is not None and likely not in wanted
        certain = _certain(own, alike if ending else None, wanted, as_expected=expected)
        if certain is None:
            return self._question(parts, host)
        if key % AUDIT_EVERY == 0:
            self.counts.audits += 1
            return self._question(parts, host)
        self.counts.refused_by_learning += 1
        bad = certain.seen - certain.wanted(wanted)
        rule = f"gate=auto: {bad} of {certain.seen} URLs like {certain.name} on {host} were not wanted"
        return Advice(Ask.REFUSE, Reason.TYPE, rule)

    def _question(self, parts: URLParts, host: str) -> Advice:
        return self._head() if self.head_usable(parts, host) else self._get()

    def _head(self) -> Advice:
        self.counts.head += 1
        return _HEAD

    def _get(self) -> Advice:
        self.counts.get += 1
        return _GET

    def _learn(self, parts: URLParts, host: str, found: ResourceType) -> None:
        for name in (_name(parts), f"*.{extension(parts.path)}"):
            self._families.change(host, name).learn(found)

    def _compare(
        self, parts: URLParts, host: str, found: ResourceType | None, wanted: frozenset[ResourceType], head: Head
    ) -> None:
        """Hold the answer to a HEAD against the GET that succeeded after it."""
        said = known_type(head.status, head.values)
        failed = judge_head(head, wanted) is HeadAnswer.UNKNOWN
        lied = not failed and found is not None and (said in wanted) is not (found in wanted)
        self.counts.head_failures += failed
        self.counts.head_lies += lied
        whole = self._families.change(host, "")
        before = whole.refuses_heads
        for family in (whole, self._families.change(host, _name(parts))):
            family.note_head(failed=failed, lied=lied)
        self.counts.hosts_without_head += whole.refuses_heads and not before


def _name(parts: URLParts) -> str:
    """Return the name of a URL's own family."""
    names = parameter_names(parts.query)
    template = scope_template(parts.path)
    return f"{template}?{'&'.join(sorted(names))}" if names else template


def _certain(
    own: Family | None, alike: Family | None, wanted: frozenset[ResourceType], *, as_expected: bool
) -> Family | None:
    """Return the family that makes an unwanted type certain: its own, or that of its ending, unless its own objects."""
    if own is not None and own.is_certain(wanted, as_expected=as_expected):
        return own
    objects = own is not None and own.wanted(wanted) > 0
    return alike if alike is not None and not objects and alike.is_certain(wanted, as_expected=as_expected) else None
