"""What a sitemap says, entry by entry, each checked on its own so that a bad one spoils no other."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import NamedTuple

from spiderproj.urls import RefusedURLError, canonical

MAX_ENTRIES = 50_000
"""Most pages, child sitemaps or images taken from one file: the protocol's own limit."""

MAX_PROBLEMS = 100
"""Most problems described; the others are counted."""

_CHANGE_FREQUENCIES = frozenset({"always", "hourly", "daily", "weekly", "monthly", "yearly", "never"})
_YEAR_OR_MONTH = re.compile(r"[0-9]{4}(-[0-9]{2})?")


class Kind(StrEnum):
    """What a file served as a sitemap is."""

    INDEX = "index"
    URLSET = "urlset"
    TEXT = "text"
    FEED = "feed"  # RSS 2.0 or Atom
    UNKNOWN = "unknown"  # not a sitemap: an HTML page, say


class SitemapEntry(NamedTuple):
    """One page that a sitemap lists."""

    loc: str  # canonical URL; whether it lies in scope is not asked here
    lastmod: float | None = None  # POSIX seconds; a day or month without a time is its first second, in UTC
    priority: float | None = None  # 0.0 to 1.0
    changefreq: str | None = None  # "always" ... "never"


class Problem(NamedTuple):
    """Something that was passed over: the text as found, cut at 200 characters, and why."""

    text: str
    reason: str


@dataclass(slots=True)
class Sitemap:
    """What one file lists. Nothing is refused silently: ``problems`` and ``problem_count`` tell."""

    kind: Kind = Kind.UNKNOWN
    entries: list[SitemapEntry] = field(default_factory=list)
    children: list[str] = field(default_factory=list)  # canonical URLs of the sitemaps that an index lists
    images: list[str] = field(default_factory=list)  # canonical URLs of the image extension; no pages
    problems: list[Problem] = field(default_factory=list)  # the first MAX_PROBLEMS
    problem_count: int = 0

    def has_room(self, url: str) -> bool:
        """Return whether one more may be taken from the file at *url*; a problem says so when it may not."""
        if max(len(self.entries), len(self.children), len(self.images), self.problem_count) < MAX_ENTRIES:
            return True
        self.add_problem(url, f"only {MAX_ENTRIES} entries are taken")
        return False

    def add_problem(self, text: str, reason: str) -> None:
        """Note what was passed over."""
        self.problem_count += 1
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(Problem(text[:200], reason))

    def resolve(self, text: str, base: str | None) -> str | None:
        """Return the canonical URL of *text*; None, and a problem, when it is none that can be fetched.

        "&amp;" is read as "&": it is left over where a site escapes twice, or escapes inside CDATA.
        """
        text = text.strip()
        if not text:
            self.add_problem(text, "blank")
            return None
        try:
            return canonical(text.replace("&amp;", "&"), base)
        except RefusedURLError as error:
            self.add_problem(text, error.reason.value)
            return None


def parse_time(text: str) -> float | None:
    """Return the POSIX time of a W3C date ("2024", "2024-05-17T10:00Z") or an RFC 5322 date, None for anything else.

    A time without a zone is UTC.
    """
    text = text.strip()
    if not 4 <= len(text) <= 40:
        return None
    try:
        moment = _moment(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def parse_priority(text: str) -> float | None:
    """Return the priority that *text* gives, from 0.0 to 1.0, None for anything else."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value <= 1 else None


def parse_changefreq(text: str) -> str | None:
    """Return *text* in lower case when it is one of the protocol's seven words, else None."""
    word = text.strip().lower()
    return word if word in _CHANGE_FREQUENCIES else None


def _moment(text: str) -> datetime:
    if text[0].isalpha():  # RSS: "Fri, 17 May 2024 10:00:00 GMT"
        return parsedate_to_datetime(text)
    if _YEAR_OR_MONTH.fullmatch(text):
        return datetime.fromisoformat(f"{text}-01" if len(text) == 7 else f"{text}-01-01")
    return datetime.fromisoformat(text)
