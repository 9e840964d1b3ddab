"""Crawls with ``unique=strict|learn``: requests are spared, nothing is lost, and the user has the last word."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

import pytest
import pytest_twisted

from spiderproj.commands.rules import Command
from tests import duplicate_sites as sites
from tests.crawling import Crawled, crawl
from tests.stored import run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from tests.answers import RouteSpec
    from tests.duplicate_sites import DuplicateSite
    from tests.site import Site

    MakeSite = Callable[[Iterable[RouteSpec]], Site]

OPTIONS: dict[str, Any] = {"json": False, "pin": None, "forbid": None, "release": None, "drop": None}
HTML = {"Content-Type": "text/html; charset=utf-8"}


def routes(site: DuplicateSite, second: int = 37) -> list[RouteSpec]:
    """Return every URL of *site* that a link leads to, for the scripted server, made *second* s after another."""
    found: dict[str, RouteSpec] = {}
    waiting = ["/"]
    while waiting:
        target = waiting.pop()
        if target in found:
            continue
        answered = site.answer(urljoin(sites.BASE, target), len(found) * second)
        if answered is None:
            continue
        found[target] = {"path": target, "headers": HTML, "body": answered[1].html}
        waiting += [part.partition('"')[0].replace("&amp;", "&") for part in answered[1].html.split('<a href="')[1:]]
    return list(found.values())


def contents(site: DuplicateSite, done: Crawled) -> frozenset[str]:
    """Return which contents of *site* the crawl has stored."""
    stored = set()
    for row in done.pages:
        parts = urlsplit(row["url"])
        answered = site.answer(f"{sites.BASE}{parts.path}{'?' + parts.query if parts.query else ''}", 1)
        if answered is not None and row["path"] is not None:
            stored.add(answered[0])
    return frozenset(stored)


def asked(where: Site) -> list[str]:
    """Return the pages that were asked for."""
    return [entry.target for entry in where.log if entry.target != "/robots.txt"]


@pytest_twisted.ensureDeferred
async def test_a_blog_is_copied_once(tmp_path: Path, site: MakeSite) -> None:
    """A blog of 382 addresses and 22 pages takes at most 60 requests, and each address has its verdict."""
    blog = sites.blog()
    where = site(routes(blog))
    done = await crawl(f"{where.base}/", tmp_path / "out", unique="learn")
    assert (done.status, contents(blog, done)) == (0, blog.contents)
    assert len(asked(where)) <= 60
    assert set(done.reasons().values()) <= {"learned", "error"}
    assert done.summary["refused"]["learned"] == 382 - len(set(asked(where)))
    rule = next(row["rule"] for row in done.refused if row["reason"] == "learned")
    assert "never changes the content" in rule
    assert done.summary["pending"] == 0
    assert "Learned about URLs" in (done.out / "report.html").read_text("utf-8")


@pytest_twisted.ensureDeferred
async def test_it_goes_on(tmp_path: Path, site: MakeSite) -> None:
    """A crawl that is stopped again and again, while URLs are held and on trial, ends as one that is not."""
    blog = sites.blog(posts=6, toggles=12)
    where = site(routes(blog))
    for _ in range(40):
        done = await crawl(f"{where.base}/", tmp_path / "out", {"CLOSESPIDER_PAGECOUNT": 5}, unique="learn")
        if done.summary["state"] == "finished":
            break
    assert (done.summary["state"], contents(blog, done)) == ("finished", blog.contents)
    assert done.summary["refused"]["learned"] >= 30
    assert len(asked(where)) <= 6 * 13 + 7 - 30


@pytest_twisted.ensureDeferred
async def test_the_copy_leads_to_what_stands_for_a_page(tmp_path: Path, site: MakeSite) -> None:
    """In a mirror a link to a skipped address opens the file of its representative; nothing is missing."""
    blog = sites.blog(posts=6, toggles=12)
    where = site(routes(blog, second=0))
    done = await crawl(f"{where.base}/", tmp_path / "out", unique="strict", mirror="1")
    assert done.summary["references"]["missing"] == 0
    skipped = next(row["url"] for row in done.refused if row["reason"] == "learned")
    page = done.body(skipped.partition("?")[0]).decode()
    assert skipped.partition("?")[2].replace("&", "&amp;") not in page


@pytest_twisted.ensureDeferred
async def test_without_learning_everything_is_fetched(tmp_path: Path, site: MakeSite) -> None:
    """The same folder with unique=exact fetches what was skipped."""
    blog = sites.blog(posts=3, toggles=12)
    where = site(routes(blog))
    done = await crawl(f"{where.base}/", tmp_path / "out", unique="learn")
    assert done.summary["refused"]["learned"]
    done = await crawl(f"{where.base}/", tmp_path / "out", unique="exact")
    assert "learned" not in done.summary["refused"]
    assert set(asked(where)) >= {route["path"] for route in routes(blog)}


@pytest_twisted.ensureDeferred
async def test_the_user_has_the_last_word(
    tmp_path: Path, site: MakeSite, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    """``scrapy rules`` lists the evidence; what a forbidden rule has skipped is fetched by the next run."""
    blog = sites.blog(posts=6, toggles=12)
    where = site(routes(blog))
    done = await crawl(f"{where.base}/", tmp_path / "out", unique="learn")
    before = done.summary["refused"]["learned"]
    listed = map(json.loads, run(Command, capsysbinary, done.out, **OPTIONS | {"json": True}).output.splitlines())
    (rule,) = [row for row in listed if row["trials"]]
    assert (rule["state"], rule["failures"], rule["skipped"]) == ("on", 0, before)
    assert rule["audits"] >= 20
    assert "forbidden" in run(Command, capsysbinary, done.out, **OPTIONS | {"forbid": rule["id"]}).output
    done = await crawl(f"{where.base}/", tmp_path / "out", unique="learn")
    assert "learned" not in done.summary["refused"]
    assert set(asked(where)) >= {route["path"] for route in routes(blog)}


@pytest_twisted.ensureDeferred
async def test_a_number_that_is_none(
    tmp_path: Path, site: MakeSite, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    """A rule that does not exist is a wrong argument, said in one line."""
    where = site(routes(sites.blog(posts=1, toggles=1)))
    done = await crawl(f"{where.base}/", tmp_path / "out", unique="learn")
    said = run(Command, capsysbinary, done.out, **OPTIONS | {"pin": 99})
    assert said.status == 2
    assert len(said.complaints) == 1
    assert "--pin=99" in said.complaints[0]
