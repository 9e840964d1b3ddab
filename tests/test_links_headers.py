"""Link:, X-Robots-Tag: and the declarative refresh."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spiderproj.links import parse_refresh
from spiderproj.links.headers import as_sent, link_header, robots_tag_says_nofollow, says_nofollow


@pytest.mark.parametrize(
    ("content", "url"),
    [
        ("0;url=x", "x"),
        ("0; URL='x'", "x"),
        ('1; url="x" y', "x"),
        ("5,x", "x"),
        ("0 x", "x"),
        ("0;x", "x"),
        ("0; url = x ", "x"),
        ("0;uRl\n=\tx", "x"),
        ("0;url='x", "x"),
        ("0;url='x\"", 'x"'),
        ("0;'x'y", "x"),
        ("0;url x", "url x"),
        ("0; ur=x", "ur=x"),
        ("0; urlx", "urlx"),
        (".5;x", "x"),
        ("1.5.2; url=x", "x"),
        (" 3 ;, x", ", x"),
        ("0;url=;x", ";x"),
        ("0;url=", None),
        ("0;url=''", None),
        ("0", None),
        ("0;", None),
        ("", None),
        ("x", None),
        ("url=x", None),
        ("-1;url=x", None),
        ("0url=x", None),
        ("0z;url=x", None),
    ],
)
def test_refresh(content: str, url: str | None) -> None:
    """The URL of a refresh is read by the HTML standard's shared declarative refresh steps."""
    assert parse_refresh(content) == url


@given(st.text("0. ;,urlURL='\"x\n", max_size=20))
def test_any_refresh_can_be_read(content: str) -> None:
    """Whatever the content, the URL is a piece of it without outer blanks."""
    url = parse_refresh(content)

    assert url is None or (url in content and url == url.strip("\t\n\f\r ") and url)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("<a>", [("a", {})]),
        ("<a>; rel=next", [("a", {"rel": "next"})]),
        ('< a >;REL="next prev" ; title="x, <y>; z"', [("a", {"rel": "next prev", "title": "x, <y>; z"})]),
        ("<a>;rel=next,<b>;rel=prev", [("a", {"rel": "next"}), ("b", {"rel": "prev"})]),
        ("<a,b;c>; rel=next", [("a,b;c", {"rel": "next"})]),
        ("<a>; rel=next; rel=prev", [("a", {"rel": "next"})]),
        ('<a>; title="x\\"y"; as', [("a", {"title": 'x"y', "as": ""})]),
        ('<a>; title="open, <b>', [("a", {"title": "open, <b>"})]),
        ("a; rel=next", []),
        ("<<a>", [("a", {})]),
        ("<a", []),
        ("", []),
    ],
)
def test_link_header(value: str, found: list[tuple[str, dict[str, str]]]) -> None:
    """A Link: header is split by RFC 8288, quoted commas and all; what is broken is skipped."""
    assert [tuple(link) for link in link_header(value)] == found


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ([], False),
        (["noindex"], False),
        (["noindex, NoFollow"], True),
        (["none"], True),
        (["spiderproj: nofollow"], True),
        (["SpiderProj:none"], True),
        (["otherbot: nofollow"], False),
        (["otherbot: noindex, nofollow"], False),
        (["otherbot: noindex, spiderproj: nofollow"], True),
        (["otherbot: noindex", "nofollow"], True),
        (["max-snippet: 5, nofollow"], True),
        (["unavailable_after: 25 Jun 2010 15:00:00 PST, nofollow"], True),
        (["nofollowing"], False),
    ],
)
def test_robots_tag(values: list[str], says: bool) -> None:
    """X-Robots-Tag counts when it is for every agent or for ours."""
    assert robots_tag_says_nofollow(values, "spiderproj") is says


@pytest.mark.parametrize(
    ("content", "says"),
    [("nofollow", True), ("index,NONE", True), ("follow", False), ("", False), ("a nofollow", True)],
)
def test_meta_robots(content: str, says: bool) -> None:
    """A robots <meta> says it with nofollow or none."""
    assert says_nofollow(content) is says


@pytest.mark.parametrize(
    ("read", "sent"), [("/a", "/a"), ("/\xc3\xa9", "/é"), ("/\xe9", "/\xe9"), ("/\u2603", "/\u2603")]
)
def test_raw_utf_8(read: str, sent: str) -> None:
    """A header that holds UTF-8 is read as such, any other is left."""
    assert as_sent(read) == sent
