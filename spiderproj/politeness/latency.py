"""Whether a host answers slowly, judged by its own best."""

from __future__ import annotations

from collections import deque

_WEIGHT = 0.1  # of the newest latency in the running mean
_WINDOW = 100  # latencies that the best decile is taken from
_EVERY = 10  # answers between two looks at the decile
_FORGET = 1.02  # how the best so far ages at each look: a host that has become slower for good is accepted after
# some 350 answers, not held back for ever


class Latency:
    """The running mean of a host's latencies, and the best decile it has shown; seconds, 0 before anything is known."""

    __slots__ = ("_count", "_recent", "best", "mean")

    def __init__(self, mean: float = 0.0, best: float = 0.0) -> None:
        self.mean = mean
        self.best = best
        self._recent: deque[float] = deque(maxlen=_WINDOW)
        self._count = 0

    def add(self, seconds: float) -> bool:
        """Take one latency; return whether it was the turn to look at the whole, every tenth time."""
        self.mean = seconds if not self.mean else self.mean + _WEIGHT * (seconds - self.mean)
        self._recent.append(seconds)
        self._count += 1
        if self._count % _EVERY:
            return False
        decile = sorted(self._recent)[len(self._recent) // 10]
        self.best = min(decile, self.best * _FORGET) if self.best else decile
        return True

    @property
    def is_slow(self) -> bool:
        """Whether the mean is over twice the best decile."""
        return self.best > 0 and self.mean > 2 * self.best
