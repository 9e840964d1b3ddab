"""What is found in a page, in which order, and as what."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spiderproj import links, urls
from spiderproj.models import Link, LinkRole, Page, Reason, ResourceType

URL = "http://h.example/d/p.html"
HERE = "http://h.example/d/"
NAVIGATION, REQUISITE, FORM, HINT = LinkRole.NAVIGATION, LinkRole.REQUISITE, LinkRole.FORM, LinkRole.HINT


def read(html: str, **options: object) -> Page:
    """Return the page that *html* at URL is."""
    return links.read_html(html.encode(), URL, **options)  # type: ignore[arg-type]  # options are checked by running


def only(html: str) -> Link:
    """Return the one link of *html*."""
    (link,) = read(html).links
    return link


@pytest.mark.parametrize(
    ("html", "tag", "attribute", "role", "hint"),
    [
        ("<a href=x>", "a", "href", NAVIGATION, None),
        ("<A HREF=x>", "a", "href", NAVIGATION, None),
        ("<a href=x type=application/pdf>", "a", "href", NAVIGATION, ResourceType.DOCUMENT),
        ("<area href=x>", "area", "href", NAVIGATION, None),
        ("<iframe src=x>", "iframe", "src", NAVIGATION, ResourceType.HTML),
        ("<frameset><frame src=x>", "frame", "src", NAVIGATION, ResourceType.HTML),
        ("<meta http-equiv=refresh content='0;url=x'>", "meta", "content", NAVIGATION, None),
        ("<link rel=canonical href=x>", "link", "href", NAVIGATION, None),
        ("<link rel='alternate' type='application/rss+xml' href=x>", "link", "href", NAVIGATION, ResourceType.DATA),
        ("<link rel=next href=x>", "link", "href", NAVIGATION, None),
        ("<link rel=amphtml href=x>", "link", "href", NAVIGATION, None),
        ("<link rel=stylesheet href=x>", "link", "href", REQUISITE, ResourceType.STYLE),
        ("<link rel='Alternate StyleSheet' href=x>", "link", "href", REQUISITE, ResourceType.STYLE),
        ("<link rel='shortcut icon' href=x>", "link", "href", REQUISITE, ResourceType.IMAGE),
        ("<link rel=apple-touch-icon href=x>", "link", "href", REQUISITE, ResourceType.IMAGE),
        ("<link rel=manifest href=x>", "link", "href", REQUISITE, ResourceType.DATA),
        ("<link rel=preload as=font href=x>", "link", "href", REQUISITE, ResourceType.FONT),
        ("<link rel=preload as=image imagesrcset='x 2x'>", "link", "imagesrcset", REQUISITE, ResourceType.IMAGE),
        ("<link rel=prefetch href=x>", "link", "href", REQUISITE, None),
        ("<link rel=modulepreload href=x>", "link", "href", REQUISITE, ResourceType.SCRIPT),
        ("<link rel=preconnect href=x>", "link", "href", HINT, None),
        ("<link rel=dns-prefetch href=x>", "link", "href", HINT, None),
        ("<link rel=pingback href=x>", "link", "href", HINT, None),
        ("<link href=x>", "link", "href", HINT, None),
        ("<img src=x>", "img", "src", REQUISITE, ResourceType.IMAGE),
        ("<image src=x>", "image", "src", REQUISITE, ResourceType.IMAGE),
        ("<img srcset='x 2x'>", "img", "srcset", REQUISITE, ResourceType.IMAGE),
        ("<img data-src=x>", "img", "data-src", REQUISITE, ResourceType.IMAGE),
        ("<img data-lazy-srcset='x 1x'>", "img", "data-lazy-srcset", REQUISITE, ResourceType.IMAGE),
        ("<img data-original=x>", "img", "data-original", REQUISITE, ResourceType.IMAGE),
        ("<img longdesc=x>", "img", "longdesc", HINT, None),
        ("<picture><source srcset=x>", "source", "srcset", REQUISITE, ResourceType.IMAGE),
        ("<source src=x type=video/mp4>", "source", "src", REQUISITE, ResourceType.VIDEO),
        ("<video src=x>", "video", "src", REQUISITE, ResourceType.VIDEO),
        ("<video poster=x>", "video", "poster", REQUISITE, ResourceType.IMAGE),
        ("<audio src=x>", "audio", "src", REQUISITE, ResourceType.AUDIO),
        ("<track src=x>", "track", "src", REQUISITE, ResourceType.DATA),
        ("<embed src=x>", "embed", "src", REQUISITE, None),
        ("<object data=x type=image/png>", "object", "data", REQUISITE, ResourceType.IMAGE),
        ("<input type=image src=x>", "input", "src", REQUISITE, ResourceType.IMAGE),
        ("<script src=x></script>", "script", "src", REQUISITE, ResourceType.SCRIPT),
        ("<body background=x>", "body", "background", REQUISITE, ResourceType.IMAGE),
        ("<TD BACKGROUND=x>", "td", "background", REQUISITE, ResourceType.IMAGE),
        ("<div data-bg=x>", "div", "data-bg", REQUISITE, ResourceType.IMAGE),
        ("<div data-bg='url(x)'>", "div", "data-bg", REQUISITE, ResourceType.IMAGE),
        ("<div data-background-image=x>", "div", "data-background-image", REQUISITE, ResourceType.IMAGE),
        ("<style>a{b:url(x)}</style>", "style", "url()", REQUISITE, ResourceType.IMAGE),
        ("<style>@import 'x'", "style", "@import", REQUISITE, ResourceType.STYLE),
        ('<p style="background: url(&quot;x&quot;)">', "p", "style", REQUISITE, ResourceType.IMAGE),
        ("<P STYLE='background:URL(x)'>", "p", "style", REQUISITE, ResourceType.IMAGE),
        ("<svg><use href=x#i>", "use", "href", REQUISITE, ResourceType.IMAGE),
        ("<svg><image xlink:href=x>", "image", "xlink:href", REQUISITE, ResourceType.IMAGE),
        ("<svg><a xlink:href=x>", "a", "xlink:href", NAVIGATION, None),
        ("<form action=x>", "form", "action", FORM, None),
        ("<button formaction=x>", "button", "formaction", FORM, None),
        ("<input type=submit formaction=x>", "input", "formaction", FORM, None),
        ("<blockquote cite=x>", "blockquote", "cite", HINT, None),
        ("<meta property=og:image content=x>", "meta", "content", HINT, ResourceType.IMAGE),
        ("<meta name=twitter:image content=x>", "meta", "content", HINT, ResourceType.IMAGE),
        ("<html manifest=x>", "html", "manifest", HINT, None),
        ("<noscript><img src=x></noscript>", "img", "src", REQUISITE, ResourceType.IMAGE),
        ("<template><a href=x></template>", "a", "href", NAVIGATION, None),
        ("<noframes><a href=x></noframes>", "a", "href", NAVIGATION, None),
        ("<select><a href=x></select>", "a", "href", NAVIGATION, None),
    ],
)
def test_every_kind_of_link(html: str, tag: str, attribute: str, role: LinkRole, hint: ResourceType | None) -> None:
    """Each element that names a URL gives a link with its own tag, attribute, role and hint."""
    link = only(html)

    assert link.target == HERE + "x"
    assert (link.tag, link.attribute, link.role, link.hint, link.problem) == (tag, attribute, role, hint, None)


@pytest.mark.parametrize(
    "html",
    [
        "<!-- <a href=x> -->",
        "<script>document.write('<a href=x>')</script>",
        "<script type=application/ld+json>{'url': 'http://h.example/x'}</script>",
        "<textarea><a href=x></textarea>",
        "<title><a href=x></title>",
        "<p title='<a href=x>'>",
        "<a ping=x>",
        "<input type=text src=x>",
        "<img src='' srcset=' ' data-src='  '>",
        "<svg><use href='#icon'><use xlink:href=#icon></svg>",
        "<p style='fill:url(#gradient)'>",
        "<div data-bg='{\"a\": 1}'>",
        "<link rel=stylesheet>",
        "<meta http-equiv=refresh content=5>",
        "<a name=x>",
        "<base href=x>",
    ],
)
def test_what_is_no_link(html: str) -> None:
    """Comments, scripts, raw text and empty references name nothing."""
    assert read(html).links == []


def test_the_order_of_the_document() -> None:
    """Links of all kinds come in document order, those of one element in the order of its attributes."""
    page = read(
        "<link rel=icon href=1><style>a{b:url(2)}</style><p style='b:url(3)'>"
        "<a href=4><img srcset='5 1x, 6 2x' src=7></a>"
        "<table background=8><td><video poster=9 src=10></video><form action=11>",
        headers=[("link", "<0>; rel=preload")],
    )

    assert [link.target.removeprefix(HERE) for link in page.links] == [str(number) for number in range(12)]


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<a href=x> one <b>two</b>\n</a>", "one two"),
        ("<a href=x>a &amp; b</a>", "a & b"),
        ("<a href=x>one<a href=#>two</a>", "one"),
        ("<a href=x title=t aria-label=l><img alt=i></a>", "t"),
        ("<a href=x aria-label=l><img alt=i></a>", "l"),
        ("<a href=x><img><IMG alt='the &lt;image'></a>", "the <image"),
        ("<a href=x><svg><title>home</title><path/></svg></a>", "home"),
        ("<a href=x><style>a{}</style>styled</a>", "styled"),
        ("<a href=x>" + "y" * 300, "y" * 200),
        ("<a href=x></a>", ""),
        ("<img src=x alt=' a  b ' title=t>", "a b"),
        ("<img src=x alt='' title=t>", "t"),
        ("<area href=x alt=a>", "a"),
        ("<iframe src=x title=t>", "t"),
    ],
)
def test_the_text_of_a_link(html: str, text: str) -> None:
    """A link's text is what a person reads on it: its content, else its label, else the image in it."""
    assert read(html).links[0].text == text


