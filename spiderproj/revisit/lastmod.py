"""How far a host's word can be trusted that a page has changed: the ``lastmod`` of its sitemaps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

TRIALS: Final = 50
"""Visits after which a host's word counts."""


@dataclass(slots=True)
class Signal:
    """Counts how often the word and the page agreed.

    Only visits count that were made whatever the word was - full crawls, pages due by age, audits - or the pages that
    change without a word would never be seen.
    """

    told: int = 0  # changes that were told
    untold: int = 0  # changes that were not
    false: int = 0  # told, and nothing had changed
    silent: int = 0  # nothing told, nothing changed

    def observe(self, *, is_told: bool, has_changed: bool) -> None:
        """Note one visit."""
        if has_changed:
            self.told += is_told
            self.untold += not is_told
        else:
            self.false += is_told
            self.silent += not is_told

    @property
    def recall(self) -> float:
        """How much of what changes is told."""
        return (self.told + 0.5) / (self.told + self.untold + 1)

    @property
    def false_alarm(self) -> float:
        """How much of what does not change is told all the same."""
        return (self.false + 0.5) / (self.false + self.silent + 1)

    @property
    def is_known(self) -> bool:
        """Whether there were enough visits."""
        return self.told + self.untold + self.false + self.silent >= TRIALS

    def weigh(self, probability: float, *, is_told: bool) -> float:
        """Return the *probability* of a change now that the host has, or has not, told of one (Bayes)."""
        if not self.is_known:
            return probability
        recall, false = self.recall, self.false_alarm
        if not is_told:
            recall, false = 1 - recall, 1 - false
        changed = probability * recall
        return changed / (changed + (1 - probability) * false)
