"""The bench measures what it says: its sites are what their manifests tell, and its scores count rightly."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from bench.dyn_server import VirtualSite, path
from bench.make_site import Options, make_site
from bench.nginx import Line, read_log
from bench.score import score
from bench.site5k import table
from bench.soak import Sample, figures
from spiderproj.urls import canonical

if TYPE_CHECKING:
    from pathlib import Path

SMALL = Options(pages=150, page_bytes=3000, files=40, broken=8, links=20)
BASE = "http://h"


def test_equal_options_give_equal_sites(tmp_path: Path) -> None:
    """The manifest, digests and all, depends on the options alone, and another seed gives another site."""
    one, two = make_site(SMALL, tmp_path / "1"), make_site(SMALL, tmp_path / "2")
    assert one == two
    assert one.urls != make_site(Options(pages=150, seed="other"), tmp_path / "3").urls
    assert make_site(SMALL, tmp_path / "1") == one  # read again, not made again


def test_every_file_is_reachable(tmp_path: Path) -> None:
    """A walk along href, src and url() finds exactly the manifest's files and the broken links."""
    manifest = make_site(SMALL, tmp_path)
    seen, todo = {"/"}, ["/"]
    while todo:
        url = todo.pop()
        file = tmp_path / "www" / (url[1:] + "index.html" if url.endswith("/") else url[1:])
        if not file.exists() or file.suffix not in (".html", ".css"):
            continue
        for found in re.findall(r'(?:href="|src="|url\()([^")]*)', file.read_text()):
            target = canonical(found, BASE + url).removeprefix(BASE)
            if target not in seen:
                seen.add(target)
                todo.append(target)
    assert seen == set(manifest.urls) | set(manifest.broken)
    pages = [entry.size for entry in manifest.urls.values() if entry.type == "html"]
    assert len(pages) == SMALL.pages
    assert 2400 < sum(pages) / len(pages) < 4500


def test_scores(tmp_path: Path) -> None:
    """Pages count once, when whole; repeats, strangers, methods, connections and saved bytes are told apart."""
    manifest = make_site(SMALL, tmp_path)
    pages = [url for url, entry in manifest.urls.items() if entry.type == "html"]
    size = {url: entry.size for url, entry in manifest.urls.items()}
    saved = tmp_path / "saved"
    saved.mkdir()
    (saved / "any-name").write_bytes((tmp_path / "www" / "index.html").read_bytes())
    lines = [
        Line(1, 1, "GET", "/", 200, size["/"], size["/"] + 200, 0.1),
        Line(2, 1, "GET", "/", 200, size["/"], size["/"] + 200, 0.1),
        Line(3, 2, "HEAD", pages[1], 200, 0, 200, 0.1),
        Line(4, 2, "GET", pages[1], 200, 10, 210, 0.1),
        Line(5, 3, "GET", manifest.broken[0], 404, 10, 210, 0.1),
        Line(6, 3, "GET", "/stranger", 404, 10, 210, 0.1),
    ]
    result = score(lines, manifest, saved)
    assert (result.pages, result.repeats, result.unknown, result.connections) == (1, 1, 1, 3)
    assert result.methods == {"GET": 5, "HEAD": 1}
    assert result.statuses == {"200": 4, "404": 2}
    assert result.html_pct == round(100 / SMALL.pages, 1)
    assert result.saved_pct == round(100 / len(manifest.urls), 1)


def test_log_lines(tmp_path: Path) -> None:
    """A line of the server's log is read back."""
    (tmp_path / "log").write_text("1.5\t7\tGET\t/a?b\t200\t10\t210\t0.001\n")
    assert list(read_log(tmp_path / "log")) == [Line(1.5, 7, "GET", "/a?b", 200, 10, 210, 0.001)]


