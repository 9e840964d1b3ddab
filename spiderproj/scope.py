"""Does a URL belong to the crawl? One judgement for every link, redirect, sitemap entry and seed.

A judgement asks the rules in one fixed order and the first that says no decides, so that ``explain`` and ``replay``
give the answer the crawl gave. What only an answer of the server can tell (robots, the true type) is judged later, by
the middlewares, with the ``wanted`` types of this module.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from spiderproj import levels, mediatype, traps, urls
from spiderproj.models import CrawlURL, Decision, Level, Link, LinkRole, Reason, ResourceType, Verdict

EVERY_TYPE = frozenset(ResourceType)
REQUISITE_TYPES = frozenset(
    {ResourceType.IMAGE, ResourceType.STYLE, ResourceType.SCRIPT, ResourceType.FONT, ResourceType.AUDIO,
     ResourceType.VIDEO, ResourceType.DATA}
)  # fmt: skip
"""What a page needs to be shown; DATA for web manifests and subtitles."""

QUEUED = Decision(Verdict.QUEUED, None, "")


_PROBLEMS = {
    Reason.SCHEME: "neither http nor https",
    Reason.INVALID: "no URL by the rules of browsers",
    Reason.TOO_LONG: "a URL that is too long",
}
MAX_HOPS = 10
"""Redirects and meta refreshes in a row; RFC 9309 and browsers allow more only for what is plainly broken."""


class Source(NamedTuple):
    """The page a link stands on, as far as judging its links goes."""

    id: int | None  # its row in the store; None for a seed list or a sitemap
    url: str
    depth: int
    role: LinkRole
    near: bool = False
    hops: int = 0

    @classmethod
    def of(cls, url: CrawlURL) -> Source:
        """Return the source that a fetched *url* is for its links."""
        return cls(url.id, url.url, url.depth, url.role, url.near, url.hops)

    @property
    def is_seed(self) -> bool:
        """Whether the user named it (or it is where a seed's redirect led)."""
        return self.depth == 0 and self.role is LinkRole.NAVIGATION and not self.near


class Judgement(NamedTuple):
    """A decision and what the frontier row needs with it."""

    decision: Decision
    level: Level
    depth: int
    role: LinkRole
    near: bool
    predicted: ResourceType | None


class Condition(Protocol):
    """The ``filter`` expression or the user's own function: True, False, or None when it needs the size."""

    def decide(self, values: Mapping[str, object]) -> bool | None:
        """Judge the *values* of docs/arguments.md, "Filter"."""
        ...


class URLPatterns(Protocol):
    """The ``allow`` and ``deny`` patterns."""

    def decide(self, url: str) -> tuple[Reason, str] | None:
        """Return the reason and rule of a refusal, None when the patterns let *url* in."""
        ...


@dataclass(slots=True, kw_only=True)
class Scope:
    """The rules of one crawl. ``homes`` may move with a redirect of a seed; everything else is fixed."""

    mode: str
    homes: list[levels.Home]
    select: Mapping[Level, frozenset[ResourceType]]
    near: bool = False
    requisites: bool = False
    depth: int | None = None
    deny_types: frozenset[ResourceType] = frozenset()
    follow_links: bool = True  # off with sitemap=only
    predict_refuses: bool = False  # gate=extension: the URL's ending alone may refuse
    hint_refuses: bool = True  # gate=auto, extension: <img> and the like may refuse without a request
    patterns: URLPatterns | None = None
    conditions: Sequence[tuple[str, Condition]] = field(default_factory=tuple)

    def judge(self, link: Link, source: Source, answered: ResourceType | None = None) -> Judgement:
        """Judge one *link* of a fetched *source*; *answered* is the target's type when a server has told it."""
        if link.problem is not None:
            return self._refused(link, source, Decision(Verdict.REFUSED, link.problem, _PROBLEMS[link.problem]))
        if is_hop(link):
            return self._judge_hop(link, source, answered)
        return self._judge(link, source, source.depth + 1, answered)

    def judge_seed(self, url: str) -> Judgement:
        """Judge a seed: what the user names is fetched, whatever its type, unless the URL itself is refused."""
        parts = urls.split(url)
        return Judgement(QUEUED, levels.level(parts, self.homes), 0, LinkRole.NAVIGATION, near=False, predicted=None)

    def wanted(self, url: CrawlURL) -> frozenset[ResourceType]:
        """Return the types that *url* may turn out to be, given how it was found."""
        if url.depth == 0 and url.role is LinkRole.NAVIGATION and not url.near:
            return EVERY_TYPE
        if url.near:
            return EVERY_TYPE - {ResourceType.HTML} - self.deny_types
        types = self.select.get(url.level, frozenset())
        if url.role is LinkRole.REQUISITE:
            types |= REQUISITE_TYPES
        return types - self.deny_types

    @property
    def wants_every_type(self) -> bool:
        """Whether no URL of this crawl can be refused for its type."""
        if self.near or self.requisites or self.deny_types:
            return False
        return all(types >= EVERY_TYPE for types in self.select.values() if types)

    def judge_size(self, url: CrawlURL, resource_type: ResourceType | None, size: int | None) -> Decision | None:
        """Ask the conditions again with the *size* known; None when they let the URL in."""
        return self._condition_refusal(values(url.url, url.level, resource_type, url.depth, url.text, url.via, size))

    def _judge(self, link: Link, source: Source, depth: int, answered: ResourceType | None) -> Judgement:
        parts = urls.split(link.target)
        level = levels.level(parts, self.homes)
        predicted = answered or link.hint or mediatype.predict(parts.path, parts.query)
        certain = answered is not None or self._is_certain(link)
        refusal = self._own_refusal(link, source, level, predicted if certain else None, depth)
        is_requisite = self.requisites and link.role is LinkRole.REQUISITE
        if is_requisite and refusal is None and _may_be(predicted, REQUISITE_TYPES - self.deny_types, certain=certain):
            return Judgement(QUEUED, level, source.depth, LinkRole.REQUISITE, near=False, predicted=predicted)
        place = self._place_refusal(link, source, level)
        near = place is not None and self._is_near(link, source, level)
        refusal = (
            refusal or (None if near else place) or self._depth_refusal(depth) or _trap_refusal(parts.path, source.url)
        )
        if refusal is None:
            types = EVERY_TYPE - {ResourceType.HTML} if near else self.select[level]
            if not _may_be(predicted, types - self.deny_types, certain=certain):
                refusal = Decision(Verdict.REFUSED, Reason.TYPE, f"select: {predicted} is not wanted at level {level}")
        return Judgement(refusal or QUEUED, level, depth, LinkRole.NAVIGATION, near, predicted)

    def _judge_hop(self, link: Link, source: Source, answered: ResourceType | None) -> Judgement:
        """Judge the target of a redirect or refresh: a newly found link at its source's own depth."""
        if source.hops >= MAX_HOPS:
            rule = f"more than {MAX_HOPS} redirects in a row"
            return self._refused(link, source, Decision(Verdict.REFUSED, Reason.TRAP, rule))
        if source.is_seed:
            judged = self.judge_seed(link.target)
            if judged.level is not Level.OTHER or self.mode == "all":
                return judged
        if source.role is LinkRole.REQUISITE:
            return self._judge(link._replace(role=LinkRole.REQUISITE), source, source.depth, answered)
        if source.near:
            level = levels.level(urls.split(link.target), self.homes)
            return Judgement(QUEUED, level, source.depth, LinkRole.NAVIGATION, near=True, predicted=answered)
        return self._judge(link, source, source.depth, answered)

    def _refused(self, link: Link, source: Source, decision: Decision) -> Judgement:
        level = Level.OTHER if link.problem else levels.level(urls.split(link.target), self.homes)
        return Judgement(decision, level, source.depth + 1, LinkRole.NAVIGATION, near=False, predicted=link.hint)

    def _place_refusal(self, link: Link, source: Source, level: Level) -> Decision | None:
        """Refuse by how the link is used and where it leads."""
        if link.role in (LinkRole.FORM, LinkRole.HINT):
            return Decision(Verdict.REFUSED, Reason.SCOPE, f"a {link.role.value} is never followed")
        if source.near or (source.role is LinkRole.REQUISITE and not is_hop(link)):
            return Decision(Verdict.REFUSED, Reason.SCOPE, "nothing is followed from a requisite or near file")
        if not self.follow_links and link.tag != "sitemap" and not is_hop(link):
            return Decision(Verdict.REFUSED, Reason.SCOPE, "sitemap=only: links are not followed")
        if self.mode == "files" and not source.is_seed and not is_hop(link):
            return Decision(Verdict.REFUSED, Reason.SCOPE, "mode=files: only what the seed page itself links to")
        if self.select.get(level):
            return None
        if level is Level.OTHER:
            return Decision(Verdict.REFUSED, Reason.SCOPE, f"mode={self.mode}: another host")
        return Decision(Verdict.REFUSED, Reason.LEVEL, f"select: level {level.value} is not selected")

    def _own_refusal(
        self, link: Link, source: Source, level: Level, known: ResourceType | None, depth: int
    ) -> Decision | None:
        """Refuse by the rules that hold for requisites too: nofollow, deny, the filter."""
        if link.nofollow and link.role is LinkRole.NAVIGATION:
            return Decision(Verdict.REFUSED, Reason.NOFOLLOW, "rel, meta robots or X-Robots-Tag says nofollow")
        if self.patterns is not None and (found := self.patterns.decide(link.target)) is not None:
            reason, rule = found
            if reason is Reason.DENY or link.role is not LinkRole.REQUISITE or not self.requisites:
                return Decision(Verdict.REFUSED, reason, rule)
        if not self.conditions:
            return None
        return self._condition_refusal(values(link.target, level, known, depth, link.text, source.url, None))

    def _condition_refusal(self, asked: Mapping[str, object]) -> Decision | None:
        for name, condition in self.conditions:
            if condition.decide(asked) is False:
                return Decision(Verdict.REFUSED, Reason.FILTER, name)
        return None

    def _depth_refusal(self, depth: int) -> Decision | None:
        if self.depth is not None and depth > self.depth:
            return Decision(Verdict.REFUSED, Reason.DEPTH, f"depth={self.depth}")
        return None

    def _is_near(self, link: Link, source: Source, level: Level) -> bool:
        """Say whether ``near=1`` may let in this link of an in-scope page to another host."""
        if not self.near or level is not Level.OTHER or link.role in (LinkRole.FORM, LinkRole.HINT):
            return False
        return source.role is LinkRole.NAVIGATION and not source.near and self.follow_links

    def _is_certain(self, link: Link) -> bool:
        """Say whether a predicted type is sure enough to refuse without asking the server."""
        if self.predict_refuses:
            return True
        return self.hint_refuses and link.hint is not None and link.hint is not ResourceType.HTML


def is_hop(link: Link) -> bool:
    """Say whether *link* sends every visitor on: a redirect, or a refresh by <meta> or by header."""
    if link.tag == "meta":
        return link.role is LinkRole.NAVIGATION
    return link.tag == "redirect" or (link.tag == "http" and link.attribute == "refresh")


class FunctionCondition:
    """The user's own ``SPIDERPROJ_FILTER`` function as a condition."""

    def __init__(self, function: Callable[[Mapping[str, object]], bool]) -> None:
        self._function = function

    def decide(self, values: Mapping[str, object]) -> bool | None:
        """Ask the function."""
        return bool(self._function(values))


def _trap_refusal(path: str, source: str) -> Decision | None:
    rule = traps.wall(path, source)
    return None if rule is None else Decision(Verdict.REFUSED, Reason.TRAP, rule)


def _may_be(predicted: ResourceType | None, types: frozenset[ResourceType], *, certain: bool) -> bool:
    """Say whether a URL may turn out to be of one of *types*, given what is *predicted* and how surely."""
    return predicted in types or (predicted is None and bool(types)) or not certain


def values(
    url: str,
    level: Level,
    resource_type: ResourceType | None,
    depth: int,
    text: str = "",
    via: str = "",
    size: int | None = None,
) -> dict[str, object]:
    """Return what a filter may ask about a URL, under the names of docs/arguments.md; None is not known yet."""
    parts = urls.split(url)
    return {
        "url": url, "scheme": parts.scheme, "host": parts.host, "path": parts.path, "query": parts.query or "",
        "ext": mediatype.extension(parts.path), "level": level.value,
        "type": resource_type and resource_type.value, "depth": depth, "text": text, "source": via, "size": size,
    }  # fmt: skip
