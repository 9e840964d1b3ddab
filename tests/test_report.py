"""``scrapy report`` and the ``report.html`` of a crawl: what they say is so, and hostile text stays text."""

from __future__ import annotations

import csv
import errno
import json
import re
import shutil
import sqlite3
import time
from html import unescape
from html.parser import HTMLParser
from itertools import count
from typing import TYPE_CHECKING

import pytest
import pytest_twisted

from spiderproj.commands.report import Command
from spiderproj.files.output import Lock
from spiderproj.report import (
    MAX_BARS,
    MAX_ROWS,
    Chart,
    Column,
    Grid,
    Pace,
    Ranking,
    Report,
    Stretch,
    Table,
    render,
    sheet,
)
from spiderproj.report.records import MAX_LINES
from spiderproj.store import Database
from spiderproj.store.linkers import Linkers
from spiderproj.store.review import Review
from spiderproj.store.samples import MAX_SAMPLES, Samples, samples
from tests.crawling import Crawled, crawl
from tests.routes import link, page, redirect, text
from tests.site import Site
from tests.stored import run

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = "A</title><script>alert(1)</script>\x1b[31m\u202e&amp;\"'"
WORLD = [
    {**page("/"), "body": "<title>The start</title>" + link("/a", "/b", "/twin", "/moved", "/gone", "/mail")
     + link("/untitled") + '<a href="mailto:x@y">mail</a><a href="http://[">bad</a><a href="http://o.invalid/">other</a>'},
    page("/a", link("/gone", "/b", "/none<script>")), page("/b", link("/gone")), redirect("/moved", "/b"),
    {**page("/mail"), "body": f"<title>{HOSTILE}</title>"}, {**page("/untitled"), "body": link("/x.pdf")},
    {**page("/twin"), "body": "<title>x</title>same"}, {**page("/twin2"), "body": "<title>x</title>same"},
    text("/sitemap.xml", "<urlset><url><loc>{{BASE}}/twin2</loc></url></urlset>", "application/xml"),
]  # fmt: skip

URL_ROW = """
INSERT INTO urls VALUES (?, ?, ?, 1, 1, NULL, 'page', 'navigation', 0, 0, 'html', 1, NULL, '', 'fetched', NULL, '', ?)
"""
FETCH_ROW = "INSERT INTO fetches VALUES (?, ?, ?, 0, 200, NULL, 'html', '', 1, NULL, 0, NULL, NULL, NULL, ?)"


