"""Which URLs a whole crawl asks for, and in which order, as the server sees it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import pytest_twisted

from tests.crawling import crawl
from tests.recount import disagreements
from tests.requests_seen import LOOPBACK, ONE, asked, pages_asked
from tests.routes import link, page, redirect, text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.answers import RouteSpec
    from tests.site import Site

    Factory = Callable[[Iterable[RouteSpec]], Site]


def pdf(path: str, **keys: Any) -> dict[str, Any]:
    """Return the route of a document."""
    return text(path, f"%PDF {path}", "application/pdf", **keys)


def png(path: str, **keys: Any) -> dict[str, Any]:
    """Return the route of an image."""
    return text(path, f"\x89PNG {path}", "image/png", **keys)


WORLD = [
    page("/d/", link("a.html", "b.pdf", "sub/c.html", "/up.html", "/up.png", "/e/h.html", "/e/h.zip",
                     "{{ALT}}/o.html", "{{ALT}}/o.png")),
    page("/d/a.html", link("deep.html", "a.pdf")),
    page("/d/deep.html"), pdf("/d/a.pdf"), pdf("/d/b.pdf"),
    page("/d/sub/c.html", link("x.pdf", "s/y.html")),
    page("/d/sub/s/y.html"), pdf("/d/sub/x.pdf"),
    page("/up.html", link("/up2.html", "/up.pdf")),
    page("/up2.html"), pdf("/up.pdf"), png("/up.png"),
    page("/e/h.html", link("h2.html")), page("/e/h2.html"), text("/e/h.zip", "PK", "application/zip"),
    page("/o.html", link("/o2.html", "/o3.png"), host="localhost"), page("/o2.html", host="localhost"),
    png("/o.png", host="localhost"), png("/o3.png", host="localhost"),
]  # fmt: skip
"""A directory with pages and files, a directory below, one above, one beside, and another host."""

PAGE = ["/d/", "/d/a.html", "/d/deep.html"]
CHILD = ["/d/sub/c.html", "/d/sub/s/y.html"]
PARENT = ["/up.html", "/up2.html"]
HOST = ["/e/h.html", "/e/h2.html"]
OTHER = ["ALT/o.html", "ALT/o2.html"]
MODES: list[tuple[dict[str, str], list[str]]] = [
    ({}, [*PAGE, *CHILD, *PARENT, *HOST]),
    ({"near": "1"}, [*PAGE, *CHILD, *PARENT, *HOST, "ALT/o.png"]),
    ({"deny_types": "html", "select": "page,child:html,document"}, ["/d/", "/d/b.pdf"]),
    ({"mode": "all"}, [*PAGE, *CHILD, *PARENT, *HOST, *OTHER]),
    ({"mode": "all", "depth": "1"}, ["/d/", "/d/a.html", "/d/sub/c.html", "/up.html", "/e/h.html", "ALT/o.html"]),
    ({"mode": "all", "select": "page,other:html,image"}, [*PAGE, *OTHER, "ALT/o.png", "ALT/o3.png"]),
    ({"mode": "directory"}, [*PAGE, "/d/a.pdf", "/d/b.pdf", *CHILD, "/up.png"]),
    ({"mode": "directory", "select": "page:html"}, PAGE),
    ({"mode": "directory", "select": "page,child:html"}, [*PAGE, *CHILD]),
    ({"mode": "directory", "select": "page:html child:document"}, PAGE),
    ({"mode": "directory", "select": "page:none child:html,document"}, ["/d/", *CHILD, "/d/sub/x.pdf"]),
    ({"mode": "directory", "select": "page:html parent:all"}, [*PAGE, *PARENT, "/up.pdf", "/up.png"]),
    ({"mode": "directory", "select": "page,host:all"}, [*PAGE, "/d/a.pdf", "/d/b.pdf", *HOST, "/e/h.zip"]),
    ({"mode": "directory", "select": "page:html", "near": "1"}, [*PAGE, "ALT/o.png"]),
    ({"mode": "files"}, ["/d/", "/d/b.pdf", "/up.png", "/e/h.zip", "ALT/o.png"]),
    ({"mode": "files", "deny_types": "image"}, ["/d/", "/d/b.pdf", "/e/h.zip"]),
    ({"mode": "files", "deny": "zip"}, ["/d/", "/d/b.pdf", "/up.png", "ALT/o.png"]),
    ({"depth": "0"}, ["/d/"]),
    ({"depth": "1"}, ["/d/", "/d/a.html", "/d/sub/c.html", "/up.html", "/e/h.html"]),
    ({"allow": "/d/"}, [*PAGE, *CHILD]),
    ({"allow": "/d/", "allow.1": "/up", "deny": "deep|up2"}, ["/d/", "/d/a.html", *CHILD, "/up.html"]),
    ({"filter": "level != 'child' and depth < 2"}, ["/d/", "/d/a.html", "/up.html", "/e/h.html"]),
]


@pytest.mark.parametrize(("arguments", "expected"), MODES, ids=[str(arguments) for arguments, _ in MODES])
@pytest_twisted.ensureDeferred
async def test_exactly_what_belongs_is_asked_for(
    site: Factory, tmp_path: Path, arguments: dict[str, Any], expected: list[str]
) -> None:
    """Where the endings tell the types, every URL that belongs is asked for once, and nothing else."""
    served = site(WORLD)
    done = await crawl(f"{served.base}/d/", tmp_path / "out", LOOPBACK, gate="extension", **arguments)

    assert sorted(asked(served)) == sorted(expected)
    assert done.status == 0
    assert disagreements(done) == []


@pytest.mark.parametrize(("arguments", "expected"), MODES, ids=[str(arguments) for arguments, _ in MODES])
@pytest_twisted.ensureDeferred
async def test_every_gate_keeps_the_same(
    site: Factory, tmp_path: Path, arguments: dict[str, Any], expected: list[str]
) -> None:
    """The gate changes what is asked, never what is kept."""
    served = site(WORLD)
    wanted = {name.replace("ALT", served.alt) if name.startswith("ALT") else served.base + name for name in expected}
    for gate in ("auto", "get"):
        done = await crawl(f"{served.base}/d/", tmp_path / gate, LOOPBACK, gate=gate, **arguments)

        assert {row["url"] for row in done.pages} == wanted
        assert disagreements(done) == []


@pytest_twisted.ensureDeferred
async def test_nothing_is_followed_from_a_near_file(site: Factory, tmp_path: Path) -> None:
    """near=1 follows a redirect of a near file, judges it by its type, and takes no link from what it gets."""
    icon = text("/icon.svg", '<svg xmlns="http://www.w3.org/2000/svg"><a href="/in.html"/></svg>', "image/svg+xml")
    far = [icon, redirect("/moved", "/there.pdf"), pdf("/there.pdf"), pdf("/two.pdf"), page("/hidden.png", link("/no"))]
    served = site([page("/", link("{{ALT}}/icon.svg", "{{ALT}}/moved", "{{ALT}}/hidden.png", "/a")),
                   page("/a", link("{{ALT}}/two.pdf")), *({**each, "host": "localhost"} for each in far)])  # fmt: skip
    done = await crawl(f"{served.base}/", tmp_path / "out", LOOPBACK, near="1", gate="get")

    assert pages_asked(served) == ["/", "/a", "ALT/hidden.png", "ALT/icon.svg", "ALT/moved", "ALT/there.pdf",
                                   "ALT/two.pdf"]  # fmt: skip
    assert done.reasons() == {f"{served.alt}/hidden.png": "type"}
    assert disagreements(done) == []


@pytest_twisted.ensureDeferred
async def test_requisites_come_from_anywhere_at_no_hop(site: Factory, tmp_path: Path) -> None:
    """requisites=1 gets images, scripts, styles and what these import, wherever it is, though depth is used up."""
    body = (
        '<link rel="stylesheet" href="{{ALT}}/s.css"><script src="/js.js"></script><img src="{{OTHER}}/i.png">'
        '<iframe src="/frame"></iframe><a href="/next">next</a><a href="{{ALT}}/far">far</a>'
    )
    styles = [text("/s.css", '@import "more.css"; body {background: url({{OTHER}}/bg.png)}', "text/css"),
              text("/more.css", "@font-face {src: url(f.woff2)}", "text/css"),
              text("/f.woff2", "wOF2", "font/woff2")]  # fmt: skip
    served = site([page("/", body), *({**each, "host": "localhost"} for each in styles), png("/i.png", port="other"),
                   text("/js.js", "1", "text/javascript"), png("/bg.png", port="other")])  # fmt: skip
    done = await crawl(f"{served.base}/", tmp_path / "out", LOOPBACK, requisites="1", depth="0")

    assert pages_asked(served) == ["/", "/js.js", "ALT/f.woff2", "ALT/more.css", "ALT/s.css", "OTHER/bg.png",
                                   "OTHER/i.png"]  # fmt: skip
    assert {row["depth"] for row in done.pages} == {0}
    assert set(done.reasons().items()) == {(f"{served.base}/next", "depth"), (f"{served.base}/frame", "depth"),
                                           (f"{served.alt}/far", "scope")}  # fmt: skip
    assert disagreements(done) == []


@pytest_twisted.ensureDeferred
async def test_a_redirected_requisite_moves_no_home(site: Factory, tmp_path: Path) -> None:
    """Only a seed's redirect moves the home: one of a style elsewhere does not bring its host into the crawl."""
    body = '<link rel="stylesheet" href="{{ALT}}/s">' + link("/next")
    style = text("/s/", "b {}", "text/css", host="localhost")
    served = site([page("/", body), redirect("/s", "/s/", host="localhost"), style, page("/far", host="localhost"),
                   page("/next", link("{{ALT}}/far"))])  # fmt: skip
    done = await crawl(f"{served.base}/", tmp_path / "out", {**LOOPBACK, **ONE}, requisites="1", order="files")

    assert pages_asked(served) == ["/", "/next", "ALT/s", "ALT/s/"]
    assert done.reasons() == {f"{served.alt}/far": "scope"}


