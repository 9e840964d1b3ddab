"""What sitemaps list, however they are written, and which of them to read."""

from __future__ import annotations

import gzip
import time
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spiderproj.sitemaps import Kind, Problem, Sitemap, SitemapEntry, SitemapWalk, candidates, read
from spiderproj.sitemaps.records import MAX_ENTRIES, MAX_PROBLEMS, parse_priority, parse_time
from spiderproj.urls import canonical

BASE = "http://h/dir/sitemap.xml"
SPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def locs(body: bytes | str) -> list[str]:
    """Return the pages that *body* lists, without the host."""
    sitemap = read(body if isinstance(body, bytes) else body.encode(), BASE)
    return [entry.loc.removeprefix("http://h") for entry in sitemap.entries]


def urlset(*urls: str) -> str:
    """Return a plain urlset of *urls*, as written."""
    return f"<urlset {SPACE}>" + "".join(f"<url><loc>{url}</loc></url>" for url in urls) + "</urlset>"


def test_urlset() -> None:
    """Every field of an entry is read; images are kept apart; other extensions are no pages."""
    body = f"""<?xml version="1.0" encoding="UTF-8"?>
    <?xml-stylesheet type="text/xsl" href="/main.xsl"?>
    <!-- made by <b>hand</b> -->
    <urlset {SPACE} xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"
      xmlns:video="http://www.google.com/schemas/sitemap-video/1.1" xmlns:xhtml="http://www.w3.org/1999/xhtml">
      <url>
        <loc> http://h/a?x=1&amp;y=2#top
        </loc>
        <lastmod>1970-01-02T01:00:00+01:00</lastmod><changefreq> Weekly </changefreq><priority>0.8</priority>
        <image:image><image:loc>/i.png</image:loc></image:image>
        <video:video><video:content_loc>http://h/v.mp4</video:content_loc><video:loc>http://h/v</video:loc></video:video>
        <xhtml:link rel="alternate" hreflang="de" href="http://h/de"/>
      </url>
      <url><lastmod>no date</lastmod><priority>NaN</priority><changefreq>often</changefreq><loc>/b</loc></url>
    </urlset>"""

    assert read(body.encode(), BASE) == Sitemap(
        kind=Kind.URLSET,
        entries=[SitemapEntry("http://h/a?x=1&y=2", 86400.0, 0.8, "weekly"), SitemapEntry("http://h/b")],
        images=["http://h/i.png"],
    )


def test_index() -> None:
    """An index lists sitemaps, not pages."""
    body = f"<sitemapindex {SPACE}><sitemap><loc>a.xml</loc></sitemap><sitemap><loc>http://o/b</loc></sitemap></sitemapindex>"

    assert read(body.encode(), BASE) == Sitemap(kind=Kind.INDEX, children=["http://h/dir/a.xml", "http://o/b"])


def test_text() -> None:
    """A text file lists a URL a line, with any line end; other lines are problems."""
    assert read(b"\xef\xbb\xbfhttp://h/1\r\nhttp://h/2\rnonsense\n\n  http://h/3", BASE) == Sitemap(
        kind=Kind.TEXT,
        entries=[SitemapEntry(f"http://h/{n}") for n in (1, 2, 3)],
        problems=[Problem("nonsense", "invalid")],
        problem_count=1,
    )


def test_rss() -> None:
    """The items of RSS 2.0 are pages, its channel is none."""
    body = """<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><link>http://h/</link>
    <atom:link rel="self" href="http://h/feed"/><item><title>x</title><link>http://h/1</link>
    <pubDate>Fri, 02 Jan 1970 00:00:00 GMT</pubDate></item><item><link><![CDATA[http://h/2?a&b]]></link></item></channel></rss>"""

    assert read(body.encode(), BASE) == Sitemap(
        kind=Kind.FEED, entries=[SitemapEntry("http://h/1", 86400.0), SitemapEntry("http://h/2?a&b")]
    )


def test_atom() -> None:
    """The alternate links of Atom entries are pages."""
    body = """<feed xmlns="http://www.w3.org/2005/Atom"><link href="http://h/"/><entry><link rel="edit" href="/e"/>
    <link rel="alternate" href="/1"/><updated>1970-01-02T00:00:00Z</updated></entry>
    <entry><link href="/2"/></entry></feed>"""

    assert read(body.encode(), BASE) == Sitemap(
        kind=Kind.FEED, entries=[SitemapEntry("http://h/1", 86400.0), SitemapEntry("http://h/2")]
    )


