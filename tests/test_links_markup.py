"""The tokenizer: which start tags there are, against Lexbor's tree; attributes, references and text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser, LexborNode

from spiderproj.links.budget import MAX_ATTRIBUTES, Budget, BudgetSpentError
from spiderproj.links.markup import ALL_TAGS, XML_TAGS, attributes, plain_text, start_tags, tags_named
from spiderproj.links.references import in_attribute, in_text

SOME_TAGS = tags_named({"a", "img"})
# fmt: off
PIECES = [
    "<a href=", "<a href='", '<img src="', "<IMG SRC=", "<iMg src=z>", '<p title="', "<div ", "</div ", "</a>",
    "</p x='", "<br/>", "<a/href=y>", '<a HREF="u" rel="v">', "<a href=1 href=2>", " x ", "'", '"', ">", "=", "/",
    "<", "&amp;", "&", "&copy", "&notit;", "&#x41;", "&lt", '="', "='", "<!--", "-->", "--!>", "<!-->", "<!--->",
    "<!", "<?", "</", "</5>", "<script>", "</script>", "<!--<script>", "<style>", "</style>", "<textarea>",
    "</textarea>", "<title>", "</title>", "<xmp>", "</xmp>", "<iframe>", "</iframe>", "<noscript>", "</noscript>",
    "<template>", "</template>", "é", "—", "/>", "a", "b", "<b", "<a", "<aa href=q>", "<![CDATA[", "]]>",
    "<x-y href=1>", "<![CDATA[<a href=c>]]>", "\t", "\n", "\x0c",
]
# fmt: on
SOUP = st.lists(st.sampled_from(PIECES), max_size=25)


def in_the_tree(text: str) -> set[tuple[str, str, str]]:
    """Return (element, attribute, value) of every a and img that Lexbor makes of *text*."""
    found = set()
    nodes: list[LexborNode] = [node for node in [LexborHTMLParser(text).root] if node is not None]
    while nodes:
        node = nodes.pop()
        nodes += node.template_fragments()
        for element in node.css("a, img"):
            found |= {(str(element.tag), name, value or "") for name, value in element.attributes.items()}
    return found


def as_read(text: str, pattern: object) -> set[tuple[str, str, str]]:
    """Return the same as we read it."""
    found = set()
    for name, source, simple, *_ in start_tags(text, pattern, Budget()):  # type: ignore[arg-type]  # one of ours
        if name in {"a", "img"}:
            found |= {(name, key, in_attribute(value)) for key, value in attributes(source, simple=simple).items()}
    return found


@settings(deadline=None, max_examples=300)
@given(SOUP.map("".join))
def test_tags_are_those_of_the_standard_tree(soup: str) -> None:
    """Whatever the soup, the anchors and images we see are those of a tree built by the HTML standard."""
    text = "<body>" + soup
    expected = in_the_tree(text)

    assert as_read(text, ALL_TAGS) == expected
    assert as_read(text, SOME_TAGS) == expected


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("<a><B><i/>", "a b i"),
        ("<script>'<a>'</script><b>", "script b"),
        ("<script><!--<script></script><a>--></script><b>", "script b"),
        ("<script><!--></script><b>", "script b"),
        ("<style><a></style><b>", "style b"),
        ("<textarea><a></TEXTAREA ><b>", "textarea b"),
        ("<plaintext></plaintext><b>", "plaintext"),
        (
            "<noscript><a></noscript><noframes><b></noframes><template><i></template>",
            "noscript a noframes b template i",
        ),
        ("<svg><style/><a></svg>", "svg style a"),
        ("<svg><title><a></title></svg>", "svg title a"),
        ("<svg></svg><title><a></title>", "svg title"),
        ("<!-- <a> --><b><!--> <i>", "b i"),
        ("<a title='<b>'><i title=\"<u>\">", "a i"),
        ("<a title=\"x\"='<b>'>", "a"),  # ='<b is an attribute's name
        ('<p ="a="><a>">', "p"),  # the value of '="a' begins with the quote
        ("<a", ""),
        ("<a href='x>", ""),
        ("<a ='b>c'>", "a"),
        ("< a><1><é>", ""),
    ],
)
def test_where_there_is_no_tag(text: str, names: str) -> None:
    """Comments, raw text, quoted values and broken ends hold no tags; <noscript>, <noframes> and <template> do."""
    all_tags = [tag[0] for tag in start_tags(text, ALL_TAGS, Budget())]

    assert all_tags == names.split()
    assert ("a" in all_tags) == any(tag[0] == "a" for tag in start_tags(text, SOME_TAGS, Budget()))


def test_cdata_is_text_in_xml_only() -> None:
    """A CDATA section hides its content in XML; in HTML it is a bogus comment that ends at the first ">"."""
    text = "<![CDATA[ <a> <b> ]]><i>"

    assert [tag[0] for tag in start_tags(text, XML_TAGS, Budget())] == ["i"]
    assert [tag[0] for tag in start_tags(text, ALL_TAGS, Budget())] == ["b", "i"]


def test_raw_text_is_delimited() -> None:
    """Positions tell where an element's raw content begins and ends."""
    text = "<p><style>a{}</style>"

    assert [text[end:content_end] for *_, end, content_end in start_tags(text, ALL_TAGS, Budget())] == ["", "a{}"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (' a="1" b="2"', {"a": "1", "b": "2"}),
        (' a="1" a="2"', {"a": "1"}),
        (" A=1 a=2 c", {"a": "1", "c": ""}),
        ("/a = 'x y'/ b=/c/", {"a": "x y", "b": "/c/"}),
        (" a=\"x'y\"b='\"'", {"a": "x'y", "b": '"'}),
        (" =a b==c", {"=a": "", "b": "=c"}),
        (" a= b", {"a": "b"}),
        ("", {}),
    ],
)
def test_attributes(source: str, expected: dict[str, str]) -> None:
    """Attributes are split as HTML 13.2.5.32 to 40 says, the first of a name counts."""
    assert list(attributes(source).items()) == list(expected.items())


