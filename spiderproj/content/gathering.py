"""From the text of blocks to their hashes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import xxhash

from spiderproj.content.elements import ATTRIBUTES, SKIPPED, Kind, last_segment, place
from spiderproj.content.masks import masked
from spiderproj.content.places import Places
from spiderproj.content.reading import Reading, bounded, bounded_dates
from spiderproj.links.references import in_text

MAX_TARGETS: Final = 1000
"""Links of one block that are looked at."""

_INLINE_TAG: Final = re.compile(rf"</?{SKIPPED}{ATTRIBUTES}>?+")
_DIGITS: Final = b"0123456789"
_SHAPELESS: Final = b"0123456789.,"
_OTHER_THAN_DIGITS: Final = bytes(set(range(256)) - set(_DIGITS))
_32_BITS: Final = (1 << 32) - 1
_64_BITS: Final = (1 << 64) - 1
_LABEL: Final = 20  # characters beside a link that make no text of it
TITLE: Final = place(b"title", 0)
"""The place of a page's title."""


class Gathering:
    """Collects the blocks of one page; a block grows until it is ended."""

    def __init__(self) -> None:
        self.pieces: list[str] = []  # text of the block, inline tags, references and white space as written
        self.linked: list[str] = []  # those of them that are the text of a link
        self._text: tuple[list[int], list[int]] = [], []
        self._links: tuple[list[int], list[int]] = [], []
        self._dates: list[tuple[int, int]] = []
        self._digits = self._characters = self._link_characters = 0
        self._media: list[str] = []
        self._linked_media = 0
        self._targets: list[str] = []

    @property
    def is_open(self) -> bool:
        """Whether the block holds anything yet."""
        return bool(self.pieces or self._media or self._targets)

    def add_media(self, source: str, *, linked: bool) -> None:
        """Add what the block shows besides text."""
        if source:
            self._media.append(source)
            self._linked_media += linked

    def add_target(self, target: str) -> None:
        """Add where a link of the block leads."""
        if len(self._targets) < MAX_TARGETS:
            self._targets.append(target)

    def end(self, places: Places) -> None:
        """End the block, which stands where *places* are now."""
        text = _plain(self.pieces)
        self.pieces.clear()
        kind = places.kind
        if (text or self._media) and kind is not Kind.HIDDEN:
            if not self._is_links(text, kind):
                self._add_text(text, places.here())
            elif kind is Kind.CONTENT:
                self._add_links(text, places.here())
        if self.linked or self._targets or self._media:
            self.linked.clear()
            self._targets.clear()
            self._media.clear()
            self._linked_media = 0

    def _is_links(self, text: str, kind: Kind) -> bool:
        """Return whether the block is a link or more of them, and little else; in a side bar "May (7)" is one too."""
        linked = self._linked_media + len(_plain(self.linked))
        unlinked = len(self._media) + len(text) - linked
        return linked > unlinked or (linked > 0 and kind is Kind.FURNITURE and unlinked <= _LABEL)

    def add_title(self, title: str) -> None:
        """Add the page's title."""
        text = " ".join(in_text(title).split())
        if text:
            self._note(self._text, text, TITLE)

    def add_unread(self, text: str) -> None:
        """Add what was not read as one block, as it is."""
        if text.strip():
            self._characters += len(text)
            self._text[0].append(xxhash.xxh3_64_intdigest(text.encode(errors="replace")))
            self._text[1].append(0)

    def reading(self, *, has_password: bool) -> Reading:
        """Return what was collected."""
        return Reading(
            bounded(*self._text),
            bounded(*self._links),
            bounded_dates(self._dates),
            self._digits,
            min(self._characters, _32_BITS),
            min(self._link_characters, _32_BITS),
            has_password,
        )

    def _add_text(self, text: str, where: int) -> None:
        self._characters += len(text) + len(self._media)
        self._note(self._text, text, where, self._media, dated=True)

    def _add_links(self, text: str, where: int) -> None:
        self._link_characters += len(text) + len(self._media)
        # Without a text it is the whole target that tells links apart.
        targets = map(last_segment, self._targets) if text else self._targets
        self._note(self._links, text, where, [*self._media, "", *targets], dated=False)

    def _note(
        self,
        found: tuple[list[int], list[int]],
        text: str,
        where: int,
        more: Sequence[str] = (),
        *,
        dated: bool = False,
    ) -> None:
        """Add a block to those *found*; only where there are digits is there anything to mask."""
        raw = text.encode(errors="replace")
        if len(raw) != len(raw.translate(None, _DIGITS)):
            text, dates = masked(text)
            raw = text.encode(errors="replace")
            if dated:
                self._note_numbers(raw, dates, where)
        if more:
            raw = b"\n".join((raw, *[part.encode(errors="replace") for part in more]))
        content = xxhash.xxh3_64_intdigest(raw)
        shape = raw.translate(None, _SHAPELESS)
        looks = content if len(shape) == len(raw) else xxhash.xxh3_64_intdigest(shape)
        found[0].append(content)
        found[1].append(where << 32 | looks & _32_BITS)

    def _note_numbers(self, raw: bytes, dates: str, where: int) -> None:
        if dates:
            self._dates.append((where, xxhash.xxh3_64_intdigest(dates.encode(errors="replace")) & _32_BITS))
        digits = raw.translate(None, _OTHER_THAN_DIGITS)
        if digits:
            self._digits = (self._digits + xxhash.xxh3_64_intdigest(digits)) & _64_BITS


def _plain(pieces: list[str]) -> str:
    """Return what a person reads of *pieces*."""
    if not pieces:
        return ""
    text = "".join(pieces)
    if "<" in text:
        text = _INLINE_TAG.sub("", text)
    if "&" in text:
        text = in_text(text)
    return " ".join(text.split())
