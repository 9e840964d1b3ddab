"""The allow and deny patterns: which URLs they refuse, in which words, and in what time."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spiderproj.errors import ArgumentError
from spiderproj.models import Reason
from spiderproj.patterns import MAX_PATTERN_LENGTH, MAX_PATTERNS, Patterns, searcher

URL = "https://example.org/private/report.pdf?page=2"

DECISIONS: list[tuple[list[str], list[str], tuple[Reason, str] | None]] = [
    ([], [], None),
    ([], ["/public/"], None),
    ([], ["/private/"], (Reason.DENY, "deny=/private/")),
    ([], ["nowhere", r"\.pdf", "/private/"], (Reason.DENY, r"deny=\.pdf")),
    (["/private/"], [], None),
    (["/private/"], ["page"], (Reason.DENY, "deny=page")),
    (["/a/", "report"], ["/b/"], None),
    (["/a/"], [], (Reason.ALLOW, "allow=/a/")),
    (["/a/", "/b/"], ["/c/"], (Reason.ALLOW, "allow=/a/ allow=/b/")),
    (["/1/", "/2/", "/3/", "/4/", "/5/"], [], (Reason.ALLOW, "allow=/1/ allow=/2/ allow=/3/ and 2 more")),
    ([], ["^https://example"], (Reason.DENY, "deny=^https://example")),
    ([], ["(?i)/PRIVATE/"], (Reason.DENY, "deny=(?i)/PRIVATE/")),
    ([], ["/PRIVATE/"], None),
    (["page=2$"], [], None),
]


@pytest.mark.parametrize(("allow", "deny", "expected"), DECISIONS)
def test_decide(allow: list[str], deny: list[str], expected: tuple[Reason, str] | None) -> None:
    """Patterns are searched in the whole URL; deny beats allow; the first pattern given names the rule."""
    assert expected == Patterns.parse(allow, deny).decide(URL)


BAD = [
    ("(", "missing )"),
    ("[z-a]", "invalid character class range"),
    ("(?=x)", "invalid perl operator"),
    (r"\1", "invalid escape sequence"),
    ("a{1001}", "invalid repetition size"),
    ("((a{100}){100}){100}", "invalid repetition size"),
    ("", "matches every URL"),
    ("x" * (MAX_PATTERN_LENGTH + 1), "longer than"),
]


@pytest.mark.parametrize(("pattern", "words"), BAD)
@pytest.mark.parametrize("name", ["allow", "deny"])
def test_bad_pattern(name: str, pattern: str, words: str) -> None:
    """A bad pattern is refused at the start: argument, pattern and RE2's own words, in one line."""
    given_patterns = {"allow": ["/good/"], "deny": ["/good/"]}
    given_patterns[name] = ["/good/", pattern]

    with pytest.raises(ArgumentError, match=re.escape(words)) as caught:
        Patterns.parse(**given_patterns)

    assert (name, pattern) == (caught.value.name, caught.value.value)
    assert "\n" not in str(caught.value)


def test_too_many_patterns() -> None:
    """More patterns than the limit are refused."""
    with pytest.raises(ArgumentError, match="at most"):
        Patterns.parse(["a"], ["b"] * MAX_PATTERNS)


def test_patterns_that_do_not_fit_together() -> None:
    """Patterns each good but together over the memory budget are refused at the start, not ignored later."""
    with pytest.raises(ArgumentError, match="together fit"):
        Patterns.parse([], [f"{number}[^/]{{1000}}é{{1000}}" for number in range(60)])


def test_many_patterns() -> None:
    """Thousands of patterns decide together."""
    patterns = Patterns.parse([], [rf"/section{number}/.*\.html" for number in range(5000)])

    assert patterns.decide("https://h/section4999/a.html") == (Reason.DENY, r"deny=/section4999/.*\.html")
    assert patterns.decide("https://h/section5000/a.html") is None


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+$", "(.*a){20}$", "a{0,500}b"])
def test_hostile_url(pattern: str) -> None:
    """Patterns that hang a backtracking engine for years decide on the longest URL."""
    assert Patterns.parse([], [pattern]).decide("https://h/" + "a" * 2060 + "!") is None


@given(st.text(max_size=40), st.text(max_size=200))
@settings(deadline=None)
def test_any_text_is_searched(needle: str, text: str) -> None:
    """An escaped pattern is found where Python finds the text, and no pattern or text raises anything else."""
    try:
        found = searcher(re.escape(needle) if needle.isascii() else needle)(text)
    except ValueError:
        assert not needle.isascii() or "\0" in needle
    else:
        assert not needle.isascii() or found is (needle in text)


def test_lone_surrogates() -> None:
    """Text with lone surrogates, which UTF-8 cannot hold, is searched all the same."""
    assert searcher("end$")("\ud800 end")