@pytest.mark.parametrize(
    ("html", "target"),
    [
        ("<a href=x>", "http://b.example/e/x"),
        ("<a href=/x>", "http://b.example/x"),
        ("<a href=''>", "http://b.example/e/f"),
        ("<img src=x>", "http://b.example/e/x"),
    ],
)
def test_the_base(html: str, target: str) -> None:
    """The first <base href> is the base of everything, of what stands before it too."""
    base = "<BASE target=x><base href=//b.example/e/f><base href=/no/>"

    assert only(base + html).target == only(html + base).target == target


@pytest.mark.parametrize("base", ["file:///c:/", "http://[", "javascript:0", "about:blank"])
def test_a_base_that_cannot_be_fetched_is_none(base: str) -> None:
    """A base of another scheme, or none at all, leaves the page's own URL."""
    assert only(f"<base href='{base}'><a href=x>").target == HERE + "x"


@pytest.mark.parametrize(
    ("html", "options", "nofollow"),
    [
        ("<a href=x>", {}, False),
        ("<a href=x rel='NoFollow noopener'>", {}, True),
        ("<a href=x rel=ugc>", {}, False),
        ("<a href=x rel=nofollow>", {"follow_nofollow": True}, False),
        ("<meta name=robots content='noindex, NoFollow'><a href=x>", {}, True),
        ("<a href=x><meta name=ROBOTS content=none>", {}, True),
        ("<meta name=spiderproj content=nofollow><a href=x>", {}, True),
        ("<meta name=googlebot content=nofollow><a href=x>", {}, False),
        ("<meta name=mine content=nofollow><a href=x>", {"token": "Mine"}, True),
        ("<meta name=robots content=nofollow><a href=x>", {"follow_nofollow": True}, False),
        ("<a href=x>", {"headers": [("x-robots-tag", "none")]}, True),
        ("<a href=x>", {"headers": [("x-robots-tag", "otherbot: nofollow")]}, False),
        ("<a href=x>", {"headers": [("x-robots-tag", "none")], "follow_nofollow": True}, False),
        ("<meta name=robots content=nofollow><img src=x>", {}, False),
    ],
)
def test_nofollow(html: str, options: dict[str, object], nofollow: bool) -> None:
    """A link's own rel, the page's meta robots and X-Robots-Tag forbid following, unless told otherwise."""
    assert [link.nofollow for link in read(html, **options).links] == [nofollow]


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title> a\n &amp; b </title><title>c</title>", "a & b"),
        ("<svg><title>icon</title></svg><title>page</title>", "page"),
        ("<title></title>", None),
        ("<p>", None),
        ("<title>" + "x" * 600, "x" * 500),
    ],
)
def test_the_title(html: str, title: str | None) -> None:
    """The page's title is its first <title> outside drawings, folded and cut."""
    assert read(html).title == title