NOT_WHOLE: list[tuple[str, str | bytes, list[str]]] = [
    ("no namespace", "<urlset><url><loc>/a</loc></url></urlset>", ["/a"]),
    ("another namespace", '<urlset xmlns="x:y"><url><loc>/a</loc></url></urlset>', ["/a"]),
    ("a prefix", '<s:urlset xmlns:s="x:y"><s:url><s:loc>/a</s:loc><loc>/no</loc></s:url></s:urlset>', ["/a"]),
    ("a prefix never declared", "<urlset><url><loc>/a</loc><i:i><i:loc>/no</i:loc></i:i></url></urlset>", ["/a"]),
    ("relative", urlset("b", "../c", "//h/d", "?e"), ["/dir/b", "/c", "/d", "/dir/sitemap.xml?e"]),
    ("references", urlset("/a?b=1&#38;c&#x26;d&amp;e"), ["/a?b=1&c&d&e"]),
    ("bare ampersands", urlset("/a?b=1&c=2&amp;d&nbsp;&#xZZ;&"), ["/a?b=1&c=2&d&nbsp;&"]),
    ("escaped twice", urlset("/a?b&amp;amp;c"), ["/a?b&c"]),
    ("CDATA", urlset("<![CDATA[ /a?b&c ]]>"), ["/a?b&c"]),
    ("CDATA, escaped", urlset("<![CDATA[/a?b&amp;c]]>"), ["/a?b&c"]),
    ("comment inside", urlset("/a<!-- no -->b"), ["/ab"]),
    ("less-than", urlset("/a < b", "/c"), ["/a%20%3C%20b", "/c"]),
    ("end tag missing", "<urlset><url><loc>/a<url><loc>/b</loc></url><url><loc>/c</loc>", ["/a", "/b", "/c"]),
    ("end tags crossed", "<urlset><url><loc>/a</url></loc><url><loc>/b</loc></url></urlset>", ["/a", "/b"]),
    ("end tag broken", "<urlset><url><loc>/a</lo<url><loc>/b</loc></url>", ["/a", "/b"]),
    ("attribute broken", "<urlset><url x=1 y><loc>/a</loc></url><url><loc>/b</loc></url>", ["/a", "/b"]),
    ("end tags too many", urlset("/a</loc></url></url></url><url><loc>/b", "/c"), ["/a", "/b", "/c"]),
    ("two documents", '<?xml version="1.0"?>' + urlset("/a") + '<?xml version="1.0"?>' + urlset("/b"), ["/a", "/b"]),
    ("cut", urlset("/a", "/b", "/not-whole")[:-25], ["/a", "/b"]),
    ("warnings in front", "PHP Warning: x\n" + urlset("/a"), ["/a"]),
    ("blanks in front", ' \n<?xml version="1.0"?>' + urlset("/a"), ["/a"]),
    ("document type", "<!DOCTYPE urlset SYSTEM 'x.dtd'>" + urlset("/a"), ["/a"]),
    ("controls", urlset("/a\0b\x01", "/c\x1f"), ["/a%20b", "/c"]),
    ("not characters", urlset("\ufffe/a", "/b"), ["/a", "/b"]),
    ("byte order mark", b"\xef\xbb\xbf" + urlset("/a").encode(), ["/a"]),
    ("UTF-16", urlset("/é").encode("utf-16"), ["/%C3%A9"]),
    ("UTF-16 without a mark", urlset("/é").encode("utf-16-be"), ["/%C3%A9"]),
    ("false UTF-16", '<?xml version="1.0" encoding="UTF-16"?>' + urlset("/é"), ["/%C3%A9"]),
    ("false Latin-1", '<?xml version="1.0" encoding="iso-8859-1"?>' + urlset("/é"), ["/%C3%A9"]),
    ("Latin-1", ('<?xml version="1.0" encoding="iso-8859-1"?>' + urlset("/é")).encode("latin-1"), ["/%C3%A9"]),
    ("no encoding", '<?xml version="1.0" encoding="punycode"?>' + urlset("/é"), ["/%C3%A9"]),
    ("undeclared Latin-1", urlset("/é", "/b").encode("latin-1"), ["/%EF%BF%BD", "/b"]),
    ("gzip", gzip.compress(urlset("/a").encode()), ["/a"]),
    ("gzip in members", gzip.compress(urlset("/a").encode()[:40]) + gzip.compress(urlset("/a").encode()[40:]), ["/a"]),
    ("gzip cut", gzip.compress(urlset("/a").encode())[:-9], ["/a"]),
    ("gzip with a tail", gzip.compress(urlset("/a").encode()) + b"\0" * 9, ["/a"]),
    ("first loc counts", "<urlset><url><loc></loc><loc>/a</loc><loc>/b</loc></url></urlset>", ["/a"]),
    ("loc outside", "<urlset><loc>/a</loc><url><loc>/b</loc></url><loc>/c</loc></urlset>", ["/b"]),
]


