"""Read the date of a cookie's ``Expires`` attribute as leniently as RFC 6265bis, 5.1.1 asks."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_LONGEST = 128
_TOKEN = re.compile(r"[^\t\x20-\x2f\x3b-\x40\x5b-\x60\x7b-\x7e]+")
_TIME = re.compile(r"(\d{1,2}):(\d{1,2}):(\d{1,2})(?:\D|$)", re.ASCII)
_DAY = re.compile(r"(\d{1,2})(?:\D|$)", re.ASCII)
_YEAR = re.compile(r"(\d{2,4})(?:\D|$)", re.ASCII)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def cookie_date(text: str) -> float | None:
    """Return the POSIX seconds that *text* means, None when it is no date.

    >>> cookie_date("Thu, 01-Jan-70 00:00:10 GMT")
    10.0
    """
    if len(text) > _LONGEST:
        return None
    found: dict[str, tuple[int, ...]] = {}
    for token in _TOKEN.findall(text):
        _note(token, found)
    if len(found) < 4:
        return None
    (year,), month, day, (hour, minute, second) = (found[part] for part in ("year", "month", "day", "time"))
    try:
        moment = datetime(_full_year(year), month[0], day[0], hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
    return moment.timestamp() if moment.year >= 1601 else None


def _note(token: str, found: dict[str, tuple[int, ...]]) -> None:
    """Take *token* for the first part of a date that is still missing and that it can be."""
    for part, pattern in (("time", _TIME), ("day", _DAY)):
        if part not in found and (match := pattern.match(token)):
            found[part] = tuple(map(int, match.groups()))
            return
    if "month" not in found and token[:3].lower() in _MONTHS:
        found["month"] = (_MONTHS.index(token[:3].lower()) + 1,)
    elif "year" not in found and (match := _YEAR.match(token)):
        found["year"] = (int(match[1]),)


def _full_year(year: int) -> int:
    """Return a year of two digits in its century: 70 to 99 in the twentieth."""
    if year > 99:
        return year
    return year + (1900 if year >= 70 else 2000)