def test_headers_name_links_too() -> None:
    """Link: and Refresh: are resolved against the page's URL and come first; raw UTF-8 is read as such."""
    page = read(
        "<base href=/b/><a href=z>",
        headers=[
            ("content-type", "text/html"),
            ("link", '</a.css>; rel=preload; as=style, <é>; rel="next"; title=n'.encode().decode("latin-1")),
            ("link", "<c>; rel=next; anchor=/other"),
            ("refresh", "3; url=d"),
        ],
    )

    assert [(link.target, link.role, link.hint, link.attribute, link.text) for link in page.links[:-1]] == [
        ("http://h.example/a.css", REQUISITE, ResourceType.STYLE, "link", ""),
        (HERE + "%C3%A9", NAVIGATION, None, "link", "n"),
        (HERE + "c", HINT, None, "link", ""),
        (HERE + "d", NAVIGATION, None, "refresh", ""),
    ]
    assert {link.tag for link in page.links[:-1]} == {"http"}


def test_the_query_is_in_the_page_s_encoding() -> None:
    """In a page in windows-1251 a query is sent in it, a path in UTF-8."""
    body = "<meta charset=windows-1251><a href='/ж?ж=☃#ж'>".encode("cp1251", "xmlcharrefreplace")

    assert links.read_html(body, URL).links[0].target == "http://h.example/%D0%B6?%E6=%26%239731%3B"


