"""Rewriting HTML and SVG: every reference in every way of writing it, and not a byte more."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spiderproj.links import read_html
from spiderproj.rewrite import rewrite_html, rewrite_svg

URL = "http://h/d/page"
COPY = {
    "http://h/d/page": "page~.html",
    "http://h/d/": "index.html",
    "http://h/d/a": "a~.html",
    "http://h/d/b.png": "b.png",
    "http://h/d/c.png": "c's~1.png",
    "http://h/d/q?x=1&y=2": "q~%2541.html",
    "http://h/e/a": "../e/a~.html",
    "http://h/e/": "../e/index.html",
}


def resolve(url: str) -> str:
    """Return the place of *url* in the copy, or the URL itself."""
    return COPY.get(url, url)


def nowhere(url: str) -> None:
    """Have no other place for anything."""


ROWS = [
    # Quoting styles
    ('<a href="a">', '<a href="a~.html">'),
    ("<a href='a'>", "<a href='a~.html'>"),
    ("<a href=a>", "<a href=a~.html>"),
    ("<a href=a/>", "<a href=http://h/d/a/>"),
    ("<A HREF = a  class=x>", "<A HREF = a~.html  class=x>"),
    ("<a href= \n'a'\n>", "<a href= \n'a~.html'\n>"),
    ('<a id="i" href=" a " class="c">', '<a id="i" href="a~.html" class="c">'),
    ("<a href=a href=b.png>", "<a href=a~.html href=b.png>"),
    ("<a href>", "<a href>"),
    ("<img src='c.png'>", "<img src='c&#39;s~1.png'>"),
    ('<img src="c.png">', '<img src="c\'s~1.png">'),
    ("<img src=c.png>", "<img src=c&#39;s~1.png>"),
    # References in them
    ('<a href="a#x&amp;y">', '<a href="a~.html#x&amp;y">'),
    ('<a href="a#x y\u00e9">', '<a href="a~.html#x%20y%C3%A9">'),
    ('<a href="q?x=1&amp;y=2#z">', '<a href="q~%2541.html#z">'),
    ('<a href="q?x=1&y=2">', '<a href="q~%2541.html">'),
    ('<a href="n?a=1&b=2">', '<a href="http://h/d/n?a=1&amp;b=2">'),
    ("<a href=n?a='&b=2>", "<a href=http://h/d/n?a&#61;%27&amp;b&#61;2>"),
    ('<a href="//o/x">', '<a href="http://o/x">'),
    ('<a href="HTTP://O:80/x?&y">', '<a href="HTTP://O:80/x?&y">'),
    ('<a href="http://h/d/a">', '<a href="a~.html">'),
    ('<a href="/d/&#97;">', '<a href="a~.html">'),
    ('<a href="">', '<a href="">'),
    ('<a href="#top">', '<a href="#top">'),
    ('<a href="page#top">', '<a href="page~.html#top">'),
    ('<a href="mailto:x"><a href="javascript:a()"><img src="data:,a">', None),
    ('<a href="http://[">', None),
    # Elements
    ('<link rel=stylesheet href="a"><link rel=canonical href=n>',
     '<link rel=stylesheet href="a~.html"><link rel=canonical href=http://h/d/n>'),
    ('<link rel=preload as=image imagesrcset="b.png 1x">', None),
    ('<link rel=preload as=image imagesrcset="a 1x">', '<link rel=preload as=image imagesrcset="a~.html 1x">'),
    ('<script src="a">var u="a"</script><a href=a>', '<script src="a~.html">var u="a"</script><a href=a~.html>'),
    ('<!-- <a href="a"> --><textarea><a href="a"></textarea>', None),
    ('<input type=image src=a><input src=a>', "<input type=image src=a~.html><input src=a>"),
    ('<form action="s"><button formaction="/s">', '<form action="http://h/d/s"><button formaction="http://h/s">'),
    ('<img src="b.png" srcset="a, b.png 2x, c.png 3x">', '<img src="b.png" srcset="a~.html, b.png 2x, c\'s~1.png 3x">'),
    ("<img srcset='q?x=1&amp;y=2 1x,\n n 2x'>", "<img srcset='q~%2541.html 1x,\n http://h/d/n 2x'>"),
    ('<img srcset="a&#32;1x, a&#x20;2x">', '<img srcset="a~.html&#32;1x, a~.html&#x20;2x">'),
    ('<img data-src="a" data-lazy-srcset="a 2x">', '<img data-src="a~.html" data-lazy-srcset="a~.html 2x">'),
    ('<div data-bg="url(a)"><p data-background="{a}">', '<div data-bg="url(a~.html)"><p data-background="{a}">'),
    ('<p style="x:url(a)">', '<p style="x:url(a~.html)">'),
    ("<p style='x:url(c.png)'>", "<p style='x:url(c\\&#39;s~1.png)'>"),
    ('<p style="x:url(&quot;a&quot;);y:\'&amp;\'">', '<p style="x:url(&quot;a~.html&quot;);y:\'&amp;\'">'),
    ("<p style=\"x:url('c.png')\">", "<p style=\"x:url('c\\'s~1.png')\">"),
    ('<style>@import "a";b{c:url(c.png)}</style>', '<style>@import "a~.html";b{c:url(c\\\'s~1.png)}</style>'),
    ('<meta http-equiv=refresh content="0; url=a">', '<meta http-equiv=refresh content="0; url=a~.html">'),
    ("<meta http-equiv=Refresh content=\"5;URL='a'\">", "<meta http-equiv=Refresh content=\"5;URL='a~.html'\">"),
    ('<meta http-equiv=refresh content="5">', None),
    ('<meta property="og:image" content="a">', '<meta property="og:image" content="a~.html">'),
    ('<svg><use href="a#i"/><image xlink:href="a"/></svg>', '<svg><use href="a~.html#i"/><image xlink:href="a~.html"/></svg>'),
    ('<use href="#i"/>', None),
    ('<video poster=a><source src=a><track src=a>', "<video poster=a~.html><source src=a~.html><track src=a~.html>"),
    ('<object data="a"><embed src="a">', '<object data="a~.html"><embed src="a~.html">'),
    # What would keep the copy from opening
    ('<script src=a integrity="sha256-x" crossorigin></script>',
     '<script src=a~.html data-integrity="sha256-x" data-crossorigin></script>'),
    ('<script src="//o/x" integrity=i></script>', '<script src="http://o/x" integrity=i></script>'),
    ("<meta http-equiv='Content-Security-Policy' content=\"default-src 'self'\"><img src=b.png>",
     "<meta data-http-equiv='Content-Security-Policy' content=\"default-src 'self'\"><img src=b.png>"),
    ('<base href="/e/"><a href="a"><a href="#x"><a href="">',
     '<base href=""><a href="../e/a~.html"><a href="../e/index.html#x"><a href="../e/index.html">'),
    ("<base href=/e/><a href=><a href><area href class=c><img src>",
     '<base href=""><a href="../e/index.html"><a href="../e/index.html"><area href="../e/index.html" class=c><img src>'),
    ("<a href=a><base target=_top href=http://h/e/ ><base href='/x/'>",
     "<a href=../e/a~.html><base target=_top href=\"\" ><base href=''>"),
    ('<base href="page"><a href="#x">', None),
]  # fmt: skip


@pytest.mark.parametrize(("html", "wanted"), ROWS, ids=[row[0][:60] for row in ROWS])
def test_each_construct(html: str, wanted: str | None) -> None:
    """A reference is replaced where it stands and as it is quoted there; the rest stays; None: all stays."""
    assert rewrite_html(html.encode(), URL, resolve=resolve).decode() == (html if wanted is None else wanted)
    assert rewrite_html(html.encode(), URL, resolve=nowhere) == html.encode()


CHARSETS = ["utf-8", "utf-16-le", "utf-16-be", "windows-1252", "koi8-r", "shift_jis", "big5hkscs", "euc_jp", "euc_kr",
            "gb18030", "iso2022_jp"]  # fmt: skip
LABELS = {"utf-16-le": "utf-16le", "utf-16-be": "utf-16be", "big5hkscs": "big5", "iso2022_jp": "iso-2022-jp"}
WORDS = {"windows-1252": "caf\u00e9\u20ac", "koi8-r": "\u0434\u043e\u043c", "big5hkscs": "\u529f\u8a31\u84cb\u4f4f",
         "euc_kr": "\ud55c\uad6d\ub625\ubc29\uac02", "utf-8": "\u65e5\U0001f600\u00e9", "utf-16-le": "\u65e5\U0001f600",
         "utf-16-be": "\u6566\U0001f600"}  # fmt: skip


@pytest.mark.parametrize("codec", CHARSETS)
def test_charsets(codec: str) -> None:
    """In every encoding the references are found, and everything else is the same bytes."""
    word = WORDS.get(codec, "\u65e5\u8868\u30bd\u80fd")  # in Shift_JIS the second bytes of two of these are "\\"
    before = f'<meta charset="{LABELS.get(codec, codec)}"><title>{word}</title><p style="a:\'{word}\' url({word}.png)">'
    before += (
        f"<style>/*{word}*/ a{{b:url('{word}')}} c:url(a)</style><a title={word} href='{word}'>{word}</a><a href=a>"
    )
    named = read_html(before.encode(codec), URL, header_charset=LABELS.get(codec, codec)).links
    copy = {target: f"{number}.x" for number, target in enumerate(dict.fromkeys(link.target for link in named))}
    after = before.replace(f"url({word}.png)", "url(0.x)").replace(f"url('{word}')", "url('1.x')")
    after = after.replace("url(a)", "url(2.x)").replace(f"href='{word}'", "href='1.x'").replace("href=a", "href=2.x")
    found = rewrite_html(before.encode(codec), URL, header_charset=LABELS.get(codec, codec), resolve=copy.get)
    if codec.startswith("utf-16"):
        after = "\ufeff" + after
    assert found.decode(codec) == after
    assert found == after.encode(codec)


def test_invalid_bytes_stay() -> None:
    """Bytes that are not the encoding's are copied as they are, and found in references as the link extractor finds them."""
    body = b'<a href="a\xff\xe2\x82b">\xc3(\x00\xf0</a><a href=a>'
    (bad, _) = read_html(body, URL, header_charset="utf-8").links
    wanted = b'<a href="x">\xc3(\x00\xf0</a><a href=y>'
    copy = {bad.target: "x", "http://h/d/a": "y"}
    assert rewrite_html(body, URL, header_charset="utf-8", resolve=copy.get) == b'<meta charset="utf-8">' + wanted


