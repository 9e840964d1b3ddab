"""``scrapy replay``: it says what a real crawl with the other arguments does, changes nothing, and can be applied."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import pytest_twisted

from spiderproj.arguments import CrawlOptions, parse_arguments
from spiderproj.commands.replay import Command
from spiderproj.files.output import Lock
from spiderproj.replay import changed
from tests import duplicate_sites
from tests.crawling import crawl
from tests.routes import link, page, redirect, text
from tests.stored import Said, run
from tests.test_crawl_learning import routes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.answers import RouteSpec
    from tests.site import Site

    Factory = Callable[[Iterable[RouteSpec]], Site]

Arguments = dict[str, str]
QUICK: dict[str, object] = {"RETRY_TIMES": 0, "SPIDERPROJ_ROBOTS_WAIT": 0}


def pdf(path: str, **keys: Any) -> dict[str, Any]:
    """Return the route of a document."""
    return text(path, f"%PDF {path}", "application/pdf", **keys)


def png(path: str, **keys: Any) -> dict[str, Any]:
    """Return the route of an image."""
    return text(path, f"\x89PNG {path}", "image/png", **keys)


WORLD = [
    text("/robots.txt", "User-agent: *\nDisallow: /closed/\n"),
    text("/sitemap.xml", "<urlset><url><loc>{{BASE}}/d/listed.html</loc></url></urlset>", "application/xml"),
    page("/d/", link("a.html", "b.pdf", "sub/c.html", "/up.html", "/up.png", "/e/h.html", "/e/h.zip", "moved", "gone",
                     "/closed/x.html", "{{ALT}}/o.html", "{{ALT}}/o.png", "noending", "big.html", "mailto:a@b", "loop",
                     "out", "{{ALT}}/near.css")
         + '<img src="i.png"><link rel="stylesheet" href="s.css"><a rel=nofollow href="n.html">n</a>'),
    page("/d/a.html", link("deep.html", "a.pdf", "/e/h2.html")),
    page("/d/deep.html", link("deeper.html", "sub/s/y.html")), page("/d/deeper.html", link("deepest.html")),
    page("/d/deepest.html", link("/up3.html")), pdf("/d/a.pdf"), pdf("/d/b.pdf"), png("/d/i.png"), pdf("/d/noending"),
    text("/d/s.css", "@import 's2.css'; a { background: url(bg.png) }", "text/css"),
    text("/d/s2.css", "a { background: url(bg2.png) }", "text/css"), png("/d/bg.png"), png("/d/bg2.png"),
    page("/d/sub/c.html", link("x.pdf", "s/y.html", "/d/deepest.html")), page("/d/sub/s/y.html"), pdf("/d/sub/x.pdf"),
    page("/up.html", link("/up2.html", "/up.pdf")), page("/up2.html", link("/d/deeper.html")), page("/up3.html"),
    pdf("/up.pdf"), png("/up.png"),
    page("/e/h.html", link("h2.html")), page("/e/h2.html", link("h3.html")), page("/e/h3.html"),
    text("/e/h.zip", "PK", "application/zip"), page("/closed/x.html", link("/closed/y.html")), page("/closed/y.html"),
    page("/d/big.html", "x" * 9000 + link("from-big.html")), page("/d/from-big.html"), page("/d/n.html"),
    redirect("/d/moved", "/d/target.html"), page("/d/target.html", link("from-target.html")),
    page("/d/from-target.html"), redirect("/d/loop", "/d/loop"), redirect("/d/out", "{{ALT}}/o.html"),
    page("/d/listed.html"),
    page("/o.html", link("/o2.html", "/o3.png"), host="localhost"), page("/o2.html", host="localhost"),
    png("/o.png", host="localhost"), png("/o3.png", host="localhost"), png("/bg.png", host="localhost"),
    text("/near.css", "a { background: url(bg.png) }", "text/css", host="localhost"),
]  # fmt: skip
"""Directories above, below and beside, another host, files, requisites, redirects, errors, robots.txt."""

EVERYTHING = {"mode": "all", "select": "page,child,parent,host,other:all", "requisites": "1"}
NARROWER: list[Arguments] = [
    {}, {"mode": "local", "select": ""}, {"mode": "local", "select": "", "requisites": "0"},
    {"mode": "directory", "select": ""}, {"mode": "files", "select": ""},
    {"select": "page:all"}, {"select": "page,child:html"}, {"select": "page,child:html parent:image"},
    {"select": "page:html other:image"}, {"depth": "0"}, {"depth": "1"}, {"depth": "2"}, {"depth": "3"},
    {"deny": "/sub/"}, {"deny": "moved"}, {"allow": "/d/"}, {"allow": "/d/", "deny": "a"}, {"deny_types": "image"},
    {"deny_types": "html,style"}, {"filter": "size < 5000"}, {"filter": 'ext != "pdf" and depth < 3'},
    {"filter": 'type == "html"'}, {"filter": '"deep" not in source'}, {"gate": "extension"}, {"gate": "head"},
    {"mode": "local", "select": "", "requisites": "0", "near": "1"}, {"mode": "local", "select": "", "near": "1"},
    {"order": "depth", "depth": "2"},
    {"order": "files", "select": "page:html,document"}, {"mirror": "1", "mode": "local", "select": ""},
    {"mode": "local", "select": "page,child:html", "requisites": "", "depth": "2", "near": "1", "deny": "big"},
]  # fmt: skip
"""Changes of EVERYTHING that only take away."""

FROM_LOCAL: list[Arguments] = [
    {"mode": "all"}, {"depth": "1"}, {"depth": "9"}, {"select": "page:all"}, {"select": "page,child,host:all"},
    {"near": "1"}, {"requisites": "1"}, {"deny": "/e/"}, {"allow": "/d/"}, {"mode": "files"}, {"mode": "directory"},
    {"deny_types": "html", "select": "page:html,document"}, {"filter": "depth < 2 or ext == 'pdf'"}, {"mirror": "1"},
    {"seed": "{{BASE}}/e/h.html"}, {"sitemap": "only"}, {"gate": "get", "select": "page,child:html,document"},
]  # fmt: skip
"""Changes of plain ``mode=local`` that take away, let in, or both."""


def replayed(capture: pytest.CaptureFixture[bytes], out: Path, arguments: Arguments, **options: Any) -> dict[str, Any]:
    """Return what ``scrapy replay --json`` says."""
    said = replay(capture, out, arguments, json=True, samples=10_000, **options)
    assert (said.status, said.complaints) == (0, [])
    answer: dict[str, Any] = json.loads(said.output)
    return answer


def replay(capture: pytest.CaptureFixture[bytes], out: Path, arguments: Arguments, **options: Any) -> Said:
    """Run ``scrapy replay`` in this process."""
    changes = [f"{name}={value}" for name, value in arguments.items()]
    settings = QUICK | options.pop("settings", {})
    given = {"apply": False, "samples": 10, "json": False, "changes": changes} | options
    return run(Command, capture, out, settings=settings, **given)


def fetched(out: Path) -> set[str]:
    """Return the URLs that the crawl in *out* has let in: all of them were asked for."""
    with sqlite3.connect(out / "crawl.db") as database:
        assert database.execute("SELECT count(*) FROM frontier").fetchone() == (0,)
        return {url for (url,) in database.execute("SELECT url FROM urls WHERE verdict = 'fetched'")}


def expected(before: set[str], answer: dict[str, Any]) -> set[str]:
    """Return the URLs that a crawl fetches according to the *answer* of a replay of what was fetched *before*."""
    comes_in, goes = ({row["url"] for row in answer[side]["samples"]} for side in ("comes_in", "goes"))
    assert answer["comes_in"]["total"] == len(comes_in)
    assert sum(answer["goes"]["by_reason"].values()) == answer["goes"]["total"] == len(goes)
    assert answer["stays"] == len(before - goes)
    assert goes <= before
    assert not comes_in & before
    return (before - goes) | comes_in


def decisions(out: Path) -> dict[str, tuple[object, ...]]:
    """Return verdict, depth, level and nearness of each URL in the store of *out*."""
    with sqlite3.connect(out / "crawl.db") as database:
        # The depth of what is refused is that of the first link to it, whichever page came first.
        rows = database.execute("SELECT url, verdict, iif(verdict = 'refused', 0, depth), level, near FROM urls")
        return {url: tuple(rest) for url, *rest in rows}


def merged(before: Arguments, changes: Arguments) -> Arguments:
    """Return the arguments of a crawl that a replay with *changes* speaks of."""
    return {name: value for name, value in (before | changes).items() if value}


@pytest_twisted.ensureDeferred
async def test_a_replay_of_less_is_a_crawl(
    site: Factory, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Where the arguments only take away, exactly those URLs are said to stay that a real crawl fetches."""
    served = site(WORLD)
    await crawl(f"{served.base}/d/", tmp_path / "all", QUICK, **EVERYTHING)
    before = fetched(tmp_path / "all")
    assert len(before) > 35
    for number, changes in enumerate(NARROWER):
        answer = replayed(capfdbinary, tmp_path / "all", changes)
        out = tmp_path / str(number)
        await crawl(f"{served.base}/d/", out, QUICK, **merged(EVERYTHING, changes))
        assert (answer["comes_in"]["total"], expected(before, answer)) == (0, fetched(out)), changes


