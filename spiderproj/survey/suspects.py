"""Families that may be traps: many URLs and little new, calendars without end, session ids."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from spiderproj.survey.families import Family

_SESSIONS = re.compile(r"(?i)(?:.*sess(?:ion)?_?id|(?:php|jsp|asp)sess\w*|jsessionid|cfid|cftoken|sid|zenid|osc?sid)")
_DATED = re.compile(r"(?<!\d)(?:1[89]|2[0-9])\d\d[-/_.]?(?:0?[1-9]|1[0-2])(?!\d)")
_DATES = re.compile(r"(?i)(?:year|month|week|day|date|jahr|monat|datum|cal(?:endar)?)")
_PLACES = {r"\{n\}": "[0-9]+", r"\{h\}": "[-0-9A-Za-z]+", r"\{d\}": "[-0-9_.]+", r"\*": "[^/?]*"}
FEW = 4  # pages of a family from which its contents are judged
MANY = 12  # URLs of a family from which it is worth a word
_SESSION_FEWEST = 3
_ALIKE = 5  # URLs to one shape
_GROWS = 0.8  # new URLs of its own that each of the later pages brings


class Kind(StrEnum):
    """What a suspect looks like."""

    SESSION = "session"
    REPEATS = "repeats"
    CALENDAR = "calendar"


class FamilyFacts(NamedTuple):
    """What was seen of one family."""

    family: Family
    example: str  # URL
    known: int
    read: int
    contents: int  # different main texts of those that were read, dates aside
    variants: int  # what is left of its URLs without numbers and values
    growth: float  # URLs of the same family that each page of the later half of the read ones brought


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspect:
    """A family that may be a trap, why, and what would keep a crawl out of it."""

    family: str
    kind: Kind
    known: int
    read: int
    why: str
    example: str
    deny: str  # a pattern for ``deny``


def suspect(facts: FamilyFacts) -> Suspect | None:
    """Return what makes the family suspicious, None when nothing does."""
    found = _session(facts) or _calendar(facts) or _repeats(facts)
    if found is None:
        return None
    kind, why = found
    return Suspect(
        family=str(facts.family), kind=kind, known=facts.known, read=facts.read, why=why, example=facts.example,
        deny=pattern(facts.family),
    )  # fmt: skip


def pattern(family: Family) -> str:
    r"""Return a regular expression (RE2) that is found in the URLs of *family*, in few others.

    >>> pattern(Family("h:8080", "/cal/{n}/*.php", ("m", "y")))
    '//h:8080/cal/[0-9]+/[^/?]*\\.php.*[?&;](?:m|y)(?:[=&;]|$)'
    """
    host, path = re.escape(family.host), re.escape(family.path)
    for name, meant in _PLACES.items():
        path = path.replace(name, meant)
    if not family.parameters:
        return f"//{host}{path}(?:$|[?;])"
    telling = [name for name in family.parameters if _SESSIONS.fullmatch(name[:100])] or family.parameters
    return f"//{host}{path}.*[?&;](?:{'|'.join(map(re.escape, telling))})(?:[=&;]|$)"


def _session(facts: FamilyFacts) -> tuple[Kind, str] | None:
    names = [name for name in facts.family.parameters if _SESSIONS.fullmatch(name[:100])]
    if not names or facts.known < _SESSION_FEWEST:
        return None
    return Kind.SESSION, f"the parameter {names[0]!a} looks like a session id: each visit may bring new URLs"


def _calendar(facts: FamilyFacts) -> tuple[Kind, str] | None:
    is_alike = facts.variants * _ALIKE <= facts.known and facts.known >= MANY
    if not is_alike or facts.read < FEW or facts.growth < _GROWS or not _is_dated(facts):
        return None
    return Kind.CALENDAR, f"each page leads to {facts.growth:.1f} more dates: it may have no end"


def _is_dated(facts: FamilyFacts) -> bool:
    return bool(_DATED.search(facts.example)) or any(_DATES.fullmatch(name[:100]) for name in facts.family.parameters)


def _repeats(facts: FamilyFacts) -> tuple[Kind, str] | None:
    if facts.known < MANY or facts.read < FEW or 2 * facts.contents > facts.read:
        return None
    return Kind.REPEATS, f"{facts.read} pages were read, with {facts.contents} different texts"
