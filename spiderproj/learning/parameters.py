"""Which parameters of a path template always travel together, and so can only be tested together."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import orjson

MAX_KNOWN = 64
"""Most names whose company is counted at one template; a name beyond counts as travelling alone."""


class Parameters:
    """Counts of parameter names, alone and in pairs, over the URLs of one template."""

    def __init__(self) -> None:
        self._alone: Counter[str] = Counter()
        self._pairs: Counter[tuple[str, str]] = Counter()

    def count(self, names: frozenset[str]) -> None:
        """Take in a new URL with the parameters *names*."""
        known = sorted(name for name in names if name in self._alone or len(self._alone) < MAX_KNOWN)
        self._alone.update(known)
        self._pairs.update(combinations(known, 2))

    def groups(self, names: frozenset[str]) -> list[tuple[str, ...]]:
        """Return the groups of *names* to be tested, the largest first: those that travel together, and all at once.

        Two names travel together while neither has been seen without the other (Koppula et al., WSDM 2010, treat
        names one by one, which can never test a widget whose five parameters always come together).
        """
        left, found = sorted(names), set()
        everything = tuple(left)
        while left:
            first = left[0]
            together = [name for name in left if name == first or self._inseparable(first, name)]
            found.add(tuple(together))
            left = [name for name in left if name not in together]
        found.discard(())
        return sorted(found | ({everything} if everything else set()), key=lambda group: (-len(group), group))

    def dump(self) -> bytes:
        """Return what ``load`` makes an equal one of."""
        return orjson.dumps([self._alone, [[*pair, count] for pair, count in self._pairs.items()]])

    @classmethod
    def load(cls, stored: bytes) -> Parameters:
        """Return what ``dump`` has written as *stored*; ValueError when it has not."""
        made, (alone, pairs) = cls(), orjson.loads(stored)
        made._alone.update(alone)
        made._pairs.update({(first, second): count for first, second, count in pairs})
        return made

    def _inseparable(self, first: str, second: str) -> bool:
        pair = (first, second) if first < second else (second, first)
        return 0 < self._pairs[pair] == self._alone[first] == self._alone[second]
