"""The same command again: it goes on after a stop, asks what has changed after the end, starts over with fresh=1."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest_twisted
from scrapy.crawler import Crawler
from scrapy.utils.defer import deferred_from_coro
from twisted.internet import reactor
from twisted.internet.task import deferLater

from spiderproj.spiders.site import SiteSpider
from tests.crawling import crawl, project_settings
from tests.recount import disagreements, listing
from tests.requests_seen import ONE, asked
from tests.routes import link, page, redirect, text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import pytest
    from twisted.internet.defer import Deferred

    from tests.answers import RouteSpec
    from tests.site import Site

    Factory = Callable[[Iterable[RouteSpec]], Site]


def versioned(path: str, body: str = "", tag: str = "1", **keys: Any) -> list[dict[str, Any]]:
    """Return the routes of a page that answers 304 to who has this version of it."""
    whole = page(path, body, **keys)
    whole["headers"] = {**whole["headers"], "ETag": f'"{tag}"', "Last-Modified": "Mon, 05 Oct 2026 10:00:00 GMT"}
    return [{**whole, "when": {"If-None-Match": f'^"{tag}"$'}, "status": 304}, whole]


def flat(routes: Iterable[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return the *routes* in one list."""
    return [route for each in routes for route in each]


def statuses(served: Site) -> list[tuple[str, int | None]]:
    """Return target and answered status of each request but for robots.txt, in order."""
    return [(each.target, each.status) for each in served.log if each.target != "/robots.txt"]


def nap(seconds: float) -> Deferred[None]:
    """Let the crawl go on for *seconds*."""
    return deferLater(reactor, seconds, lambda: None)


NAMES = [f"/{number}" for number in range(12)]
STAR = [page("/", link(*NAMES)), *(page(name, link("/", name + "/in")) for name in NAMES),
        *(page(name + "/in") for name in NAMES)]  # fmt: skip


@pytest_twisted.ensureDeferred
async def test_limit_by_limit_to_the_end(site: Factory, tmp_path: Path) -> None:
    """However often a limit ends it, no page is fetched twice, what is left says so, and the sum is the whole."""
    served = site(STAR)
    seen = []
    for _ in range(30):
        done = await crawl(f"{served.base}/", tmp_path / "out", {**ONE, "CLOSESPIDER_PAGECOUNT": 4})
        seen.append(done.summary["pages"])

        assert done.status == 0
        assert disagreements(done) == []
        if done.summary["state"] == "finished":
            break
        budget = {row["url"] for row in done.refused if row["reason"] == "budget"}
        assert len(budget) == done.summary["pending"] > 0
        assert budget == {row["target"] for row in done.links if row["decision"] == "queued"}
        assert all(row["rule"] == "closespider_pagecount" for row in done.refused)

    assert seen == sorted(seen)
    assert len(seen) > 4
    assert sorted(asked(served)) == sorted(route["path"] for route in STAR)
    assert done.summary["pages"] == len(STAR)
    assert done.summary["requests"] == {"GET": len(STAR) + 1}  # robots.txt is remembered between the runs
    assert done.refused == []


@pytest_twisted.ensureDeferred
async def test_limits_that_users_know(site: Factory, tmp_path: Path) -> None:
    """Scrapy's other limits stop it too, with status 0, and name themselves in summary and refused.jsonl."""
    limits = {"CLOSESPIDER_ITEMCOUNT": 3, "CLOSESPIDER_TIMEOUT": 0.2}
    served = site([*STAR, *(page(f"/slow{n}", link(f"/slow{n + 1}"), delay_s=0.05) for n in range(30))])
    for name, limit in limits.items():
        done = await crawl(f"{served.base}/slow0", tmp_path / name, {**ONE, name: limit})

        assert (done.status, done.summary["state"]) == (0, "stopped")
        assert done.summary["reason"] == name.lower()
        assert {(row["reason"], row["rule"]) for row in done.refused} == {("budget", name.lower())}


