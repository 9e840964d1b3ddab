"""A survey as lines for people on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from spiderproj.display import one_line

if TYPE_CHECKING:
    from spiderproj.survey.ranges import Range
    from spiderproj.survey.records import Choice, Robots, Sitemaps, Survey

_ROWS: Final = 8  # of a list; survey.json has more
_URL: Final = 100  # characters
_UNITS: Final = ("B", "kB", "MB", "GB", "TB")


def render(survey: Survey) -> str:
    """Return the survey as text; ranges hold the truth nine times in ten."""
    lines = [f"Survey of {one_line(survey.seeds[0], _URL)}{_title(survey.title)}", *_rate(survey), ""]
    lines += ["What a crawl would come to (ranges are meant to hold nine times in ten):", *_choices(survey.choices), ""]
    lines += ["Known URLs by level and type:", *_matrix(survey), ""]
    lines += [*_families(survey), *_suspects(survey), *_hosts(survey), *_robots(survey.robots)]
    lines += [*_sitemaps(survey.sitemaps), *_head(survey), *_validators(survey), ""]
    lines += ["To crawl:", *(f"  {choice.command}" for choice in survey.choices)]
    return "\n".join(lines)


def _title(title: str) -> str:
    return f" ({one_line(title, _URL)})" if title else ""


def _rate(survey: Survey) -> Iterator[str]:
    rate = survey.rate
    asked = ", ".join(f"{count} {method}" for method, count in rate.requests.items())
    yield f"{sum(rate.requests.values())} requests of at most {rate.limit} ({asked}) in {_time(rate.seconds)}"
    yield f"{rate.seconds_per_request:.3g} s a request; the host is limited by: {one_line(rate.limited_by, _URL)}"


def _choices(choices: Sequence[Choice]) -> Iterator[str]:
    rows = [("", "URLs", "pages", "files", "size", "time")]
    rows += [(choice.name, _count(choice.urls), _count(choice.pages), _count(choice.files), _bytes(choice.bytes),
              _hours(choice.hours)) for choice in choices]  # fmt: skip
    yield from _table(rows)
    yield from (f"  {choice.name}: {choice.note}" for choice in choices if choice.note)


def _matrix(survey: Survey) -> Iterator[str]:
    rows = [("level", "type", "known", "looked at", "size")]
    rows += [(cell.level, cell.type, f"{cell.known:,}", f"{cell.read:,}", _bytes(cell.bytes)) for cell in survey.matrix]
    yield from _table(rows)


def _families(survey: Survey) -> Iterator[str]:
    yield f"Families of URLs: {survey.families_total:,}, the largest:"
    for row in survey.families[:_ROWS]:
        mean = "" if row.mean_bytes is None else f", {_size(row.mean_bytes)} each"
        yield f"  {one_line(row.family, _URL)}  {row.known:,} known, {row.read:,} looked at{mean}"


def _suspects(survey: Survey) -> Iterator[str]:
    if not survey.suspects:
        yield "Suspected traps: none"
        return
    yield f"Suspected traps: {len(survey.suspects)} (to keep out, add the argument)"
    for one in survey.suspects[:_ROWS]:
        yield f"  {one_line(one.family, _URL)}  {one.known:,} known: {one_line(one.why, _URL)}"
        yield f"    -a 'deny={one_line(one.deny, _URL)}'"


def _hosts(survey: Survey) -> Iterator[str]:
    yield f"Other hosts that are linked to: {survey.hosts_total:,}"
    for host in survey.hosts[:_ROWS]:
        yield f"  {one_line(host.host, _URL)}  {host.urls:,} URLs on {host.pages:,} pages, {host.files:,} of them files"


def _robots(robots: Sequence[Robots]) -> Iterator[str]:
    for one in robots[:_ROWS]:
        delay = f", Crawl-delay {one.crawl_delay:g} s" if one.crawl_delay else ""
        status = f"status {one.status}" if one.status else "no answer"
        yield f"{one_line(one.url, _URL)}: {status}, refuses {one.refused:,} of the known URLs{delay}"
        yield from (f"  {count:,} by {one_line(rule, _URL)}" for rule, count in list(one.refused_by.items())[:_ROWS])


def _sitemaps(found: Sitemaps) -> Iterator[str]:
    if not found.files:
        yield "Sitemaps: none"
        return
    unread = f" ({found.unread:,} more were not read)" if found.unread else ""
    yield (f"Sitemaps: {found.urls:,} URLs in {len(found.files)} files{unread}; {found.linked:,} are linked to;"
           f" {found.unlisted:,} known URLs are not listed")  # fmt: skip
    last = found.lastmod
    if last.listed:
        yield (f"  lastmod: {last.listed:,} entries, {last.times:,} different; beside Last-Modified: {last.same} of"
               f" {last.compared} the same, {last.later} later, {last.earlier} earlier")  # fmt: skip


def _head(survey: Survey) -> Iterator[str]:
    head = survey.head
    yield f"HEAD beside GET: {head.same} of {head.asked} the same, {head.failed} without an answer of use"
    yield from (f"  {one_line(text, 2 * _URL)}" for text in head.differences[:_ROWS])


def _validators(survey: Survey) -> Iterator[str]:
    found = survey.validators
    yield f"Validators: {found.etag} of {found.pages} pages have an ETag, {found.last_modified} a Last-Modified"
    if found.asked:
        changed = f", {found.etags_changed} have a new ETag each time" if found.etags_changed else ""
        yield f"  asked again with them, {found.unchanged} of {found.asked} were 304{changed}"


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _count(found: Range) -> str:
    return _between(found, lambda number: f"{number:,.0f}")


def _bytes(found: Range) -> str:
    if found.high is None and not found.likely:
        return "not known"
    return _between(found, _size)


def _hours(found: Range) -> str:
    return _between(found, lambda hours: _time(hours * 3600))


def _between(found: Range, show: Callable[[float], str]) -> str:
    """Return a range in words: one number where nothing is left to guess."""
    low = show(found.low)
    if found.high is None:
        return f"at least {low}"
    high = show(found.high)
    return low if low == high else f"{low} to {high}"


def _size(number: float) -> str:
    """Return a number of bytes in words.

    >>> _size(1234567)
    '1.2 MB'
    """
    for unit in _UNITS:
        if number < 1000 or unit == _UNITS[-1]:
            break
        number /= 1000
    return f"{number:,.0f} {unit}" if unit == "B" or number >= 10 else f"{number:.1f} {unit}"


def _time(seconds: float) -> str:
    """Return a time in words.

    >>> _time(30), _time(5400)
    ('30 s', '1.5 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 3600 else f"{seconds / 3600:,.1f} h"
