"""``mirror=1``: the copy leads to itself, whatever happens while it is made, and is put back by ``mirror=0``."""

from __future__ import annotations

import hashlib
import re
import sqlite3
from html import unescape
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urljoin, urlsplit

import pytest
import pytest_twisted

from spiderproj.failpoints import KILLED
from tests.crawling import crawl
from tests.routes import link, page, redirect, text
from tests.warm import Starter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from tests.answers import RouteSpec
    from tests.site import Site

    Factory = Callable[[Iterable[RouteSpec]], Site]

REFERENCE = re.compile(r"(?:href|src|action)=[\"']([^\"']*)[\"']|url\(([^)]*)\)")


def routes(word: str = "one") -> list[dict[str, Any]]:
    """Return a site with everything that makes a reference of a copy hard to get right."""
    return [
        page("/", f'<base href="/sub/"><link rel=stylesheet href="/s.css" integrity="x" crossorigin><p>{word}'
                  + link("a", "a?q=1&r=2#s", "../moved", "../same", "../gone", "{{ALT}}/far", "../50%25", "../deny")),
        page("/sub/a", '<img src="/i.png" srcset="/i.png 1x, /j 2x">' + link("/", "#top", "mailto:x@y")),
        page("/sub/a?q=1&r=2", '<p id="s">' + link("a")),
        redirect("/moved", "/sub/a"),
        text("/same", "same", "text/html"),
        text("/same2", "same", "text/html"),
        page("/50%25", link("/same2", "/same")),
        text("/latin", "caf\xe9", "text/html; charset=iso-8859-1", body_charset="latin-1"),
        text("/s.css", '@import "t.css"; p{background:url(/i.png)}', "text/css"),
        text("/t.css", "b{color:red}", "text/css"),
        text("/i.png", "\x89PNG\r\n\x1a\n", "image/png", body_charset="latin-1"),
        text("/j", "GIF89a", "image/gif"),
        page("/deny"),
    ]  # fmt: skip