def test_simple_attributes_may_repeat() -> None:
    """The quick way, for tags that are written plainly, keeps the first of a name too."""
    assert attributes(' b="1" a="2" b="3"', simple=True) == {"b": "1", "a": "2"}


def test_attributes_are_bounded() -> None:
    """A tag with attributes beyond the limit ends the reading."""
    with pytest.raises(BudgetSpentError, match="attributes on one tag over"):
        attributes(" a" * (MAX_ATTRIBUTES + 1))


@pytest.mark.parametrize(
    ("source", "in_value", "in_prose"),
    [
        ("&amp;&lt;&eacute;", "&<é", "&<é"),
        ("?a&copy=1&copy", "?a&copy=1©", "?a©=1©"),
        ("&notit;", "&notit;", "¬it;"),
        ("&notin;", "∉", "∉"),
        ("&#65;&#x41;&#X41 &#65", "AAA A", "AAA A"),
        ("&#0;&#xD800;&#x110000;&#99999999999;", "\ufffd" * 4, "\ufffd" * 4),
        ("&#128;&#x81;", "€\x81", "€\x81"),
        ("&nosuch; & &; &#; &#x;", "&nosuch; & &; &#; &#x;", "&nosuch; & &; &#; &#x;"),
        ("&" + "a" * 9000, "&" + "a" * 9000, "&" + "a" * 9000),
        ("&#" + "0" * 9000 + "65;", "A", "A"),
    ],
)
def test_references(source: str, in_value: str, in_prose: str) -> None:
    """Character references mean what HTML 13.2.5.72 to 80 says, in values and in text."""
    assert in_attribute(source) == in_value
    assert in_text(source) == in_prose


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        (" a <b>b</b>\n c ", "a b c"),
        ("<b>J</b>ohn", "John"),
        ("<div>a</div><div>b</div>", "a b"),
        ("a<!-- b --><script>c</script><style>d", "a"),
        ("<i title='a > b'>x</i>", "x"),
        ("&lt;b&gt; &nbsp;", "<b>"),
        ("x" * 300, "x" * 200),
        ("<", "<"),
    ],
)
def test_plain_text(markup: str, text: str) -> None:
    """Text is what a person reads, folded and cut."""
    assert plain_text(markup, 200) == text
