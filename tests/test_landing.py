"""The landing page of a copy: what it shows, where it leads, and that nothing a site sends becomes markup."""

from __future__ import annotations

import os
import re
import time
from base64 import b64encode
from contextlib import ExitStack
from hashlib import sha256
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import pytest
import pytest_twisted
from hypothesis import given, settings
from hypothesis import strategies as st

from spiderproj import landing
from spiderproj.errors import StoreDamagedError
from spiderproj.front import write_front
from spiderproj.landing import Copy, Entry, Holding, Start
from spiderproj.landing.markup import Markup, element
from spiderproj.store import Folder
from spiderproj.store.figures import figures
from tests.crawling import crawl
from tests.routes import link, page, redirect, text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from tests.answers import RouteSpec
    from tests.site import Site

    Factory = Callable[[Iterable[RouteSpec]], Site]

EVIL = "\"'><script>alert(1)</script><!--</title></style><img src=x onerror=y>&lt;b&gt;\u202e\0\x1b\ud800"
OURS = {"html", "head", "meta", "title", "style", "body", "header", "main", "h1", "h2", "h3", "p", "ul", "li", "a",
        "bdi", "div", "span", "table", "caption", "thead", "tbody", "tr", "th", "td"}  # fmt: skip
ATTRIBUTES = {"lang", "charset", "http-equiv", "content", "name", "href", "class", "scope"}


class Seen(HTMLParser):
    """What a reader of HTML finds in a page."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.hrefs: list[str] = []
        self.texts: list[str] = []
        self.comments = 0
        self._open: list[str] = []
        self.feed(page.decode())
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag with its attributes."""
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.hrefs += [value or "" for name, value in attrs if name == "href"]
        if tag != "meta":
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """See that it ends what was begun last."""
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Note a text."""
        if self._open and self._open[-1] != "style":
            self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        """Count a comment."""
        self.comments += 1


def a_copy(evil: str = "A title", **changes: Any) -> Copy:
    """Return a copy with *evil* wherever a site, a user or a store could put a text."""
    fields: dict[str, Any] = {
        "title": evil,
        "starts": [Start("http://h/", "h/index.html", evil), Start(f"http://h/{evil}", None)],
        "more_starts": 0,
        "crawled": (0.0, 100_000.0),
        "keywords": evil,
        "words": [evil],
        "totals": {"pages": 3},
        "holdings": [Holding(evil, 2, 5_000_000)],
        "verdicts": {evil: 3},
        "refused": {evil: 1},
        "errors": {evil: 1},
        "arguments": {"filter": evil},
        "entries": [Entry(evil, f"h/{path}") for path in ("a.html", "b.html", f"{_as_stored(evil)}/x.html")],
        "unlisted": {evil: 2},
        "unlisted_total": 5,
    }
    return Copy(**{**fields, **changes})


def _as_stored(text: str) -> str:
    """Return *text* as far as a path of the store could hold it."""
    return text[:200].encode("utf-8", "replace").decode()


def test_nothing_from_outside_is_markup() -> None:
    """With markup in every text there are no elements, attributes and comments but our own."""
    seen = Seen(landing.render(a_copy(EVIL)))
    assert set(seen.tags) == OURS
    assert seen.attributes == ATTRIBUTES
    assert seen.comments == 0
    assert len(seen.tags) == len(Seen(landing.render(a_copy())).tags)
    assert sum("<script>alert(1)</script>" in text for text in seen.texts) >= 12


@settings(deadline=None, max_examples=150)
@given(st.text(max_size=60))
def test_any_text_is_text(given_text: str) -> None:
    """Whatever a text is, the elements are the same; it holds no control, no surrogate and no turn of direction."""
    made = landing.render(a_copy(f"x{given_text}"))
    assert len(Seen(made).tags) == len(Seen(landing.render(a_copy())).tags)
    assert re.search("[\0-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", made.decode()) is None


@settings(deadline=None, max_examples=100)
@given(st.text(max_size=30), st.text(max_size=30))
def test_an_element_is_one_element(child: str, value: str) -> None:
    """A child and a value come back from a reader as they were given; Markup is not escaped twice."""
    inner = element("b", child.replace("\r", "").replace("\0", ""))
    seen = Seen(element("p", inner, title=value).encode("utf-8", "replace"))
    assert seen.tags == ["p", "b"]
    assert isinstance(inner, Markup)


def test_long_texts_are_cut() -> None:
    """Titles of ten megabytes, and a thousand of them, make a page of bounded size in a moment."""
    began = time.process_time()
    assert len(landing.render(a_copy("<" * 10_000_000))) < 100_000
    entries = [Entry("x" * 100_000, f"h/{number}.html") for number in range(landing.MAX_ENTRIES)]
    assert len(landing.render(a_copy(entries=entries))) < 600_000
    assert time.process_time() - began < 2


def test_many_errors_are_cut() -> None:
    """Of kinds that a site can multiply the most frequent are shown, the others counted."""
    texts = Seen(landing.render(a_copy(errors={f"kind {number}": number for number in range(1, 101)}))).texts
    assert "kind 100" in texts
    assert "kind 1" not in texts
    assert texts[texts.index("60 others") + 1] == f"{sum(range(1, 61)):,}"


def test_the_policy_allows_the_style_alone() -> None:
    """The page's own policy forbids everything but its one style sheet, named by its digest."""
    made = landing.render(a_copy()).decode()
    (css,) = re.findall("<style>(.*?)</style>", made, re.DOTALL)
    digest = b64encode(sha256(css.encode()).digest()).decode()
    assert f"default-src &#x27;none&#x27;; style-src &#x27;sha256-{digest}&#x27;" in made
    assert "url(" not in css
    assert "@import" not in css
    assert " style=" not in made


