"""What an attack is: a name, an answer, and what a crawl must make of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.hostile.answers import Answer


class Way(Enum):
    """How a crawl meets a case."""

    SEED = "seed"  # the seed, and all else on its origin, is the attack
    ROBOTS = "robots"  # the seed is a plain start page; robots.txt is the attack
    SITEMAP = "sitemap"  # the same with sitemap=on; the attack is the sitemap that robots.txt names
    PORT = "port"  # as SEED, but the answer comes before any request


class Fate(Enum):
    """What must become of the case's own URL."""

    STORED = "stored"  # a whole page with its file
    FAILED = "failed"  # one recorded failure, no file
    MOVED = "moved"  # recorded as the redirect it is
    LIMITED = "limited"  # the crawl goes on for ever unless a limit ends it
    ANY = "any"  # recorded once, whole or not


@dataclass(frozen=True, kw_only=True)
class Case:
    """One attack, on an origin of its own: no failure of it slows the crawl of another."""

    name: str  # class and attack: "framing.endless"
    attack: str
    fate: Fate
    answer: Answer
    way: Way = Way.SEED
    target: str = "/"  # the seed
    error: str | tuple[str, ...] = ""  # what the recorded problem begins with
    asks: tuple[str, ...] = ()  # targets that must be asked for
    spares: tuple[str, ...] = ()  # beginnings of targets that must not be
    refuses: Mapping[str, str] = field(default_factory=dict)  # a part of a refused URL, and its reason
    seconds: float = 30  # that the case may take beside the ordinary pages
    growth_mb: float = 100  # that it may add to an idle crawl's memory
    holds: Mapping[str, str] = field(default_factory=dict)  # targets, and what the file of each holds, or its digest
    settings: tuple[str, ...] = ()  # of a crawl that meets it, so that it ends in time
    mode: str = "all"  # of that crawl: only the address gate keeps it from the inside
    slow: bool = False  # heavy for the server or the crawl: not in every run of the tests

    @property
    def kind(self) -> str:
        """The class of the attack."""
        return self.name.partition(".")[0]
