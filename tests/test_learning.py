"""Rewrites of URLs, and the sequential test by which one becomes a rule."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spiderproj.errors import InvalidURLError
from spiderproj.learning import (
    HOST_WIDE,
    TRIALS_A_BASE,
    Kind,
    Parameters,
    Pin,
    Rewrite,
    Rule,
    State,
    Trial,
    apply,
    own_rewrites,
    parameter_names,
    scope_template,
    siblings,
)
from spiderproj.urls import canonical, split


@pytest.mark.parametrize(
    ("kind", "url", "expected"),
    [
        (Kind.EMPTY, "http://h/a?b=&c=1&d", "http://h/a?c=1&d"),
        (Kind.EMPTY, "http://h/a?b=", "http://h/a"),
        (Kind.EMPTY, "http://h/a?b==", "http://h/a?b=="),
        (Kind.ORDER, "http://h/a?c=1&b=2", "http://h/a?b=2&c=1"),
        (Kind.SESSION, "http://h/a;jsessionid=1F0A?b=1", "http://h/a?b=1"),
        (Kind.SESSION, "http://h/(S(abcdefgh1234))/a", "http://h/a"),
        (Kind.SESSION, "http://h/a;v=2", "http://h/a;v=2"),
        (Kind.INDEX, "http://h/a/Index.PHP?b", "http://h/a/?b"),
        (Kind.INDEX, "http://h/a/indexes.html", "http://h/a/indexes.html"),
        (Kind.SLASH, "http://h/a", "http://h/a/"),
        (Kind.SLASH, "http://h/a.html", "http://h/a.html"),
        (Kind.SLASHES, "http://h//a///b?c=//", "http://h/a/b?c=//"),
        (Kind.CASE, "http://h/A%2Fb%C3?Q=A", "http://h/a%2Fb%C3?Q=A"),
        (Kind.VIEW, "http://h/print/a", "http://h/a"),
        (Kind.VIEW, "http://h/a/amp", "http://h/a"),
        (Kind.VIEW, "http://h/printed/a", "http://h/printed/a"),
        (Kind.WWW, "http://www.h.org/a", "http://h.org/a"),
        (Kind.WWW, "http://www.org/a", "http://www.org/a"),
        (Kind.SCHEME, "http://h/a", "https://h/a"),
        (Kind.SCHEME, "http://h:8080/a", "http://h:8080/a"),
    ],
)
def test_rewrites(kind: Kind, url: str, expected: str) -> None:
    """Each spelling is folded into one, and what only looks like it stays."""
    assert apply(Rewrite(kind), split(url)) == expected
    assert (Rewrite(kind) in own_rewrites(split(url))) is (url != expected)


def test_parameters_are_dropped_as_a_group() -> None:
    """Dropping names keeps the others in their order, repeated ones too."""
    parts = split("http://h/p?a=1&b&a=2&c=%26")
    assert apply(Rewrite(Kind.QUERY, ("b", "c")), parts) == "http://h/p?a=1&a=2"
    assert apply(Rewrite(Kind.QUERY, ("a", "b", "c")), parts) == "http://h/p"


@given(st.text(max_size=60), st.text(alphabet="ab&=,;%/", max_size=30))
@settings(deadline=None)
def test_rewriting_is_idempotent(path: str, query: str) -> None:
    """A rewritten URL is canonical, rewrites to itself, and never loses its host."""
    try:
        url = canonical(f"http://www.h.org/{path}?{query}")
    except InvalidURLError:
        return
    parts = split(url)
    rewrites = [*HOST_WIDE, Rewrite(Kind.QUERY, tuple(sorted(parameter_names(parts.query))))]
    for rewrite in rewrites:
        once = apply(rewrite, parts)
        assert split(once).host in ("www.h.org", "h.org")
        if rewrite.kind is not Kind.VIEW:  # one view is dropped at a time
            assert apply(rewrite, split(once)) == once
        assert Rewrite.parse(str(rewrite)) == rewrite
    assert all(canonical(sibling) == sibling for _, sibling in siblings(parts))


@given(st.text(alphabet="abAB/.-0129_", max_size=60))
@settings(deadline=None)
def test_siblings_are_of_one_class(path: str) -> None:
    """Every other spelling of a URL rewrites to the name that the URL itself rewrites to."""
    parts = split(canonical(f"https://h.org/{path}"))
    for rewrite, sibling in siblings(parts):
        assert apply(rewrite, split(sibling)) == apply(rewrite, parts)


def test_where_a_rule_holds() -> None:
    """Pages of one directory and ending share their rules; numbers and slugs are told apart."""
    assert scope_template("/2008/05/a-title.html") == scope_template("/2009/11/another.html")
    assert scope_template("/news/17") != scope_template("/doc/17")
    assert scope_template("/item/17") != scope_template("/item/list")


def test_parameters_that_travel_together() -> None:
    """Names that never come alone are one group; all at once is tried first."""
    known = Parameters()
    for names in ({"w", "t", "a"}, {"w", "t", "a"}, {"a"}, {"p"}):
        known.count(frozenset(names))
    assert known.groups(frozenset({"w", "t", "a"})) == [("a", "t", "w"), ("t", "w"), ("a",)]
    assert known.groups(frozenset({"p"})) == [("p",)]
    assert Parameters.load(known.dump()).groups(frozenset({"w", "t", "a"})) == known.groups(frozenset({"w", "t", "a"}))


def rule(*group: str, strict: bool = False) -> Rule:
    """Return a new rule."""
    return Rule.new(1, 1, "/p", Rewrite(Kind.QUERY, group), strict=strict)


def observe(one: Rule, successes: str) -> list[State]:
    """Let *one* see successes (+) and failures (-), each on a base of its own; return its states."""
    states = []
    for sign in successes:
        one.observe(success=sign == "+", counts=True, good=int(sign == "+"), is_new_base=True, trial=Trial.PROBE)
        states.append(one.state)
    return states


def test_eleven_successes_decide() -> None:
    """A parameter of no known meaning holds after eleven successes in a row, one known to be neutral after four."""
    assert observe(rule("x"), "+" * 11) == [State.LEARN] * 10 + [State.ON]
    assert observe(rule("utm_source"), "+" * 4)[-1] is State.ON
    assert observe(rule("page"), "+" * 13)[-1] is State.LEARN
    assert rule("x").wanted_trials == 11


@pytest.mark.parametrize(
    ("seen", "state"),
    [
        ("-", State.CLASS),
        ("-----", State.OFF),
        ("++--", State.CLASS),
        ("+" * 11 + "-", State.CLASS),
        ("+" * 11 + "-" + "-" * 12, State.OFF),
    ],
)
def test_failures(seen: str, state: State) -> None:
    """What fails has to prove itself on each base; what mostly fails is off."""
    assert observe(rule("x"), seen)[-1] is state


def test_a_page_that_names_its_canonical_url() -> None:
    """What a page says of itself counts as another success where the pages agree, and as nothing where they do not."""
    told, wrong = rule("x"), rule("x")
    for _ in range(6):
        told.observe(success=True, counts=True, good=1, is_new_base=True, trial=Trial.PROBE, is_confirmed=True)
    wrong.observe(success=False, counts=True, good=0, is_new_base=True, trial=Trial.PROBE, is_confirmed=True)
    assert (told.state, wrong.state) == (State.ON, State.CLASS)


def test_one_base_says_little() -> None:
    """Successes on one base alone, however many, take more trials than on several."""
    narrow = rule("x")
    for good in range(1, 12):
        narrow.observe(success=True, counts=good <= TRIALS_A_BASE, good=good, is_new_base=good == 1, trial=Trial.PROBE)
    assert narrow.state is State.LEARN


def test_strict_needs_a_proof_on_each_base() -> None:
    """In strict mode a rule never covers a class without a success in it."""
    one = rule("x", strict=True)
    observe(one, "+" * 30)
    assert not one.covers(0, 0)
    assert one.covers(1, 0)
    assert not one.covers(1, 1)


def test_the_users_word() -> None:
    """A pinned rule covers whatever the evidence says, a forbidden one nothing."""
    pinned, forbidden = rule("x"), rule("x")
    pinned.pin, forbidden.pin = Pin.KEEP, Pin.FORBID
    observe(forbidden, "+" * 20)
    assert pinned.covers(0, 5)
    assert not pinned.holds_back(0, 0)
    assert not forbidden.covers(5, 0)


def test_another_crawl() -> None:
    """A rule that held is a good guess in the next crawl, not a fact."""
    one = rule("x")
    observe(one, "+" * 11)
    one.begin_anew(strict=False)
    assert one.state is State.LEARN
    assert 1 < one.wanted_trials <= 4


def test_the_certificate() -> None:
    """So many audits without a failure mean that at most 1 - 0.05^(1/n) of the skips are wrong, at 95 %."""
    one = rule("x")
    assert one.most_wrong is None
    for _ in range(20):
        one.observe(success=True, counts=False, good=1, is_new_base=False, trial=Trial.AUDIT)
    assert one.most_wrong == pytest.approx(0.139, abs=0.001)
    one.observe(success=False, counts=False, good=1, is_new_base=False, trial=Trial.AUDIT)
    assert one.most_wrong is None
    assert one.certified == 0
