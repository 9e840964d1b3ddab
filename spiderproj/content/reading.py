"""What is kept of a page to compare it by: hashes of its blocks, bounded, and their form in the store."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, Self

import xxhash

FIRST_KEPT: Final = 384
"""Blocks kept one by one at the beginning of a page ..."""

LAST_KEPT: Final = 128
"""... and at its end, where footers are. Those between are folded into two hashes."""

MAX_DATES: Final = 256
"""Dated blocks kept one by one; those beyond are folded into the last."""

MAX_PACKED: Final = 1 << 15
"""More bytes than any reading packs into."""

_HEAD: Final = struct.Struct("<BQ2I?3H4Q")
_VERSION: Final = 1


class Blocks(NamedTuple):
    """The blocks of one kind, in document order.

    A mark tells where a block stands and what it looks like: 32 bits of its place (the elements around it and their
    classes), 32 bits of its text without digits.
    """

    hashes: tuple[int, ...]  # 64 bits of the text of each
    marks: tuple[int, ...]
    folded: tuple[int, int] = (0, 0)  # the blocks that were too many: in order, and in any order

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Return hash and mark of each block that is kept."""
        return zip(self.hashes, self.marks, strict=True)


class Reading(NamedTuple):
    """What a page says, as hashes."""

    text: Blocks  # the title, when there is one, then the blocks of text
    links: Blocks  # blocks that are mostly links, other than navigation and side bars
    dates: tuple[tuple[int, int], ...]  # place and hash of the dates and times in a block of text, where there are any
    digits: int  # all numbers in blocks of text, in any order
    characters: int  # of text, without title and links
    link_characters: int  # of ``links``
    has_password: bool  # whether the page has a field for a password

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to compare the page by: it is equal to no other."""
        return not self.characters and not self.links.hashes

    @property
    def is_list(self) -> bool:
        """Whether the page is first of all a list of links."""
        return self.link_characters > self.characters

    def pack(self) -> bytes:
        """Return the reading as bytes: 16 a block and 65 more, at most MAX_PACKED."""
        text, links = self.text, self.links
        head = _HEAD.pack(
            _VERSION,
            self.digits,
            self.characters,
            self.link_characters,
            self.has_password,
            len(text.hashes),
            len(links.hashes),
            len(self.dates),
            *text.folded,
            *links.folded,
        )
        words = (*text.hashes, *text.marks, *links.hashes, *links.marks)
        halves = [half for pair in self.dates for half in pair]
        return head + struct.pack(f"<{len(words)}Q{len(halves)}I", *words, *halves)

    @classmethod
    def unpack(cls, packed: bytes) -> Self:
        """Return what was packed; raises ValueError for bytes that no reading packs into."""
        try:
            version, digits, characters, in_links, password, texts, links, dates, *folded = _HEAD.unpack_from(packed)
            words = struct.unpack_from(f"<{2 * (texts + links)}Q", packed, _HEAD.size)
            halves = struct.unpack(f"<{2 * dates}I", packed[_HEAD.size + 8 * len(words) :])
        except struct.error as error:
            raise ValueError(f"{packed[:20]!r}... is no packed reading: {error}") from error
        if version != _VERSION:
            raise ValueError(f"a packed reading of version {version}, expected {_VERSION}: read the page again")
        return cls(
            Blocks(words[:texts], words[texts : 2 * texts], (folded[0], folded[1])),
            Blocks(words[2 * texts : 2 * texts + links], words[2 * texts + links :], (folded[2], folded[3])),
            tuple(zip(halves[::2], halves[1::2], strict=True)),
            digits,
            characters,
            in_links,
            password,
        )


def bounded(hashes: Sequence[int], marks: Sequence[int]) -> Blocks:
    """Return the blocks, those in the middle folded when there are more than are kept."""
    if len(hashes) <= FIRST_KEPT + LAST_KEPT:
        return Blocks(tuple(hashes), tuple(marks))
    middle = hashes[FIRST_KEPT:-LAST_KEPT]
    return Blocks(
        (*hashes[:FIRST_KEPT], *hashes[-LAST_KEPT:]),
        (*marks[:FIRST_KEPT], *marks[-LAST_KEPT:]),
        (hash_of(middle), hash_of(sorted(middle))),
    )


def bounded_dates(dates: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Return the dates, those beyond MAX_DATES as one."""
    if len(dates) <= MAX_DATES:
        return tuple(dates)
    rest = hash_of([half for pair in dates[MAX_DATES - 1 :] for half in pair])
    return (*dates[: MAX_DATES - 1], (0, rest & 0xFFFFFFFF))


def hash_of(words: Sequence[int]) -> int:
    """Return 64 bits that stand for unsigned 64-bit *words* in their order."""
    return xxhash.xxh3_64_intdigest(struct.pack(f"<{len(words)}Q", *words))
