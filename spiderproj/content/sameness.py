"""Whether two pages say the same, and the digests by which many are compared at once."""

from __future__ import annotations

from enum import IntEnum

from spiderproj.content.noise import NOTHING, Noise
from spiderproj.content.reading import Blocks, Reading, hash_of


class Sameness(IntEnum):
    """How much two pages have in common; each level includes those above it."""

    DIFFERENT = 0
    LINKS = 1  # the texts are equal, lists of links are not: what they lead to must tell (link closure)
    DATES = 2  # equal but for dates and times that nobody has seen to vary by themselves
    UNORDERED = 3  # the same blocks in another order
    EXACT = 4


def same(a: Reading, b: Reading, noise: Noise | None = None) -> Sameness:
    """Return how much of two pages of one template is the same, but for *noise*.

    An empty page is the same as nothing, not even as itself; lists of links are compared by their links.
    """
    if a.is_empty or b.is_empty:
        return Sameness.DIFFERENT
    noise = noise or NOTHING
    texts = _compare(a.text, b.text, noise)
    if texts is Sameness.DIFFERENT:
        return texts
    links = _compare(a.links, b.links, noise)
    if links is Sameness.DIFFERENT:
        return Sameness.DIFFERENT if a.is_list or b.is_list else Sameness.LINKS
    return min(texts, links, _compare_dates(a, b, noise))


def digests(reading: Reading, noise: Noise | None = None) -> tuple[int, int]:
    """Return two signed 64-bit digests: of the page's blocks in their order, and in any order; (0, 0) when it is empty.

    Two pages have equal digests when they are the same but for their dates. Compare only digests that were made under
    one ``noise.version``; never take 0 for equal to 0.
    """
    if reading.is_empty:
        return 0, 0
    noise = noise or NOTHING
    text, links = noise.kept(reading.text), noise.kept(reading.links)
    exact = hash_of([*text, *reading.text.folded[:1], 0, *links, *reading.links.folded[:1]])
    unordered = hash_of([*sorted(text), *reading.text.folded[1:], 0, *sorted(links), *reading.links.folded[1:]])
    return signed(exact), signed(unordered)


def signed(word: int) -> int:
    """Return an unsigned 64-bit *word* as the signed one that SQLite stores."""
    return word - (1 << 64) if word >> 63 else word


def _compare(a: Blocks, b: Blocks, noise: Noise) -> Sameness:
    if a == b:
        return Sameness.EXACT
    one, other = noise.kept(a), noise.kept(b)
    if one == other and a.folded == b.folded:
        return Sameness.EXACT
    if a.folded[1] == b.folded[1] and len(one) == len(other) and sorted(one) == sorted(other):
        return Sameness.UNORDERED
    return Sameness.DIFFERENT


def _compare_dates(a: Reading, b: Reading, noise: Noise) -> Sameness:
    if a.dates == b.dates:
        return Sameness.EXACT
    one, other = noise.kept_dates(a), noise.kept_dates(b)
    if one == other:
        return Sameness.EXACT
    return Sameness.UNORDERED if sorted(one) == sorted(other) else Sameness.DATES