DECLARED = [
    (b"<head><title>\xe9", "windows-1252", b'<head><meta charset="windows-1252"><title>\xe9'),
    (b"<!doctype html>\n<!-- a --><html lang=x>\n<HEAD id=a>\xe9", "latin1",
     b'<!doctype html>\n<!-- a --><html lang=x>\n<HEAD id=a><meta charset="windows-1252">\xe9'),
    (b"<!-- c --> <!DOCTYPE html><p>\xe9", "latin1", b'<!-- c --> <!DOCTYPE html><meta charset="windows-1252"><p>\xe9'),
    (b"\xe9", "latin1", b'<meta charset="windows-1252">\xe9'),
    (b"<meta charset=utf-8>\xe9", "latin1", b'<meta charset="windows-1252"><meta charset=utf-8>\xe9'),
    (b"<meta charset=latin1>\xe9", "windows-1252", None),
    (b"<p>e", "windows-1252", None),
    (b"\xef\xbb\xbf<p>\xc3\xa9", "latin1", None),
    (b"\xef\xbb\xbf<p>\xc3\xa9", "utf-8", None),
    (b"<p>\xe9", None, None),
    (b"\0<\0p\0>", "utf-16be", b"\xfe\xff\0<\0p\0>"),
    (b"\xff\xfe<\0p\0>\0", "utf-16le", None),
]  # fmt: skip


