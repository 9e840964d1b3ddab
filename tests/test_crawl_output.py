"""What a crawl leaves is true: lines, files, store, summary and feeds say the same, whatever the site sent."""

from __future__ import annotations

import csv
import json
import sqlite3
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest
import pytest_twisted

from spiderproj.display import inert_cell
from tests.crawling import crawl
from tests.recount import disagreements
from tests.requests_seen import LOOPBACK, ONE
from tests.routes import link, page, redirect, text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.answers import RouteSpec
    from tests.site import Site

    Factory = Callable[[Iterable[RouteSpec]], Site]

HTML = {"Content-Type": "text/html; charset=utf-8"}
MANY = [
    page("/", '<link rel="stylesheet" href="/s.css"><img src="/i.png"><form action="/f"></form>' + link(
        "/a", "/a/", "/A", "/a?q=1&amp;r=2", "/a?q=2", "/same1", "/same2", "/r", "/loop", "/404", "/500", "/secret",
        "/", "#top", "mailto:x@example.org", "javascript:void(0)", "http://[bad", "{{ALT}}/far", "{{OTHER}}/near",
        "/x.pdf", "/empty", "/é", "/%C3%A9", "/" + "l" * 3000, "/cut", "/plain")),
    page("/a", link("/b", "/x.pdf")), page("/a/", link("../b")), page("/A"), page("/a?q=1&r=2"),
    page("/b", link("/c", "/404")), page("/c"), redirect("/r", "/c"), redirect("/loop", "/loop"),
    {"path": "/500", "status": 500}, page("/secret"), text("/robots.txt", "User-agent: *\nDisallow: /secret"),
    text("/x.pdf", "%PDF", "application/pdf"), {"path": "/empty", "headers": HTML, "body": ""}, page("/%C3%A9"),
    {"path": "/cut", "headers": HTML, "body": "x" * 99, "send_bytes": 50}, text("/plain", "plain"),
    text("/s.css", "@import '/t.css'", "text/css"), text("/t.css", "b{}", "text/css"),
    *({"path": path, "headers": HTML, "body": "<p>same"} for path in ("/same1", "/same2", "/a?q=2")),
    text("/i.png", "\x89PNG", "image/png"),
]  # fmt: skip
"""One of everything: duplicates, redirects, errors, refusals of most kinds, odd names."""


@pytest.mark.parametrize(
    "arguments",
    [
        {}, {"gate": "get"}, {"requisites": "1"}, {"mode": "all", "depth": "2"}, {"mode": "directory"},
        {"mode": "files"}, {"near": "1", "order": "files"}, {"unique": "off"}, {"order": "depth"}, {"depth": "1"},
        {"filter": "size < 200"}, {"deny": "/[abc]", "allow": "/"},
        {"select": "page,child:all", "deny_types": "document"},
    ],
    ids=str,
)  # fmt: skip
@pytest_twisted.ensureDeferred
async def test_nothing_contradicts_anything(site: Factory, tmp_path: Path, arguments: dict[str, Any]) -> None:
    """Counted again from lines and files, every figure is the summary's; every URL has one verdict."""
    served = site(MANY)
    settings = {**LOOPBACK, "RETRY_TIMES": 0}
    done = await crawl(f"{served.base}/", tmp_path / "out", settings, **arguments)

    assert disagreements(done) == []
    assert done.summary["pending"] == 0
    assert {row["decision"] for row in done.links} <= {"fetched", "refused"}
    assert done.status == 0


@pytest_twisted.ensureDeferred
async def test_requests_are_counted_as_the_server_sees_them(site: Factory, tmp_path: Path) -> None:
    """The summary's requests, by method, and its connections are those of the server's log, over two runs."""
    served = site(MANY)
    for _ in range(2):
        done = await crawl(f"{served.base}/", tmp_path / "out", {**ONE, "RETRY_TIMES": 0})
        methods = [each.method for each in served.log]

        assert done.summary["requests"] == {name: methods.count(name) for name in sorted(set(methods))}
        assert done.summary["connections"] == len({each.connection for each in served.log})


@pytest_twisted.ensureDeferred
async def test_store_says_what_the_lines_say(site: Factory, tmp_path: Path) -> None:
    """The documented tables and views of crawl.db hold the rows of the JSON lines."""
    served = site(MANY)
    done = await crawl(f"{served.base}/", tmp_path / "out", {"RETRY_TIMES": 0})
    with sqlite3.connect(done.out / "crawl.db") as store:
        decisions = dict(store.execute("SELECT url, reason FROM decisions WHERE verdict = 'refused'"))
        (links,) = store.execute("SELECT count(*) FROM links").fetchone()
        contents = store.execute("SELECT path, size, lower(hex(digest)) FROM contents").fetchall()
        (integrity,) = store.execute("PRAGMA integrity_check").fetchone()
        broken = store.execute("PRAGMA foreign_key_check").fetchall()
        (state,) = store.execute("SELECT value FROM meta WHERE name = 'state'").fetchone()
    store.close()

    assert decisions == done.reasons()
    assert links == done.summary["links_total"]
    assert {(f"files/{path}", size, f"sha256:{digest}") for path, size, digest in contents} == {
        (row["path"], row["size"], row["digest"]) for row in done.pages if row["path"]
    }
    assert (integrity, broken, state) == ("ok", [], "finished")