@pytest.mark.parametrize("pages", [1, 2, 500])
def test_the_virtual_site_is_one_tree(pages: int) -> None:
    """The links of its pages reach every page and nothing else; what it has not got is 404."""
    site = VirtualSite(pages, 1000)
    seen, todo = {0}, [0]
    by_path = {path(number): number for number in range(pages)}
    while todo:
        for found in re.findall(rb'href="([^"#]*)', site.body(todo.pop())):
            if (number := by_path[found]) not in seen:
                seen.add(number)
                todo.append(number)
    assert seen == set(range(pages))
    assert site.answer("GET", path(pages).decode(), "").startswith(b"HTTP/1.1 404 ")


def test_the_virtual_site_counts() -> None:
    """Distinct pages, repeats and 304 are counted; HEAD has no body."""
    site = VirtualSite(10, 1000)
    first, head = site.answer("GET", "/", ""), site.answer("HEAD", "/", "")
    assert first.startswith(head)
    assert head.endswith(b"\r\n\r\n")
    assert site.answer("GET", "/", '"0"').startswith(b"HTTP/1.1 304 ")
    assert site.counts == {"GET": 2, "HEAD": 1, "distinct": 1, "repeats": 1, "not_modified": 1}


def test_faulty_pages_are_whole_the_second_time() -> None:
    """So many of a hundred pages fail once, in four ways, none of them a whole page, and never again."""
    site, whole = VirtualSite(4000, 500, 5), VirtualSite(4000, 500)
    numbers = range(4000)
    first = [site.answer("GET", path(number).decode(), "") for number in numbers]
    second = [site.answer("GET", path(number).decode(), "") for number in numbers]
    assert second == [whole.answer("GET", path(number).decode(), "") for number in numbers]
    failed = [one for one, good in zip(first, second, strict=True) if one != good]
    assert 160 < len(failed) < 240
    assert {one.partition(b"\r\n")[0] for one in failed} == {
        b"",
        b"HTTP/1.1 500 Internal Server Error",
        b"HTTP/1.1 200 OK",
    }
    assert site.counts["faults"] == len(failed)
    assert site.counts["distinct"] == 4000


def test_traps_have_no_end() -> None:
    """Each trap leads on to where nobody was before, and a site without traps has none of them."""
    site = VirtualSite(1000, 500, has_traps=True)
    for trap in (b"/trap/7/", b"/far/7?hop=1", b"/calendar?month=1"):
        assert trap in site.body(7)
        assert trap not in VirtualSite(1000, 500).body(7)
        assert VirtualSite(1000, 500).answer("GET", trap.decode(), "").startswith(b"HTTP/1.1 404 ")
    assert b"Location: /far/7?hop=10\r\n" in site.answer("GET", "/far/7?hop=9", "")
    assert b'"/calendar?month=3"' in site.answer("GET", "/calendar?month=2", "")
    assert b'"a/b/a/b/"' in site.answer("GET", "/trap/7/a/", "")


def test_what_a_soak_comes_to() -> None:
    """A crawl that grows by 2 MB an hour at 20,000 pages an hour is said to, and eight hours of it are extrapolated."""
    samples = [Sample(60 * n, 20_000 * n // 60, 100 + n / 30, 0.004 * 20_000 * n / 60, 60, 1) for n in range(1, 61)]
    text = figures(samples)
    assert "slope: +2.00 MB per 20,000 pages, +2.00 MB an hour" in text
    assert "after 8 hours: 116 MB (extrapolated)" in text
    assert "CPU ms a page: 4.00 in the first tenth, 4.00 in the last" in text
    assert "100.2 MB at 10 %, 102.0 MB at the end" in text


def test_disturbed_runs_are_left_out() -> None:
    """The medians are of undisturbed runs while there are any."""
    row = {"tool": "x", "pages_per_s": 10, "cpu_ms_per_page": 1, "peak_mb": 1, "methods": {}, "connections": 1}
    row |= {"html_pct": 100, "all_pct": 100, "saved_pct": 100, "repeats": 0, "exit_status": 0}
    rows = [row | {"wall_s": 9, "others": 0.5}, row | {"wall_s": 2, "others": 0.0}]
    assert "| x | 1 of 2 | 2.00 [2.00-2.00] |" in table(rows)
    assert "| x* | 1 of 1 | 9.00 [9.00-9.00] |" in table(rows[:1])