@pytest.mark.parametrize(("body", "header", "wanted"), DECLARED)
def test_encodings_are_declared(body: bytes, header: str | None, wanted: bytes | None) -> None:
    """A page says in itself what only the header said, before anything that says otherwise; a mark is kept and enough."""
    made = rewrite_html(body, URL, header_charset=header, resolve=nowhere)
    assert made == (body if wanted is None else wanted)
    if header is not None and not body.isascii():
        assert read_html(made, URL).charset == read_html(body, URL, header_charset=header).charset


XML = [
    (b"<svg><title>\xe9", "latin1", b'<?xml version="1.0" encoding="windows-1252"?><svg><title>\xe9'),
    (b'<?xml version="1.0"?><svg>\xe9', "latin1", b'<?xml version="1.0" encoding="windows-1252"?><svg>\xe9'),
    (b"<?xml version='1.0' encoding='utf-8'?><svg>\xe9", "latin1",
     b"<?xml version='1.0' encoding='windows-1252'?><svg>\xe9"),
    (b"<svg>\xc3\xa9", "utf-8", None),
]  # fmt: skip


@pytest.mark.parametrize(("body", "header", "wanted"), XML)
def test_encodings_are_declared_in_xml(body: bytes, header: str, wanted: bytes | None) -> None:
    """SVG and XHTML say it in their XML declaration."""
    wanted = body if wanted is None else wanted
    assert rewrite_svg(body, URL, header_charset=header, resolve=nowhere) == wanted
    assert rewrite_html(body, URL, header_charset=header, is_xml=True, resolve=nowhere) == wanted


