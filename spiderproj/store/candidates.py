"""The rules that may cover a URL, and the class that the URL is in under each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from spiderproj import learning
from spiderproj.learning import Kind, Rewrite
from spiderproj.models import Verdict
from spiderproj.store.rulebook import HOST, Class
from spiderproj.urls import split, url_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spiderproj.learning import Rule
    from spiderproj.store.decisions import Decisions
    from spiderproj.store.frontier import Frontier
    from spiderproj.store.rulebook import Rulebook
    from spiderproj.urls import URLParts

ADMITTED = frozenset({Verdict.QUEUED.value, Verdict.FETCHED.value})
"""The verdicts of URLs that may stand for others."""


class Candidate(NamedTuple):
    """A rule that may cover a URL, and the URL's class under it; None when nothing is known of the class."""

    rule: Rule
    name: int
    known: Class | None


class Candidates:
    """Finds the rules for URLs, and makes those that are lacking."""

    def __init__(self, book: Rulebook, decisions: Decisions, frontier: Frontier) -> None:
        self._book = book
        self._decisions = decisions
        self._frontier = frontier
        self._schemes: dict[int, set[str]] = {}

    def of(self, parts: URLParts, host: int, *, is_new: bool) -> Iterator[Candidate]:
        """Yield the candidates of a URL, those that drop most first; with *is_new* its parameters are counted."""
        template = learning.scope_template(parts.path)
        own = self._groups(parts, host, template, is_new=is_new)
        for rewrite in dict.fromkeys([*own, *self._book.rules_of(host, template)]):
            if (rule := self._book.rule_of(host, template, rewrite)) is not None:
                yield self._candidate(rule, parts)
        wide = {rewrite: None for rewrite in learning.own_rewrites(parts) if self._is_seen(rewrite, parts)}
        if is_new:
            wide |= dict.fromkeys(self._known_siblings(parts, host))
        for rewrite in wide | dict.fromkeys(self._book.rules_of(host, HOST)):
            if (rule := self._book.rule_of(self._home(rewrite, parts, host), HOST, rewrite)) is not None:
                yield self._candidate(rule, parts)

    def _groups(self, parts: URLParts, host: int, template: str, *, is_new: bool) -> list[Rewrite]:
        """Return the groups of a URL's own parameters that are tested."""
        names = learning.parameter_names(parts.query)
        if not names:
            return []
        known = self._book.template(host, template)
        if is_new:
            known.parameters.count(names)
            known.is_changed = True
        return [Rewrite(Kind.QUERY, group) for group in known.parameters.groups(names)]

    def _candidate(self, rule: Rule, parts: URLParts) -> Candidate:
        url = learning.apply(rule.rewrite, parts)
        name = url_key(url)
        found = self._book.class_of(rule.id, name)
        if found is None or found.url is None:
            known = self._decisions.known(url)
            if known is not None and known.decision in ADMITTED:
                found = Class(known.id) if found is None else found._replace(url=known.id)
        return Candidate(rule, name, found)

    def _home(self, rewrite: Rewrite, parts: URLParts, host: int) -> int:
        """Return the host that the rule of a rewrite is kept at: the same for both names of a site."""
        if rewrite.kind is not Kind.WWW:
            return host
        return self._frontier.host_id(split(learning.apply(rewrite, parts)).authority)

    def _is_seen(self, rewrite: Rewrite, parts: URLParts) -> bool:
        """Say whether a URL's class can only be found by its name: where all of it can be told, the others are."""
        if rewrite.kind is Kind.WWW:
            return self._frontier.has_host(split(learning.apply(rewrite, parts)).authority)
        return not rewrite.is_enumerable

    def _known_siblings(self, parts: URLParts, host: int) -> Iterator[Rewrite]:
        """Yield the rewrites by which a URL may be one that is known, which is noted as representative."""
        schemes = self._schemes.setdefault(host, set())
        schemes.add(parts.scheme)
        for rewrite, url in learning.siblings(parts):
            if rewrite.kind is Kind.SCHEME and len(schemes) == 1:
                continue
            if rewrite.kind is Kind.WWW and not self._frontier.has_host(split(url).authority):
                continue  # nothing of the other name has been met
            known = self._decisions.known(url)
            if known is None or known.decision not in ADMITTED:
                continue
            rule = self._book.rule_of(self._home(rewrite, parts, host), HOST, rewrite)
            name = url_key(learning.apply(rewrite, parts))
            if rule is not None and self._book.class_of(rule.id, name) is None:
                self._book.keep_class(rule.id, name, Class(known.id))
            yield rewrite
