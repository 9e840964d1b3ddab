"""The rules of a survey: families, the choice of the next URL, ranges, suspects, arguments, and the text."""

from __future__ import annotations

import math
import re
from dataclasses import fields
from pathlib import Path

import pytest
import re2
from hypothesis import given, settings
from hypothesis import strategies as st

from spiderproj.errors import ArgumentError
from spiderproj.survey import (
    TAKEN,
    End,
    FamilyFacts,
    Sample,
    Seen,
    Suspect,
    estimate,
    family_of,
    parse_survey_arguments,
    records,
    suspect,
    variant,
)
from spiderproj.survey.ranges import Range
from spiderproj.survey.sample import FILES, HUB_EVERY
from spiderproj.survey.suspects import Kind, pattern
from spiderproj.urls import RefusedURLError, canonical
from tests import markdown

FAMILIES = [
    ("http://h/", "h/"),
    ("http://h:81/a", "h:81/*"),
    ("http://h/docs/intro.html", "h/docs/*.html"),
    ("http://h/docs/other.html", "h/docs/*.html"),
    ("http://h/docs/intro/", "h/docs/*/"),
    ("http://h/2024/05/post.html", "h/{n}/{n}/*.html"),
    ("http://h/x.php?b=1&a=2", "h/*.php?a&b"),
    ("http://h/x.php?a=3&b", "h/*.php?a&b"),
    ("http://h/x;jsessionid=1?a=2", "h/*?a&jsessionid"),
]


@pytest.mark.parametrize(("url", "name"), FAMILIES)
def test_families(url: str, name: str) -> None:
    """URLs that differ in a name, in numbers or in values are one family."""
    assert str(family_of(url)) == name


@settings(deadline=None)
@given(st.text(max_size=200))
def test_every_url_has_a_family_whose_pattern_finds_it(text: str) -> None:
    """Whatever is in a URL, its family can be said, and the pattern that keeps a crawl out of it finds the URL."""
    try:
        url = canonical(f"http://h/{text}")
    except RefusedURLError:
        return
    family = family_of(url)
    assert str(family).startswith("h/")
    assert variant(url)
    assert re2.compile(pattern(family)).search(url)


# --- the sample


def drawn(sample: Sample, count: int) -> list[int]:
    """Return the numbers of the next *count* URLs."""
    return [taken.number for _ in range(count) if (taken := sample.take()) is not None]


def test_a_sample_is_spread_over_families() -> None:
    """A family of ten thousand does not drown one of four; larger ones are looked at more often all the same."""
    sample = Sample()
    for number in range(10_000):
        sample.add(number, f"http://h/large/{number}.html")
    for number in range(10_000, 10_004):
        sample.add(number, f"http://h/small/{number}.html")
    taken = drawn(sample, 60)
    small = sum(number >= 10_000 for number in taken)
    assert 1 <= small <= 4
    assert len(taken) == len(set(taken)) == 60


def test_every_fourth_look_goes_to_what_is_linked_to_most() -> None:
    """The URL with the most links is read early, as a hub; who is drawn is none."""
    sample = Sample()
    for number in range(100):
        sample.add(number, f"http://h/{number}.html")
    for _ in range(3):
        sample.linked(77)
    looks = [sample.take() for _ in range(HUB_EVERY)]
    assert [look.is_hub for look in looks if look] == [False] * (HUB_EVERY - 1) + [True]
    assert 77 in [look.number for look in looks if look]


def test_of_files_a_few_are_looked_at() -> None:
    """Of a family that looks like files only a few are read, and none as a hub."""
    sample = Sample()
    for number in range(50):
        sample.add(number, f"http://h/{number}.png")
        sample.linked(number)
    assert len(drawn(sample, 50)) == FILES


def test_a_sample_is_the_same_again_and_each_url_once() -> None:
    """The order depends on nothing but the URLs; what was added twice is taken once."""
    orders = []
    for step in (1, -1):
        sample = Sample()
        for number in [*range(40), *range(40)][::step]:
            sample.add(number, f"http://h/{number}.html")
        orders.append(drawn(sample, 100))
    assert sorted(orders[0]) == list(range(40))
    assert {*orders[0][:3]} == {*orders[1][:3]}


# --- ranges


def seen(count: int, read: int, *, links: int = 2, size: int = 100, family: str = "f") -> list[Seen]:
    """Return *count* URLs of which *read* were read."""
    return [Seen(family, "html", links, is_read=number < read, is_whole=number < read, is_new=number < read,
                 size=size if number < read else None) for number in range(count)]  # fmt: skip


def test_what_was_read_whole_is_exact() -> None:
    """Where every known URL was read nothing is guessed."""
    found = estimate(seen(10, 10), 10)
    assert found.urls == Range(10, 10, 10)
    assert found.bytes == Range(1000, 1000, 1000)
    assert found.pages.is_exact


def test_urls_that_everybody_links_to_are_all_there_are() -> None:
    """When each URL is linked to by half of the pages, there is little beyond them."""
    high = estimate(seen(500, 250, links=125), 250).urls.high
    assert high is not None
    assert 500 <= high < 520


def test_a_chain_has_no_end_in_sight() -> None:
    """When each page leads to one new page only, no upper limit is named."""
    found = estimate(seen(101, 100, links=1), 100)
    assert found.urls.low == 101
    assert found.urls.high is None
    assert found.bytes.high is None


def test_nothing_is_said_where_nothing_is_known() -> None:
    """With OPEN there is no upper limit; with KNOWN the known are all; an unread type has no known size."""
    assert estimate(seen(10, 5), 5, End.OPEN).urls == Range(10, 10, None)
    assert estimate(seen(10, 5), 5, End.KNOWN).urls == Range(10, 10, 10)
    mixed = [*seen(5, 5), Seen("g", "archive", 1, is_read=False)]
    assert estimate(mixed, 5, End.KNOWN).bytes.high is None
    assert estimate([], 0).urls == Range(0, 0, 0)


