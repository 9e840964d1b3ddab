"""The one judgement: which rule says no, in which order, for links, redirects, requisites and near files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from spiderproj.levels import home_of
from spiderproj.models import CrawlURL, Level, Link, LinkRole, Reason, ResourceType, Verdict
from spiderproj.scope import EVERY_TYPE, MAX_HOPS, FunctionCondition, Scope, Source

SEED = "http://h/a/index.html"
HTML = frozenset({ResourceType.HTML})
LOCAL = {level: HTML for level in Level if level is not Level.OTHER}
PAGE = Source(1, SEED, 0, LinkRole.NAVIGATION)
DEEP = Source(2, "http://h/a/b.html", 3, LinkRole.NAVIGATION)


def scope(**changes: Any) -> Scope:
    """Return the scope of ``mode=local`` with some fields changed."""
    fields: dict[str, Any] = {"mode": "local", "homes": [home_of(SEED)], "select": LOCAL}
    return Scope(**(fields | changes))


def link(target: str, **changes: Any) -> Link:
    """Return a plain anchor to *target* with some fields changed."""
    return Link(target, "text", "a", "href", "", LinkRole.NAVIGATION, None)._replace(**changes)


def crawl_url(url: str, *, depth: int = 0, level: Level = Level.PAGE, near: bool = False) -> CrawlURL:
    """Return *url* as the frontier hands it out."""
    return CrawlURL(9, url, depth, SEED, level, LinkRole.NAVIGATION, near, 0, 0, "", None)


def reason(judged_scope: Scope, judged: Link, source: Source = PAGE) -> Reason | None:
    """Return why *judged* is refused, None when it is queued."""
    decision = judged_scope.judge(judged, source).decision
    assert (decision.verdict is Verdict.QUEUED) == (decision.reason is None)
    return decision.reason


@pytest.mark.parametrize(
    ("changes", "target", "expected"),
    [
        ({}, "http://h/x", None),
        ({}, "https://h/x", None),
        ({}, "http://h:81/x", Reason.SCOPE),
        ({}, "http://other/x", Reason.SCOPE),
        ({"mode": "all", "select": LOCAL | {Level.OTHER: HTML}}, "http://other/x", None),
        ({"mode": "directory", "select": {Level.PAGE: HTML}}, "http://h/a/x", None),
        ({"mode": "directory", "select": {Level.PAGE: HTML}}, "http://h/a/b/x", Reason.LEVEL),
        ({"mode": "directory", "select": {Level.PAGE: HTML}}, "http://other/a/", Reason.SCOPE),
        ({"depth": 0}, "http://h/x", Reason.DEPTH),
        ({"depth": 1}, "http://h/x", None),
        ({"predict_refuses": True}, "http://h/x.png", Reason.TYPE),
        ({}, "http://h/x.png", None),  # an ending alone is no certainty: the gate asks
    ],
)
def test_links_are_judged_by_place_depth_and_type(
    changes: Mapping[str, object], target: str, expected: Reason | None
) -> None:
    """Each rule refuses with its own reason."""
    assert expected is reason(scope(**changes), link(target))


def test_problem_of_a_link_decides_first() -> None:
    """A URL that can never be fetched has its own reason whatever else holds."""
    assert reason(scope(), link("mailto:x", problem=Reason.SCHEME)) is Reason.SCHEME


def test_forms_and_hints_are_recorded_but_not_followed() -> None:
    """A form's action and a preconnect are out of scope."""
    assert reason(scope(), link("http://h/post", role=LinkRole.FORM)) is Reason.SCOPE
    assert reason(scope(), link("http://h/hint", role=LinkRole.HINT)) is Reason.SCOPE


def test_nofollow_refuses_navigation() -> None:
    """A link marked nofollow is not followed."""
    assert reason(scope(), link("http://h/x", nofollow=True)) is Reason.NOFOLLOW


def test_context_refuses_an_unwanted_type_without_a_request() -> None:
    """What an img names is an image; where images are not wanted nobody needs to ask."""
    image = link("http://h/x", tag="img", role=LinkRole.REQUISITE, hint=ResourceType.IMAGE)

    assert reason(scope(), image) is Reason.TYPE
    assert reason(scope(hint_refuses=False), image) is None


def test_requisites_are_exempt_from_level_and_depth_but_not_from_deny_types() -> None:
    """What a page needs to be shown comes from anywhere, at the page's own depth."""
    image = link("http://cdn/x.png", tag="img", role=LinkRole.REQUISITE, hint=ResourceType.IMAGE)
    with_requisites = scope(requisites=True, depth=3)
    judged = with_requisites.judge(image, DEEP)

    assert (judged.decision.verdict, judged.role, judged.depth) == (Verdict.QUEUED, LinkRole.REQUISITE, 3)
    assert reason(scope(requisites=True, deny_types=frozenset({ResourceType.IMAGE})), image) is Reason.SCOPE


