"""How often pages change: from the visits to a page, and to its kind where there were few."""

from __future__ import annotations

from math import exp, expm1, log
from typing import Final, NamedTuple

_PRIOR: Final = 2.0
"""Visits to its kind that a page's own visits are weighed against."""

_MOST: Final = 1 - 1e-9  # a probability whose logarithm is finite


class History(NamedTuple):
    """What the visits to a page, or to all pages of a kind, came to; the first visit to a page compares nothing."""

    visits: int = 0  # that could tell whether it had changed
    changed: int = 0  # of these
    exposure: float = 0.0  # seconds from each visit to the next, summed

    def plus(self, other: History) -> History:
        """Return both together.

        >>> History(1, 1, 60.0).plus(History(2, 0, 120.0))
        History(visits=3, changed=1, exposure=180.0)
        """
        return History(self.visits + other.visits, self.changed + other.changed, self.exposure + other.exposure)


def kind_rate(history: History) -> float:
    """Return the changes a second of a kind of pages, 0.0 when nothing is known of it.

    By the estimator of Cho and Garcia-Molina (ACM TOIT 2003, 4.2), which allows for changes that lie between the same
    two visits.
    """
    visits, changed, exposure = history
    if not visits or exposure <= 0:
        return 0.0
    return -log((visits - changed + 0.5) / (visits + 0.5)) * visits / exposure


def page_rate(history: History, of_kind: float) -> float:
    """Return the changes a second of a page, whose kind has the rate *of_kind* (empirical Bayes)."""
    visits, changed, exposure = history
    if not visits or exposure <= 0:
        return of_kind
    interval = exposure / visits
    share = (changed - _PRIOR * expm1(-of_kind * interval)) / (visits + _PRIOR)
    return -log(1 - min(share, _MOST)) / interval


def change_probability(rate: float, gap: float) -> float:
    """Return how likely a page with this *rate* has changed in *gap* seconds."""
    return 1 - exp(-rate * gap)