@pytest_twisted.ensureDeferred
async def test_stopped_by_hand_and_taken_up(site: Factory, tmp_path: Path) -> None:
    """A stop as of Ctrl-C ends with 6 and everything saved; the next run asks only for the rest."""
    served = site([page("/", link(*NAMES)), *(page(name, delay_s=0.02) for name in NAMES)])
    crawler = Crawler(SiteSpider, project_settings(CONCURRENT_REQUESTS_PER_DOMAIN=2))
    ended = crawler.crawl(seed=f"{served.base}/", out=str(tmp_path / "out"))
    while len(served.log) < 6:
        await nap(0.005)
    await deferred_from_coro(crawler.stop_async())
    await ended
    asked_before = set(asked(served))
    done = await crawl(f"{served.base}/", tmp_path / "out")

    assert crawler.spider is not None
    assert crawler.spider.exit_status == 6  # type: ignore[attr-defined]  # our spider has one
    assert sorted(asked(served)) == sorted(["/", *NAMES])
    assert 2 < len(asked_before) < 13
    assert done.summary["pages"] == 13
    assert disagreements(done) == []


@pytest_twisted.ensureDeferred
async def test_a_stop_does_not_wait_for_the_delay(site: Factory, tmp_path: Path) -> None:
    """What waits for its turn, however long, goes back to the frontier when the crawl is told to stop."""
    busy = [text(name, "slow down", status=429, headers={"Retry-After": "600"}) for name in NAMES]
    served = site([page("/", link(*NAMES)), *busy])
    crawler = Crawler(SiteSpider, project_settings(DOWNLOAD_DELAY=0.05))
    ended = crawler.crawl(seed=f"{served.base}/", out=str(tmp_path / "out"))
    while not any(each.status == 429 for each in served.log):
        await nap(0.02)
    await nap(0.1)
    await deferred_from_coro(crawler.stop_async())
    await ended
    summary: dict[str, Any] = crawler.spider.summary  # type: ignore[union-attr]

    assert summary["pending"] == 12
    assert len(asked(served)) < 9
    assert summary["seconds"] < 10


@pytest_twisted.ensureDeferred
async def test_finished_crawl_asks_what_has_changed(site: Factory, tmp_path: Path) -> None:
    """A second run is conditional: 304 keeps rows and files, what has changed is replaced, what is new is found."""
    before = [*versioned("/", link("/same", "/changed", "/gone")), *versioned("/same", link("/kept")),
              *versioned("/kept"), *versioned("/changed", link("/old")), *versioned("/old"),
              *versioned("/gone", link("/kept"))]  # fmt: skip
    served = site(before)
    first = await crawl(f"{served.base}/", tmp_path / "out", ONE)
    gone = first.page(f"{served.base}/gone")
    served.log.clear()
    served.set_routes([*versioned("/", link("/same", "/changed", "/gone")), *versioned("/same", link("/kept")),
                       *versioned("/kept"), *versioned("/changed", link("/new"), "2"), *versioned("/old"),
                       page("/new")])  # fmt: skip
    second = await crawl(f"{served.base}/", tmp_path / "out", ONE)

    assert statuses(served) == [("/", 304), ("/same", 304), ("/changed", 200), ("/gone", 404), ("/kept", 304),
                                ("/old", 304), ("/new", 200)]  # fmt: skip
    same = second.page(f"{served.base}/same")
    assert {key: same[key] for key in ("digest", "path", "size", "title", "etag", "last_modified", "type")} == {
        key: first.page(f"{served.base}/same")[key]
        for key in ("digest", "path", "size", "title", "etag", "last_modified", "type")
    }
    assert (same["status"], same["fetched_at"] > first.page(f"{served.base}/same")["fetched_at"]) == (304, True)
    assert b"/new" in second.body(f"{served.base}/changed")
    assert {row["target"] for row in second.links if row["source"].endswith("/changed")} == {f"{served.base}/new"}
    assert {row["target"] for row in second.links if row["source"].endswith("/same")} == {f"{served.base}/kept"}
    marked = second.page(f"{served.base}/gone")
    assert (marked["status"], marked["error"]) == (404, "HTTP 404")
    assert (second.out / gone["path"]).is_file()
    assert second.summary["errors"] == {"HTTP 404": 1}
    assert second.summary["pages"] == 6
    assert second.status == 0


