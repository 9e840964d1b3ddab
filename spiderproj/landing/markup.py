"""Building HTML so that nothing can be markup by chance: only what ``element`` has made is not escaped."""

from __future__ import annotations

from html import escape
from typing import Final

_VOID: Final = frozenset({"link", "meta"})


class Markup(str):
    """HTML that ``element`` or ``join`` has made."""

    __slots__ = ()


def element(tag: str, /, *children: str, **attributes: str) -> Markup:
    """Return the element *tag*; a child that is no Markup is text, an attribute's ``_`` at its end is dropped.

    >>> element("a", "<b>", href="/?a&b", class_="x")
    '<a href="/?a&amp;b" class="x">&lt;b&gt;</a>'
    """
    given = "".join(f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"' for key, value in attributes.items())
    if tag in _VOID:
        return Markup(f"<{tag}{given}>")
    return Markup(f"<{tag}{given}>{join(children)}</{tag}>")


def join(parts: tuple[str, ...] | list[str]) -> Markup:
    """Return *parts* behind each other; one that is no Markup is text."""
    return Markup("".join(part if isinstance(part, Markup) else escape(part) for part in parts))