def sitemap(path: str, *locations: str) -> dict[str, Any]:
    """Return the route of a sitemap."""
    entries = "".join(f"<url><loc>{{{{BASE}}}}{location}</loc></url>" for location in locations)
    start = '<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    return text(path, f"{start}{entries}</urlset>", "application/xml")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"sitemap": "on"}, ["/", "/linked", "/listed", "/m.xml", "/on-listed", "/sitemap.xml", "/two"]),
        ({"sitemap": "only"}, ["/", "/listed", "/m.xml", "/sitemap.xml", "/two"]),
        ({"sitemap": "off"}, ["/", "/linked"]),
        ({"sitemap": "on", "depth": "1"}, ["/", "/linked", "/listed", "/m.xml", "/sitemap.xml", "/two"]),
        ({"sitemap": "on", "deny": "listed"}, ["/", "/linked", "/m.xml", "/sitemap.xml", "/two"]),
    ],
)
@pytest_twisted.ensureDeferred
async def test_sitemaps(site: Factory, tmp_path: Path, arguments: dict[str, Any], expected: list[str]) -> None:
    """What sitemaps list is judged like a link of a seed; only=: the pages' own links are not followed."""
    served = site([page("/", link("/linked")), page("/linked"), page("/listed", link("/on-listed")), page("/on-listed"),
                   page("/two"), sitemap("/sitemap.xml", "/two"), sitemap("/m.xml", "/listed", "/two"),
                   text("/robots.txt", "Sitemap: {{BASE}}/m.xml")])  # fmt: skip
    done = await crawl(f"{served.base}/", tmp_path / "out", **arguments)

    assert pages_asked(served) == expected
    assert done.status == 0
    assert disagreements(done) == []


