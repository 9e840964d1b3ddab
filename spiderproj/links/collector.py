"""The links of one document as they are found, and the Page they make."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from spiderproj.links.budget import Budget, BudgetSpentError
from spiderproj.links.css import references
from spiderproj.links.elements import Form, Rule, link_rule
from spiderproj.links.headers import as_sent, link_header
from spiderproj.links.markup import fold
from spiderproj.links.refresh import parse_refresh
from spiderproj.links.resolve import Resolver
from spiderproj.links.srcset import each_candidate
from spiderproj.mediatype import resource_type
from spiderproj.models import Link, LinkRole, Page, ResourceType

Context: TypeAlias = tuple[str, str, str, str]
"""Of the element a link stands on: its name, the text a person reads on it, its folded rel, its type attribute."""

TEXT_LENGTH = 200
REL_LENGTH = 200


class Collector:
    """Collects the links of the document at *url*, at most *max_links*."""

    def __init__(self, url: str, encoding: str, *, max_links: int) -> None:
        self.resolve = Resolver(url, encoding)
        self.budget = Budget()
        self.links: list[Link] = []
        self._max_links = max_links

    def add(self, reference: str, rule: Rule, attribute: str, context: Context) -> None:
        """Add what *reference* names.

        A form or a way to go somewhere may name its own page by "" or "#part"; for all else that is nothing to fetch.
        Raises BudgetSpentError when the links are full.
        """
        role, hint, _ = rule
        goes = role is LinkRole.NAVIGATION or role is LinkRole.FORM
        if not goes and (not reference or reference[0] == "#" or reference.isspace()):
            return
        links = self.links
        if len(links) >= self._max_links:
            raise BudgetSpentError(f"links over {self._max_links}")
        tag, text, rel, media = context
        target, problem = self.resolve(reference)
        if media and hint is None:
            hint = _type(media)
        nofollow = rel != "" and goes and "nofollow" in rel.split()
        links.append(Link(target, text, tag, attribute, rel, role, hint, nofollow, problem))

    def add_anchor(self, reference: str, text: str) -> None:
        """Add what the href of an <a> names that says nothing more of it, as ``add`` does."""
        if len(self.links) >= self._max_links:
            raise BudgetSpentError(f"links over {self._max_links}")
        target, problem = self.resolve(reference)
        self.links.append(Link(target, text, "a", "href", "", LinkRole.NAVIGATION, None, problem=problem))

    def add_value(self, value: str, rule: Rule, attribute: str, context: Context) -> None:
        """Add what an attribute's *value*, references replaced, names in the form that *rule* says."""
        if rule.form is Form.SRCSET:
            for reference in each_candidate(value):
                self.budget.spend(1)
                self.add(reference, rule, attribute, context)
        elif rule.form is Form.CSS or "url(" in value:
            for found in references(value, self.budget):
                self.add(found.url, rule._replace(hint=found.hint), attribute, (context[0], "", "", ""))
        elif value.lstrip()[:1] not in {"{", "["}:
            self.add(value, rule, attribute, context)

    def add_css(self, css: str) -> None:
        """Add what a style sheet or a <style> names."""
        for found in references(css, self.budget):
            self.add(found.url, Rule(LinkRole.REQUISITE, found.hint), found.attribute, ("style", "", "", ""))

    def add_refresh(self, content: str, attribute: str, context: Context) -> None:
        """Add where a declarative refresh leads."""
        reference = parse_refresh(content)
        if reference is not None:
            self.add(reference, Rule(LinkRole.NAVIGATION), attribute, context)

    def add_headers(self, headers: Iterable[tuple[str, str]]) -> None:
        """Add what Link: and Refresh: headers name; a Link: with an anchor is about another resource, a hint here."""
        for name, value in headers:
            if name == "link":
                self._add_link_header(as_sent(value))
            elif name == "refresh":
                self.add_refresh(as_sent(value), "refresh", ("http", "", "", ""))

    def _add_link_header(self, value: str) -> None:
        for reference, parameters in link_header(value):
            self.budget.spend(1)
            rel = folded_rel(parameters.get("rel", ""))
            rule = Rule(LinkRole.HINT) if "anchor" in parameters else link_rule(rel, parameters.get("as", ""))
            text = fold(parameters.get("title", ""), TEXT_LENGTH)
            self.add(reference, rule, "link", ("http", text, rel, parameters.get("type", "")))

    def page(self, *, title: str | None, charset: str, partial: str | None, nofollow: bool | None) -> Page:
        """Return the page; *nofollow* True marks all that leads elsewhere, False unmarks, None leaves links' own."""
        links = self.links
        if nofollow is not None:
            links = [link._replace(nofollow=nofollow) if link.role is LinkRole.NAVIGATION else link for link in links]
        return Page(links=links, title=title, charset=charset, partial=partial)


def folded_rel(rel: str) -> str:
    """Return a rel value in lower case with single blanks."""
    return " ".join(rel[: 4 * REL_LENGTH].lower().split())[:REL_LENGTH]


def _type(media: str) -> ResourceType | None:
    found = resource_type(media[:100].partition(";")[0].strip().lower())
    return None if found is ResourceType.OTHER else found