@pytest.mark.parametrize(("body", "pages"), [row[1:] for row in NOT_WHOLE], ids=[row[0] for row in NOT_WHOLE])
def test_whatever_is_readable_is_read(body: str | bytes, pages: list[str]) -> None:
    """Each row of the table gives its pages, whatever else is wrong with it."""
    assert locs(body) == pages


@pytest.mark.parametrize(
    ("loc", "reason"),
    [
        ("", "blank"),
        ("   ", "blank"),
        ("file:///etc/passwd", "scheme"),
        ("javascript:alert(1)", "scheme"),
        ("ftp://h/", "scheme"),
        ("http://[", "invalid"),
        ("http://h:99999/", "invalid"),
        ("/" + "a" * 3000, "too-long"),
        ("/" + "a" * 300_000, "too-long"),
    ],
)
def test_one_bad_entry_spoils_no_other(loc: str, reason: str) -> None:
    """An entry that cannot be fetched is told with its reason; those around it count."""
    sitemap = read(urlset("/1", loc, "/2").encode(), BASE)

    assert [entry.loc for entry in sitemap.entries] == ["http://h/1", "http://h/2"]
    assert sitemap.problems == [Problem(loc.strip()[:200], reason)]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"<!doctype html><html><head><title>x</title></head><body><a href='/a'>a</a></body></html>", "root element"),
        (b"<rdf><url><loc>/a</loc></url></rdf>", "root element"),
        (b"", "blank"),
        (b" \n ", "blank"),
        (b"<", "no element"),
        (b"<!-- only -->", "no element"),
        (b"\0\1\2\3", "invalid"),
        (gzip.compress(gzip.compress(b"http://h/", mtime=0), mtime=0), "gzip within gzip"),
        (b"\x1f\x8bnonsense", "damaged"),
        (b"\x1f\x8b", "end early"),
    ],
)
def test_no_sitemap(body: bytes, reason: str) -> None:
    """What is no sitemap lists nothing and says why."""
    sitemap = read(body, BASE)

    assert (sitemap.kind, sitemap.entries, sitemap.children) == (Kind.UNKNOWN, [], [])
    assert reason in sitemap.problems[0].reason


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970", 0.0),
        ("1970-02", 31 * 86400.0),
        ("1970-01-02", 86400.0),
        ("1970-01-01T00:01Z", 60.0),
        ("1970-01-01T00:00:01.5Z", 1.5),
        ("1970-01-01T01:00:00+01:00", 0.0),
        ("1970-01-01T00:00:05", 5.0),
        (" 1970-01-01 00:00:05 ", 5.0),
        ("Thu, 01 Jan 1970 01:00:00 +0100", 0.0),
        ("1970-13-01", None),
        ("Yesterday", None),
        ("0001-01-01T00:00:00+23:59", None),
        ("9" * 5000, None),
        ("", None),
    ],
)
def test_lastmod(text: str, seconds: float | None) -> None:
    """W3C and RFC 5322 dates are read, as UTC where they name no zone."""
    if text.startswith("0001"):
        parse_time(text)  # the edge of the calendar must not raise; either answer is right
    else:
        assert parse_time(text) == seconds


@pytest.mark.parametrize(
    ("text", "priority"),
    [
        ("0", 0.0),
        ("1.0", 1.0),
        (" .5 ", 0.5),
        ("1.1", None),
        ("-1", None),
        ("NaN", None),
        ("inf", None),
        ("high", None),
    ],
)
def test_priority(text: str, priority: float | None) -> None:
    """A priority lies between 0 and 1, or there is none."""
    assert parse_priority(text) == priority