SVG = [
    ('<?xml-stylesheet href="a"?><svg><a xlink:href="a"/></svg>',
     '<?xml-stylesheet href="a~.html"?><svg><a xlink:href="a~.html"/></svg>'),
    ('<svg><![CDATA[<a href="a">]]><image href="b.png"/><style>a{b:url(a)}</style></svg>',
     '<svg><![CDATA[<a href="a">]]><image href="b.png"/><style>a{b:url(a~.html)}</style></svg>'),
    ('<svg><style/><use href="#a"/><path style="fill:url(#p)" clip-path="url(#c)"/></svg>', None),
]  # fmt: skip


@pytest.mark.parametrize(("svg", "wanted"), SVG)
def test_svg(svg: str, wanted: str | None) -> None:
    """SVG is rewritten as the XML it is."""
    assert rewrite_svg(svg.encode(), URL, resolve=resolve).decode() == (svg if wanted is None else wanted)


PARTS = ["<", ">", "</", "a", "A", " ", "=", '"', "'", "/", "href", "src", "srcset", "style", "<a href=", "<img src='",
         "<style>", "</style>", "<script>", "</script>", "<!--", "-->", "url(", ")", "@import ", ";", ",", "&amp;", "&#97;",
         "&quot;", "#", "?", "x.png", "1x", "\\", "\\75 ", "\n", "\0", "\u00e9", "\u65e5", "\U0001f600", "<svg>", "</svg>",
         "<meta http-equiv=refresh content='0;url=", "<base href=/e/>", "<title>", "</title>", "<![CDATA[", "]]>", "<?xml "]  # fmt: skip
MARKUP = st.lists(st.sampled_from(PARTS), max_size=30).map("".join)
ENCODINGS = st.sampled_from(["utf-8", "utf-16-le", "utf-16-be", "windows-1252", "shift_jis", "gb18030", "big5", "euc_kr",
                             "iso2022_jp"])  # fmt: skip


@settings(deadline=None, max_examples=300)
@given(MARKUP, ENCODINGS)
def test_no_answer_no_change(html: str, codec: str) -> None:
    """Where there is no other place for anything, the bytes come back, in every encoding."""
    body = html.encode(codec, "replace")
    header = {"utf-16-le": "utf-16le", "utf-16-be": "utf-16be", "iso2022_jp": "iso-2022-jp"}.get(codec)
    encoded = b"\xff\xfe" + body if header == "utf-16le" else b"\xfe\xff" + body if header == "utf-16be" else body
    assert rewrite_html(encoded, URL, resolve=nowhere) == encoded
    assert rewrite_svg(encoded, URL, resolve=nowhere) == encoded


@settings(deadline=None)
@given(st.binary(max_size=200), st.sampled_from([None, "utf-8", "utf-16le", "iso-2022-jp", "big5", "latin1"]))
def test_no_answer_no_change_to_any_bytes(body: bytes, header: str | None) -> None:
    """Whatever the bytes, only a declaration may be added to them."""
    assert rewrite_html(body, URL, resolve=nowhere) == body
    assert rewrite_svg(body, URL, resolve=nowhere) == body
    assert len(rewrite_html(body, URL, header_charset=header, resolve=nowhere)) >= len(body)


@settings(deadline=None, max_examples=300)
@given(MARKUP)
def test_the_links_lead_where_they_led(html: str) -> None:
    """What the link extractor finds in the result are the new places of what it found before, in the same order."""
    body = html.encode()
    before = [link.target for link in read_html(body, URL).links if link.problem is None]
    places = {target: f"http://n/{number}" for number, target in enumerate(dict.fromkeys(before))}
    made = rewrite_html(body, URL, resolve=places.get)
    after = [link.target for link in read_html(made, URL).links if link.problem is None]
    stays = {URL, *before} if "<base" not in html else {URL}
    assert [
        new
        for new, old in zip(after, before, strict=True)
        if new not in {places.get(old), old} & ({places.get(old)} | stays)
    ] == []
