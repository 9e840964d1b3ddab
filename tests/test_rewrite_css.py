"""Rewriting style sheets, and the references between the files of a copy."""

from __future__ import annotations

import posixpath
from urllib.parse import unquote, urljoin

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spiderproj.links import read_css
from spiderproj.rewrite import relative_reference, rewrite_css

URL = "http://h/s/a.css"
COPY = {
    "http://h/s/b": "b~.css",
    "http://h/i.png": "../i~(1)'.png",
    "http://h/s/\u00e9": "never",
    "http://h/s/%C3%A9": "e.x",
}


def resolve(url: str) -> str:
    """Return the place of *url* in the copy, or the URL itself."""
    return COPY.get(url, url)


ROWS = [
    ('@import "b";@import url(b) print;', '@import "b~.css";@import url(b~.css) print;'),
    ("@IMPORT/* */'b'", "@IMPORT/* */'b~.css'"),
    ("a{b:url(../i.png)}", "a{b:url(../i~\\(1\\)\\'.png)}"),
    ("a{b:URL( '../i.png' )}", "a{b:URL( '../i~(1)\\'.png' )}"),
    ('a{b:url("../i.png"', 'a{b:url("../i~(1)\'.png"'),
    ("a{b:url(/o?x=(1)&y)}", None),
    ("a{b:url(/o?x=1&y)}", "a{b:url(http://h/o?x=1&y)}"),
    ("a{b:url('/o(1)')}", "a{b:url('http://h/o(1)')}"),
    ("a{b:u\\72 l(b);c:url(\\62)}", "a{b:u\\72 l(b~.css);c:url(b~.css)}"),
    ("a{b:url(\u00e9);c:url(\\e9);d:'\u00e9'}", "a{b:url(e.x);c:url(e.x);d:'\u00e9'}"),
    ("a{b:image-set('b' 1x, url(b) 2x)}", "a{b:image-set('b~.css' 1x, url(b~.css) 2x)}"),
    ("a{src:url(b#iefix?) format('x')}", "a{src:url(b~.css#iefix?) format('x')}"),
    ("a{fill:url(#x);b:url(data:,x);c:url()}/* url(b) */'url(b)'", None),
]  # fmt: skip


@pytest.mark.parametrize(("css", "wanted"), ROWS)
def test_each_construct(css: str, wanted: str | None) -> None:
    """A URL is replaced where it stands, safe in its quotes or without any; None: all stays."""
    assert rewrite_css(css.encode(), URL, resolve=resolve).decode() == (css if wanted is None else wanted)
    assert rewrite_css(css.encode(), URL, resolve=lambda _: None) == css.encode()


DECLARED = [
    (b"a{b:'\xe9'}", "latin1", b"@charset \"windows-1252\";a{b:'\xe9'}"),
    (b"@charset \"utf-8\";'\xe9'", "latin1", b"@charset \"windows-1252\";'\xe9'"),
    (b"@charset \"utf-8\";'\xc3\xa9'", "utf-8", None),
    (b"\xef\xbb\xbf'\xc3\xa9'", "utf-8", None),
    (b"'e'", "latin1", None),
    (b"'\xc3\xa9'", None, None),
]  # fmt: skip


@pytest.mark.parametrize(("body", "header", "wanted"), DECLARED)
def test_encodings_are_declared(body: bytes, header: str | None, wanted: bytes | None) -> None:
    """A sheet says in itself what only the header said."""
    made = rewrite_css(body, URL, header_charset=header, resolve=lambda _: None)
    assert made == (body if wanted is None else wanted)


PARTS = ["@import ", "url(", ")", "'", '"', "a", "b.png", "\\", "\\75 ", "/*", "*/", "image-set(", ",", ";", "{", "}", " ",
         "\n", "#", "\u00e9", "\u65e5", "\0", "\x80"]  # fmt: skip


@settings(deadline=None, max_examples=500)
@given(st.lists(st.sampled_from(PARTS), max_size=20).map("".join), st.sampled_from(["utf-8", "shift_jis", "utf-16-le"]))
def test_the_urls_lead_where_they_led(css: str, codec: str) -> None:
    """With no answers the bytes come back; with answers the same URLs are found in the same order at their new places."""
    body = css.encode(codec, "replace")
    header = None if codec == "utf-8" else codec.replace("-le", "le")
    before = [link.target for link in read_css(body, URL, header_charset=header).links if link.problem is None]
    marked = b"\xff\xfe" + body if codec == "utf-16-le" else body
    assert rewrite_css(marked, URL, resolve=lambda _: None) == marked
    places = {target: f"http://n/{number}" for number, target in enumerate(dict.fromkeys(before))}
    made = rewrite_css(body, URL, header_charset=header, resolve=places.get)
    links = read_css(made, URL, header_charset=None if codec == "utf-16-le" else header).links
    after = [link.target for link in links if link.problem is None]
    # A reference of control characters alone names its own document, wherever that is.
    assert [URL if new == URL else places[old] for new, old in zip(after, before, strict=True)] == after


NAMES = st.lists(st.text(st.characters(codec="ascii", exclude_characters="/\0"), min_size=1).filter(lambda n: n.strip(".")),
                 min_size=1, max_size=4).map("/".join)  # fmt: skip


@settings(deadline=None)
@given(NAMES, NAMES)
def test_relative_references(source: str, target: str) -> None:
    """A reference, read as browsers read it, leads from the one file to the other, whatever their names."""
    reference = relative_reference(source, target)
    assert "?" not in reference and "#" not in reference
    assert unquote(posixpath.normpath(posixpath.join("/r", posixpath.dirname(source), unquote(reference)))) == unquote(
        posixpath.normpath(f"/r/{target}")
    )


@pytest.mark.parametrize(
    ("source", "target", "wanted"),
    [
        ("h/a.html", "h/b~.html", "b~.html"),
        ("h/a.html", "h/a.html", "a.html"),
        ("h/a/b.html", "h/index.html", "../index.html"),
        ("h/a/b.html", "o/x/y.css", "../../o/x/y.css"),
        ("h/a.html", "h/50%25~1.html", "50%2525~1.html"),
        ("h/a.html", "h/a?b#c.html", "a%3Fb%23c.html"),
        ("h/a.html", "h/a b\"'.html", "a%20b%22'.html"),
    ],
)
def test_relative_references_to_the_letter(source: str, target: str, wanted: str) -> None:
    """Signs that mean something in a reference are escaped; names stay readable."""
    assert relative_reference(source, target) == wanted
    assert unquote(urljoin(f"file:///{source}", wanted)) == f"file:///{target}"