LINK_KEYS = ["source", "target", "text", "tag", "attribute", "rel", "depth", "level", "type", "decision", "reason"]
PAGE_KEYS = ["url", "final_url", "status", "type", "content_type", "size", "digest", "duplicate_of", "path", "depth",
             "level", "via", "fetched_at", "etag", "last_modified", "title", "error"]  # fmt: skip
REFUSED_KEYS = ["url", "reason", "rule", "via", "depth", "level", "type"]
SUMMARY_KEYS = {"state", "reason", "pages", "links", "links_total", "files", "bytes", "requests", "connections",
                "refused", "duplicates", "errors", "seconds", "pages_per_second", "peak_rss_mb",
                "pending", "limited_by"}  # fmt: skip


@pytest_twisted.ensureDeferred
async def test_shape_of_the_lines(site: Factory, tmp_path: Path) -> None:
    """Every line has exactly its documented keys, in their order; what there is not is null, never an empty text."""
    served = site(MANY)
    done = await crawl(f"{served.base}/", tmp_path / "out", {"RETRY_TIMES": 0})

    assert {tuple(row) for row in done.links} == {tuple(LINK_KEYS)}
    assert {tuple(row) for row in done.pages} == {tuple(PAGE_KEYS)}
    assert {tuple(row) for row in done.refused} == {tuple(REFUSED_KEYS)}
    assert set(done.summary) >= SUMMARY_KEYS
    nullable = [
        "type",
        "content_type",
        "digest",
        "duplicate_of",
        "path",
        "via",
        "etag",
        "last_modified",
        "title",
        "error",
    ]
    assert {row[key] for row in done.pages for key in nullable} & {"", "sha256:", "files/"} == set()
    assert done.page(f"{served.base}/")["via"] is None
    assert done.page(f"{served.base}/r")["final_url"] == f"{served.base}/c"


@pytest.mark.parametrize("name", ["links.jsonl", "links.json", "links.csv"])
@pytest_twisted.ensureDeferred
async def test_feed_has_the_links_alone(site: Factory, tmp_path: Path, name: str) -> None:
    """-O FILE gives a line a link, in the shape of links.jsonl, in any format of Scrapy's, and nothing else."""
    served = site(MANY)
    feed = tmp_path / name
    form = {"jsonl": "jsonlines", "json": "json", "csv": "csv"}[name.rpartition(".")[2]]
    settings = {"FEEDS": {str(feed): {"format": form, "overwrite": True}}, "RETRY_TIMES": 0}
    for _ in range(2):  # the second run is a revisit
        done = await crawl(f"{served.base}/", tmp_path / "out", settings)
        lines = feed.read_text(encoding="utf-8").splitlines()
        if form == "csv":
            assert lines[0].split(",") == LINK_KEYS
            assert len(lines) == len(done.links) + 1
            continue
        rows = json.loads(feed.read_text()) if form == "json" else [json.loads(line) for line in lines]
        shown = [key for key in LINK_KEYS if key not in ("depth", "type", "decision", "reason")]  # these may change yet
        assert all(list(row) == LINK_KEYS for row in rows)
        assert sorted([row[key] for key in shown] for row in rows) == sorted(
            [row[key] for key in shown] for row in done.links
        )


ACTIVE = ["=1+1", "+1", "-1", "@SUM(1)", " =1", '"=1', "'=1", "\t=1", "\r=1"]


@pytest.mark.parametrize("text", ACTIVE)
def test_a_cell_of_a_feed_is_no_formula(text: str) -> None:
    """A spreadsheet takes nothing that a page says for a formula, blanks and quotes before it or not."""
    assert inert_cell(text) == f"'{text}"
    assert inert_cell(f"a{text}") == f"a{text}"


@pytest_twisted.ensureDeferred
async def test_feeds_of_odd_texts(site: Factory, tmp_path: Path) -> None:
    """Texts that are formulas are none in CSV; XML is well-formed whatever a text holds."""
    served = site([page("/", "".join(f"<a href='/{n}'>{escape(text)}</a>" for n, text in enumerate([*ACTIVE, ODD])))])
    feeds = {str(tmp_path / f"links.{form}"): {"format": form} for form in ("csv", "xml")}
    await crawl(f"{served.base}/", tmp_path / "out", {"FEEDS": feeds, "RETRY_TIMES": 0})

    with (tmp_path / "links.csv").open(encoding="utf-8", newline="") as file:
        cells = [row["text"] for row in csv.DictReader(file)]
    assert len(cells) == len(ACTIVE) + 1
    assert not [cell for cell in cells if cell.lstrip(' "').startswith(tuple("=+-@\t\r"))]
    items = ET.parse(tmp_path / "links.xml").getroot()
    assert len(items) == len(cells)


