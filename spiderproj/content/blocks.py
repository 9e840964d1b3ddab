"""Reading a page: one pass over its markup, from tags and text to blocks.

No tree is built, for the reasons that links.markup has (docs/decisions.md, "Markup"). What cannot be read - an
unclosed comment, script or quote, and what lies beyond the bounds - is one block as it stands: an error here may make
equal pages different, never different pages equal.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from spiderproj.content.elements import (
    ATTRIBUTES,
    BLANK,
    CONTAINERS,
    INLINE,
    MEDIA,
    RAW,
    SKIPPED,
    source_of,
    target_of,
)
from spiderproj.content.gathering import Gathering
from spiderproj.content.places import Places
from spiderproj.content.reading import Reading

MAX_CHARACTERS: Final = 1 << 22
"""How much of a page is read; what follows is one block."""

MAX_TOKENS: Final = 100_000
"""Tags and comments that are read; what follows is one block."""

_MAX_TITLE: Final = 500
_GROUPS: Final = 6
# Cuts a page into text and tokens in one call: 0.3 µs a token, where a match object for each would cost 1 µs.
_TOKEN: Final = re.compile(
    rf"<(?!/?{SKIPPED})(?:"
    rf"((?i:{'|'.join(RAW)}))(?=[{BLANK}/>])({ATTRIBUTES}>)([^<]*+(?:<(?!/(?i:\1)[{BLANK}/>])[^<]*+)*+)|"
    rf"(/?[a-zA-Z][^{BLANK}/>]*+)({ATTRIBUTES}>?+)|"
    r"(!--(?:-?>|[^-]*+(?:-(?!-!?>)[^-]*+)*+(?:--!?>|\Z))|[!?/][^>]*+>?+))",
    re.ASCII,
)
_CLOSED: Final = re.compile(rf"{ATTRIBUTES}>")
_PASSWORD: Final = re.compile(r"(?i)(?<![-\w])type\s*+=\s*+[\"']?password")


def read_blocks(text: str) -> Reading:
    """Return what the HTML page *text* says; the text is the body as charset.decode gives it.

    Never raises; time is linear in the length of the text, memory bounded.

    >>> page = "<title>A</title><ul class=menu><li><a href=/>Home</a></ul><p>Some <b>text</b>"
    >>> read_blocks(page) == read_blocks(page.replace("Home", "Start"))
    True
    """
    reader = _Reader()
    reader.read(text[:MAX_CHARACTERS])
    reader.gathering.add_unread(text[MAX_CHARACTERS:])
    return reader.gathering.reading(has_password=reader.has_password)


class _Reader:
    """Reads one page, token by token."""

    def __init__(self) -> None:
        self.gathering = Gathering()
        self.has_password = False
        self._places = Places()
        self._in_link = self._has_title = False
        self._raw = ""  # content of an element that is no markup, until its end tag comes
        self._handlers: dict[str, Callable[[str, str], None]] = {}

    def read(self, text: str) -> None:
        """Read all of *text*, as far as it can be read."""
        pieces, linked, handlers = self.gathering.pieces, self.gathering.linked, self._handlers
        *parts, rest = _TOKEN.split(text, MAX_TOKENS)
        items = iter(parts)
        for piece, raw, raw_source, content, name, source, _ in zip(*[items] * (_GROUPS + 1), strict=True):
            if piece and (pieces or not piece.isspace()):
                pieces.append(piece)
                if self._in_link:
                    linked.append(piece)
            if name:
                handler = handlers.get(name)
                if handler is None:
                    handler = handlers[name] = self._handler(name.lower())
                handler(name, source)
            elif raw:
                self._read_raw(raw.lower(), raw_source, content)
        if len(parts) < MAX_TOKENS * (_GROUPS + 1):
            pieces.append(rest)
            if self._in_link:
                linked.append(rest)
            rest = "" if rest else _cut_off(*parts[-3:]) or self._raw
        self._end_block()
        self.gathering.add_unread(rest)

    def _handler(self, name: str) -> Callable[[str, str], None]:
        """Return what reads the tags of an element, or its end tags ("/p")."""
        is_end = name.startswith("/")
        element = name.lstrip("/")
        if element in INLINE:
            return self._skip
        if element == "a":
            return self._leave_link if is_end else self._enter_link
        if element in RAW:
            return self._leave_raw if is_end else self._skip
        if element in MEDIA:
            return self._skip if is_end else self._read_media
        if element in CONTAINERS:
            return self._leave if is_end else self._enter
        if is_end:
            return self._trail
        return {"br": self._read_break, "input": self._read_input}.get(element, self._lead)

    def _end_block(self) -> None:
        if self.gathering.is_open:
            self.gathering.end(self._places)

    def _enter(self, name: str, source: str) -> None:
        self._end_block()
        self._places.enter(name.lower(), source)

    def _leave(self, name: str, _: str) -> None:
        self._end_block()
        self._places.leave(name[1:].lower())

    def _lead(self, name: str, source: str) -> None:
        self._end_block()
        self._places.lead(name.lower(), source)

    def _trail(self, _: str, __: str) -> None:
        self._end_block()
        self._places.trail()

    def _skip(self, _: str, __: str) -> None:
        pass

    def _enter_link(self, _: str, source: str) -> None:
        target = target_of(source)
        self._in_link = target is not None
        if target is not None:
            self.gathering.add_target(target)

    def _leave_link(self, _: str, __: str) -> None:
        self._in_link = False

    def _leave_raw(self, _: str, __: str) -> None:
        self._raw = ""

    def _read_break(self, _: str, __: str) -> None:
        self.gathering.pieces.append(" ")

    def _read_media(self, _: str, source: str) -> None:
        self.gathering.add_media(source_of(source), linked=self._in_link)

    def _read_input(self, _: str, source: str) -> None:
        self.has_password = self.has_password or _PASSWORD.search(source) is not None

    def _read_raw(self, name: str, source: str, content: str) -> None:
        self._raw = content
        if name == "iframe":
            self._read_media(name, source)
        elif name == "title" and not self._has_title:
            self._has_title = True
            self.gathering.add_title(content[:_MAX_TITLE])
        elif name in {"textarea", "xmp"}:
            self.gathering.pieces.append(content.replace("<", "&lt;"))


def _cut_off(name: str | None = None, source: str | None = None, other: str | None = None) -> str:
    """Return the last token of a page when the page ends inside of it."""
    if name and not _CLOSED.fullmatch(source or ""):
        return f"<{name}{source}"
    if other and not other.endswith(("-->", "--!>") if other.startswith("!--") else ">"):
        return other
    return ""
