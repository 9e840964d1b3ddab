"""Find a form in a page and the fields that a browser would send with it (HTML, "constructing the entry list").

No tree is needed: a browser too gives a control to the form whose start tag it saw last, until that form's end tag,
wherever tables and wrong nesting have moved either of them (HTML 13.2.6.1, "form element pointer"). One thing is less:
a control after the end tag is never the form's, even in an element that was opened in the form and is still open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from spiderproj.charset import decode
from spiderproj.errors import InvalidURLError
from spiderproj.links.budget import Budget, BudgetSpentError
from spiderproj.links.markup import attributes, plain_text, start_tags, tags_named
from spiderproj.links.references import in_attribute, in_text
from spiderproj.login.record import Enctype, Form, Pairs
from spiderproj.urls import canonical

_PAGE_LIMIT = 2**20  # bytes
_ELEMENT_STEPS = 40  # of a page's 400,000: at most 10,000 forms, controls and options
_ELEMENTS = frozenset({"base", "button", "form", "input", "option", "select", "template", "textarea"})
_ENDS = frozenset({"/form", "/select", "/template"})
_TAGS = tags_named({*_ELEMENTS, f"(?i:{'|'.join(sorted(_ENDS))})"})  # an end tag's name is one that begins with "/"
_OPTION_END = re.compile(r"(?ai)<(?:/?(?:option|optgroup|select)|/form|input|textarea)(?=[\t\n\f\r />])")
_READ = ("action", "checked", "disabled", "enctype", "form", "href", "id", "method", "multiple", "name", "selected",
         "type", "value")  # fmt: skip
_UNSENT = frozenset({"file", "image", "reset", "button"})

_Attributes: TypeAlias = dict[str, str]


class _Control(NamedTuple):
    """A control; a textarea's text is its "value"."""

    kind: str  # "select", "textarea", or the type of an input or a button
    attrs: _Attributes
    options: list[_Attributes]  # those of a select, each with a "value"


class _PageForm(NamedTuple):
    attrs: _Attributes
    controls: list[_Control]


def find_form(html: bytes, page_url: str, charset: str | None, chooser: bool | str) -> Form | None:
    """Return the form that *chooser* means in the page at *page_url*, None when there is none.

    True means the first form with a password field; a text the first that has it as its id or its name. *charset* is
    the label in the page's header. A form is found whole or not at all: a page of over 10,000 controls has none.
    """
    text, _ = decode(html[:_PAGE_LIMIT], charset)
    page = _Page(text.replace("\r\n", "\n").replace("\r", "\n"))
    try:
        page.read()
    except BudgetSpentError:
        return None
    form = next((form for form in page.owners() if _is_chosen(form, chooser)), None)
    return _filled(form, page.base, page_url) if form else None


