"""The Retry-After header (RFC 9110, 10.2.3)."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_TIME = r"(?P<time>[0-9]{2}:[0-9]{2}:[0-9]{2})"
_HTTP_DATES = tuple(
    re.compile(pattern, re.ASCII)
    for pattern in (
        rf"[A-Za-z]{{3}}, (?P<day>[0-9]{{2}}) (?P<month>[A-Za-z]{{3}}) (?P<year>[0-9]{{4}}) {_TIME} GMT",
        rf"[A-Za-z]{{6,9}}, (?P<day>[0-9]{{2}})-(?P<month>[A-Za-z]{{3}})-(?P<year>[0-9]{{2}}) {_TIME} GMT",
        rf"[A-Za-z]{{3}} (?P<month>[A-Za-z]{{3}}) (?P<day>[ 0-9][0-9]) {_TIME} (?P<year>[0-9]{{4}})",
    )
)


def parse_retry_after(value: str, wall_now: float, cap: float) -> float | None:
    """Return the seconds that *value* asks to wait, at most *cap*; None when it asks for nothing we can use.

    Seconds, or a date in any of the three forms of RFC 9110, 5.6.7. A date that is past is not used: rather than
    "now" it means that one of the two clocks is wrong.

    >>> parse_retry_after("120", 0.0, 3600.0)
    120.0
    """
    value = value.strip()
    if value.isascii() and value.isdigit():
        return min(float(value), cap)
    until = _http_date(value, wall_now)
    if until is None or until < wall_now:
        return None
    return min(until - wall_now, cap)


def _http_date(value: str, wall_now: float) -> float | None:
    """Return the POSIX time of an HTTP-date, None when *value* is none; day names are not checked."""
    for form in _HTTP_DATES:
        found = form.fullmatch(value)
        if found is None:
            continue
        year = int(found["year"])
        hour, minute, second = map(int, found["time"].split(":"))
        try:
            return datetime(
                _full_year(year, wall_now) if len(found["year"]) == 2 else year,
                _MONTHS.index(found["month"].capitalize()) + 1,
                int(found["day"]),
                hour,
                minute,
                59 if second == 60 else second,  # a leap second
                tzinfo=UTC,
            ).timestamp()
        except ValueError:
            return None
    return None


def _full_year(two_digits: int, wall_now: float) -> int:
    """Return the year that ends in *two_digits* and is at most 50 years ahead (RFC 9110, 5.6.7)."""
    latest = datetime.fromtimestamp(wall_now, UTC).year + 50
    return latest - (latest - two_digits) % 100