def test_entities_are_dead(tmp_path: Path) -> None:
    """No entity is expanded, no file read: references stay as the text they are written in."""
    secret = tmp_path / "secret"
    secret.write_text("SECRET")
    uri = secret.as_uri()
    types = f'<!DOCTYPE u [<!ENTITY a "AAAA"><!ENTITY f SYSTEM "{uri}"><!ENTITY % p SYSTEM "{uri}">%p;]>'

    assert locs(types + urlset("/&a;&f;", "/b")) == ["/&a;&f;", "/b"]
    assert locs(f'<urlset>{types}<url x="&a;"><loc>/&a;</loc></url></urlset>') == ["/&a;"]


LAUGHS = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
MEGA = 1024 * 1024
COSTLY: list[tuple[str, bytes]] = [
    ("billion laughs", f'<!DOCTYPE u [<!ENTITY e0 "lol">{LAUGHS}]>{urlset("/&e11;")}'.encode()),
    ("quadratic", f'<!DOCTYPE u [<!ENTITY e "{"x" * 50_000}">]>{urlset(*["/&e;"] * 10_000)}'.encode()),
    ("deep", b"<urlset>" + b"<url>" * 100_000),
    ("deep strangers", b"<urlset>" + b"<a>" * 300_000),
    ("tags without end", b"<urlset>" + b"<u " * 4 * MEGA),
    ("ampersands", b"<urlset>" + b"&" * 8 * MEGA),
    ("less-thans", b"<urlset>" + b"<" * 8 * MEGA),
    ("comments without end", b"<urlset>" + b"<!--" * 4 * MEGA),
    ("CDATA without end", b"<urlset>" + b"<![CDATA[" * 2 * MEGA),
    ("declarations", b"<!a>" * 4 * MEGA),
    ("attributes", b"<urlset><url " + b"".join(b"a%d='' " % n for n in range(50_000)) + b">"),
    ("namespaces", b"<urlset " + b"".join(b"xmlns:a%d='%d' " % (n, n) for n in range(30_000)) + b">"),
    ("lines of noise", b"\0\1\n" * 4 * MEGA),
    ("one line", b"a" * 16 * MEGA),
    ("gzip bomb", gzip.compress(b"<urlset>" + b" " * 80 * MEGA)),
    ("gzip members", gzip.compress(b"") * 50_000),
]


@pytest.mark.parametrize("body", [row[1] for row in COSTLY], ids=[row[0] for row in COSTLY])
def test_hostile_files_are_cheap(body: bytes) -> None:
    """No file takes more than three seconds of CPU, and none lists anything it does not spell out."""
    began = time.process_time()
    sitemap = read(body, BASE)

    assert time.process_time() - began < 3
    assert not sitemap.children
    assert all(len(entry.loc) < 100 for entry in sitemap.entries)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (gzip.compress(b"<urlset>" + b" " * 8 * MEGA), "gzip holds more than 300 times its size"),
        (gzip.compress(b"") * 200, "only 100 gzip members are read"),
        (b"<urlset>" + b"<!--" * MEGA, "only 1500000 elements are read, or 1 MB without one"),
        (b"<urlset>" + b"<a/>" * 2 * MEGA, "only 1500000 elements are read, or 1 MB without one"),
    ],
)
def test_cuts_are_told(body: bytes, reason: str) -> None:
    """A file that is not read to its end says so."""
    assert read(body, BASE).problems[0].reason == reason


def test_a_bomb_takes_little_memory() -> None:
    """What goes over the bounds is never unpacked."""
    body = gzip.compress(b"<urlset>" + b" " * 16 * MEGA)
    tracemalloc.start()
    read(body, BASE)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert peak < 12 * MEGA


@pytest.mark.parametrize("extra", [0, 1])
def test_entries_are_bounded(extra: int) -> None:
    """50,000 entries are taken without a word, and no more."""
    for body in (b"http://h/\n", b"<url><loc>/</loc></url>"):
        sitemap = read((b"<urlset>" if b"<" in body else b"") + body * (MAX_ENTRIES + extra), BASE)

        assert len(sitemap.entries) == MAX_ENTRIES
        assert sitemap.problem_count == extra


def test_problems_are_bounded() -> None:
    """Problems are counted, and the first hundred described; a text of nothing else is given up."""
    assert read(b"x\n" * 1000, BASE).problem_count == MAX_PROBLEMS
    sitemap = read(urlset(*["ftp://h/"] * 1000).encode(), BASE)

    assert (len(sitemap.problems), sitemap.problem_count) == (MAX_PROBLEMS, 1000)


