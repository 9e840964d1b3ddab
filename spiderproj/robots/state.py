"""What stands for an origin while its robots.txt is fresh, old, missing or out of reach (RFC 9309, 2.3.1 and 2.4)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from spiderproj.robots.rules import MAX_BYTES
from spiderproj.urls import RefusedURLError, canonical

MAX_REDIRECTS = 5
"""Redirects followed in a row (2.3.1.2 asks for at least five); the next one makes the file unavailable."""

MAX_AGE = 24 * 3600.0
"""How long an answer counts, in seconds (2.4)."""

RETRY_AFTER = (300.0, 600.0, 1200.0, 2400.0, 3600.0)
"""Seconds until a file out of reach is asked for again: after the first failure, the second ...; the last repeats."""


class Access(StrEnum):
    """What stands for an origin's URLs."""

    UNKNOWN = "unknown"  # robots.txt has never been asked for: fetch it first
    RULES = "rules"  # ask parse(state.body, token)
    ALLOW = "allow"  # no file: everything may be fetched
    DISALLOW = "disallow"  # out of reach and no copy kept: nothing, until a retry brings an answer


@dataclass(frozen=True, slots=True, kw_only=True)
class RobotsState:
    """All that is remembered of one origin's robots.txt; its fields are the columns of a row.

    ``status`` is the last answer's, 0 for none at all. ``body`` is the last good copy, kept while the file is out of
    reach; None when there is none. Times are POSIX seconds.
    """

    status: int = 0
    body: bytes | None = None
    answered_at: float | None = None  # when rules, or the lack of a file, were last learned
    failing_since: float | None = None  # when it went out of reach; None while it is in reach
    failures: int = 0
    retry_at: float = 0.0

    @property
    def access(self) -> Access:
        """What stands now; an old answer stands until a newer one is there."""
        if self.body is not None:
            return Access.RULES
        if self.failures:
            return Access.DISALLOW
        return Access.UNKNOWN if self.answered_at is None else Access.ALLOW

    @property
    def cause(self) -> str:
        """Why nothing more is known, for people: "robots.txt answered 503", "robots.txt did not answer"."""
        return f"robots.txt answered {self.status}" if self.status else "robots.txt did not answer"

    def is_due(self, now: float) -> bool:
        """Return whether robots.txt must be asked for (again) before the origin's next URL.

        A clock that was set back makes it due, rather than never due.
        """
        if self.failures:
            return not 0 < self.retry_at - now <= RETRY_AFTER[-1]
        return self.answered_at is None or not 0 <= now - self.answered_at < MAX_AGE

    def answered(self, status: int, body: bytes, now: float) -> RobotsState:
        """Return the state after an answer that no redirect leads on from.

        2xx: its rules stand. 429 and 5xx: out of reach (2.3.1.4; 429 too, whose sender asks for fewer requests, not
        for more). Any other: unavailable (2.3.1.3), everything may be fetched; so is a redirect that
        redirect_target() does not follow.
        """
        if status == 429 or not 200 <= status < 500:
            return self._out_of_reach(status, now)
        is_good = status < 300
        # One byte more than counts, so that reading the copy again still shows that it was cut.
        return RobotsState(status=status, body=body[: MAX_BYTES + 1] if is_good else None, answered_at=now)

    def failed(self, now: float) -> RobotsState:
        """Return the state after no answer: name not found, refused, TLS, time-out, broken off, refused address."""
        return self._out_of_reach(0, now)

    def _out_of_reach(self, status: int, now: float) -> RobotsState:
        wait = RETRY_AFTER[min(self.failures, len(RETRY_AFTER) - 1)]
        return replace(
            self,
            status=status,
            failing_since=now if self.failing_since is None else self.failing_since,
            failures=self.failures + 1,
            retry_at=now + wait,
        )


def redirect_target(url: str, status: int, location: str | None, hops: int) -> str | None:
    """Return the URL to ask next when *url* answered with a redirect, None when it leads nowhere we follow.

    *hops* redirects led to *url* already. None makes the file unavailable: pass the answer to answered(). Whatever
    authority the hops end at, the rules bind the one that was asked first (2.3.1.2): keep its state under it.
    """
    if status not in {301, 302, 303, 307, 308} or location is None or hops >= MAX_REDIRECTS:
        return None
    try:
        return canonical(location, url)
    except RefusedURLError:
        return None
