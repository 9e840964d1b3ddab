"""Reading HTML and SVG: from start tags to links, a title, and whether the page wants its links followed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

import re2

from spiderproj import charset
from spiderproj.links.budget import MAX_BYTES, MAX_LINKS, Budget, BudgetSpentError
from spiderproj.links.collector import TEXT_LENGTH, Collector, Context, folded_rel
from spiderproj.links.elements import ANYWHERE, ELEMENTS, MARKS, META, Form, Rule, link_rule
from spiderproj.links.headers import robots_tag_says_nofollow, says_nofollow
from spiderproj.links.markup import ALL_TAGS, FIRST_HREF, XML_TAGS, attributes, fold, plain_text, start_tags, tags_named
from spiderproj.links.references import in_attribute, in_text
from spiderproj.models import Page

TITLE_LENGTH = 500

_BASE_WITHIN = 10_000
"""Start tags among which a <base> is looked for beforehand; a later one counts for what follows it only."""

_ANCHOR_REACH = 16 * 1024
"""How far from its start tag an anchor's text is looked for."""

_CHARACTERS_A_STEP = 16
"""How much of an anchor's markup is made into text in the time of one step."""

_ANCHOR_END = re.compile(r"<(?:/[aA]|[aA])(?=[\t\n\f\r />])")
_SHORT_ANCHOR = re.compile(r"([^<&]{0,200}+)</[aA]>")
OWN_TAGS = tags_named(ELEMENTS)
"""Finds every tag that has rules of its own."""

_IMAGE_TAGS = tags_named({"img"})
_BASE_TAGS = tags_named({"base"})
_MARKS = (*MARKS, *map(str.upper, MARKS))
_MARKED = re2.compile("|".join(["(?i)<base", *map(re2.escape, MARKS)]).encode())
_XML_STYLESHEET = re.compile(r"<\?xml-stylesheet[\t\n\r ]([^<>]*+)>")


def read_html(
    body: bytes,
    url: str,
    *,
    header_charset: str | None = None,
    headers: Sequence[tuple[str, str]] = (),
    follow_nofollow: bool = False,
    max_links: int = MAX_LINKS,
    token: str = "spiderproj",  # noqa: S107 - the name robots rules know us by, no secret
) -> Page:
    """Return what the HTML *body* of the canonical *url* links to, with its title.

    *headers* are the response's (lower case name, value) pairs, *token* the name by which robots rules address us.
    With *follow_nofollow* no link is marked nofollow.
    """
    body, partial = _bounded(body)
    text, encoding = charset.decode(body, header_charset)
    reader = _Reader(text, Collector(url, encoding, max_links=max_links), token)
    reader.nofollow = robots_tag_says_nofollow((value for name, value in headers if name == "x-robots-tag"), token)
    # Found in the bytes, where looking takes a fifth of the time; in UTF-16 nothing can be found, so all is read.
    is_wide = encoding.startswith("utf-16")
    is_plain = not is_wide and _MARKED.search(body) is None
    based = is_wide or (not is_plain and b"<base" in body.lower())
    partial = reader.read(headers, OWN_TAGS if is_plain else ALL_TAGS, based=based) or partial
    nofollow = False if follow_nofollow else reader.nofollow or None
    return reader.collector.page(title=reader.title, charset=encoding, partial=partial, nofollow=nofollow)


def read_svg(
    body: bytes,
    url: str,
    *,
    header_charset: str | None = None,
    headers: Sequence[tuple[str, str]] = (),
    max_links: int = MAX_LINKS,
) -> Page:
    """Return what the SVG *body* of the canonical *url* links to; no entity of its own is ever expanded."""
    body, partial = _bounded(body)
    text, encoding = charset.decode(body, header_charset)
    reader = _Reader(text, Collector(url, encoding, max_links=max_links), "")
    partial = reader.read(headers, XML_TAGS, based=False) or partial
    return reader.collector.page(title=reader.title, charset=encoding, partial=partial, nofollow=None)


def _bounded(body: bytes) -> tuple[bytes, str | None]:
    cut = len(body) > MAX_BYTES
    return (body[:MAX_BYTES], f"bytes over {MAX_BYTES}") if cut else (body, None)


