"""The arguments of the ``survey`` spider: some of a crawl's, and how many requests it may make."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from spiderproj.arguments import CrawlOptions, Gate, parse_arguments
from spiderproj.arguments.values import Given, nearest, whole_number
from spiderproj.errors import ArgumentError

TAKEN: Final = ("seed", "allow", "deny", "filter", "login", "out")
"""Arguments of a crawl that mean the same here."""

MOST, FEWEST = 300, 20
"""Requests that a survey makes at most, and the least that tell anything."""

_IGNORED = frozenset({"_job", "_version"})  # Scrapyd's


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyOptions:
    """What a survey is to look at."""

    crawl: CrawlOptions  # of the survey's own crawl
    given: Mapping[str, str]  # the arguments that hold for every crawl it speaks of
    fetches: int


def parse_survey_arguments(raw: Mapping[str, str], cwd: Path) -> SurveyOptions:
    """Return what the arguments *raw* mean; ArgumentError for the first that is unknown or wrong."""
    given = {name: text for name, text in raw.items() if name not in _IGNORED}
    names = [*TAKEN, "fetches"]
    for name, text in given.items():
        if name.partition(".")[0] not in names:
            raise ArgumentError(
                ascii(name)[1:-1][:60], text, f"an argument of survey; the nearest is {nearest(name, names)}"
            )
    fetches = _fetches(Given("fetches", given.pop("fetches", str(MOST)), cwd))
    crawl = parse_arguments(given, cwd)
    out = crawl.out if "out" in given else crawl.out.with_name(f"{crawl.out.name}.survey")
    given.pop("out", None)
    return SurveyOptions(crawl=replace(crawl, out=out, gate=Gate.GET), given=given, fetches=fetches)


def _fetches(given: Given) -> int:
    number = whole_number(given)
    if not FEWEST <= number <= MOST:
        raise given.wrong(f"a number of requests from {FEWEST} to {MOST}")
    return number