def versioned(specs: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the routes with validators: who has a resource as it is gets 304."""
    made = []
    for spec in specs:
        tag = hashlib.sha256(repr(spec).encode()).hexdigest()[:8]
        whole = {**spec, "headers": {**dict(spec["headers"]), "ETag": f'"{tag}"'}}
        made += [{**whole, "when": {"If-None-Match": f'^"{tag}"$'}, "status": 304}, whole]
    return made


def broken(out: Path) -> list[str]:
    """Return the relative references in the copy that lead to no file of it."""
    found = []
    for path in (out / "files").rglob("*"):
        if path.suffix not in {".html", ".css"}:
            continue
        for match in REFERENCE.finditer(path.read_text("latin-1")):
            reference = unescape(match[1] or match[2] or "")
            parts = urlsplit(urljoin(path.as_uri(), reference))
            is_file = not parts.query and (out / unquote(parts.path)).is_file()
            if parts.scheme == "file" and reference and not is_file:
                found.append(f"{path.name}: {reference}")
    return found


def forms(out: Path) -> dict[str, bool]:
    """Return of each stored path whether its file is as received."""
    with sqlite3.connect(out / "crawl.db") as store:
        rows = store.execute("SELECT path, digest FROM contents").fetchall()
    return {path: hashlib.sha256((out / "files" / path).read_bytes()).digest() == digest for path, digest in rows}


def tree(out: Path) -> dict[str, bytes]:
    """Return every file of the copy."""
    return {str(path.relative_to(out)): path.read_bytes() for path in (out / "files").rglob("*") if path.is_file()}


@pytest_twisted.ensureDeferred
async def test_the_copy_leads_to_itself(site: Factory, tmp_path: Path) -> None:
    """Every relative reference leads to a file, all else is absolute, and the audit counts exactly these."""
    server = site(routes())
    crawled = await crawl(server.base + "/", tmp_path / "out", mirror="1", deny="/deny$")
    assert broken(crawled.out) == []
    front = crawled.body(server.base + "/").decode()
    assert '<base href="">' in front
    assert '<link rel=stylesheet href="s.css" data-integrity="x" data-crossorigin>' in front
    second = crawled.page(server.base + "/sub/a?q=1&r=2")["path"].rsplit("/", 1)[1]
    assert re.findall('<a href="([^"]*)"', front) == [
        "sub/a~.html", f"sub/{second}#s", "sub/a~.html", "same~.html", f"{server.base}/gone", f"{server.alt}/far",
        "50%2525~.html", f"{server.base}/deny",
    ]  # fmt: skip
    other = crawled.body(server.base + "/sub/a").decode()
    assert '<img src="../i.png" srcset="../i.png 1x, ../j~.gif 2x">' in other
    assert '<a href="#top"' in other
    assert crawled.body(server.base + "/s.css") == b'@import "t.css"; p{background:url(i.png)}'
    assert crawled.page(server.base + "/same2")["duplicate_of"] == server.base + "/same"
    assert crawled.body(server.base + "/50%25").count(b'href="same~.html"') == 2
    assert crawled.summary["references"] == {
        "total": 18, "local": 15, "outside": 2, "broken": 1, "missing": 0, "missing_by": {},
    }  # fmt: skip


@pytest_twisted.ensureDeferred
async def test_what_is_missing_is_told_by_its_reason(site: Factory, tmp_path: Path) -> None:
    """What belongs to the copy and is not there is counted as missing, with the reason."""
    robots = text("/robots.txt", "User-agent: *\nDisallow: /no")
    server = site([robots, page("/", link("/no", "/yes") + '<a rel=nofollow href="/never">'), page("/yes")])
    crawled = await crawl(server.base + "/", tmp_path / "out", {"ROBOTSTXT_OBEY": True}, mirror="1")
    references = crawled.summary["references"]
    assert references["missing_by"] == {"robots": 1, "nofollow": 1}
    assert (references["total"], references["local"], references["missing"]) == (3, 1, 2)


@pytest_twisted.ensureDeferred
async def test_switching_needs_no_request(site: Factory, tmp_path: Path) -> None:
    """mirror=0 puts every file back as received, mirror=1 makes the same copy again, and nothing is asked for."""
    server = site(routes())
    first = await crawl(server.base + "/", tmp_path / "out", mirror="1")
    copy, requests = tree(first.out), len(server.log)
    assert not all(forms(first.out).values())
    plain = await crawl(server.base + "/", tmp_path / "out", mirror="0")
    assert all(forms(plain.out).values())
    assert "references" not in plain.summary
    assert not [path for path in (first.out / ".spiderproj" / "originals").rglob("*") if path.is_file()]
    again = await crawl(server.base + "/", tmp_path / "out", mirror="1")
    assert tree(again.out) == copy
    assert again.summary["references"] == first.summary["references"]
    assert len(server.log) == requests


@pytest_twisted.ensureDeferred
async def test_a_plain_copy_gets_only_what_it_lacks(site: Factory, tmp_path: Path) -> None:
    """mirror=1 on a copy without styles and images asks for these, and for no page again."""
    server = site(routes())
    await crawl(server.base + "/", tmp_path / "out")
    requests = len(server.log)
    crawled = await crawl(server.base + "/", tmp_path / "out", mirror="1")
    assert {entry.target for entry in server.log[requests:] if entry.method == "GET"} == {
        "/s.css",
        "/t.css",
        "/i.png",
        "/j",
    }
    assert broken(crawled.out) == []


@pytest_twisted.ensureDeferred
async def test_a_revisit_rewrites_what_has_changed(site: Factory, tmp_path: Path) -> None:
    """After a revisit the new bodies are rewritten, links to what is there now lead there, all else is left alone."""
    server = site(versioned(routes()))
    first = await crawl(server.base + "/", tmp_path / "out", mirror="1")
    stamps = {path: path.stat().st_mtime_ns for path in (first.out / "files").rglob("*.html")}
    server.set_routes(versioned([*routes("two"), page("/gone")]))
    crawled = await crawl(server.base + "/", tmp_path / "out", mirror="1")
    assert broken(crawled.out) == []
    front = crawled.body(server.base + "/").decode()
    assert "<p>two" in front
    assert 'href="gone~.html"' in front
    touched = {path.name for path, stamp in stamps.items() if path.stat().st_mtime_ns != stamp}
    assert touched == {"index.html"}
    await crawl(server.base + "/", tmp_path / "out", mirror="0")
    assert all(forms(first.out).values())


@pytest_twisted.ensureDeferred
async def test_what_a_person_changed_stays(site: Factory, tmp_path: Path) -> None:
    """A file that is not what was received is left alone."""
    server = site(routes())
    first = await crawl(server.base + "/", tmp_path / "out")
    path = first.out / first.page(server.base + "/same")["path"]
    path.write_bytes(b"mine")
    await crawl(server.base + "/", tmp_path / "out", mirror="1")
    assert path.read_bytes() == b"mine"


@pytest_twisted.ensureDeferred
async def test_the_encoding_is_in_the_file(site: Factory, tmp_path: Path) -> None:
    """A page whose encoding only the header told says it itself from the disk."""
    server = site(routes())
    crawled = await crawl(server.base + "/latin", tmp_path / "out", mirror="1")
    assert b'<meta charset="windows-1252">' in crawled.body(server.base + "/latin")


@pytest.fixture(scope="module")
def starter() -> Iterator[Starter]:
    """Return a warm process whose commands have failpoints."""
    with Starter(failpoints=True) as made:
        yield made


@pytest.mark.parametrize("then", ["1", "0"])
@pytest.mark.parametrize("place", ["original.taken:2", "body.renamed:13", "original.take:3"])
def test_a_kill_in_the_middle(place: str, then: str, site: Factory, starter: Starter, tmp_path: Path) -> None:
    """A kill while files are replaced costs nothing: the next run ends with the same copy, or with all as received."""
    server = site(routes())

    def run(name: str, mirror: str, failpoint: str = "") -> int:
        out = tmp_path / name
        line = ["crawl", "site", "-a", f"seed={server.base}/", "-a", f"mirror={mirror}", "-a", f"out={out}"]
        return starter.start(line, tmp_path / f"{name}.txt", failpoint).wait(60)

    assert run("whole", "1") == 0
    assert run("killed", "1", place) == KILLED
    assert tree(tmp_path / "killed") != tree(tmp_path / "whole")
    requests = len(server.log)
    assert run("killed", then) == 0
    assert len(server.log) == requests
    if then == "1":
        assert tree(tmp_path / "killed") == tree(tmp_path / "whole")
    else:
        assert all(forms(tmp_path / "killed").values())
