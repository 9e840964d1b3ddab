"""What has changed about a page since the visit before."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from spiderproj.content import Noise, Reading, Sameness, digests, same

MAX_SAMPLES: Final = 20
"""Links of each kind that are named; the others are counted."""


class What(StrEnum):
    """What a visit found about a URL; without a row it is unchanged, or could not be asked."""

    NEW = "new"  # nothing was stored of it
    CHANGED = "changed"  # what it says
    TOUCHED = "touched"  # only its bytes: a token, a time, what surrounds its content
    MOVED = "moved"  # the same content is at another URL now, or a redirect leads on
    GONE = "gone"  # 404 or 410; what was stored stays
    HELD_BACK = "held-back"  # the answer is not believed; what was stored stays


class Seen(NamedTuple):
    """A body as far as it is compared."""

    digest: bytes  # SHA-256
    reading: Reading | None = None  # None: no page, or one too long to be read
    links: tuple[str, ...] = ()  # where a person can go from it
    is_page: bool = False


class LinkChanges(NamedTuple):
    """Links of a page that are new, and that it has lost: how many, and the first of them."""

    added: int = 0
    removed: int = 0
    new: Sequence[str] = ()
    lost: Sequence[str] = ()


def is_change(before: Seen, after: Seen, noise: Noise | None = None) -> bool:
    """Return whether two different bodies say different things, but for *noise*.

    Where only the lists of links differ, and where a page says nothing, it is the links that count.
    """
    one, other = before.reading, after.reading
    if one is None or other is None:
        return True
    sameness = same(one, other, noise)
    if sameness >= Sameness.DATES:
        return False
    if sameness is Sameness.LINKS or (one.is_empty and other.is_empty):
        return set(before.links) != set(after.links)
    return True


def link_changes(before: Sequence[str], after: Sequence[str]) -> LinkChanges:
    """Return which links are in one list only; how often one stands on the page says nothing."""
    old, new = dict.fromkeys(before), dict.fromkeys(after)
    added = [url for url in new if url not in old]
    removed = [url for url in old if url not in new]
    return LinkChanges(len(added), len(removed), added[:MAX_SAMPLES], removed[:MAX_SAMPLES])


def main_digest(seen: Seen) -> int:
    """Return a signed 64-bit number for what a body says: never 0; by its bytes where there is nothing to read."""
    main = digests(seen.reading)[1] if seen.reading is not None else 0
    return main or number_of(seen.digest)


def number_of(digest: bytes) -> int:
    """Return the signed 64-bit number that stands for a body's *digest*."""
    return int.from_bytes(digest[:8], "big", signed=True)
