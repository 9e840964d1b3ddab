"""When to ask for a URL's type before its body: HEAD, GET at once, or nothing (docs/arguments.md, "Gate").

A state machine without I/O: it is told what the server answered and says what to do next. A HEAD costs a turn of the
host's delay just as a GET does, so ``auto`` asks only where there is doubt, and what a host's answers have taught
replaces the question. A GET of an unwanted type is stopped at its headers, whatever was asked before.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import NamedTuple

from spiderproj.gate.families import Families, Family
from spiderproj.gate.headers import Head, is_plain_text, is_success, known_type
from spiderproj.mediatype import extension, parse, predict
from spiderproj.models import Reason, ResourceType
from spiderproj.urls import URLParts

AUDIT_EVERY = 50
"""One in so many URLs that learning would refuse is asked for all the same: it must be able to notice its errors."""

FAILURES_ALLOWED = 3
"""HEADs in a row without an answer of use, where GET succeeds, until a host is sent no more: two may be chance."""

LIES_ALLOWED = 2
"""HEADs of another type than GET's, to another decision: one may be an error page, two are how the host works."""

MAX_HOSTS = 65_536
"""Hosts whose HEAD failed or lied that are remembered; beyond it the oldest go."""

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


@dataclass(slots=True)
class _Honesty:
    """How HEAD does on one host."""

    failures: int = 0  # in a row
    lies: int = 0

    @property
    def is_usable(self) -> bool:
        return self.failures < FAILURES_ALLOWED and self.lies < LIES_ALLOWED


class Gate:
    """The gate of one crawl, with what it has learned.

    *mode* is a value of GateMode; *families* are the rows of an earlier crawl.
    """

    def __init__(self, mode: str, families: Iterable[Family] = ()) -> None:
        self._same_for_all = {GateMode.HEAD: self._head, GateMode.GET: self._get}.get(GateMode(mode))
        self._ending_decides = mode == GateMode.EXTENSION
        self.counts = GateCounts()
        self._families = Families(families)
        self._honesty: dict[str, _Honesty] = {}

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
        likely = predict(parts.path, parts.query)
        if self._ending_decides:
            return self._by_ending(parts, likely, wanted)
        if hint is not None and hint not in wanted and hint is not ResourceType.HTML:
            self.counts.refused_by_context += 1
            return Advice(Ask.REFUSE, Reason.TYPE, f"gate=auto: linked as {hint.value}, which is not wanted")
        if (hint or likely) in wanted:
            return self._get()
        return self._learned(parts, host, wanted, key) or self._question(host)

    def on_head(self, parts: URLParts, host: str, head: Head) -> None:
        """Learn from the answer to a HEAD.

        ``text/plain`` teaches nothing: servers say it on HEAD where GET says ``text/html`` (linkchecker issue 414).
        """
        found = known_type(head.status, head.values)
        if found is None:
            return
        if host in self._honesty:
            self._honesty[host].failures = 0
        if not is_plain_text(head.values):
            self._families.learn(host, parts.path, found)

    def on_get(
        self,
        parts: URLParts,
        host: str,
        found: ResourceType | None,
        wanted: frozenset[ResourceType],
        head: Head | None = None,
    ) -> None:
        """Learn from a GET that succeeded (2xx): its true type, None when not known, and the HEAD sent before it."""
        if found is not None:
            self._families.learn(host, parts.path, found)
        if head is not None and self.head_usable(host):
            self._compare(host, found, wanted, head)

    def head_usable(self, host: str) -> bool:
        """Return whether HEAD is still worth sending to *host*."""
        return host not in self._honesty or self._honesty[host].is_usable

    def rows(self) -> list[Family]:
        """Return what was learned of URLs, for the next crawl's Gate; what is wrong with HEAD is found out anew."""
        return self._families.rows()

    def _by_ending(self, parts: URLParts, likely: ResourceType | None, wanted: frozenset[ResourceType]) -> Advice:
        if likely is None or likely in wanted:
            return self._get()
        self.counts.refused_by_ending += 1
        ending = extension(parts.path) or "no ending"
        return Advice(Ask.REFUSE, Reason.TYPE, f"gate=extension: {ending} means {likely.value}, which is not wanted")

    def _learned(self, parts: URLParts, host: str, wanted: frozenset[ResourceType], key: int) -> Advice | None:
        """Return what a certain family advises; None when nothing is certain or an audit is due."""
        family = self._families.certain(host, parts.path)
        if family is None:
            return None
        if family.type in wanted:
            return self._get()
        if key % AUDIT_EVERY == 0:
            self.counts.audits += 1
            return None
        self.counts.refused_by_learning += 1
        ending = f".{family.ending}" if family.ending else "URLs without ending"
        rule = f"gate=auto: {family.streak} {ending} in a row on {host} were {family.type.value}"
        return Advice(Ask.REFUSE, Reason.TYPE, rule)

    def _question(self, host: str) -> Advice:
        return self._head() if self.head_usable(host) else self._get()

    def _head(self) -> Advice:
        self.counts.head += 1
        return _HEAD

    def _get(self) -> Advice:
        self.counts.get += 1
        return _GET

    def _compare(self, host: str, found: ResourceType | None, wanted: frozenset[ResourceType], head: Head) -> None:
        """Hold the answer to a HEAD against the GET that succeeded after it."""
        said = known_type(head.status, head.values)
        failed = not is_success(head.status) or parse(head.values).essence is None
        lied = said is not None and found is not None and (said in wanted) is not (found in wanted)
        if not failed and not lied:
            return
        honesty = self._honesty_of(host)
        honesty.failures += failed
        honesty.lies += lied
        self.counts.head_failures += failed
        self.counts.head_lies += lied
        self.counts.hosts_without_head += not honesty.is_usable

    def _honesty_of(self, host: str) -> _Honesty:
        if host not in self._honesty:
            if len(self._honesty) >= MAX_HOSTS:
                del self._honesty[next(iter(self._honesty))]
            self._honesty[host] = _Honesty()
        return self._honesty[host]