@pytest_twisted.ensureDeferred
async def test_revisit_that_is_cut_short_stays_conditional(site: Factory, tmp_path: Path) -> None:
    """A revisit that a limit ends is taken up as one: the rest is asked for conditionally too, nothing twice."""
    served = site(flat([versioned("/", link(*NAMES)), *map(versioned, NAMES)]))
    await crawl(f"{served.base}/", tmp_path / "out", ONE)
    served.log.clear()
    cut = await crawl(f"{served.base}/", tmp_path / "out", {**ONE, "CLOSESPIDER_PAGECOUNT": 5})

    assert len(cut.pages) == 13
    assert cut.refused == []  # all of it was fetched once: no budget has kept it out
    done = await crawl(f"{served.base}/", tmp_path / "out", ONE)
    assert statuses(served) == [(name, 304) for name in ["/", *NAMES]]
    assert disagreements(done) == []


@pytest_twisted.ensureDeferred
async def test_wider_rules_hold_for_what_has_not_changed(site: Factory, tmp_path: Path) -> None:
    """New arguments judge the links of pages anew, though a 304 brings no page: depth=2 goes on where depth=1 ended."""
    served = site(flat([versioned("/", link("/1")), versioned("/1", link("/2")), versioned("/2", link("/3"))]))
    first = await crawl(f"{served.base}/", tmp_path / "out", depth="1")
    served.log.clear()
    await crawl(f"{served.base}/", tmp_path / "out", {**ONE, "CLOSESPIDER_PAGECOUNT": 1}, depth="2")
    second = await crawl(f"{served.base}/", tmp_path / "out", depth="2")

    assert first.reasons() == {f"{served.base}/2": "depth"}
    assert statuses(served) == [("/", 304), ("/1", 304), ("/2", 200)]
    assert second.reasons() == {f"{served.base}/3": "depth"}
    assert disagreements(second) == []


@pytest_twisted.ensureDeferred
async def test_page_that_lost_its_links(site: Factory, tmp_path: Path) -> None:
    """A page that links to nothing any more has no line left in links.jsonl."""
    served = site([page("/", link("/a")), page("/a", link("/b")), page("/b")])
    await crawl(f"{served.base}/", tmp_path / "out")
    served.set_routes([page("/", link("/a")), page("/a"), page("/b")])
    done = await crawl(f"{served.base}/", tmp_path / "out")

    assert [row["target"] for row in done.links] == [f"{served.base}/a"]
    assert done.summary["links_total"] == 1


@pytest_twisted.ensureDeferred
async def test_duplicate_of_a_page_that_changes_keeps_its_body(site: Factory, tmp_path: Path) -> None:
    """Two URLs share one file; when its owner changes, the other one's body is fetched again, not lost."""

    def pair(first: str, first_tag: str, delay_s: float) -> list[dict[str, Any]]:
        routes = [*versioned("/a", tag=first_tag), *versioned("/b")]
        bodies = {"/a": first, "/b": "the same"}
        late = {"/a": delay_s, "/b": 0.05 - delay_s}
        return [{**route, "body": bodies[route["path"]], "delay_s": late[route["path"]]} for route in routes]

    served = site([page("/", link("/a", "/b")), *pair("the same", "1", 0)])
    first = await crawl(f"{served.base}/", tmp_path / "out")
    served.set_routes([page("/", link("/a", "/b")), *pair("other now", "2", 0.05)])  # /b answers 304 before /a changes
    second = await crawl(f"{served.base}/", tmp_path / "out")

    assert first.page(f"{served.base}/b")["duplicate_of"] == f"{served.base}/a"
    assert second.body(f"{served.base}/a") == b"other now"
    assert second.body(f"{served.base}/b") == b"the same"
    assert second.page(f"{served.base}/b")["duplicate_of"] is None
    assert disagreements(second) == []


