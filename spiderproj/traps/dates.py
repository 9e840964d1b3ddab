"""Dates in URLs that no real page is about: calendars go on for ever in both directions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from spiderproj.urls import URLParts

FIRST_YEAR: Final = 1990
"""Before it there was no web."""

DAYS_AHEAD: Final = 400
"""As far as a calendar of real events goes: a year and a month."""

_DAYS_A_YEAR: Final = 365.2425
_ISO: Final = re.compile(r"([0-9]{4})-([01]?[0-9])(?:-[0-3]?[0-9])?", re.ASCII)
_YEAR: Final = re.compile(r"[0-9]{4}", re.ASCII)
_MONTH: Final = re.compile(r"0?[1-9]|1[0-2]", re.ASCII)
_YEAR_NAMES: Final = frozenset({"y", "year", "yr", "jahr", "annee", "ano", "anno", "rok"})
_MAX_PARTS: Final = 64  # of a path or a query


def is_far(parts: URLParts, now: float) -> bool:
    """Return whether a URL names a date before FIRST_YEAR or more than DAYS_AHEAD after *now* (POSIX seconds).

    Read are ``2031-05`` and ``2031-05-20`` as a parameter's value or a segment of the path, a year in a parameter that
    is called so, and ``/2031/05/``.
    """
    latest = 1970 + (now / 86_400 + DAYS_AHEAD) / _DAYS_A_YEAR
    return any(year < FIRST_YEAR or year + (month - 1) / 12 > latest for year, month in _dates(parts))


def _dates(parts: URLParts) -> list[tuple[int, int]]:
    found = []
    for pair in (parts.query or "").split("&", _MAX_PARTS)[:_MAX_PARTS]:
        name, _, value = pair.partition("=")
        if name.lower() in _YEAR_NAMES and _YEAR.fullmatch(value):
            found.append((int(value), 1))
        elif dated := _ISO.fullmatch(value):
            found.append((int(dated[1]), int(dated[2])))
    segments = parts.path.split("/", _MAX_PARTS)[1:_MAX_PARTS]
    for segment, behind in zip(segments, [*segments[1:], ""], strict=True):
        if dated := _ISO.fullmatch(segment):
            found.append((int(dated[1]), int(dated[2])))
        elif _YEAR.fullmatch(segment) and _MONTH.fullmatch(behind):
            found.append((int(segment), int(behind)))
    return found
