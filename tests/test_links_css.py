"""The URLs of style sheets, against tinycss2's tokens."""

from __future__ import annotations

import pytest
import tinycss2
from hypothesis import given, settings
from hypothesis import strategies as st

from spiderproj import links
from spiderproj.links.budget import Budget, BudgetSpentError
from spiderproj.links.css import references
from spiderproj.models import Link, LinkRole, ResourceType

IMAGE, FONT, STYLE = ResourceType.IMAGE, ResourceType.FONT, ResourceType.STYLE


@pytest.mark.parametrize(
    ("css", "found"),
    [
        ("a{b:url(x)}", ["x"]),
        ("a{b:URL( 'x' ) uRl(\n\"y\"\t)}", ["x", "y"]),
        ('@import "x";@IMPORT url(y) screen;@import/**/url("z");', ["x", "y", "z"]),
        ("@imported 'x'; @charset 'y'; a{content:'z'}", []),
        ("/* url(no) */ 'url(no)' \"url(no)\" url(yes", ["yes"]),
        ("'a\\'url(no)' 'url(no)\\\nurl(no)' url(yes)", ["yes"]),
        ("'broken\nurl(yes)", ["yes"]),
        ("a{b:curl(no) -url(no) _url(no) éurl(no) url (no)}", []),
        ("a{b:url(no no) url(no'no) url(yes)}", ["yes"]),
        ('a{b:url(a\\)b\\28 c\\"d)}', ['a)b(c"d']),
        ("a{b:u\\72 l(x) \\55RL(y) \\url(z)}", ["x", "y", "z"]),
        ("a{b:url('x\\\ny')}", ["xy"]),
        ("a{b:url('\\0\\d800\\110000 ')}", ["\ufffd\ufffd\ufffd"]),
        ("a{fill:url(#x);b:url()}", []),
        ("@namespace svg url(no);@-moz-document url(no){a{b:url(yes)}}", ["yes"]),
        ("a{b:image-set('x' 1x, url(y) 2x, 'z' type('image/png'))} b{content:'no'}", ["x", "y", "z"]),
        ("a{b:-webkit-image-set(url('x') calc(1x * (2)), \"y\" 2x) 'no'}", ["x", "y"]),
        ("a{b:image-set('x", ["x"]),
    ],
)
def test_what_is_a_url(css: str, found: list[str]) -> None:
    """url(), @import and image-set() strings are found in all their spellings; comments and strings hold none."""
    assert [reference.url for reference in references(css, Budget())] == found


@pytest.mark.parametrize(
    ("css", "hints"),
    [
        ("@import 'x'; @import url(y); a{b:url(z)}", [STYLE, STYLE, IMAGE]),
        ("@font-face{font-family:x;src:url(a.eot);SRC:local(x),url(b) format('woff2'),url(c)}", [FONT, FONT, FONT]),
        ("a{cursor:url(x);src-x:url(y) format(z)}", [IMAGE, FONT]),
        ("@import;a{b:url(x)}", [IMAGE]),
    ],
)
def test_what_a_url_is_for(css: str, hints: list[ResourceType]) -> None:
    """The context tells imports, fonts and images apart."""
    assert [reference.hint for reference in references(css, Budget())] == hints


PIECES = [
    "url(",
    "URL('",
    "x",
    ")",
    "'",
    '"',
    "\\",
    "\\72 ",
    "\n",
    " ",
    "/*",
    "*/",
    "{",
    "}",
    ";",
    ",",
    "(",
    "a",
    "-",
    "é",
]


def tokens(css: str) -> list[str]:
    """Return the URLs that tinycss2 finds in *css*, in order."""
    found = []
    nodes = list(reversed(tinycss2.parse_component_value_list(css)))
    while nodes:
        node = nodes.pop()
        if node.type == "url":
            found.append(node.value)
        elif node.type == "function" and node.lower_name == "url":
            words = [word for word in node.arguments if word.type not in {"whitespace", "comment"}]
            found += [word.value for word in words[:1] if word.type == "string"]
            nodes += reversed(node.arguments)
        else:
            nodes += reversed(getattr(node, "content", None) or getattr(node, "arguments", None) or [])
    return [url for url in found if url and not url.startswith("#")]


@settings(deadline=None, max_examples=500)
@given(st.lists(st.sampled_from(PIECES), max_size=20).map(lambda pieces: "".join(pieces) + ";x"))
def test_urls_are_those_of_a_full_tokenizer(css: str) -> None:
    """Whatever the soup, its url()s are those that tinycss2 sees."""
    assert [reference.url for reference in references(css, Budget())] == tokens(css)


def test_read_css() -> None:
    """A fetched sheet's links are resolved against it, always in UTF-8; headers count as for a page."""
    page = links.read_css(
        "@charset \"windows-1251\"; @import 'ж?ж'; a{b:url(/i.png)}".encode("cp1251"),
        "http://h.example/s/a.css",
        headers=[("link", "</n>; rel=next")],
    )

    assert page.charset == "windows-1251"
    assert page.links == [
        Link("http://h.example/n", "", "http", "link", "next", LinkRole.NAVIGATION, None),
        Link("http://h.example/s/%D0%B6?%D0%B6", "", "style", "@import", "", LinkRole.REQUISITE, STYLE),
        Link("http://h.example/i.png", "", "style", "url()", "", LinkRole.REQUISITE, IMAGE),
    ]
    assert (page.title, page.partial) == (None, None)


def test_the_budget_is_spent() -> None:
    """A sheet with more tokens than the budget ends the reading."""
    with pytest.raises(BudgetSpentError):
        list(references("((((", Budget(3)))