def test_the_page_can_be_read_aloud() -> None:
    """It has a language, one first heading, a caption for each table, and each of its headings a scope."""
    made = landing.render(a_copy()).decode()
    tags = Seen(made.encode()).tags
    assert '<html lang="en">' in made
    assert tags.count("h1") == tags.count("main") == tags.count("title") == 1
    assert tags.count("table") == tags.count("caption") > 5
    assert tags.count("th") == len(re.findall(' scope="(?:row|col)"', made))


def test_titles_are_in_the_order_of_people() -> None:
    """Pages are grouped by folder; in it titles are sorted without regard to case, numbers by their value."""
    entries = [
        Entry("Part 10", "h/b/1.html"),
        Entry("part 2", "h/b/2.html"),
        Entry("Z", "h/a/z.html"),
        Entry("a", "h/a/a.html"),
    ]
    texts = Seen(landing.render(a_copy(entries=entries))).texts
    begin = texts.index("h/a")
    assert texts[begin : begin + 6] == ["h/a", "a", "Z", "h/b", "part 2", "Part 10"]


def test_pages_of_one_title_are_told_apart() -> None:
    """Where several pages of a folder have the same title, the names of their files stand beside it."""
    places = {"h/a.html": "Index", "h/b.html": "Index", "h/c.html": "Other", "i/d.html": "Index"}
    entries = [Entry(title, path) for path, title in places.items()]
    page = landing.render(a_copy(entries=entries)).decode()

    assert [name in page for name in (">a.html<", ">b.html<", ">c.html<", ">d.html<")] == [True, True, False, False]


def test_what_is_not_listed_is_counted() -> None:
    """Folders of unlisted pages are named with their counts, and those of unnamed folders in one line."""
    texts = Seen(landing.render(a_copy(unlisted={"h/big": 1200, "": 3}, unlisted_total=1300))).texts
    assert "1,300 more are in these folders, and in pages.jsonl:" in texts
    assert texts[texts.index("h/big") + 1] == "1,200"
    assert texts[texts.index("other folders") + 1] == "97"


# --- of whole crawls

ROUTES = [
    page(
        "/",
        link("/docs/a", "/docs/%C3%BC?x=1&y=2", "/x.pdf", "/gone", "/moved", "/100%25", "/same1", "/same2", "/deny"),
    ),
    {**page("/docs/a"), "body": "<title>Bolts &amp; \u2028 <b>nuts</b></title>"},
    {**page("/docs/%C3%BC?x=1&y=2"), "body": "<p>without a title"},
    text("/x.pdf", "%PDF", "application/pdf"),
    redirect("/moved", "/docs/a"),
    page("/100%25"),
    page("/deny"),
    *(
        {"path": path, "headers": {"Content-Type": "text/html"}, "body": "<title>Same</title>"}
        for path in ("/same1", "/same2")
    ),
]


@pytest_twisted.ensureDeferred
async def test_every_link_leads_to_a_file(site: Factory, tmp_path: Path) -> None:
    """Each reference of the page is relative, and is a file of the copy, with mirror=1 and without."""
    served = site(ROUTES)
    for mirror in "01":
        done = await crawl(f"{served.base}/", tmp_path / "out", select="page,child:html,document", mirror=mirror)
        seen = Seen((done.out / "index.html").read_bytes())

        assert done.status == 0
        assert len(seen.hrefs) == 1 + 7 + 6
        for href in seen.hrefs:
            parts = urlsplit(href)
            assert (parts.scheme, parts.netloc, parts.query, parts.fragment) == ("", "", "", "")
            assert (done.out / unquote(parts.path)).is_file(), href
        stored = {f"{row['path']}" for row in done.pages if row["path"]}
        assert {unquote(href) for href in seen.hrefs if href.startswith("files/")} == stored