class Told(HTMLParser):
    """The tables of a report by their titles, as texts; every element and address on the way."""

    def __init__(self, markup: bytes) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self.tags: set[str] = set()
        self.links: list[str] = []
        self._title = self._in = ""
        self.feed(markup.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the element; begin a row or a cell."""
        self.tags.add(tag)
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]
        if tag == "h2":
            self._title = ""
        if tag == "tr":
            self.tables.setdefault(self._title, []).append([])
        if tag in ("td", "th"):
            self.tables[self._title][-1].append("")
        if tag in ("h2", "td", "th"):
            self._in = tag

    def handle_endtag(self, tag: str) -> None:
        """End a cell or a title."""
        self._in = "" if tag == self._in else self._in

    def handle_data(self, data: str) -> None:
        """Take the text of a title or a cell."""
        if self._in == "h2":
            self._title += data
        elif self._in:
            self.tables[self._title][-1][-1] += data


@pytest_twisted.async_fixture(scope="module")
async def crawled(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    """Return a crawl with something for each table."""
    with Site(WORLD) as site:
        out = tmp_path_factory.mktemp("report") / "out"
        found = await crawl(f"{site.base}/", out, {"RETRY_TIMES": 0}, sitemap="on", mirror="1")
    assert found.status == 0
    return found


def told(out: Path) -> Told:
    """Return what the report in *out* says."""
    return Told((out / "report.html").read_bytes())


def test_what_a_report_says(crawled: Crawled) -> None:
    """Each table has what the lines of the crawl say."""
    base = crawled.pages[0]["url"].rstrip("/")
    tables = told(crawled.out).tables
    assert ["pages", f"{crawled.summary['pages']:,}"] in tables["In all"]
    broken = {row[0]: row[1:] for row in tables["Broken links"][1:]}
    assert broken[f"{base}/gone"] == ["HTTP 404", "3", f"{base}/", f"{base}/a", f"{base}/b"]
    assert broken["http://["][0] == "no URL by the rules of browsers"
    assert next(iter(broken)) == f"{base}/gone"
    assert dict(tables["Refused, by reason"][1:]) == {k: str(v) for k, v in crawled.summary["refused"].items()}
    first = {(row[0], row[1]) for row in tables["Refused URLs"][1:]}
    assert first == {(row["reason"], row["url"]) for row in crawled.refused}
    assert tables["Redirects"][1:] == [[f"{base}/moved", "302", f"{base}/b"]]
    assert [row[0] for row in tables["Pages without a title"][1:]] == [f"{base}/untitled"]
    assert [row[0] for row in tables["Found without a link"][1:]] == [f"{base}/twin2"]
    assert [row[1] for row in tables["Duplicates"][1:]] == ["1"]
    assert dict(tables["References of the copy"][1:])["local"] == str(crawled.summary["references"]["local"])
    whole = [row for row in crawled.pages if row["error"] is None and row["status"] == 200]
    assert len(tables["Slowest answers"][1:]) == len(whole)
    sizes = [int(row[2]) for row in tables["Largest files"][1:]]
    assert sizes == sorted(sizes, reverse=True)
    assert sum(int(row[1]) for row in tables["Pages by depth"]) == len(whole)
    assert sum(int(row[1]) for row in tables["Files by size"]) == crawled.summary["files"]
    assert sum(int(row[1]) for row in tables["Answers over time"]) == len(crawled.pages)
    assert dict(tables["Answers by status"]) == dict(tables["Answers"][1:])
    assert tables["Levels and types"][1:] == tables["Types by level"][1:]
    assert sum(int(cell) for row in tables["Levels and types"][1:] for cell in row[1:]) == len(whole)


def test_it_is_one_page_that_runs_and_loads_nothing(crawled: Crawled) -> None:
    """No script, no source of its own; addresses lead to the web by http, to a place of the page, or to the copy."""
    page_told = told(crawled.out)
    assert not page_told.tags & {"script", "img", "link", "iframe", "form", "object"}
    for address in page_told.links:
        assert re.match(r"https?://|#t\d+$|index\.html$|report/[a-z-]+\.csv$", address), address
    markup = (crawled.out / "report.html").read_bytes()
    assert b"default-src 'none'; style-src 'sha256-" in unescape(markup.decode()).encode()
    assert b'href="report.html"' in (crawled.out / "index.html").read_bytes()


def test_hostile_text_stays_text() -> None:
    """Titles, URLs and names of a site are shown and never are markup, addresses or control characters."""
    columns = (Column("a", "url"), Column("b"), Column("c", "number"))
    rows = [(url, HOSTILE, HOSTILE) for url in ("javascript:alert(1)", HOSTILE, 'http://h/"><script>', "data:,x")]
    markup = render(
        Report(
            name=HOSTILE,
            crawled=(0.0, 1e9),
            figures={"pages": "1"},
            charts=[
                Chart(HOSTILE, HOSTILE, [(HOSTILE, 1), ("", 0)]),
                Ranking(HOSTILE, HOSTILE, [(HOSTILE, 0)]),
                Grid(HOSTILE, HOSTILE, ["page", "child"], [(HOSTILE, [1, 0])]),
                Pace(HOSTILE, [Stretch(0.0, 2.0, 3, 0, 0, HOSTILE, 0)], [(HOSTILE, 2.0)]),
            ],
            tables=[Table(HOSTILE, HOSTILE, columns, rows, MAX_ROWS)],
        )
    )
    found = Told(markup)
    assert "script" not in found.tags
    own = ("index.html", "#t0", f"report/{Table(HOSTILE, '', [], rows, 1).sheet}")
    assert [address for address in found.links if address not in own] == ['http://h/"><script>']
    assert re.fullmatch(r"report/[a-z0-9-]+\.csv", own[2])
    cells = "".join(text for table in found.tables.values() for row in table for text in row[:2])
    assert not {"\u202e", "\x1b"} & set(cells)
    assert Told(render(Report(name="\ud800", crawled=None, figures={}, charts=[], tables=[]))).links == ["index.html"]


def test_the_command_writes_what_the_crawl_wrote(
    crawled: Crawled, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Both files come out as the crawl left them; without its summary what only the run knew is null."""
    out = shutil.copytree(crawled.out, tmp_path / "out")
    before = {name: (out / name).read_bytes() for name in ("report.html", "summary.json")}
    (out / "report.html").unlink()
    said = run(Command, capfdbinary, out)
    assert said == (0, f"{out}/report.html\n", [])
    assert {name: (out / name).read_bytes() for name in before} == before
    (out / "summary.json").write_text("[" * 5000)
    assert run(Command, capfdbinary, out).status == 0
    summary = json.loads((out / "summary.json").read_bytes())
    assert list(summary) == list(crawled.summary)
    gone = {name for name in summary if summary[name] != crawled.summary[name]}
    assert gone == {"seconds", "pages_per_second", "peak_rss_mb", "longest_hold_seconds", "limited_by"}
    assert {summary[name] for name in gone} == {None}
    with sqlite3.connect(out / "crawl.db") as database:
        database.execute("UPDATE meta SET value = 'running' WHERE name = 'state'")
    (out / "summary.json").unlink()
    run(Command, capfdbinary, out)
    summary = json.loads((out / "summary.json").read_bytes())
    assert (summary["state"], summary["reason"]) == ("stopped", "unfinished")


def test_statuses(crawled: Crawled, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """2 for a folder without a crawl, 4 while one runs, 8 for a damaged store: one line each."""
    assert run(Command, capfdbinary, tmp_path).status == 2
    out = shutil.copytree(crawled.out, tmp_path / "out")
    (out / "report.html").unlink()
    with Lock(out):
        said = run(Command, capfdbinary, out)
    assert (said.status, len(said.complaints)) == (4, 1)
    for damage in ("UPDATE page_links SET links = '['", "UPDATE meta SET value = '' WHERE name = 'arguments'",
                   "UPDATE fetches SET fetched_at = 1e300"):  # fmt: skip
        copy = shutil.copytree(out, tmp_path / str(len(damage)))
        with sqlite3.connect(copy / "crawl.db") as database:
            database.execute(damage)
        said = run(Command, capfdbinary, copy)
        assert (said.status, said.output, len(said.complaints)) == (8, "", 1), damage
    assert not (out / "report.html").exists()


def read(table: Table) -> list[list[str]]:
    """Return the rows of the sheet of *table* as a program reads them that knows the mark of UTF-8."""
    return list(csv.reader(b"".join(sheet(table)).decode("utf-8-sig").splitlines(keepends=True)))


def test_sheets_have_all_rows(crawled: Crawled) -> None:
    """Beside the page lies a sheet of each table with rows, with all that the table has."""
    folder = crawled.out / "report"
    with (folder / "refused-urls.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    refused = [(row["url"], row["reason"]) for row in crawled.refused]
    assert sorted((row["URL"], row["reason"]) for row in rows) == sorted(refused)
    assert (folder / "broken-links.csv").read_bytes().startswith(b"\xef\xbb\xbfURL,problem,pages,on,on,on\r\n")
    linked = {path.name for path in folder.iterdir()}
    assert linked == {link.removeprefix("report/") for link in told(crawled.out).links if link.startswith("report/")}
    assert linked >= {f"{name}.csv" for name in ("answers", "redirects", "types-by-level", "references-of-the-copy")}


def test_a_sheet_is_safe_and_right() -> None:
    """What a spreadsheet would run is text, numbers have no commas, and no text tears a row."""
    odd = ["=1+1", "@SUM(1)", "\t=1", "\uff1d1", "a\r\nb", 'x"y,z', "\0", "\ud800", HOSTILE, "-1"]
    columns = (Column("text"), Column("number", "number"))
    numbers = ["1,234", "0.50", "-3", "1.2%", "=1", "-x", "", "1e5", "007", "12,345,678"]
    rows = read(Table("T", "", columns, [*zip(odd, numbers, strict=True)], len(odd)))
    assert rows[0] == ["text", "number"]
    assert [row[0] for row in rows[1:]] == ["'=1+1", "'@SUM(1)", "'\t=1", "'\uff1d1", "a\r\nb", 'x"y,z', "\ufffd", "?",
                                            HOSTILE, "'-1"]  # fmt: skip
    assert [row[1] for row in rows[1:]] == ["1234", "0.50", "-3", "1.2%", "'=1", "'-x", "", "1e5", "007", "12345678"]


def test_a_sheet_is_as_long_as_spreadsheets_open() -> None:
    """Rows are read as they are written, a thousand at a time, and no more of them than there may be."""
    numbers = count()
    parts = sheet(Table("T", "", (Column("c"),), [("x",)], 10**9, lambda: (("x",) for _ in numbers)))
    assert (next(parts), next(numbers)) == ("\ufeffc\r\n".encode(), 0)
    assert (next(parts), next(numbers)) == (b"x\r\n" * 1000, 1001)
    assert sum(part.count(b"\n") for part in parts) == MAX_LINES - 1000


def test_sheets_of_an_earlier_report(
    crawled: Crawled, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the report no longer has goes, other files stay; what cannot be written leaves what was there."""
    out = shutil.copytree(crawled.out, tmp_path / "out")
    for name in ("traps.csv", "mine.txt"):
        (out / "report" / name).write_text("x")
    assert run(Command, capfdbinary, out).status == 0
    assert not (out / "report/traps.csv").exists()
    assert (out / "report/mine.txt").exists()
    before = {path.name: path.read_bytes() for path in (out / "report").iterdir()}

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr("spiderproj.exports.os.replace", full)
    said = run(Command, capfdbinary, out)
    assert (said.status, len(said.complaints)) == (5, 1)
    assert {path.name: path.read_bytes() for path in (out / "report").iterdir()} == before
    monkeypatch.undo()
    shutil.rmtree(out / "report")
    (out / "report").write_text("in the way")
    assert run(Command, capfdbinary, out).status == 3


def test_samples_are_few(tmp_path: Path) -> None:
    """However long a crawl works, and however often it is stopped, there are at most 500 samples of all of it."""
    with Database(tmp_path / "crawl.db") as database:
        for run_ in range(4):
            taken = Samples(database)
            for second in range(0, 5000, 2):
                if taken.is_due(now := 1e9 + run_ * 1e5 + second):
                    taken.add(now, pages=second, pending=1, limited_by="delay 1 s", peak_rss=1 << 20)
        found = list(samples(database))
        assert MAX_SAMPLES // 2 <= len(found) <= MAX_SAMPLES
        assert {sample.run for sample in found} == {1, 2, 3, 4}
        assert taken.is_due(now - 1e4)  # the clock was set back
        (pace,) = (chart for chart in Review(database).charts() if isinstance(chart, Pace))
    assert len(pace.stretches) <= MAX_BARS
    assert {round(stretch.pages / stretch.seconds, 6) for stretch in pace.stretches} == {1.0}
    assert pace.limits == [("delay", sum(stretch.seconds for stretch in pace.stretches))]


def test_what_limited_a_crawl(tmp_path: Path) -> None:
    """Speeds are those within a run, bytes those that came meanwhile, limits go by their words without the numbers."""
    with Database(tmp_path / "crawl.db") as database:
        database.write("INSERT INTO hosts VALUES (1, 'h', NULL)")
        database.write(URL_ROW, (1, 1, "http://h/1", 1))
        taken = Samples(database)
        for place, (second, pages, limit) in enumerate(
            [
                (0, 0, "nothing yet"),
                (10, 20, "delay 1 s"),
                (14, 20, "Retry-After until 08:49:44"),
                (30, 52, "delay 2 s"),
            ]
        ):
            taken.add(1e9 + second, pages=pages, pending=9 - place, limited_by=limit, peak_rss=place)
            database.write(FETCH_ROW, (place + 1, 1, 0, None))
        Samples(database).add(2e9, pages=0, pending=0, limited_by="parked: 10 answers 503 in a row", peak_rss=0)
        (pace,) = (chart for chart in Review(database).charts() if isinstance(chart, Pace))
    assert pace.limits == [("delay", 26.0), ("Retry-After", 4.0)]
    assert [(each.begin, each.pages, each.pending, each.bytes, each.limit) for each in pace.stretches] == [
        (0.0, 20, 8, 1, "delay"), (10.0, 0, 7, 1, "Retry-After"), (14.0, 32, 6, 1, "delay")]  # fmt: skip


def test_a_crawl_takes_samples(crawled: Crawled) -> None:
    """A crawl has a sample from its beginning and one from its end, when nothing was left."""
    with Database(crawled.out / "crawl.db", read_only=True) as database:
        found = list(samples(database))
    assert (found[0].pages, found[-1].pages, found[-1].pending) == (0, crawled.summary["pages"], 0)
    assert found[-1].bytes == sum(row["size"] for row in crawled.pages)
    assert found[-1].limited_by == crawled.summary["limited_by"]


def test_a_large_crawl_has_a_short_report(tmp_path: Path) -> None:
    """Of many rows the first are shown and all are counted; 5,000 pages take half a second of processor time."""
    with Database(tmp_path / "crawl.db") as database:
        link_rows = [[number, "x", "a", "href", "", "navigation", None, 0, None] for number in range(1, 41)]
        links = json.dumps(link_rows, separators=(",", ":"))
        database.write("INSERT INTO hosts VALUES (1, 'h', NULL)")
        for number in range(1, 5001):
            url, error = f"http://h/{number}", "HTTP 404" if number % 10 == 0 else None
            database.write(URL_ROW, (number, number, url, number))
            database.write(FETCH_ROW, (number, number, number, error))
            database.write("INSERT INTO page_links VALUES (?, ?)", (number, links))
        began = time.process_time()
        tables = {table.title: table for table in Review(database).tables(["http://h/1"])}
        assert time.process_time() - began < 0.5
        assert all(len(chart.bars) <= MAX_BARS for chart in Review(database).charts() if isinstance(chart, Chart))
        assert {title: len(read(table)) - 1 for title, table in tables.items() if table.rows} == {
            title: table.total for title, table in tables.items() if table.rows
        }
        broken, untitled = tables["Broken links"], tables["Pages without a title"]
        assert (broken.total, len(broken.rows), untitled.total, len(untitled.rows)) == (500, MAX_ROWS, 4500, MAX_ROWS)
        assert [row[:3] for row in broken.rows[:5]] == [
            *((f"http://h/{number}", "HTTP 404", "5,000") for number in (10, 20, 30, 40)),
            ("http://h/50", "HTTP 404", "0"),
        ]
        assert len(list(Linkers(database).of(10, "http://h/10"))) == 5000