TREE = [
    page("/t/s/", link("one", "c/two", "/t/three", "/four", "/z/five", "f.pdf")),
    page("/t/s/one", link("one-a", "/t/three-a", "g.pdf")), page("/t/s/one-a"),
    page("/t/s/c/two", link("two-a")), page("/t/s/c/two-a"),
    page("/t/three", link("/t/s/late", "/four-a")), page("/t/s/late"), page("/t/three-a"),
    page("/four"), page("/four-a"), page("/z/five", link("/z/five-a")), page("/z/five-a"),
    pdf("/t/s/f.pdf"), pdf("/t/s/g.pdf"),
]  # fmt: skip
ORDERS = {
    "section": ["/t/s/", "/t/s/f.pdf", "/t/s/one", "/t/s/g.pdf", "/t/s/c/two", "/t/s/one-a", "/t/s/c/two-a",
                "/t/three", "/t/s/late", "/t/three-a", "/four", "/four-a", "/z/five", "/z/five-a"],
    "breadth": ["/t/s/", "/t/s/one", "/t/s/c/two", "/t/three", "/four", "/z/five", "/t/s/f.pdf",
                "/t/s/one-a", "/t/three-a", "/t/s/g.pdf", "/t/s/c/two-a", "/t/s/late", "/four-a", "/z/five-a"],
    "depth": ["/t/s/", "/t/s/one", "/t/s/one-a", "/t/three-a", "/t/s/g.pdf", "/t/s/c/two", "/t/s/c/two-a",
              "/t/three", "/t/s/late", "/four-a", "/four", "/z/five", "/z/five-a", "/t/s/f.pdf"],
    "files": ["/t/s/", "/t/s/f.pdf", "/t/s/one", "/t/s/g.pdf", "/t/s/c/two", "/t/three", "/four", "/z/five",
              "/t/s/one-a", "/t/three-a", "/t/s/c/two-a", "/t/s/late", "/four-a", "/z/five-a"],
}  # fmt: skip