@pytest_twisted.ensureDeferred
async def test_a_replay_of_more_agrees_as_far_as_it_knows(
    site: Factory, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Of what was fetched that goes which a real crawl does not fetch; what comes in it fetches, or refuses unseen."""
    served = site(WORLD)
    await crawl(f"{served.base}/d/", tmp_path / "local", QUICK)
    before = fetched(tmp_path / "local")
    for number, given in enumerate(FROM_LOCAL):
        changes = {name: value.replace("{{BASE}}", served.base) for name, value in given.items()}
        answer = replayed(capfdbinary, tmp_path / "local", changes)
        out = tmp_path / str(number)
        real = await crawl(changes.get("seed", f"{served.base}/d/"), out, QUICK,
                           **{name: value for name, value in changes.items() if name != "seed"})  # fmt: skip
        said, there = expected(before, answer), fetched(out)
        assert said & before == there & before, changes
        unseen = {row["url"] for row in real.refused if row["reason"] in ("type", "robots", "filter", "error")}
        assert said - before <= there | unseen, changes


@pytest_twisted.ensureDeferred
async def test_robots_txt_is_an_argument_too(
    site: Factory, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """A replay with ROBOTSTXT_OBEY=0 lets in what robots.txt refused."""
    served = site(WORLD)
    await crawl(f"{served.base}/d/", tmp_path / "obeys", QUICK)
    answer = replayed(capfdbinary, tmp_path / "obeys", {}, settings={"ROBOTSTXT_OBEY": 0})
    closed = [f"{served.base}/closed/x.html"]
    assert [row["url"] for row in answer["comes_in"]["samples"]] == closed
    assert answer["comes_in"]["by_reason"] == {"robots": 1}
    await crawl(f"{served.base}/d/", tmp_path / "ignores", QUICK | {"ROBOTSTXT_OBEY": 0})
    answer = replayed(capfdbinary, tmp_path / "ignores", {}, settings={"ROBOTSTXT_OBEY": 0})
    assert (answer["goes"]["total"], answer["comes_in"]["total"], answer["notes"]) == (0, 0, [])
    answer = replayed(capfdbinary, tmp_path / "ignores", {})
    assert (answer["goes"]["total"], "robots.txt" in answer["notes"][0]) == (0, True)


@pytest_twisted.ensureDeferred
async def test_a_type_that_only_a_head_has_told_counts(
    site: Factory, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """A file that was never downloaded is judged by its type: by select, and by a filter that asks for it."""
    served = site([page("/", link("/x.pdf")), pdf("/x.pdf")])
    await crawl(f"{served.base}/", tmp_path / "out", QUICK)
    for condition, count in (('type == "html"', 0), ("size < 10", 1), ("", 1)):
        answer = replayed(capfdbinary, tmp_path / "out", {"select": "page:html,document", "filter": condition})
        assert answer["comes_in"]["total"] == count


@pytest_twisted.ensureDeferred
async def test_sitemaps_are_replayed(site: Factory, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """What only the sitemap listed goes without it; with sitemap=only everything else goes."""
    served = site(WORLD)
    await crawl(f"{served.base}/d/", tmp_path / "on", QUICK, sitemap="on")
    before = fetched(tmp_path / "on")
    assert f"{served.base}/d/listed.html" in before
    for value in ("off", "only", "on"):
        answer = replayed(capfdbinary, tmp_path / "on", {"sitemap": value})
        await crawl(f"{served.base}/d/", tmp_path / value / "out", QUICK, sitemap=value)
        assert expected(before, answer) == fetched(tmp_path / value / "out")
        assert bool(answer["notes"]) == (value != "off")


@pytest_twisted.ensureDeferred
async def test_what_was_learned_holds(site: Factory, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """What a crawl has learned to skip stays out under other arguments; unique=exact lets in all that it fetches."""
    served, out = site(routes(duplicate_sites.blog(posts=6, toggles=12))), tmp_path / "out"
    done = await crawl(f"{served.base}/", out, QUICK, unique="learn")
    skipped, before = {row["url"] for row in done.refused if row["reason"] == "learned"}, fetched(out)
    assert len(skipped) >= 30
    for changes in ({}, {"unique": "strict"}, {"depth": "9"}):
        answer = replayed(capfdbinary, out, changes)
        assert (answer["comes_in"]["total"], answer["goes"]["total"], answer["stays"]) == (0, 0, len(before)), changes
    answer = replayed(capfdbinary, out, {"deny": "toggle="})
    assert (answer["comes_in"]["total"], answer["goes"]["by_reason"].keys()) == (0, {"deny"})
    answer = replayed(capfdbinary, out, {"unique": "exact"}, apply=True)
    assert answer["comes_in"]["by_reason"] == {"learned": len(skipped)}
    assert {row["url"] for row in answer["comes_in"]["samples"]} == skipped
    await crawl(f"{served.base}/", out, QUICK, unique="exact")
    assert fetched(out) == before | skipped
    answer = replayed(capfdbinary, out, {"unique": "learn"})
    assert (answer["goes"]["total"], len(answer["notes"])) == (0, 1)


@pytest_twisted.ensureDeferred
@pytest.mark.parametrize("changes", [{}, {"deny": "toggle=MONTHLY-[0-9]*[13579]&"}])
async def test_a_replay_while_urls_are_held(
    site: Factory, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], changes: Arguments
) -> None:
    """What a stopped crawl still holds back stays queued, and --apply lets the crawl end as it would have."""
    served, out = site(routes(duplicate_sites.blog(posts=6, toggles=24))), tmp_path / "out"
    stopped = await crawl(f"{served.base}/", out, QUICK | {"CLOSESPIDER_PAGECOUNT": 12}, unique="learn")
    assert stopped.summary["pending"]
    answer = replayed(capfdbinary, out, changes, apply=True)
    assert (answer["comes_in"]["total"], bool(answer["goes"]["total"])) == (0, bool(changes))
    done = await crawl(f"{served.base}/", out, QUICK, unique="learn", **changes)
    assert (done.summary["state"], done.summary["pending"]) == ("finished", 0)
    assert done.summary["refused"].keys() == {"learned", *changes}
    new = fetched(out) - {row["url"] for row in stopped.pages}
    assert new
    assert not [url for url in new if changes and re.search(changes["deny"], url)]


SEEDS = ["{{BASE}}/d", "{{BASE}}/start", "{{HOST}}/d/"]
"""A directory without its slash, one that a redirect leads to, and one without a scheme."""


@pytest_twisted.ensureDeferred
@pytest.mark.parametrize("seed", SEEDS)
async def test_seeds_that_move(
    site: Factory, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], seed: str
) -> None:
    """A seed that redirects, or that needs its second scheme, leads a replay where it led the crawl."""
    served = site([*WORLD, redirect("/start", "{{BASE}}/d"), redirect("/d", "/d/")])
    seed = seed.replace("{{BASE}}", served.base).replace("{{HOST}}", served.names["HOST"])
    settings, select = QUICK | {"DOWNLOAD_TIMEOUT": 3.0}, {"select": "page,child:html"}
    await crawl(seed, tmp_path / "before", settings, **select)
    before = fetched(tmp_path / "before")
    assert len(before) > 5
    for number, changes in enumerate(({}, {"select": "page:html"})):
        out = tmp_path / str(number)
        await crawl(seed, out, settings, **merged(select, changes))
        assert fetched(out) == expected(before, replayed(capfdbinary, tmp_path / "before", changes))


APPLIED: list[tuple[Arguments, Arguments]] = [
    ({}, {"mode": "all"}), ({"depth": "1"}, {"depth": ""}), ({"depth": "1", "deny": "/e/"}, {"deny": "", "depth": "3"}),
    ({"deny": "/sub/"}, {"deny": "moved"}), ({"select": "page:html"}, {"select": "page,child,host:all"}),
    ({"allow": "/d/"}, {"allow": "", "near": "1"}), ({}, {"requisites": "1", "depth": "2"}),
    ({"mode": "files"}, {"mode": "local"}), ({}, {"seed": "{{BASE}}/e/h.html {{ALT}}/o.html", "depth": "2"}),
    ({"deny": "deepest|sub/c"}, {"deny": "deeper"}), ({"filter": "depth < 2"}, {"filter": ""}),
    ({"deny": "/d/deep|/up"}, {"deny": "/d/deep.html|/e/h.html"}),
]  # fmt: skip


@pytest_twisted.ensureDeferred
@pytest.mark.parametrize(("before", "changes"), APPLIED)
async def test_what_was_applied_is_crawled(
    site: Factory, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], before: Arguments, changes: Arguments
) -> None:
    """After --apply the next run fetches what is missing, and nothing again: but for what goes, as a fresh crawl."""
    served = site(WORLD)
    changes = {n: v.replace("{{BASE}}", served.base).replace("{{ALT}}", served.alt) for n, v in changes.items()}
    out = tmp_path / "out"
    await crawl(f"{served.base}/d/", out, QUICK, **before)
    had = fetched(out)
    answer = replayed(capfdbinary, out, changes, apply=True)
    assert answer["applied"]
    assert not list(out.glob("crawl.db-*"))
    requests = len(served.log)
    arguments = {"seed": f"{served.base}/d/"} | merged(before, changes)
    await crawl(arguments["seed"], out, QUICK, **{n: v for n, v in arguments.items() if n != "seed"})
    asked = {f"http://{entry.host}{entry.target}" for entry in served.log[requests:] if entry.method == "GET"}
    assert not asked & had
    await crawl(arguments["seed"], tmp_path / "fresh", QUICK, **{n: v for n, v in arguments.items() if n != "seed"})
    fresh = fetched(tmp_path / "fresh")
    assert fetched(out) - (had - fresh) == fresh
    decided = [decisions(folder) for folder in (out, tmp_path / "fresh")]
    for url in decided[1].keys() - (had - fresh):
        assert decided[0][url] == decided[1][url]


@pytest_twisted.ensureDeferred
async def test_nothing_is_changed_without_apply(
    site: Factory, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder's files stay as they are, byte for byte, and nothing is left elsewhere."""
    out, elsewhere = tmp_path / "out", tmp_path / "temporary"
    elsewhere.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(elsewhere))
    served = site(WORLD)
    await crawl(f"{served.base}/d/", out, QUICK)
    before, requests = contents(out), len(served.log)
    assert replayed(capfdbinary, out, {"mode": "all", "depth": "1"})["goes"]["total"]
    assert (contents(out), list(elsewhere.iterdir()), len(served.log)) == (before, [], requests)