@pytest_twisted.ensureDeferred
async def test_what_failed_is_asked_for_again(site: Factory, tmp_path: Path) -> None:
    """The next run tries again what an error or robots.txt kept out, and not what the rules refuse."""
    served = site([page("/", link("/broken", "/secret", "/x.pdf")), {"path": "/broken", "fault": "close"},
                   text("/robots.txt", "User-agent: *\nDisallow: /secret"), page("/secret"),
                   text("/x.pdf", "x", "application/pdf")])  # fmt: skip
    first = await crawl(f"{served.base}/", tmp_path / "out", {"RETRY_TIMES": 0})
    served.log.clear()
    served.set_routes([page("/", link("/broken", "/secret", "/x.pdf")), page("/broken"), page("/secret")])
    second = await crawl(f"{served.base}/", tmp_path / "out", {"RETRY_TIMES": 0})

    assert first.reasons() == {f"{served.base}{name}": reason for name, reason in
                               (("/broken", "error"), ("/secret", "robots"), ("/x.pdf", "type"))}  # fmt: skip
    assert asked(served) == ["/", "/broken"]  # the rules of robots.txt hold for a day
    assert second.reasons() == {f"{served.base}/secret": "robots", f"{served.base}/x.pdf": "type"}
    assert disagreements(second) == []


@pytest_twisted.ensureDeferred
async def test_fresh_keeps_the_old_crawl_aside(site: Factory, tmp_path: Path) -> None:
    """fresh=1 begins anew, any number of times within a second, and leaves each older crawl whole beside it."""
    served = site([page("/", "{{HIT}}")])
    for _ in range(3):
        done = await crawl(f"{served.base}/", tmp_path / "out", fresh="1")

        assert done.summary["requests"] == {"GET": 2}
    kept = [tmp_path / name for name in listing(tmp_path) if name != "out"]
    bodies = [next((path / "files").rglob("index.html")).read_text() for path in (*kept, tmp_path / "out")]
    assert [each.split("<body>\n")[1][0] for each in bodies] == ["1", "2", "3"]
    assert all((path / "crawl.db").exists() and (path / "summary.json").exists() for path in kept)


@pytest_twisted.ensureDeferred
async def test_redirects_and_sitemaps_of_a_resumed_crawl(site: Factory, tmp_path: Path) -> None:
    """Redirects are not followed twice, and the counts of several runs add up to those of one."""
    served = site([page("/", link("/r1", "/r2", "/r3")), *(redirect(f"/r{n}", f"/t{n}") for n in "123"),
                   *(page(f"/t{n}", link("/")) for n in "123")])  # fmt: skip
    whole = await crawl(f"{served.base}/", tmp_path / "whole", ONE)
    for _ in range(8):
        done = await crawl(f"{served.base}/", tmp_path / "out", {**ONE, "CLOSESPIDER_PAGECOUNT": 2})
        if done.summary["state"] == "finished":
            break
    differing = {"reason", "state", "seconds", "pages_per_second", "peak_rss_mb", "connections", "longest_hold_seconds"}

    assert {key: value for key, value in done.summary.items() if key not in differing} == {
        key: value for key, value in whole.summary.items() if key not in differing
    }


@pytest_twisted.ensureDeferred
async def test_host_that_is_given_up_ends_the_crawl(
    site: Factory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When all that is left is on hosts out of reach, the crawl ends as interrupted; the next run goes on."""
    monkeypatch.setattr("spiderproj.politeness.host._SLEEP", 0.01)
    monkeypatch.setattr("spiderproj.pipelines.ledger._pause", lambda _: 0.01)
    names = [f"/{number}" for number in range(60)]
    dead = [{"path": name, "fault": "close"} for name in names]
    served = site([page("/", link(*names)), *dead])
    first = await crawl(f"{served.base}/", tmp_path / "out")

    assert (first.status, first.summary["state"], first.summary["reason"]) == (6, "stopped", "parked")
    assert first.summary["pending"] > 0
    assert "parked" in first.summary["limited_by"]
    assert disagreements(first) == []
    served.set_routes([page("/", link(*names)), *map(page, names)])
    second = await crawl(f"{served.base}/", tmp_path / "out")
    assert (second.status, second.summary["state"], second.summary["pending"]) == (0, "finished", 0)
    assert served.hits("GET /") == 1
