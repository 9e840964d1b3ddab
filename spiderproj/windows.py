"""The hours in which a crawl fetches: from one time of the day to another, or so many from its start."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

_DAY = 24 * 3600
_HOUR = 3600


@dataclass(frozen=True, slots=True)
class Window:
    """A window, opened anew each day, or once when ``hours`` is set. Times are seconds of the local day.

    The clock is asked anew each time, so a window holds through a change of the clock, and over midnight.
    """

    opens: int = 0
    closes: int = 0
    hours: int | None = None

    @classmethod
    def parse(cls, text: str) -> Window:
        """Return the window that the argument's *text* (known to be well formed) means.

        >>> Window.parse("22:00-06:30")
        Window(opens=79200, closes=23400, hours=None)
        >>> Window.parse("+6h").hours
        6
        """
        if text.startswith("+"):
            return cls(hours=int(text[1:-1]))
        opens, closes = (int(part[:2]) * _HOUR + int(part[3:]) * 60 for part in text.split("-"))
        return cls(opens, closes)

    def closed_for(self, second: float, running: float) -> float:
        """Return how many seconds it stays closed: 0 while it is open, infinite when it does not open again.

        *second* is that of the local day, *running* how long the crawl has been running.
        """
        if self.hours is not None:
            return 0.0 if running < self.hours * _HOUR else math.inf
        length = (self.closes - self.opens) % _DAY
        since = (second - self.opens) % _DAY
        return 0.0 if since < length else _DAY - since

    def open_for(self, second: float, running: float) -> float:
        """Return how many seconds it stays open: 0 while it is closed."""
        if self.closed_for(second, running):
            return 0.0
        if self.hours is not None:
            return self.hours * _HOUR - running
        return (self.closes - second) % _DAY


def second_of_day() -> float:
    """Return the second of the local day that the clock shows."""
    now = time.localtime()
    return now.tm_hour * _HOUR + now.tm_min * 60 + now.tm_sec
