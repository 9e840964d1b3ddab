"""How much one page may cost to read."""

from __future__ import annotations

MAX_BYTES = 16 * 1024 * 1024
"""Longest body that is read: the largest page that is downloaded."""

MAX_STEPS = 400_000
"""Start tags, attributes and CSS tokens of one page: about 1 µs each. The largest index pages known (20,000 links with
size, date and icon) take 200,000."""

MAX_ATTRIBUTES = 150_000
"""Attributes on one tag; each costs 250 bytes while its tag is read."""

MAX_LINKS = 50_000
"""Links of one page, by default: 150 MB and 0.4 s at the worst."""


class BudgetSpentError(Exception):
    """Reading a page stops here; the message says why, for Page.partial."""


class Budget:
    """Counts the steps of one page."""

    def __init__(self, steps: int = MAX_STEPS) -> None:
        self._steps = self._left = steps

    def spend(self, steps: int) -> None:
        """Take *steps* off; raises BudgetSpentError when none are left."""
        self._left -= steps
        if self._left < 0:
            raise BudgetSpentError(f"tags, attributes and CSS tokens over {self._steps}")
