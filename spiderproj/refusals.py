"""How a downloader middleware says that a leased URL is not fetched: for good, or only not yet."""

from __future__ import annotations

from scrapy.exceptions import IgnoreRequest

from spiderproj.models import Decision, Reason, ResourceType, Verdict


class Refused(IgnoreRequest):
    """The URL is not fetched, and why; ``answered`` is its type when a server told it."""

    def __init__(self, reason: Reason, rule: str, answered: ResourceType | None = None) -> None:
        super().__init__(f"{reason.value}: {rule}")
        self.decision = Decision(Verdict.REFUSED, reason, rule)
        self.answered = answered


class Postponed(IgnoreRequest):
    """The URL goes back to the frontier until *until* (POSIX seconds)."""

    def __init__(self, until: float, why: str) -> None:
        super().__init__(why)
        self.until = until