class _Reader:
    """Reads one document, start tag by start tag."""

    def __init__(self, text: str, collector: Collector, token: str) -> None:
        self.collector = collector
        self.title: str | None = None
        self.nofollow = False
        self._text = text
        self._robots_names = {"robots", token.lower()}
        self._based = False

    def read(self, headers: Sequence[tuple[str, str]], tags: re.Pattern[str], *, based: bool) -> str | None:
        """Read everything; return why it had to stop, None when it came to the end."""
        try:
            self.collector.add_headers(headers)
            if tags is XML_TAGS:
                self._read_processing_instructions()
            if based:
                self._find_base()
            self._read_tags(tags)
        except BudgetSpentError as spent:
            return str(spent)
        return None

    def _find_base(self) -> None:
        """Set the base before any link is read: it counts for those before it too (HTML 2.4.3)."""
        for name, source, *_ in islice(start_tags(self._text, _BASE_TAGS, Budget()), _BASE_WITHIN):
            if name == "base":
                self._read_base(attributes(source))

    def _read_tags(self, tags: re.Pattern[str]) -> None:
        has_marks = tags is not OWN_TAGS
        for name, source, simple, end, content_end in start_tags(self._text, tags, self.collector.budget):
            rules = ELEMENTS.get(name)
            if rules is not None:
                if name != "a" or has_marks or not simple or not self._read_anchor(source, end):
                    self._read_element(name, attributes(source, simple=simple), rules, end)
                continue
            if content_end != end:
                self._read_content(name, self._text[end:content_end])
            if has_marks and source and any(mark in source for mark in _MARKS):
                self._read_element(name, attributes(source, simple=simple), ANYWHERE, end)

    def _read_anchor(self, source: str, end: int) -> bool:
        """Read the commonest element in a third of the time: a plain <a> with a plain text, of which only href matters.

        Returns False when it is not one.
        """
        short = _SHORT_ANCHOR.match(self._text, end)
        found = FIRST_HREF.match(source)
        if short is None or found is None or "rel=" in source or "type=" in source:
            return False
        href, text = found[1], fold(short[1], TEXT_LENGTH)
        if not text or "&" in href:
            return False
        self.collector.budget.spend(source.count('="'))
        self.collector.add_anchor(href, text)
        return True

    def _read_base(self, attrs: dict[str, str]) -> None:
        if not self._based and "href" in attrs:
            self._based = True
            self.collector.resolve.rebase(in_attribute(attrs["href"]))

    def _read_processing_instructions(self) -> None:
        for match in _XML_STYLESHEET.finditer(self._text):
            self._read_link(attributes(match[1]) | {"rel": "stylesheet"}, "xml-stylesheet")

    def _read_element(self, name: str, attrs: dict[str, str], rules: dict[str, Rule], end: int) -> None:
        collector = self.collector
        collector.budget.spend(len(attrs))
        if name in _SPECIAL:
            _SPECIAL[name](self, attrs)
        context: Context | None = None
        for attribute, value in attrs.items():
            rule = rules.get(attribute)
            if rule is None:
                continue
            if context is None:
                text = self._anchor_text(attrs, end) if name == "a" else _label(attrs)
                rel = folded_rel(attrs["rel"]) if "rel" in attrs else ""
                context = (name, text, rel, attrs.get("type", ""))
            if "&" in value:
                collector.budget.spend(value.count("&"))
                value = in_attribute(value)
            if rule.form is Form.URL:
                collector.add(value, rule, attribute, context)
            else:
                collector.add_value(value, rule, attribute, context)

    def _read_content(self, name: str, content: str) -> None:
        if name == "style":
            self.collector.add_css(content)
        elif name == "title" and self.title is None:
            self.title = fold(in_text(content[: 10 * TITLE_LENGTH]), TITLE_LENGTH) or None

    def _read_link(self, attrs: dict[str, str], tag: str = "link") -> None:
        rel = folded_rel(attrs.get("rel", ""))
        rule = link_rule(rel, attrs.get("as", ""))
        context = (tag, _label(attrs), rel, attrs.get("type", ""))
        if "href" in attrs:
            self.collector.add(in_attribute(attrs["href"]), rule, "href", context)
        if "imagesrcset" in attrs:
            images = ELEMENTS["img"]["srcset"]
            self.collector.add_value(in_attribute(attrs["imagesrcset"]), images, "imagesrcset", context)

    def _read_meta(self, attrs: dict[str, str]) -> None:
        content = in_attribute(attrs.get("content", ""))
        if attrs.get("http-equiv", "").strip().lower() == "refresh":
            self.collector.add_refresh(content, "content", ("meta", "", "", ""))
        name = (attrs.get("name") or attrs.get("property") or "").strip().lower()
        if name in self._robots_names:
            self.nofollow = self.nofollow or says_nofollow(content)
        elif name in META:
            self.collector.add(content, META[name], "content", ("meta", "", "", ""))

    def _read_input(self, attrs: dict[str, str]) -> None:
        if attrs.get("type", "").strip().lower() != "image":
            attrs.pop("src", None)

    def _anchor_text(self, attrs: dict[str, str], start: int) -> str:
        """Return what a person reads on an anchor; it ends with its end tag or where the next anchor begins."""
        short = _SHORT_ANCHOR.match(self._text, start)
        if short:
            return fold(short[1], TEXT_LENGTH) or _label(attrs)
        limit = start + _ANCHOR_REACH
        end = _ANCHOR_END.search(self._text, start, limit)
        inside = self._text[start : end.start() if end else limit]
        self.collector.budget.spend(len(inside) // _CHARACTERS_A_STEP)
        return plain_text(inside, TEXT_LENGTH) or _label(attrs) or _alt_inside(inside, self.collector.budget)


_SPECIAL = {
    "base": _Reader._read_base,
    "input": _Reader._read_input,
    "link": _Reader._read_link,
    "meta": _Reader._read_meta,
}


def _label(attrs: dict[str, str]) -> str:
    for name in ("alt", "title", "aria-label"):
        if attrs.get(name):
            return fold(in_text(attrs[name][: 10 * TEXT_LENGTH]), TEXT_LENGTH)
    return ""


def _alt_inside(markup: str, budget: Budget) -> str:
    for name, source, *_ in start_tags(markup, _IMAGE_TAGS, budget):
        if name == "img":
            alt = _label(attributes(source))
            if alt:
                return alt
    return ""
