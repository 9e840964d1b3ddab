"""What is told of one URL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from spiderproj.explanation.rules import Rule, Step
from spiderproj.models import Decision
from spiderproj.store.linkers import Linker

MAX_LINKERS = 20
"""Links to a URL that are listed; the others are counted."""
MAX_FETCHES = 50
"""Fetches of a URL that are listed, the latest."""


class Fetched(NamedTuple):
    """One fetch of the URL, as the store has it; 0 stands for no answer."""

    fetched_at: float
    status: int
    seconds: float
    size: int
    content_type: str | None
    final_url: str | None
    error: str | None
    path: str | None  # of the body, below files/


class Linked(NamedTuple):
    """A link to the URL, and what it comes to by the rules as they are now."""

    linker: Linker
    decision: Decision


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """Why a URL was, or was not, fetched."""

    url: str
    decision: Decision | None  # that of the store, None for a URL that nobody has named
    decided_by: Rule | None  # the rule that refused it, None when none did
    level: str
    depth: int
    type: str | None
    is_answered: bool  # the type is a server's word
    origin: str  # "seed", "sitemap", "link", or "nobody"
    asked_of: Linker | None  # the link that the steps are about
    steps: Sequence[Step]
    note: str | None  # where the stored decision is not what the rules say now
    linked: Sequence[Linked]  # at most MAX_LINKERS
    linked_total: int
    fetches: Sequence[Fetched]  # at most MAX_FETCHES, the latest last
