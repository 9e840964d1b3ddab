"""The state of one host's politeness: when its next request may start, and what decides that.

Nothing here reads a clock: callers pass ``now`` (monotonic seconds, for durations) and ``wall`` (POSIX seconds, for
HTTP dates and for people). The whole host waits, never a single URL: 429 and 503 speak of the host.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable
from typing import NamedTuple

from spiderproj.politeness.latency import Latency
from spiderproj.politeness.retry_after import parse_retry_after

MAX_DELAY = 30.0
"""Longest delay that the host's behaviour alone leads to, in seconds (Heritrix' limit)."""

_LATENCIES = 5.0  # slow answers lengthen the delay to at most this many of them, as Heritrix does
_SLOWER, _FASTER = 1.5, 0.95  # factors of the delay after slow answers, and after a fast one
_CALM = 50  # fast answers in a row until the delay begins to fall
_OWN_CALM, _OWN_FASTER = 10, 0.7  # the same where no floor asks for a delay: it began only with a push-back
_FORGIVEN = 10  # answers in a row until the next back-off begins at its shortest again
_FIRST_DELAY = 0.1  # after a push-back, where the delay was none: zero does not double
_BACK_OFFS = {429: 10.0, 503: 2.0}  # seconds of the first back-off: a 429 speaks of us, a 503 often of one page
_BACK_OFF_DOUBLINGS, _JITTER = 6, 0.2
_MAX_PUSH_BACKS = 10  # in a row with no other answer between, each after its full wait: then the host is parked
_FAILURES = 5  # connection failures in a row that put the host to sleep
_SLEEP, _MAX_SLEEPS = 300.0, 4


class Wait(NamedTuple):
    """A wait of the whole host that has just begun, for the log; ``seconds`` is infinite when the host is parked."""

    seconds: float
    cause: str


class Learned(NamedTuple):
    """What is worth remembering of a host between two runs, as plain numbers; 0 where nothing is known."""

    delay: float
    refused_delay: float  # the delay at which the host last answered 429 or 503
    mean_latency: float
    best_latency: float
    until: float  # POSIX time before which the host must be left alone


class HostPoliteness:
    """When one host may be asked next. *base_delay* and the Crawl-delay are floors that nothing goes below.

    *jitter* returns numbers in [0, 1): it spreads the back-offs of many workers.
    """

    def __init__(
        self,
        *,
        base_delay: float,
        concurrency: int,
        retry_after_max: float = 3600.0,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self.parked = False  # given up: out of reach, or refusing, for hours
        self.delay = base_delay
        self._base_delay = base_delay
        self._crawl_delay = 0.0
        self._concurrency = concurrency
        self._retry_after_max = retry_after_max
        self._jitter = jitter
        self._latency = Latency()
        self._refused_delay = 0.0
        self._calm = 0  # fast answers in a row
        self._since_push_back = 0  # answers in a row
        self._doublings = 0  # of the back-off
        self._push_backs = 0  # in a row, no other answer between
        self._failures = 0
        self._sleeps = 0
        self._started = -math.inf
        self._until = -math.inf
        self._wait = ""  # what the host waits for until then, in words

    @property
    def floor(self) -> float:
        """The least delay, in seconds."""
        return max(self._base_delay, self._crawl_delay)

    def set_crawl_delay(self, seconds: float | None) -> None:
        """Take the Crawl-delay of robots.txt, None for none."""
        follows_floor = self.delay <= self.floor
        self._crawl_delay = seconds or 0.0
        self.delay = self.floor if follows_floor else max(self.delay, self.floor)

    def ready_at(self) -> float:
        """Return the monotonic time from which the next request may start; infinite for a parked host."""
        return math.inf if self.parked else max(self._started + self.delay, self._until)

    def on_start(self, now: float) -> None:
        """Note that a request starts."""
        self._started = now

    def on_response(
        self, now: float, wall: float, status: int, latency: float, retry_after: str | None = None
    ) -> Wait | None:
        """Learn from an answer; *latency* is seconds to its headers, *retry_after* the header's value.

        Returns the wait that a 429 or 503 begins. Answers that come in during a wait were asked for before it and
        change nothing, unless they ask for a longer one.
        """
        self._failures = self._sleeps = 0
        if status in {429, 503}:
            return self._push_back(now, wall, status, retry_after)
        self._push_backs = 0
        if now >= self._until:
            self._since_push_back += 1
            if self._since_push_back >= _FORGIVEN:
                self._doublings = 0
            if 200 <= status < 300:  # errors are quick: they say nothing about how much the host can bear
                self._learn(latency)
        return None

    def on_failure(self, now: float, wall: float, kind: str) -> Wait | None:
        """Learn from a request without an answer (*kind*: "timeout", "refused" ...); return the sleep it begins."""
        if now < self._until:
            return None
        self._failures += 1
        if self._failures < _FAILURES:
            return None
        self._failures = 0
        cause = f"{_FAILURES} connection failures in a row ({kind})"
        if self._sleeps >= _MAX_SLEEPS:
            return self._park(cause)
        self._sleeps += 1
        return self._begin(now, wall, _SLEEP * 2 ** (self._sleeps - 1), "asleep", cause)

    def limited_by(self, now: float) -> str:
        """Return what the host's rate is limited by, in the words of a status line."""
        if self.parked or now < self._until:
            return self._wait
        if self.delay > self.floor:
            return f"adaptive delay {self.delay:.3g} s"
        if not self.delay:
            return f"concurrency {self._concurrency}"
        return f"{'crawl-delay' if self._crawl_delay >= self._base_delay else 'delay'} {self.delay:.3g} s"

    def learned(self, now: float, wall: float) -> Learned:
        """Return what the next run should know."""
        until = wall + self._until - now if self._until > now else 0.0
        return Learned(self.delay, self._refused_delay, self._latency.mean, self._latency.best, until)

    def restore(self, learned: Learned, now: float, wall: float) -> None:
        """Take up what an earlier run *learned*; numbers that make no sense count as not known."""
        self.delay = max(self.floor, _sane(learned.delay, self._ceiling))
        self._refused_delay = _sane(learned.refused_delay, self._ceiling)
        self._latency = Latency(_sane(learned.mean_latency, 3600.0), _sane(learned.best_latency, 3600.0))
        left = min(_sane(learned.until, math.inf) - wall, self._retry_after_max)
        if left > 0:
            self._begin(now, wall, left, "waits", "")

    @property
    def _ceiling(self) -> float:
        return max(MAX_DELAY, self.floor)

    def _learn(self, latency: float) -> None:
        """Adapt the delay to a good answer's latency; a delay of zero stays zero."""
        looked = self._latency.add(latency)
        if self._latency.is_slow:
            self._calm = 0
            if looked:  # once in ten answers: those in flight together must not multiply
                bearable = min(self.delay * _SLOWER, self._latency.mean * _LATENCIES, self._ceiling)
                self.delay = max(self.delay, bearable)
            return
        self._calm += 1
        calm, factor = (_CALM, _FASTER) if self.floor else (_OWN_CALM, _OWN_FASTER)
        if self.delay > self.floor and self._calm >= calm:
            faster = self.delay * factor
            if faster >= self._refused_delay or self._calm % _CALM == 0:  # gently where the host refused last time
                self.delay = faster if faster > self.floor + 0.001 else self.floor

    def _push_back(self, now: float, wall: float, status: int, retry_after: str | None) -> Wait | None:
        """Wait as long as a 429 or 503 asks, or a growing back-off of our own, and go on at half the rate."""
        asked = parse_retry_after(retry_after, wall, self._retry_after_max) if retry_after else None
        lone = self._since_push_back >= _FORGIVEN  # among good answers a 503 is that page's trouble: its retry waits
        self._calm = self._since_push_back = 0
        if now < self._until:
            longer = asked is not None and now + asked > self._until
            return self._begin(now, wall, asked, "Retry-After", f"{status}") if asked and longer else None
        if status == 503 and asked is None and lone:
            return None
        self._push_backs += 1
        if self._push_backs > _MAX_PUSH_BACKS:
            return self._park(f"{_MAX_PUSH_BACKS} answers {status} in a row")
        self._refused_delay = self.delay
        self.delay = min(max(2 * self.delay, _FIRST_DELAY), self._ceiling)
        back_off = _BACK_OFFS[status] * 2 ** min(self._doublings, _BACK_OFF_DOUBLINGS)
        self._doublings += 1
        if asked is not None:
            return self._begin(now, wall, max(asked, self.delay), "Retry-After", f"{status}")
        spread = 1 - _JITTER + 2 * _JITTER * self._jitter()
        return self._begin(now, wall, min(back_off * spread, self._retry_after_max), "back-off", f"{status}")

    def _begin(self, now: float, wall: float, seconds: float, what: str, cause: str) -> Wait:
        self._until = now + seconds
        self._wait = f"{what} until {time.strftime('%H:%M:%S', time.localtime(wall + seconds))}"
        return Wait(seconds, f"{cause}: {self._wait}" if cause else self._wait)

    def _park(self, cause: str) -> Wait:
        self.parked = True
        self._wait = f"parked: {cause}"
        return Wait(math.inf, self._wait)


def forecast(delay_seconds: float, concurrency: int, latency_seconds: float) -> float:
    """Return the pages an hour that one host can give; infinite when neither delay nor latency limits it.

    >>> forecast(1.0, 8, 0.2)
    3600.0
    """
    by_delay = 3600 / delay_seconds if delay_seconds > 0 else math.inf
    by_latency = 3600 * concurrency / latency_seconds if latency_seconds > 0 else math.inf
    return min(by_delay, by_latency)


def _sane(value: float, most: float) -> float:
    """Return *value* if it is a number from 0 to *most*, else the nearer of the two, and 0 for no number."""
    return min(max(value, 0.0), most) if math.isfinite(value) else 0.0
