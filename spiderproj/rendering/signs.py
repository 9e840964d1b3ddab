"""Whether a page looks drawn by script: empty, as received, of what a person would see."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from spiderproj import charset
from spiderproj.links.budget import Budget, BudgetSpentError
from spiderproj.links.markup import ALL_TAGS, attributes, plain_text, start_tags

READ_BYTES: Final = 256 * 1024
"""How much of a page is looked at; one that says nothing until there says nothing."""

_SHELL_TEXT: Final = 600  # characters of a header, footer and cookie notice around an empty root
_NOTICE_TEXT: Final = 400  # characters around a notice that asks for script
_NO_TEXT: Final = 100  # characters that say nothing: "Loading ..."
_FEW_LINKS: Final = 3
_ROOT_TEXT: Final = 60  # characters in a root that is still empty: "Loading ..."
_ROOT_REACH: Final = 2000  # characters in which the end of an empty root is looked for
_PIECE: Final = 2000  # characters of markup whose text is counted at once
_ROOTS: Final = 20  # roots of a page that are looked into
_NOSCRIPT_REACH: Final = 16 * 1024

_ROOT_IDS: Final = frozenset({
    "root", "app", "__next", "__nuxt", "__layout", "___gatsby", "react-root", "react-app", "react", "app-root",
    "vue-app", "vue", "svelte", "q-app", "ember-application", "app-container", "app-mount", "application", "spa",
    "spa-root", "mount", "single-spa-application", "page-root",
})  # fmt: skip
_ROOT_NAME: Final = re.compile(r"(?:[a-z0-9]+-)+(?:app|root|shell)|(?:app|root|shell|my)-[a-z0-9-]+")
_SCRIPT_TYPES: Final = frozenset({
    "", "module", "text/javascript", "application/javascript", "text/ecmascript", "application/x-javascript",
    "text/babel",
})  # fmt: skip
_NOSCRIPT_END: Final = re.compile(r"(?ai)</noscript")
_ASKS_FOR_SCRIPT: Final = re.compile(r"(?i)java ?script|scripting")
_BLOCKS: Final = frozenset({"div", "main", "section", "article"})
_UNSEEN: Final = frozenset({"script", "style", "title", "textarea", "iframe", "xmp"})


class Sign(StrEnum):
    """Why a page looks drawn by script."""

    EMPTY_ROOT = "empty-root"  # an element of the kind that frameworks fill is empty
    NOSCRIPT = "noscript"  # a notice asks for script, and there is little else
    NO_TEXT = "no-text"  # scripts, and next to nothing to read, to follow, to fill in or to look at


@dataclass(slots=True)
class Signs:
    """What a page, as received, has for a person without script."""

    text: int = 0  # characters to read, counted until there are plenty
    links: int = 0  # anchors and areas
    scripts: int = 0  # those that a browser would run
    root: str = ""  # id or name of the empty root
    asks: bool = False  # a <noscript> asks for script
    others: int = 0  # pictures, frames and fields
    goes_on: bool = False  # a refresh or a frameset: what is to be seen is elsewhere

    @property
    def sign(self) -> Sign | None:
        """Why the page looks drawn by script, None when it does not."""
        if not self.scripts or self.goes_on:
            return None
        if self.root and self.text < _SHELL_TEXT:
            return Sign.EMPTY_ROOT
        if self.asks and self.text < _NOTICE_TEXT:
            return Sign.NOSCRIPT
        if self.text < _NO_TEXT and self.links < _FEW_LINKS and not self.others:
            return Sign.NO_TEXT
        return None


def read_signs(body: bytes, header_charset: str | None = None) -> Signs:
    """Return the signs of the HTML *body*; a page that costs more to read than its budget has those seen so far."""
    text, _ = charset.decode(body[:READ_BYTES], header_charset)
    reader = _Reader(text)
    with suppress(BudgetSpentError):
        reader.read()
    return reader.signs


class _Reader:
    """Reads one page, start tag by start tag."""

    def __init__(self, text: str) -> None:
        self.signs = Signs()
        self._text = text
        self._position = 0  # up to which the text is counted or left out
        self._roots = 0

    def read(self) -> None:
        """Read everything, or until there is more to read for a person than a page without its scripts has."""
        for name, source, simple, end, content_end in start_tags(self._text, ALL_TAGS, Budget()):
            if end < self._position:
                continue  # inside what was left out
            if end - self._position > _PIECE:
                self._leave_out(end, end)
                if self.signs.text > _SHELL_TEXT:
                    return
            if name in _UNSEEN:
                self._leave_out(end, content_end)
            elif name == "noscript":
                self._read_noscript(end)
            if name in _READ:
                _READ[name](self.signs, attributes(source, simple=simple))
            elif name in _BLOCKS or "-" in name:
                self._look_for_root(name, attributes(source, simple=simple), end)
        self._leave_out(len(self._text), len(self._text))

    def _leave_out(self, start: int, end: int) -> None:
        """Count what is to be read until *start*, and go on at *end*."""
        self.signs.text += len(plain_text(self._text[self._position : start], READ_BYTES))
        self._position = end

    def _read_noscript(self, start: int) -> None:
        found = _NOSCRIPT_END.search(self._text, start, start + _NOSCRIPT_REACH)
        end = found.start() if found else min(start + _NOSCRIPT_REACH, len(self._text))
        self._leave_out(start, end)
        if not self.signs.asks:
            self.signs.asks = _ASKS_FOR_SCRIPT.search(plain_text(self._text[start:end], _NOTICE_TEXT)) is not None

    def _look_for_root(self, name: str, attrs: Mapping[str, str], start: int) -> None:
        """Note the root that frameworks draw into when it begins here and is empty but for a word or two."""
        root = attrs.get("id", "").lower()
        if "-" in name and _ROOT_NAME.fullmatch(name[:64]):
            root = name
        elif root not in _ROOT_IDS and "ng-app" not in attrs and "data-reactroot" not in attrs:
            return
        self._roots += 1
        if self.signs.root or self._roots > _ROOTS:
            return
        end = self._text.find(f"</{name}", start, start + _ROOT_REACH)
        if end >= 0 and len(plain_text(self._text[start:end], _ROOT_TEXT + 1)) <= _ROOT_TEXT:
            self.signs.root = root[:64] or name


def _read_script(signs: Signs, attrs: Mapping[str, str]) -> None:
    signs.scripts += attrs.get("type", "").partition(";")[0].strip().lower() in _SCRIPT_TYPES


def _read_anchor(signs: Signs, attrs: Mapping[str, str]) -> None:
    signs.links += not attrs.get("href", "#").startswith(("#", "javascript:"))


def _read_input(signs: Signs, attrs: Mapping[str, str]) -> None:
    signs.others += attrs.get("type", "").lower() != "hidden"


def _read_resource(signs: Signs, attrs: Mapping[str, str]) -> None:
    signs.others += "src" in attrs or "data" in attrs


def _read_frameset(signs: Signs, _: Mapping[str, str]) -> None:
    signs.goes_on = True


def _read_meta(signs: Signs, attrs: Mapping[str, str]) -> None:
    signs.goes_on = signs.goes_on or attrs.get("http-equiv", "").strip().lower() == "refresh"


_READ = {
    "a": _read_anchor, "area": _read_anchor, "embed": _read_resource, "frameset": _read_frameset,
    "iframe": _read_resource, "img": _read_resource, "input": _read_input, "meta": _read_meta, "object": _read_resource,
    "script": _read_script, "select": _read_input, "textarea": _read_input, "video": _read_resource,
}  # fmt: skip
