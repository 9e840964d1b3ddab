"""What is known to vary, or to be everywhere, on the pages of one template."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

import orjson

from spiderproj.content.gathering import TITLE
from spiderproj.content.reading import Blocks, Reading, hash_of

CALIBRATIONS: Final = 3
"""Pages to be fetched twice before a template counts as calibrated."""

CONFIRMED_BY: Final = 2
"""Pages of which the two fetches must have differed in the same way before that is taken for noise."""

PAGES_BEFORE: Final = 20
"""Pages to be seen before a block can be boilerplate ..."""

BOILERPLATE_SHARE: Final = 0.8
"""... and the share of them that must have it. It has to be over a half, so that of two blocks that exclude one another
("In stock", "Sold out") only one can be boilerplate: with both gone, two products would be one page."""

MAX_BLOCKS: Final = 1024
"""Blocks that are counted, and texts that are remembered."""

MAX_VOLATILE: Final = 512
"""Places, shapes and dated places that are counted, of each."""

_MEMORY: Final = 1000  # pages after which all counts are halved: a site's face changes


class Noise:
    """What was learned of one template; begins as nothing."""

    def __init__(self) -> None:
        self.calibrations = 0
        self._pages = 0
        self._counts: Counter[int] = Counter()
        self._texts: dict[int, None] = {}
        self._places: Counter[int] = Counter()
        self._shapes: Counter[int] = Counter()
        self._clocks: Counter[int] = Counter()
        self._settle()

    @property
    def is_calibrated(self) -> bool:
        """Whether enough pages were fetched twice."""
        return self.calibrations >= CALIBRATIONS

    @property
    def version(self) -> int:
        """64 bits for what is noise now: digests of one version can be compared, others cannot."""
        return self._version

    def observe(self, reading: Reading) -> None:
        """Count the blocks of a page; a text that was counted lately is not counted again, whatever its URL."""
        key = hash_of(reading.text.hashes)
        if reading.is_empty or key in self._texts:
            return
        if len(self._texts) >= MAX_BLOCKS:
            del self._texts[next(iter(self._texts))]
        self._texts[key] = None
        self._pages += 1
        self._count({*reading.text.hashes, *reading.links.hashes})
        if self._pages % PAGES_BEFORE == 0:
            self._settle()

    def calibrate(self, first: Reading, second: Reading) -> None:
        """Learn from two readings of one URL, fetched some seconds apart, what varies by itself.

        Two pages with less than half of their blocks in common teach nothing: that URL shows another page each time.
        """
        self.calibrations += 1
        if not _is_one_page(first, second):
            return
        for one, other in ((first.text, second.text), (first.links, second.links)):
            self._compare(one, other)
        changed = {where for where, _ in set(first.dates) ^ set(second.dates)}
        _add(self._clocks, changed)
        self._settle()

    def varies(self, mark: int) -> bool:
        """Return whether a block with this *mark* is known to vary by itself."""
        return mark in self._volatile_shapes or mark >> 32 in self._volatile_places

    def kept(self, blocks: Blocks) -> list[int]:
        """Return the hashes of *blocks* without noise, in order; all of them when only noise and a title are there."""
        if not (self._boilerplate or self._volatile_places or self._volatile_shapes):
            return list(blocks.hashes)
        kept = [
            (mark if mark in self._volatile_shapes else block, mark)
            for block, mark in blocks.pairs()
            if block not in self._boilerplate and mark >> 32 not in self._volatile_places
        ]
        if all(mark >> 32 == TITLE for _, mark in kept):
            return list(blocks.hashes)
        return [block for block, _ in kept]

    def kept_dates(self, reading: Reading) -> list[tuple[int, int]]:
        """Return the dates of *reading* that stand where dates are not known to vary by themselves."""
        return [
            (where, date)
            for where, date in reading.dates
            if where not in self._volatile_clocks and where not in self._volatile_places
        ]

    def dump(self) -> bytes:
        """Return what was learned, as JSON."""
        frequent = {block: count for block, count in self._counts.items() if 2 * count >= self._pages}
        return orjson.dumps(
            {
                "calibrations": self.calibrations,
                "pages": self._pages,
                "blocks": _items(frequent),
                "places": _items(self._places),
                "shapes": _items(self._shapes),
                "clocks": _items(self._clocks),
            }
        )

    @classmethod
    def load(cls, dumped: bytes) -> Noise:
        """Return what was dumped; raises ValueError for bytes that are no dump."""
        noise = cls()
        try:
            state = orjson.loads(dumped)
            noise.calibrations, noise._pages = int(state["calibrations"]), int(state["pages"])
            noise._counts, noise._places, noise._shapes, noise._clocks = (
                Counter({int(key): int(count) for key, count in state[name]})
                for name in ("blocks", "places", "shapes", "clocks")
            )
            noise._settle()
        except (KeyError, TypeError, ValueError, struct.error) as error:
            raise ValueError(f"{dumped[:40]!r}... is no dump of noise: {error}; delete it to learn anew") from error
        return noise

    def _count(self, blocks: set[int]) -> None:
        if len(self._counts) + len(blocks) > 2 * MAX_BLOCKS:
            self._counts = Counter(dict(self._counts.most_common(MAX_BLOCKS)))
        self._counts.update(blocks)
        if self._pages >= _MEMORY:
            self._pages //= 2
            self._counts = Counter({block: count // 2 for block, count in self._counts.items() if count > 1})

    def _compare(self, one: Blocks, other: Blocks) -> None:
        only_one, only_other = _without(one, other.hashes), _without(other, one.hashes)
        stable = {mark for block, mark in one.pairs() if block in set(other.hashes)}
        stable_places = {mark >> 32 for mark in stable}
        varying = (only_one & only_other) - stable
        _add(self._shapes, varying)
        # An advertisement, a tip of the day: where nothing that stays stands.
        replaced = {mark >> 32 for mark in (only_one ^ only_other) - varying}
        _add(self._places, replaced - stable_places - {TITLE})

    def _settle(self) -> None:
        enough = self._pages * BOILERPLATE_SHARE
        ready = self._pages >= PAGES_BEFORE
        self._boilerplate = frozenset(key for key, count in self._counts.items() if ready and count >= enough)
        self._volatile_places, self._volatile_shapes, self._volatile_clocks = (
            frozenset(key for key, count in counts.items() if count >= CONFIRMED_BY)
            for counts in (self._places, self._shapes, self._clocks)
        )
        known = (self._boilerplate, self._volatile_places, self._volatile_shapes, self._volatile_clocks)
        self._version = hash_of([word for part in known for word in (*sorted(part), 0)])


def _is_one_page(first: Reading, second: Reading) -> bool:
    one, other = set(first.text.hashes), set(second.text.hashes)
    return 2 * len(one & other) >= max(len(one), len(other), 1)


def _without(blocks: Blocks, hashes: Iterable[int]) -> set[int]:
    """Return the marks of *blocks* whose hashes are not among *hashes*."""
    known = set(hashes)
    return {mark for block, mark in blocks.pairs() if block not in known}


def _add(counts: Counter[int], keys: Iterable[int]) -> None:
    counts.update(key for key in keys if key in counts or len(counts) < MAX_VOLATILE)


def _items(counts: Mapping[int, int]) -> list[tuple[int, int]]:
    return list(counts.items())


NOTHING: Final = Noise()
"""What is known when nothing was learned; nobody teaches it."""