def test_long_documents_keep_their_tokens() -> None:
    """Where the text is cut for the parser, no reference, CDATA section or tag is cut in two."""
    urls = [f"/{n}?a&amp;b&#38;c<![CDATA[&d]]>&e" for n in range(9000)]

    assert locs(urlset(*urls)) == [f"/{n}?a&b&c&d&e" for n in range(9000)]


TAGS = ["<urlset>", "</urlset>", "<url>", "</url>", "<loc>", "</loc>", "<sitemap>", "<entry>", "<link href='/x'/>"]
SIGNS = [
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<?",
    "?>",
    "<!DOCTYPE",
    "/a",
    "&",
    "&amp;",
    "<",
    ">",
    "\0",
    "é",
    "\ufffe",
    "'",
]
PARTS = st.sampled_from([*TAGS, *SIGNS])


@settings(deadline=None, max_examples=200)
@given(st.lists(PARTS, max_size=30), st.sampled_from(["utf-8", "utf-16", "latin-1"]))
def test_any_markup(parts: list[str], encoding: str) -> None:
    """Reading never raises, and all that is listed is canonical."""
    sitemap = read("".join(["<urlset>", *parts]).encode(encoding, "replace"), BASE)

    for url in [*(entry.loc for entry in sitemap.entries), *sitemap.children]:
        assert canonical(url) == url


@settings(deadline=None, max_examples=150)
@given(st.binary(max_size=200), st.sampled_from([b"", b"<urlset>", b"\x1f\x8b\x08", b"\xff\xfe", b"http://h/\n"]))
def test_any_bytes(body: bytes, start: bytes) -> None:
    """Reading never raises, and a file without entries says why."""
    sitemap = read(start + body, BASE)

    assert sitemap.entries or sitemap.problems or sitemap.kind is not Kind.UNKNOWN


@settings(deadline=None, max_examples=100)
@given(st.lists(st.text("ab/?=&;<>é'\"", min_size=1, max_size=10), max_size=8))
def test_escaped_urls_come_back(paths: list[str]) -> None:
    """A sitemap written by the rules gives exactly the URLs that went into it."""
    urls = [canonical("http://h/" + path) for path in paths if "&amp;" not in path]
    escaped = [url.replace("&", "&amp;").replace("<", "&lt;") for url in urls]

    assert [entry.loc for entry in read(urlset(*escaped).encode(), BASE).entries] == urls


# Which sitemaps to read


def test_candidates() -> None:
    """The lines of robots.txt come first, /sitemap.xml last, each once; what cannot be fetched is passed over."""
    lines = ["http://other/s.xml", "/news.xml", "file:///etc/passwd", "http://[", "http://h/sitemap.xml", "/news.xml#x"]

    assert list(candidates("http://h", lines)) == ["http://other/s.xml", "http://h/news.xml", "http://h/sitemap.xml"]
    assert list(candidates("https://h:444", [])) == ["https://h:444/sitemap.xml"]


def test_walk_reads_each_once() -> None:
    """An index that lists itself, and a child that redirects back to it, end."""
    walk = SitemapWalk()
    walk.offer(["http://h/s"])
    first = walk.take()
    assert first == ("http://h/s", 1)
    assert walk.arrive("http://h/s", "http://h/s")
    assert walk.offer(["http://h/s", "http://h/a", "http://h/b", "http://h/a"], 2) == 2

    assert walk.take() == ("http://h/a", 2)
    assert not walk.arrive("http://h/a", "http://h/s")
    assert walk.take() == ("http://h/b", 2)
    assert walk.arrive("http://h/b", "http://h/c")
    assert walk.offer(["http://h/c"], 3) == 0
    assert walk.take() is None
    assert walk.problems == []


def test_walk_is_bounded() -> None:
    """Three levels, 500 files, a million pages; each limit reached is told once."""
    walk = SitemapWalk()

    assert walk.offer(["http://h/deep"], 4) == 0
    assert walk.offer([f"http://h/{n}" for n in range(600)], 3) == 500
    assert walk.offer(["http://h/more"]) == 0
    assert walk.admit(999_999) == 999_999
    assert walk.take() is not None
    assert walk.admit(50_000) == 1
    assert walk.admit(50_000) == 0
    assert walk.take() is None
    assert len(walk.problems) == 3