class _Page:
    """Reads a page tag by tag and keeps its forms, its controls and its base."""

    def __init__(self, text: str) -> None:
        self.base: str | None = None
        self._text = text
        self._budget = Budget()
        self._forms: list[_PageForm] = []
        self._controls: list[tuple[_PageForm | None, _Control]] = []
        self._form: _PageForm | None = None
        self._options: list[_Attributes] | None = None  # of the select we are in
        self._templates = 0  # we are in; what they hold is not part of the page

    def read(self) -> None:
        """Read everything; raises BudgetSpentError when that is too much."""
        for name, source, simple, end, content_end in start_tags(self._text, _TAGS, self._budget):
            if name in _ENDS:
                self._end(name)
            elif name == "template":
                self._templates += 1
            elif name in _ELEMENTS and not self._templates:
                self._start(name, self._attributes(source, simple=simple), slice(end, content_end))

    def owners(self) -> list[_PageForm]:
        """Return the forms in document order with their controls: by ``form`` attribute, else as they stand."""
        named = {form.attrs["id"]: form for form in reversed(self._forms) if form.attrs.get("id")}
        for around, control in self._controls:
            owner = named.get(control.attrs["form"]) if "form" in control.attrs else around
            if owner is not None:
                owner.controls.append(control)
        return self._forms

    def _attributes(self, source: str, *, simple: bool) -> _Attributes:
        found = attributes(source, simple=simple)
        self._budget.spend(_ELEMENT_STEPS + len(found) + source.count("&"))
        return {name: in_attribute(found[name]) for name in _READ if name in found}

    def _content(self, place: slice) -> str:
        content = self._text[place]
        self._budget.spend(content.count("&"))
        return content

    def _end(self, name: str) -> None:
        if name == "/template":
            self._templates = max(self._templates - 1, 0)
        elif not self._templates:
            self._options = None
            if name == "/form":
                self._form = None

    def _start(self, name: str, attrs: _Attributes, content: slice) -> None:
        if name == "base":
            self.base = attrs.get("href") if self.base is None else self.base
        elif name == "form":
            self._start_form(attrs)
        elif name == "option":
            self._add_option(attrs, content.start)
        else:
            self._add_control(name, attrs, content)

    def _start_form(self, attrs: _Attributes) -> None:
        if self._form is None:  # a form inside a form is none
            self._form = _PageForm(attrs, [])
            self._forms.append(self._form)

    def _add_option(self, attrs: _Attributes, start: int) -> None:
        if self._options is None:
            return
        if "value" not in attrs:
            end = _OPTION_END.search(self._text, start)
            attrs["value"] = plain_text(self._content(slice(start, end.start() if end else None)), _PAGE_LIMIT)
        self._options.append(attrs)

    def _add_control(self, name: str, attrs: _Attributes, content: slice) -> None:
        inside = self._options is not None
        if inside and name == "button":  # it opens the menu and sends nothing
            return
        self._options = None  # any other control ends a select that is still open
        if inside and name == "select":  # a second start tag is taken for the end tag
            return
        control = _Control(_kind(name, attrs), attrs, [])
        if name == "select":
            self._options = control.options
        elif name == "textarea":
            attrs["value"] = in_text(self._content(content).removeprefix("\n"))
        self._controls.append((self._form, control))


def _kind(name: str, attrs: _Attributes) -> str:
    kind = attrs.get("type", "").strip().lower()
    if name == "button":
        return kind if kind in ("button", "reset") else "submit"
    return kind or "text" if name == "input" else name


def _is_chosen(form: _PageForm, chooser: bool | str) -> bool:
    if isinstance(chooser, str):
        return chooser in (form.attrs.get("id"), form.attrs.get("name"))
    return any(control.kind == "password" for control in form.controls)


def _filled(form: _PageForm, base: str | None, page_url: str) -> Form | None:
    attrs = {name: value.strip() for name, value in form.attrs.items()}
    try:
        action = canonical(attrs.get("action") or page_url, _base_url(base, page_url))
    except InvalidURLError:
        return None
    return Form(
        action=action,
        method="post" if attrs.get("method", "").lower() == "post" else "get",
        enctype=Enctype.MULTIPART if attrs.get("enctype", "").lower() == "multipart/form-data" else Enctype.URLENCODED,
        fields=_fields(form.controls),
    )


def _base_url(base: str | None, page_url: str) -> str:
    try:
        return canonical(base, page_url) if base is not None else page_url
    except InvalidURLError:  # counts as none, as for links
        return page_url


def _fields(controls: list[_Control]) -> Pairs:
    """Return what the controls send when nobody has touched them and the first submit button is pressed."""
    enabled = [control for control in controls if "disabled" not in control.attrs]
    pressed = next((control for control in enabled if control.kind == "submit"), None)
    return tuple(
        (control.attrs["name"], value)
        for control in enabled
        if control.attrs.get("name") and (control.kind != "submit" or control is pressed)
        for value in _values(control)
    )


def _values(control: _Control) -> Iterator[str]:
    kind, attrs, options = control
    if kind == "select":
        yield from _menu(options, multiple="multiple" in attrs)
    elif kind in ("checkbox", "radio"):
        if "checked" in attrs:
            yield attrs.get("value", "on")
    elif kind not in _UNSENT:
        yield attrs.get("value", "")


def _menu(options: list[_Attributes], *, multiple: bool) -> list[str]:
    """Return the values of the options that are selected; a plain menu has its first when none is."""
    enabled = [option for option in options if "disabled" not in option]
    chosen = [option for option in enabled if "selected" in option]
    if not multiple:
        chosen = chosen[-1:] or enabled[:1]
    return [option["value"] for option in chosen]