def test_nothing_is_followed_from_a_requisite_but_its_own_requisites() -> None:
    """An SVG's links are no pages of the crawl; its pictures are needed."""
    svg = Source(3, "http://h/x.svg", 1, LinkRole.REQUISITE)
    picture = link("http://cdn/y.png", role=LinkRole.REQUISITE, hint=ResourceType.IMAGE)

    assert reason(scope(requisites=True), link("http://h/x"), svg) is Reason.SCOPE
    assert reason(scope(requisites=True), picture, svg) is None


def test_near_lets_in_files_of_other_hosts_only() -> None:
    """near=1 takes a link to another host, to be judged by the answer's type, and follows nothing from it."""
    near = scope(near=True)
    judged = near.judge(link("http://other/doc.pdf"), PAGE)
    file = CrawlURL(
        9,
        "http://other/doc.pdf",
        1,
        SEED,
        Level.OTHER,
        LinkRole.NAVIGATION,
        near=True,
        hops=0,
        attempts=0,
        text="",
        hint=None,
    )

    assert (judged.decision.verdict, judged.near) == (Verdict.QUEUED, True)
    assert near.wanted(file) == EVERY_TYPE - HTML
    assert reason(near, link("http://other/more.pdf"), Source.of(file)) is Reason.SCOPE


def test_reading_list_takes_only_what_the_seed_links_to() -> None:
    """mode=files follows nothing from the files."""
    files = dict.fromkeys(Level, EVERY_TYPE - HTML)
    reading_list = scope(mode="files", select=files, depth=1)

    assert reason(reading_list, link("http://other/x.pdf")) is None
    assert reason(reading_list, link("http://h/x.pdf"), DEEP) is Reason.SCOPE


def test_redirect_is_a_new_link_at_the_same_depth() -> None:
    """A redirect out of scope is refused, one within is queued without a hop."""
    hop = {"tag": "redirect", "attribute": "location"}
    judged = scope(depth=3).judge(link("http://h/y", **hop), DEEP)

    assert (judged.decision.verdict, judged.depth) == (Verdict.QUEUED, 3)
    assert reason(scope(), link("http://other/y", **hop), DEEP) is Reason.SCOPE


def test_redirect_of_a_seed_keeps_home_and_leaves_it_only_where_the_home_moved() -> None:
    """A seed's redirect is followed on its host; to another host only after the home has moved there."""
    hop = {"tag": "redirect", "attribute": "location"}
    moved = scope()
    moved.homes.append(home_of("https://www.h/"))

    assert reason(scope(select={Level.PAGE: HTML}, mode="directory"), link("http://h/else", **hop)) is None
    assert reason(scope(), link("http://www.h/", **hop)) is Reason.SCOPE
    assert reason(moved, link("https://www.h/", **hop)) is None


def test_redirects_in_a_row_are_bounded() -> None:
    """A chain that goes on for ever ends as a trap."""
    tired = DEEP._replace(hops=MAX_HOPS)

    assert reason(scope(), link("http://h/y", tag="redirect"), tired) is Reason.TRAP
    assert reason(scope(), link("http://h/y", tag="meta", rel="refresh"), tired) is Reason.TRAP
    assert reason(scope(), link("http://h/y"), tired) is None


def test_conditions_are_asked_and_named() -> None:
    """The filter and the user's function refuse with reason filter and their own name as the rule."""
    seen: list[Mapping[str, object]] = []

    def only_short(values: Mapping[str, object]) -> bool:
        seen.append(values)
        return len(str(values["path"])) < 5

    asked = scope(conditions=[("mine", FunctionCondition(only_short))])

    assert reason(asked, link("http://h/abc")) is None
    assert asked.judge(link("http://h/abcdef?q"), PAGE).decision == (Verdict.REFUSED, Reason.FILTER, "mine")
    assert (seen[1]["query"], seen[1]["source"], seen[1]["text"], seen[1]["size"]) == ("q", SEED, "text", None)


def test_answered_type_is_certain() -> None:
    """Once a server has told the type, an unwanted one is refused without asking again."""
    judged = scope().judge(link("http://h/x"), PAGE, ResourceType.IMAGE)

    assert judged.decision.reason is Reason.TYPE
    assert scope().judge(link("http://h/x.png"), PAGE, ResourceType.HTML).decision.reason is None


def test_seed_is_wanted_whatever_it_is() -> None:
    """The user named it: its type is not asked."""
    seed = CrawlURL(
        1, "http://h/x.pdf", 0, "", Level.PAGE, LinkRole.NAVIGATION, near=False, hops=0, attempts=0, text="", hint=None
    )

    assert scope().wanted(seed) == EVERY_TYPE


def test_wants_every_type_only_where_nothing_can_be_refused() -> None:
    """The gate may stay silent only then."""
    everything = dict.fromkeys(LOCAL, EVERY_TYPE)

    assert scope(select=everything).wants_every_type
    assert not scope(select=everything, near=True).wants_every_type
    assert not scope().wants_every_type