@pytest.mark.parametrize("order", ORDERS)
@pytest_twisted.ensureDeferred
async def test_order_is_strict(site: Factory, tmp_path: Path, order: str) -> None:
    """With one request at a time, the server is asked exactly in the order that the argument names."""
    served = site(TREE)
    everything = {"select": "page,child,parent,host:html,document", "gate": "extension"}
    await crawl(f"{served.base}/t/s/", tmp_path / "out", ONE, order=order, **everything)

    assert asked(served) == ORDERS[order]


@pytest.mark.parametrize("order", ORDERS)
@pytest_twisted.ensureDeferred
async def test_order_holds_across_a_stop(site: Factory, tmp_path: Path, order: str) -> None:
    """A crawl that is cut short after each few pages asks in the same order as one that is not."""
    served = site(TREE)
    everything = {"select": "page,child,parent,host:html,document", "gate": "extension"}
    for _ in range(len(TREE)):
        done = await crawl(
            f"{served.base}/t/s/", tmp_path / "out", {**ONE, "CLOSESPIDER_PAGECOUNT": 3}, order=order, **everything
        )
        if done.summary["state"] == "finished":
            break

    assert asked(served) == ORDERS[order]
    assert disagreements(done) == []


@pytest.mark.parametrize("concurrency", [2, 8])
@pytest_twisted.ensureDeferred
async def test_only_what_is_in_flight_is_out_of_order(site: Factory, tmp_path: Path, concurrency: int) -> None:
    """Of two URLs known at once the better one goes out first, but for as many as are in flight."""
    names = [f"/{number}.html" for number in range(40)]
    files = [f"/{number}.pdf" for number in range(40)]
    pages = [page(name, link(file), delay_s=0.002) for name, file in zip(names, files, strict=True)]
    served = site([page("/", link(*names)), *pages, *map(pdf, files)])
    settings = {"CONCURRENT_REQUESTS_PER_DOMAIN": concurrency}
    await crawl(f"{served.base}/", tmp_path / "out", settings, order="files", select="page:all")

    order = asked(served)
    lag = [order.index(file) - order.index(name) for name, file in zip(names, files, strict=True)]
    assert max(lag) <= 2 * concurrency  # its page and the files of those in flight with it; in breadth it would be 40
    assert [name for name in order if name in names] == sorted(names, key=names.index) or concurrency > 1


@pytest_twisted.ensureDeferred
async def test_a_user_filter_and_a_user_order(site: Factory, tmp_path: Path) -> None:
    """SPIDERPROJ_FILTER refuses what its function says no to, and SPIDERPROJ_ORDER's number sorts what is left."""
    served = site([page("/", link("/1", "/2", "/3", "/4")), *(page(f"/{n}") for n in "1234")])
    hooks = {"SPIDERPROJ_FILTER": f"{__name__}.no_three", "SPIDERPROJ_ORDER": f"{__name__}.backwards"}
    done = await crawl(f"{served.base}/", tmp_path / "out", {**ONE, **hooks})

    assert asked(served) == ["/", "/4", "/2", "/1"]
    assert done.reasons() == {f"{served.base}/3": "filter"}
    assert done.refused[0]["rule"] == f"SPIDERPROJ_FILTER={__name__}.no_three"


def no_three(values: dict[str, Any]) -> bool:
    """Let in everything but /3."""
    return str(values["path"]) != "/3"


def backwards(values: dict[str, Any]) -> float:
    """Rank a higher number first."""
    return -float(str(values["path"])[1:] or 9)


SEEDS = [page("/a/", link("/a/1", "/b/2")), page("/a/1"), page("/b/", link("/b/2")), page("/b/2"), pdf("/x.pdf"),
         redirect("/dir", "/dir/"), page("/dir/", link("/dir/in", "/dir2")), page("/dir/in"), page("/dir2"),
         redirect("/away", "{{ALT}}/there", host="127.0.0.1"), page("/there", link("/more"))]  # fmt: skip