def test_a_hub_speaks_for_itself_only() -> None:
    """A large index that was read because everything links to it does not make other pages large."""
    hub = Seen("f", "html", 90, is_read=True, is_drawn=False, is_whole=True, is_new=True, size=1_000_000)
    high = estimate([hub, *seen(100, 50, links=50)], 90, End.KNOWN).bytes.high
    assert high is not None
    assert high < 1_011_000


@settings(deadline=None, max_examples=50)
@given(
    st.lists(
        st.builds(
            Seen, st.sampled_from("abc"), st.sampled_from(["html", "image"]), st.integers(0, 9), st.booleans(),
            st.booleans(), st.booleans(), st.booleans(), st.none() | st.integers(0, 10**9),
        ), max_size=60,
    ),
    st.integers(0, 9), st.sampled_from(End),
)  # fmt: skip
def test_ranges_are_ranges(rows: list[Seen], pages: int, end: End) -> None:
    """Whatever was seen: low, likely and high are in order and finite, and the known is never more than high."""
    found = estimate(rows, pages, end)
    for one in (found.urls, found.pages, found.files, found.bytes):
        assert 0 <= one.low <= one.likely < math.inf
        assert one.high is None or one.likely <= one.high < math.inf
    assert found.urls.low >= len(rows)


# --- suspects


def facts(
    url: str, known: int = 40, read: int = 10, contents: int = 10, variants: int = 1, growth: float = 2.0
) -> FamilyFacts:
    """Return what was seen of the family of *url*."""
    return FamilyFacts(family_of(url), url, known, read, contents, variants, growth)


SUSPECTS = [
    (facts("http://h/cal/2026-05/3"), Kind.CALENDAR),
    (facts("http://h/events?year=2031&month=2"), Kind.CALENDAR),
    (facts("http://h/cal/2026-05/3", growth=0.2), None),
    (facts("http://h/cal/2026-05/3", variants=30), None),
    (facts("http://h/article/3"), None),
    (facts("http://h/print?id=3", contents=2), Kind.REPEATS),
    (facts("http://h/print?id=3", contents=2, known=5), None),
    (facts("http://h/print?id=3", contents=2, read=3), None),
    (facts("http://h/a?PHPSESSID=3", known=4, read=1), Kind.SESSION),
    (facts("http://h/a;jsessionid=3", known=4, read=1), Kind.SESSION),
    (facts("http://h/a?side=left", known=4, read=1), None),
]


@pytest.mark.parametrize(("found", "kind"), SUSPECTS, ids=lambda value: str(value)[:60])
def test_suspects(found: FamilyFacts, kind: Kind | None) -> None:
    """Calendars that grow, pages that say the same and session ids are suspected, their likes are not."""
    one = suspect(found)
    assert (one and one.kind) == kind
    if one is not None:
        assert re2.compile(one.deny).search(found.example)


# --- arguments


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "seed"),
        ({"seed": "http://h/", "mode": "all"}, "mode='all': expected an argument of survey; the nearest is"),
        ({"seed": "http://h/", "fetchs": "9"}, "the nearest is fetches"),
        ({"seed": "http://h/", "fetches": "301"}, "fetches='301': expected a number of requests from 20 to 300"),
        ({"seed": "http://h/", "fetches": "19"}, "from 20 to 300"),
        ({"seed": "http://h/", "fetches": "many"}, "a whole number"),
        ({"seed": "ftp://h/"}, "an http or https URL"),
    ],
)
def test_wrong_arguments(arguments: dict[str, str], said: str, tmp_path: Path) -> None:
    """A wrong or unknown argument is an error that names it and what was expected."""
    with pytest.raises(ArgumentError, match=re.escape(said)):
        parse_survey_arguments(arguments, tmp_path)


def test_arguments_of_a_survey(tmp_path: Path) -> None:
    """The survey has a folder of its own beside that of the crawl, and hands on what holds for crawls."""
    options = parse_survey_arguments({"seed": "http://h/", "deny": "/x", "deny.1": "/y", "_job": "1"}, tmp_path)
    assert options.crawl.out == tmp_path / "crawls/h.survey"
    assert options.given == {"seed": "http://h/", "deny": "/x", "deny.1": "/y"}
    assert options.fetches == 300
    named = parse_survey_arguments({"seed": "http://h/", "out": "x", "fetches": "20"}, tmp_path)
    assert (named.crawl.out, named.fetches, dict(named.given)) == (tmp_path / "x", 20, {"seed": "http://h/"})


# --- the documentation


def test_every_argument_and_key_is_documented() -> None:
    """docs/survey.md has a row for each argument and each key of survey.json, and names what lies below the keys."""
    document = (Path(__file__).parent.parent / "docs/survey.md").read_text()
    assert set(markdown.table(markdown.section(document, "Arguments"))) == {*TAKEN, "fetches"}
    rows = markdown.table(markdown.section(document, "survey.json"))
    assert set(rows) == {field.name for field in fields(records.Survey)}
    below = {
        "rate": records.Rate, "choices": records.Choice, "matrix": records.Cell, "families": records.FamilyRow,
        "hosts": records.Host, "robots": records.Robots, "suspects": Suspect, "head": records.HeadHonesty,
        "validators": records.Validators, "sitemaps": records.Sitemaps,
    }  # fmt: skip
    for key, record in below.items():
        assert {field.name for field in fields(record)} <= set(markdown.spans(" ".join(rows[key]))), key
    for record in (records.LastModified, records.SitemapFile):
        assert {field.name for field in fields(record)} <= set(markdown.spans(" ".join(rows["sitemaps"])))
