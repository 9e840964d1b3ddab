"""The references in HTML and SVG, replaced where they stand, and what keeps a copy from opening made harmless."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TypeAlias

from spiderproj.links.budget import Budget, BudgetSpentError
from spiderproj.links.collector import folded_rel
from spiderproj.links.elements import ANYWHERE, ELEMENTS, MARKS, META, Form, Rule, link_rule
from spiderproj.links.html import OWN_TAGS
from spiderproj.links.markup import ALL_TAGS, FIRST_HREF, XML_TAGS, Place, attribute_places, start_tags, tags_named
from spiderproj.links.offsets import Offsets
from spiderproj.links.references import in_attribute, in_attribute_with_offsets
from spiderproj.links.refresh import refresh_place
from spiderproj.links.srcset import each_place
from spiderproj.models import LinkRole
from spiderproj.rewrite import escapes
from spiderproj.rewrite.edits import Edits
from spiderproj.rewrite.styles import rewrite_css_text

Places: TypeAlias = dict[str, Place]

_BASE_TAGS = tags_named({"base"})
_MARKS = (*MARKS, *map(str.upper, MARKS))
_BYTE_MARKS = [mark.encode() for mark in MARKS]
_PROCESSING = "<?xml-stylesheet"
_DEPENDENT = frozenset({"link", "meta", "input", "xml-stylesheet"})
_ANCHOR = ELEMENTS["a"]["href"]
_FEW = 8  # attributes that cost no more than their tag
_GOES = frozenset({LinkRole.NAVIGATION, LinkRole.FORM})
_CROSS_ORIGIN = ("integrity", "crossorigin")
"""What lets a browser take a file only from a server: a file on disk has no origin, and its bytes may have changed."""


class Markup:
    """One document whose references are being replaced."""

    def __init__(self, edits: Edits, *, is_xml: bool) -> None:
        self._edits = edits
        self._view = edits.view
        self._text = edits.view.text
        # Found in the bytes, where looking takes an eighth of the time.
        self._lowered = (
            edits.view.body.lower() if edits.view.unit == 1 else self._text.lower().encode("latin-1", "replace")
        )
        self._budget = Budget()
        self._is_xml = is_xml
        self._policies: list[int] = []  # where the attributes begin that make a <meta> a policy
        self._bases: list[Place] = []

    def rewrite(self) -> None:
        """Replace every reference there is a new one for; stop where a document is too large to be read."""
        with suppress(BudgetSpentError):
            if self._is_xml:
                self._rewrite_processing_instructions()
            else:
                self._find_bases()
            self._rewrite_tags()
        if self._edits.led:
            self._neutralise()

    def _rewrite_tags(self) -> None:
        has_marks = any(mark in self._lowered for mark in _BYTE_MARKS)
        tags = XML_TAGS if self._is_xml else ALL_TAGS if has_marks else OWN_TAGS
        for name, source, simple, end, content_end in start_tags(self._text, tags, self._budget):
            if content_end > end and name == "style":
                self._rewrite_css(end, content_end)
            if source and (name in ELEMENTS or (has_marks and any(mark in source for mark in _MARKS))):
                if simple and name == "a" and not has_marks:
                    self._rewrite_anchor(source, end)
                else:
                    self._rewrite_element(name, self._places(source, end, simple=simple))

    def _rewrite_anchor(self, source: str, end: int) -> None:
        """Rewrite the commonest element in half the time: a plain <a>, of which only href can matter."""
        match = FIRST_HREF.match(source)
        if match is not None:
            offset = self._text.rindex('"', 0, end) + 1 - len(source)
            start, stop = match.span(1)
            self._rewrite_url(_ANCHOR, (offset, offset + start, offset + stop, '"'))

    def _places(self, source: str, end: int, *, simple: bool) -> Places:
        """Return where the attributes *source* of the tag that ends at *end* are in the text."""
        tail = self._text.rindex('"', 0, end) + 1 if simple else end - 1
        return attribute_places(source, tail - len(source), simple=simple)

    def _rewrite_processing_instructions(self) -> None:
        start = self._text.find(_PROCESSING)
        while start >= 0:
            start += len(_PROCESSING)
            end = self._text.find("?>", start)
            if end < 0:
                return
            self._rewrite_element("xml-stylesheet", attribute_places(self._text[start:end], start))
            start = self._text.find(_PROCESSING, end)

    def _find_bases(self) -> None:
        """Set the base before any reference is resolved: the first <base> counts for those before it too."""
        if b"<base" not in self._lowered:
            return
        for name, source, simple, end, _ in start_tags(self._text, _BASE_TAGS, Budget()):
            place = self._places(source, end, simple=simple).get("href") if name == "base" and source else None
            if place is None or place[3] is None:
                continue
            if not self._bases:
                self._edits.rebase(self._value(place))
            self._bases.append(place)

    def _rewrite_element(self, name: str, places: Places) -> None:
        if len(places) > _FEW:
            self._budget.spend(len(places))
        rules = self._rules(name, places) if name in _DEPENDENT else ELEMENTS.get(name, ANYWHERE)
        is_local = False
        for attribute, place in places.items():
            rule = rules.get(attribute)
            if rule is None:
                continue
            if place[3] is None:
                self._give_value(rule, place)
                continue
            rewrite = self._rewrite_url if rule.form is Form.URL else self._rewrite_other
            is_local |= rewrite(rule, place)
        if is_local:
            for attribute in _CROSS_ORIGIN:
                if attribute in places:
                    self._rename(places[attribute][0])

    def _rules(self, name: str, places: Places) -> dict[str, Rule]:
        """Return what the attributes of an element mean that depend on each other."""
        rules = ELEMENTS.get(name, ANYWHERE)
        if name == "link":
            rule = link_rule(folded_rel(self._named("rel", places)), self._named("as", places))
            return rules | {"href": rule, "imagesrcset": ELEMENTS["img"]["srcset"]}
        if name == "meta":
            return rules | self._meta_rules(places)
        if name == "input" and self._named("type", places).strip().lower() != "image":
            return {key: rule for key, rule in rules.items() if key != "src"}
        return {"href": link_rule("stylesheet", "")} if name == "xml-stylesheet" else rules

    def _meta_rules(self, places: Places) -> dict[str, Rule]:
        equivalent = self._named("http-equiv", places).strip().lower()
        if equivalent == "content-security-policy":
            self._policies.append(places["http-equiv"][0])
        if equivalent == "refresh" and "content" in places:
            self._rewrite_parts(places["content"], lambda content: iter([refresh_place(content)]))
            return {}
        name = self._named("name", places) or self._named("property", places)
        rule = META.get(name.strip().lower())
        return {"content": rule} if rule else {}

    def _rewrite_url(self, rule: Rule, place: Place) -> bool:
        """Replace the URL that an attribute is; return whether that is a file of the copy."""
        reference = self._value(place)
        if rule.role not in _GOES and (not reference or reference[0] == "#" or reference.isspace()):
            return False
        _, start, end, quote = place
        return self._put(reference, start, end, quote)

    def _give_value(self, rule: Rule, place: Place) -> None:
        """Write what an attribute without a value leads to: as a link it leads to the base."""
        new = self._edits.new_text("") if rule.role in _GOES and rule.form is Form.URL else None
        if new is not None:
            name, _, end, _ = place
            equals = "" if "=" in self._text[name + 1 : end] else "="
            self._edits.replace(end, end, f'{equals}"{escapes.in_attribute(new, chr(34))}"')

    def _rewrite_other(self, rule: Rule, place: Place) -> bool:
        """Replace what an attribute that is more than a URL names; return whether that is a file of the copy."""
        _, start, end, _ = place
        raw = self._text[start:end]
        if rule.form is Form.SRCSET:
            return self._rewrite_parts(place, each_place)
        if rule.form is Form.CSS or "url(" in raw:
            self._rewrite_style(place)
            return False
        return raw.lstrip()[:1] not in {"{", "["} and self._rewrite_url(rule, place)

    def _rewrite_parts(self, place: Place, parts: Callable[[str], Iterator[tuple[int, int]]]) -> bool:
        """Replace the references at *parts* of a value; return whether one is a file of the copy."""
        value, back = self._decoded(place)
        is_local = False
        for part_start, part_end in parts(value):
            self._budget.spend(1)
            start, end = back(part_start), back(part_end)
            is_local |= self._put(in_attribute(self._view.value(start, end)), start, end, place[3])
        return is_local

    def _put(self, reference: str, start: int, end: int, quote: str | None) -> bool:
        """Write what *reference* is to be from *start* to *end*; return whether that is a file of the copy."""
        edits = self._edits
        new = edits.new_text(reference)
        if new is not None:
            edits.replace(start, end, escapes.in_attribute(new, quote or ""))
        return edits.local

    def _rewrite_style(self, place: Place) -> None:
        css, back = self._decoded(place)
        quote = place[3] or ""
        rewrite_css_text(
            self._edits, css, self._budget,
            written=lambda start, end: in_attribute(self._view.value(back(start), back(end))),
            replace=lambda start, end, new: self._edits.replace(
                back(start), back(end), escapes.in_attribute(new, quote)
            ),
        )  # fmt: skip

    def _rewrite_css(self, offset: int, end: int) -> None:
        rewrite_css_text(
            self._edits, self._text[offset:end], self._budget,
            written=lambda start, end: self._view.value(offset + start, offset + end),
            replace=lambda start, end, new: self._edits.replace(offset + start, offset + end, new),
        )  # fmt: skip

    def _decoded(self, place: Place) -> tuple[str, Callable[[int], int]]:
        """Return a value with its character references replaced, and the way from there to places in the text."""
        _, start, end, _ = place
        raw = self._text[start:end]
        if "&" not in raw:
            return raw, start.__add__
        value, offsets = in_attribute_with_offsets(raw)
        return value, _Shifted(offsets, start)

    def _value(self, place: Place) -> str:
        """Return an attribute's value, references replaced."""
        _, start, end, _ = place
        raw = self._text[start:end]
        if "&" not in raw and raw.isascii():
            return raw
        return in_attribute(self._view.value(start, end))

    def _named(self, name: str, places: Places) -> str:
        place = places.get(name)
        return "" if place is None or place[3] is None else self._value(place)

    def _rename(self, place: int) -> None:
        """Let the attribute whose name is at *place* mean nothing."""
        self._edits.replace(place, place, "data-")

    def _neutralise(self) -> None:
        """Let no policy and no base keep the file from what is beside it."""
        for place in self._policies:
            self._rename(place)
        for _, start, end, quote in self._bases:
            self._edits.replace(start, end, "" if quote else '""')


class _Shifted:
    """Places in a value as places in the whole text."""

    def __init__(self, offsets: Offsets, start: int) -> None:
        self._offsets, self._start = offsets, start

    def __call__(self, position: int) -> int:
        return self._start + self._offsets(position)
