"""Near-duplicates: for the report only. Pages that differ in one price are near, and must not be taken for one."""

from __future__ import annotations

from typing import Final

from spiderproj.content.gathering import TITLE
from spiderproj.content.noise import NOTHING, Noise
from spiderproj.content.reading import Reading
from spiderproj.content.sameness import signed

NEAR: Final = 0.9
"""Least share of the blocks of two pages that both must have."""

_64_BITS: Final = (1 << 64) - 1
_FACTORS: Final = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93)


def sketch(reading: Reading, noise: Noise | None = None) -> tuple[int, int, int, int]:
    """Return four signed 64-bit min-hashes of a page's blocks; four zeros when it is empty.

    Two pages that share 90 % of their blocks have one of the four in common, at the same position, in 99.99 of 100
    cases (1 - 0.1**4): those are the candidates for near().
    """
    blocks = (noise or NOTHING).kept(reading.text)
    if reading.is_empty or not blocks:
        return 0, 0, 0, 0
    first, second, third, fourth = (
        signed(min([(block ^ block >> 29) * factor & _64_BITS for block in blocks])) for factor in _FACTORS
    )
    return first, second, third, fourth


def near(a: Reading, b: Reading, noise: Noise | None = None) -> bool:
    """Return whether two pages share NEAR of their blocks of text, with equal titles and equal numbers."""
    if a.is_empty or b.is_empty or a.digits != b.digits or _title(a) != _title(b):
        return False
    noise = noise or NOTHING
    one, other = ({*noise.kept(page.text), *page.text.folded[1:]} for page in (a, b))
    return len(one & other) >= NEAR * len(one | other)


def _title(reading: Reading) -> int | None:
    return next((block for block, mark in reading.text.pairs() if mark >> 32 == TITLE), None)