def contents(out: Path) -> dict[str, str]:
    """Return the digest of each file in *out* but SQLite's shared memory and its empty log, which any reader makes."""
    files = [path for path in out.rglob("*") if path.is_file()]
    found = {str(path.relative_to(out)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    for name in ("crawl.db-shm", "crawl.db-wal"):
        found.pop(name, None)
    return found


@pytest_twisted.ensureDeferred
async def test_text_and_statuses(site: Factory, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """The text says what comes in, why it was out, and what is not known; what is wrong is one line and a status."""
    out = tmp_path / "out"
    served = site([page("/", link("/a", "/b%1b[31m", "//other.invalid/")), page("/a"), page("/b%1b[31m")])
    await crawl(f"{served.base}/", out, QUICK)
    said = replay(capfdbinary, out, {"mode": "all", "deny": "b%1b"})
    lines = said.output.splitlines()
    assert (said.status, lines[:2]) == (0, ["URLs that stay: 2", "URLs that come in: 1; they were out by: 1 scope"])
    assert "  http://other.invalid/  scope (mode=local: another host)" in lines
    assert "  What they link to is not known yet." in lines
    assert f"  {served.base}/b%1b[31m  deny (deny=b%1b)" in lines
    assert replay(capfdbinary, out, {}).output == "URLs that stay: 3\nURLs that come in: 0\nURLs that go: 0\n"

    for wrong, status, expected_text in (
        ({"depht": "3"}, 2, "the nearest is depth"), ({"depth": "x"}, 2, "a whole number"), ({"out": "x"}, 2, "DIR"),
        ({"fresh": "1"}, 2, "DIR"), ({"deny": "("}, 2, "RE2"), ({"mode": "files", "depth": "1"}, 2, "no depth"),
    ):  # fmt: skip
        said = replay(capfdbinary, out, wrong)
        assert (said.status, said.output, len(said.complaints)) == (status, "", 1), wrong
        assert expected_text in said.complaints[0]
    assert replay(capfdbinary, out, {}, samples=-1).status == 2
    assert run(Command, capfdbinary, out, changes=["depth"], apply=False, samples=1, json=False).status == 2
    assert replay(capfdbinary, tmp_path, {}).status == 2
    with Lock(out):
        assert replay(capfdbinary, out, {}).status == 0
        assert replay(capfdbinary, out, {}, apply=True).status == 4
    with sqlite3.connect(out / "crawl.db") as database:
        database.execute("UPDATE page_links SET links = '[[1]]'")
    said = replay(capfdbinary, out, {})
    assert (said.status, said.output, len(said.complaints)) == (8, "", 1)


OPTIONS: list[Arguments] = [
    {}, {"mode": "all"}, {"mode": "directory", "order": "breadth"}, {"mode": "files"},
    {"select": "page:all child:html"},
    {"mirror": "1"}, {"requisites": "1", "depth": "0"}, {"deny": "a", "deny.1": "@b", "allow": "c d"}, {"near": "1"},
    {"deny_types": "image,video"}, {"filter": "depth < 3"}, {"gate": "head", "sitemap": "on", "unique": "off"},
    {"keywords": "a b", "warc": "1", "order": "files"}, {"seed": "example.org http://h/"},
    {"mode": "all", "depth": "2"},
]  # fmt: skip


@pytest.mark.parametrize("given", OPTIONS)
def test_arguments_that_are_not_changed_stay(given: Arguments, tmp_path: Path) -> None:
    """What is not given keeps its value; what depends on a changed argument takes its default with it."""
    (tmp_path / "b").write_text("pattern\n@at\n")
    raw = {"seed": "http://h/d/", "out": "/x"} | given
    options = parse_arguments(raw, tmp_path)
    assert changed(options, {}, tmp_path) == options
    assert changed(CrawlOptions.from_json(options.to_json()), {}, tmp_path) == options
    for changes in ({"mode": "local", "depth": "", "near": ""}, {"deny": "z"}, {"mirror": "0", "select": ""}):
        again = {name: text for name, text in (raw | changes).items() if text and not _replaced(name, changes)}
        assert changed(options, changes, tmp_path) == parse_arguments(again, tmp_path)


def _replaced(name: str, changes: Arguments) -> bool:
    return name not in changes and name.partition(".")[0] in changes