def test_the_limit_of_links() -> None:
    """Beyond the limit of links the page is partial and says so."""
    page = read("<a href=1><a href=2><img srcset='3,4,5'>", max_links=2)

    assert [link.target for link in page.links] == [HERE + "1", HERE + "2"]
    assert page.partial == "links over 2"
    assert read("<a href=1><a href=2>", max_links=2).partial is None


@pytest.mark.parametrize(
    ("svg", "targets"),
    [
        ("<svg><a xlink:href='x'/><a href='y'/></svg>", ["x", "y"]),
        ("<?xml-stylesheet type='text/css' href='s.css'?><svg><image href='i.png'/></svg>", ["s.css", "i.png"]),
        ("<svg><style><![CDATA[ a{fill:url(p.png)} ]]></style><use href='o.svg#i'/></svg>", ["p.png", "o.svg"]),
        ("<svg><![CDATA[<a href='no'>]]><script href='j.js'/><a href='x'/></svg>", ["j.js", "x"]),
        ("<!DOCTYPE svg [<!ENTITY e 'boom'>]><svg><a href='&e;'/></svg>", ["&e;"]),
        ("<svg><g style='fill:url(q.png)'/></svg>", ["q.png"]),
    ],
)
def test_svg(svg: str, targets: list[str]) -> None:
    """Links of a drawing are found as XML has them; its own entities stay unexpanded."""
    page = links.read_svg(svg.encode(), URL)

    assert [link.target.removeprefix(HERE) for link in page.links] == targets
    assert page.charset == "utf-8"


PIECES = [
    *("<a href=", "<img srcset='", "<p style='b:url(", "<base href=", "<meta name=robots content=", "<style>@import '"),
    *("x", "/", "//h/", "?q=", "#f", "..", "%2e", ":", "javascript:", "http://[", "é", "\x00", " ", ",", "'", '"', ">"),
    *("</a>", "</style>", "&amp;", "&#xD800;", "<title>", "<link rel=icon href=", "nofollow", "url(", ")", "\ud7ff"),
]


ANCHORS = [
    f'<a{before} href="{value}"{after}>{text}</a>'
    for before in ("", ' class="c"', ' title=" href="', ' rel="nofollow"', ' type="image/png"', ' href="/first"')
    for value in ("x", "/x", "?q=1", "#f", "", " ?w", "http://o/y", "http:z", "&#63;e", "?\u00e9", "ftp://f/")
    for after in ("", ' id="i"', ' rel="Next  Nofollow"', ' type="text/css"', ' HREF="/other"')
    for text in ("x", "  two\n words ", "", "&amp;", "<b>b</b>", "t" * 250)
]


@pytest.mark.parametrize("anchor", ANCHORS)
def test_a_plain_anchor_is_an_anchor(anchor: str) -> None:
    """An anchor that can be read the short way makes the link that it makes the long way, on a page with a style."""
    short, long = read(f"<p>{anchor}"), read(f'<p style="x:url()">{anchor}')

    assert short.links == long.links
    assert len(short.links) == 1


@settings(deadline=None, max_examples=300)
@given(
    body=st.one_of(
        st.binary(max_size=80), st.lists(st.sampled_from(PIECES), max_size=30).map(lambda p: "".join(p).encode())
    )
)
def test_any_bytes_can_be_read(body: bytes) -> None:
    """Reading never fails, gives the same twice, and every target without a problem is canonical."""
    for reader in (links.read_html, links.read_css, links.read_svg):
        page = reader(body, URL)

        assert page == reader(body, URL)
        for link in page.links:
            assert link.problem is not None or urls.canonical(link.target) == link.target
            assert len(link.target) <= urls.MAX_URL_LENGTH
            assert len(link.text) <= 200
            "".join((link.target, link.text, link.rel, page.title or "")).encode()


@pytest.mark.parametrize(
    ("reference", "target", "problem"),
    [
        ("javascript:void(0)", "javascript:void(0)", Reason.SCHEME),
        (" mailto:a@b ", "mailto:a@b", Reason.SCHEME),
        ("data:text/plain," + "x" * 99999, "data:text/plain," + "x" * 44, Reason.SCHEME),
        ("http://[", "http://[", Reason.INVALID),
        ("/" + "x" * 3000, "/" + "x" * 199, Reason.TOO_LONG),
        ("#top", URL, None),
        ("", URL, None),
    ],
)
def test_links_that_lead_nowhere(reference: str, target: str, problem: Reason | None) -> None:
    """What can never be fetched is recorded with its reason; "" and "#part" of an anchor are the page itself."""
    link = only(f"<a href='{reference}'>")

    assert (link.target, link.problem) == (target, problem)