SEED_CASES: list[tuple[str, dict[str, str], list[str]]] = [
    ("{BASE}/a/ {BASE}/b/", {"mode": "directory"}, ["/a/", "/a/1", "/b/", "/b/2"]),
    ("{BASE}/a/\n  {BASE}/a/#top\t{BASE}/./a/", {"depth": "0"}, ["/a/"]),
    ("{BASE}/x.pdf", {}, ["/x.pdf"]),
    ("{BASE}/x.pdf#page=2", {"gate": "head"}, ["/x.pdf"]),
    ("{BASE}/dir", {"mode": "directory"}, ["/dir", "/dir/", "/dir/in"]),
    ("{BASE}/a/ {OTHER}/b/", {"depth": "1"}, ["/a/", "/a/1", "/b/2", "OTHER/b/", "OTHER/b/2"]),
]


@pytest.mark.parametrize(("seed", "arguments", "expected"), SEED_CASES)
@pytest_twisted.ensureDeferred
async def test_seeds(site: Factory, tmp_path: Path, seed: str, arguments: dict[str, Any], expected: list[str]) -> None:
    """Several seeds, repeated ones, with fragments, files, redirects: each is asked for once, in its own directory."""
    served = site(SEEDS)
    done = await crawl(seed.format(**served.names), tmp_path / "out", **arguments)

    assert pages_asked(served) == expected
    assert done.status == 0
    assert disagreements(done) == []


@pytest_twisted.ensureDeferred
async def test_seed_file_and_refused_lines_as_seeds(site: Factory, tmp_path: Path) -> None:
    """A list with comments is a seed, and refused.jsonl of one crawl is one for the next, in the same folder too."""
    served = site(SEEDS)
    names = tmp_path / "seeds.txt"
    names.write_text(f"# two\n{served.base}/a/\n\n  {served.base}/b/  # trailing\n")
    done = await crawl(f"@{names}", tmp_path / "out", depth="0")

    assert pages_asked(served) == ["/a/", "/b/"]
    assert set(done.reasons().values()) == {"depth"}
    for out in ("new", "out"):
        served.log.clear()
        rows = tmp_path / "rows.jsonl"
        rows.write_bytes((tmp_path / "out" / "refused.jsonl").read_bytes())
        again = await crawl(f"@{rows}", tmp_path / out, depth="0")

        assert {"/a/1", "/b/2"} <= set(pages_asked(served))
        assert {f"{served.base}/a/1", f"{served.base}/b/2"} <= {row["url"] for row in again.pages}


@pytest_twisted.ensureDeferred
async def test_seed_that_a_link_had_been_refused_for(site: Factory, tmp_path: Path) -> None:
    """What the user names is fetched, though an earlier crawl in the folder refused a link to it for its type."""
    served = site([page("/", link("/x.pdf")), pdf("/x.pdf")])
    first = await crawl(f"{served.base}/", tmp_path / "out")
    second = await crawl(f"{served.base}/x.pdf", tmp_path / "out")

    assert first.reasons() == {f"{served.base}/x.pdf": "type"}
    assert second.refused == []
    assert second.page(f"{served.base}/x.pdf")["depth"] == 0


@pytest_twisted.ensureDeferred
async def test_seed_without_scheme_falls_back_to_http(
    site: Factory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HTTPS comes first; where it gives no answer, http is tried at once, and the crawl is at home there."""
    monkeypatch.setattr("spiderproj.downloader.pool.CONNECT_SECONDS", 0.1)  # the server waits for more
    served = site(SEEDS)
    done = await crawl(f"127.0.0.1:{served.port}/a/", tmp_path / "out", mode="directory")

    assert asked(served) == ["/a/", "/a/1"]
    assert done.status == 0
    assert done.reasons()[f"https://127.0.0.1:{served.port}/a/"] == "robots"
    assert float(done.summary["seconds"]) < 5


@pytest_twisted.ensureDeferred
async def test_a_moved_home_is_remembered(site: Factory, tmp_path: Path) -> None:
    """A seed that is a directory after all lives there in later runs too."""
    served = site(SEEDS)
    for _ in range(2):
        done = await crawl(f"{served.base}/dir", tmp_path / "out", mode="directory")

        assert [(row["url"], row["level"]) for row in done.refused] == [(f"{served.base}/dir2", "parent")]