@pytest_twisted.ensureDeferred
async def test_figures_are_the_summarys(site: Factory, tmp_path: Path) -> None:
    """The counts of the page are those of the summary; arguments are there, paths of the machine are not."""
    served = site(ROUTES)
    done = await crawl(
        f"{served.base}/",
        tmp_path / "out",
        select="page,child:html,document host:all",
        deny="/deny",
        keywords="Nuts, <i>bolts</i>",
    )
    texts = Seen((done.out / "index.html").read_bytes()).texts

    def after(name: str) -> str:
        return texts[texts.index(name) + 1]

    for name, key in {
        "pages and files answered": "pages",
        "files stored": "files",
        "links found": "links_total",
    }.items():
        assert after(name) == str(done.summary[key])
    assert (after("deny"), after("HTTP 404"), after("Keywords: ")) == ("1", "1", "Nuts, <i>bolts</i>")
    assert after("select") == "page:document,html child:document,html host:all"
    assert {"Page /", "Bolts & <b>nuts</b>", "/docs/%C3%BC?x=1&y=2", "/x.pdf", "Same"} <= set(texts)
    assert str(tmp_path) not in "".join(texts)


@pytest_twisted.ensureDeferred
async def test_seeds_that_moved_or_are_missing(site: Factory, tmp_path: Path) -> None:
    """A seed that is a redirect leads, by its title, to where it led; of one that is not in the copy it is said."""
    served = site([redirect("/start", "/real/"), page("/real/"), page("/ok")])
    seeds = f"{served.base}/start {served.base}/gone {served.base}/ok"
    done = await crawl(seeds, tmp_path / "out")
    made = (done.out / "index.html").read_text()

    starts = re.findall('<li>(<a href="([^"]*)">)?<bdi lang="">([^<]*)</bdi>', made.partition("</ul>")[0])
    assert [bool(found[0]) for found in starts] == [True, False, True]
    assert '<h1><bdi lang="">Page /real/</bdi></h1>' in made
    assert "/gone</bdi> (not in the copy)" in made
    named = f'<bdi lang="">Page /real/</bdi></a> <span class="faint"><bdi lang="">{served.base}/start</bdi></span>'
    assert named in made


@pytest_twisted.ensureDeferred
async def test_an_empty_copy_has_a_front(site: Factory, tmp_path: Path) -> None:
    """Where nothing could be fetched the page is there all the same, and says so."""
    served = site([{"path": "/", "status": 404}])
    done = await crawl(f"{served.base}/", tmp_path / "out")

    assert done.status == 10
    made = (done.out / "index.html").read_text()
    assert "(not in the copy)" in made
    assert f'<h1><bdi lang="">127.0.0.1:{served.port}</bdi></h1>' in made


@pytest_twisted.ensureDeferred
async def test_a_large_copy_names_its_folders(site: Factory, tmp_path: Path, monkeypatch: Any) -> None:
    """Pages over the limit are counted by their folder: listed and unlisted ones together are all of them."""
    monkeypatch.setattr(landing, "MAX_ENTRIES", 10)
    monkeypatch.setattr(landing, "MAX_FOLDERS", 2)
    names = [f"/{folder}/{number}" for folder in "abcd" for number in range(5)]
    served = site([page("/", link(*names)), *map(page, names)])
    done = await crawl(f"{served.base}/", tmp_path / "out")
    seen = Seen((done.out / "index.html").read_bytes())

    assert len([href for href in seen.hrefs if href.startswith("files/")]) == 1 + 10
    assert "11 more are in these folders, and in pages.jsonl:" in seen.texts
    at = seen.texts.index("Not listed by title")
    assert seen.texts[at + 3 : at + 9 : 2] == [
        f"127.0.0.1_{served.port}/c",
        f"127.0.0.1_{served.port}/d",
        "other folders",
    ]
    assert seen.texts[at + 4 : at + 9 : 2] == ["5", "5", "1"]


@pytest_twisted.ensureDeferred
async def test_a_copy_that_somebody_has_meddled_with(site: Factory, tmp_path: Path) -> None:
    """Files that are gone, or are no files any more, cost their headings only; an impossible row is damage."""
    served = site(
        [page("/", "<h1>Whole</h1>" + link("/gone", "/fifo", "/link")), *map(page, ("/gone", "/fifo", "/link"))]
    )
    done = await crawl(f"{served.base}/", tmp_path / "out")
    files = {name: done.out / done.page(f"{served.base}/{name}")["path"] for name in ("gone", "fifo", "link")}
    for path in files.values():
        path.unlink()
    os.mkfifo(files["fifo"])
    files["link"].symlink_to("/etc/passwd")
    with ExitStack() as opened:
        folder = Folder(done.out, fsync=False, reserve=0)
        opened.callback(folder.close)
        options, found = done.spider.job.options, figures(folder.database)
        write_front(folder, options, found)
        assert " whole\n" in (done.out / "__doc.txt").read_text()
        folder.database.write("UPDATE fetches SET fetched_at = 1e300")
        with pytest.raises(StoreDamagedError, match="a row of it is wrong"):
            write_front(folder, options, found)
