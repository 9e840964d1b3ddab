"""Find a form in a page and the fields that a browser would send with it (HTML, "constructing the entry list")."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import webencodings
from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from spiderproj.errors import InvalidURLError
from spiderproj.login.record import Enctype, Form, Pairs
from spiderproj.urls import canonical

_PAGE_LIMIT = 2**20  # bytes
_TAG_LIMIT = 10_000  # the parser takes quadratic time for nested elements: 0.6 s at this many, minutes at 100,000
_FORM_LIMIT = 50
_FIELD_LIMIT = 1000
_CONTROLS = "input,select,textarea,button"
_UNSENT = frozenset({"file", "image", "reset", "button"})

_Controls = list[LexborNode]


def find_form(html: bytes, page_url: str, charset: str | None, chooser: bool | str) -> Form | None:
    """Return the form that *chooser* means in the page at *page_url*, None when there is none.

    True means the first form with a password field; a text its id, its name, or a CSS selector for it or one of its
    controls. *charset* is a WHATWG label; UTF-8 when None or unknown.
    """
    text = _decoded(html[:_PAGE_LIMIT], charset)
    if text.count("<") - text.count("</") > _TAG_LIMIT:
        return None
    tree = LexborHTMLParser(text)
    selected = _selected_by(tree, chooser)
    for form, controls in _controls_by_form(tree):
        if _is_chosen(form, controls, chooser, selected):
            return _read(tree, form, controls, page_url)
    return None


def _decoded(html: bytes, charset: str | None) -> str:
    encoding = webencodings.lookup(charset or "utf-8") or webencodings.UTF8
    text: str = webencodings.decode(html, encoding)[0]
    return text


def _controls_by_form(tree: LexborHTMLParser) -> list[tuple[LexborNode, _Controls]]:
    """Return the forms in document order, each with its controls.

    A control belongs to the form that its ``form`` attribute names, or to the one around it. A form that tables have
    torn from its controls stands empty before them; it owns what follows it.
    """
    forms = tree.css("form")[:_FORM_LIMIT]
    around = {control.mem_id: form.mem_id for form in forms for control in form.css(_CONTROLS)}
    named = {name: form.mem_id for form in reversed(forms) if (name := form.attributes.get("id"))}
    owned: dict[int, _Controls] = {form.mem_id: [] for form in forms}
    torn = set(owned) - set(around.values())
    last = 0
    for node in tree.css(f"form,{_CONTROLS}"):
        if node.tag == "form":
            last = node.mem_id
            continue
        owner = around.get(node.mem_id, last if last in torn else 0)
        owner = named.get(node.attributes.get("form") or "", owner)
        if owner in owned and len(owned[owner]) < _FIELD_LIMIT:
            owned[owner].append(node)
    return [(form, owned[form.mem_id]) for form in forms]


def _is_chosen(form: LexborNode, controls: _Controls, chooser: bool | str, selected: frozenset[int]) -> bool:
    if not isinstance(chooser, str):
        return any(_type(control) == "password" for control in controls)
    if chooser in (form.attributes.get("id"), form.attributes.get("name")):
        return True
    return any(node.mem_id in selected for node in (form, *controls))


def _selected_by(tree: LexborHTMLParser, chooser: bool | str) -> frozenset[int]:
    """Return the nodes that *chooser* selects when it is a CSS selector; the name of a form need not be one."""
    if not isinstance(chooser, str):
        return frozenset()
    try:
        return frozenset(node.mem_id for node in tree.css(chooser))
    except SelectolaxError:
        return frozenset()


def _read(tree: LexborHTMLParser, form: LexborNode, controls: _Controls, page_url: str) -> Form | None:
    try:
        base = tree.css_first("base[href]")
        base_url = canonical(base.attributes["href"] or "", page_url) if base else page_url
        action = canonical((form.attributes.get("action") or "").strip() or page_url, base_url)
    except InvalidURLError:
        return None
    multipart = (form.attributes.get("enctype") or "").strip().lower() == "multipart/form-data"
    return Form(
        action=action,
        method="post" if (form.attributes.get("method") or "").strip().lower() == "post" else "get",
        enctype=Enctype.MULTIPART if multipart else Enctype.URLENCODED,
        fields=_fields(controls),
    )


def _fields(controls: _Controls) -> Pairs:
    """Return what the controls send when nobody has touched them and the first submit button is pressed."""
    pairs: list[tuple[str, str]] = []
    pressed = False
    for control in controls:
        name = control.attributes.get("name")
        if "disabled" in control.attributes:
            continue
        if _type(control) == "submit":
            if pressed:
                continue
            pressed = True
        if name:
            pairs += [(name, value) for value in _values(control)]
    return tuple(pairs[:_FIELD_LIMIT])


def _type(control: LexborNode) -> str:
    """Return what kind of control it is: an input's or a button's type, else its tag."""
    if control.tag not in ("input", "button"):
        return str(control.tag)
    default = "text" if control.tag == "input" else "submit"
    return (control.attributes.get("type") or default).strip().lower()


def _values(control: LexborNode) -> Iterator[str]:
    kind = _type(control)
    if kind == "select":
        yield from _menu(control)
    elif kind == "textarea":
        yield control.text()
    elif kind in ("checkbox", "radio"):
        if "checked" in control.attributes:
            value = control.attributes.get("value", "on")
            yield value or ""
    elif kind not in _UNSENT:
        yield control.attributes.get("value") or ""


def _menu(select: LexborNode) -> list[str]:
    """Return the values of the options that are selected; a plain menu has its first when none is."""
    options = [one for one in islice(select.css("option"), _FIELD_LIMIT) if "disabled" not in one.attributes]
    chosen = [one for one in options if "selected" in one.attributes]
    if "multiple" not in select.attributes:
        chosen = chosen[-1:] or options[:1]
    return [_option(one) for one in chosen]


def _option(option: LexborNode) -> str:
    if "value" in option.attributes:
        return option.attributes["value"] or ""
    return " ".join(option.text().split())