ODD = "\u2028\u2029\x00\x0b\x85\ufeff\ufffe\U0001f577\u202e&#xD800;&#x110000;&#0;\\\"'</script>"


@pytest_twisted.ensureDeferred
async def test_lines_are_valid_under_odd_texts(site: Factory, tmp_path: Path) -> None:
    """Separators, control characters, surrogates and broken bytes in texts, titles, URLs and headers tear no line."""
    body = (
        f"<title>{ODD}</title><a href='/{ODD}'>{ODD}</a><a href='/\udcff\udcfe'>\udce2\udc80</a><img alt='{ODD}' src=x>"
    )
    wide = f"<title>{ODD}\ud800</title><a href='/w'>\udfff{ODD}</a>".encode("utf-16-le", "surrogatepass").decode(
        "latin-1"
    )
    served = site([{"path": "/", "headers": [["Content-Type", "text/html; x=\xff\x80"], ["ETag", '"\xff\x01"'],
                                            ["Last-Modified", "\xe2\x80\xa8"]], "body": body + link("/utf16", "/css")},
                   {"path": "/utf16", "headers": {"Content-Type": "text/html; charset=utf-16le"}, "body": wide,
                    "body_charset": "latin-1"},
                   text("/css", "a{background:url('/\\d800 \udcff')}", "text/css")])  # fmt: skip
    for _ in range(2):
        done = await crawl(f"{served.base}/", tmp_path / "out", gate="get", select="page,child:all")

        assert disagreements(done) == []
        for name in ("links", "pages", "refused"):
            raw = (done.out / f"{name}.jsonl").read_bytes()
            assert raw.endswith(b"\n") or not raw
            for line in raw.decode("utf-8").split("\n")[:-1]:
                assert not any("\ud800" <= character <= "\udfff" for character in str(json.loads(line)))
        assert all(row["target"].isascii() for row in done.links if row["decision"] == "fetched")
        assert done.summary["errors"].keys() <= {"HTTP 404"}


@pytest_twisted.ensureDeferred
async def test_file_and_folder_of_one_name(site: Factory, tmp_path: Path) -> None:
    """URLs that differ in a slash, in case, in a query or in an escape have a file each."""
    names = [
        "/a",
        "/a/",
        "/a/index.html",
        "/A",
        "/a?",
        "/a?x",
        "/a%2Fx",
        "/a/x",
        "/a%2fx",
        "/a.html",
        "/a//",
        "/a/.",
        "/con",
    ]
    served = site([page("/", link(*names)), *({"path": name, "headers": HTML, "body": name} for name in names)])
    done = await crawl(f"{served.base}/", tmp_path / "out", gate="get")

    bodies = {row["url"].removeprefix(served.base): done.body(row["url"]).decode() for row in done.pages}
    assert {name: body for name, body in bodies.items() if name != "/"} == {
        name: name for name in names if name != "/a/."
    }
    paths = [row["path"].lower() for row in done.pages]
    assert len(set(paths)) == len(paths)
    assert disagreements(done) == []


@pytest_twisted.ensureDeferred
async def test_a_failed_revisit(site: Factory, tmp_path: Path) -> None:
    """A page that could be had once and not again has one verdict."""
    served = site([page("/", link("/a")), page("/a")])
    await crawl(f"{served.base}/", tmp_path / "out", {"RETRY_TIMES": 0})
    served.set_routes([page("/", link("/a")), {"path": "/a", "fault": "close"}])
    done = await crawl(f"{served.base}/", tmp_path / "out", {"RETRY_TIMES": 0})

    assert disagreements(done) == []


@pytest_twisted.ensureDeferred
async def test_links_are_counted_once_a_target(site: Factory, tmp_path: Path) -> None:
    """``links`` is the number of distinct targets in links.jsonl, those that are seeds among them."""
    served = site([page("/", link("/a", "/a", "/")), page("/a", link("/", "/a"))])
    done = await crawl(f"{served.base}/", tmp_path / "out")

    assert done.summary["links"] == len({row["target"] for row in done.links}) == 2


def rows_of(path: Path) -> list[dict[str, Any]]:
    """Return the lines of *path*."""
    return [json.loads(line) for line in path.read_bytes().splitlines()]


@pytest_twisted.ensureDeferred
async def test_lines_while_it_runs(site: Factory, tmp_path: Path) -> None:
    """links.jsonl and pages.jsonl grow as it runs, by whole lines, at the pace of the commits."""
    served = site([page("/", link("/slow", "/1")), page("/1"), page("/slow", link("/2"), delay_s=0.6), page("/2")])
    seen: list[int] = []

    def look(values: dict[str, Any]) -> float:
        if values["path"] == "/2":
            seen.extend(len(rows_of(tmp_path / "out" / f"{name}.jsonl")) for name in ("pages", "links"))
        return 0

    globals()["look"] = look
    await crawl(f"{served.base}/", tmp_path / "out", {"SPIDERPROJ_ORDER": f"{__name__}.look"})
    assert seen == [2, 2]
