"""How gently a crawl treats its hosts, measured at the server: tries, waits, turns, HEADs, and bodies not wanted."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import pytest_twisted

from spiderproj.downloader.exchange import Exchange
from tests.crawling import crawl
from tests.recount import disagreements
from tests.requests_seen import LOOPBACK, ONE, asked, highest_at_once, pages_asked
from tests.routes import link, page, text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.answers import RouteSpec
    from tests.site import Site

    Factory = Callable[[Iterable[RouteSpec]], Site]


@pytest.fixture(autouse=True)
def quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let retries wait hundredths of a second, not seconds."""
    monkeypatch.setattr("spiderproj.pipelines.ledger._pause", lambda attempts: 0.01 * 2**attempts)


TARDY = 0.75
"""What is left of a span at least that a busy server measures."""


def span(served: Site) -> float:
    """Return the seconds between the first request and the last."""
    when = [each.time for each in served.log]
    return max(when) - min(when)


def times(served: Site) -> dict[str, float]:
    """Return when each target was asked for, the last time."""
    return {each.target: each.time for each in served.log}


FAILURES: list[tuple[dict[str, Any], int, str]] = [
    ({"fault": "close"}, 3, "reset"),
    ({"fault": "reset"}, 3, "reset"),
    ({"fault": "hang"}, 3, "timeout"),
    ({"send_bytes": 10, "fault": "hang"}, 3, "timeout"),
    ({"status": 500}, 3, "HTTP 500"),
    ({"status": 502}, 3, "HTTP 502"),
    ({"status": 504}, 3, "HTTP 504"),
    ({"status": 408}, 3, "HTTP 408"),
    ({"status": 524}, 3, "HTTP 524"),
    ({"status": 404}, 1, "HTTP 404"),
    ({"status": 410}, 1, "HTTP 410"),
    ({"status": 403}, 1, "HTTP 403"),
    ({"status": 501}, 1, "HTTP 501"),
    ({"raw": "HTTP/9.9 yes\r\n\r\n"}, 3, "bad-response"),
    ({"raw": "SSH-2.0-OpenSSH_9.2\r\n"}, 3, "bad-response"),
    ({"headers": {"X": "y" * 300_000}}, 1, "too-many-headers"),
    ({"headers": {"Content-Length": "99999999", "Content-Type": "text/html"}, "fault": "close", "send_bytes": 5}, 1,
     "too-large"),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "tries", "kind"), FAILURES, ids=[f"{each[2]}-{each[0]!s:.40}" for each in FAILURES])
@pytest_twisted.ensureDeferred
async def test_tries(site: Factory, tmp_path: Path, answer: dict[str, Any], tries: int, kind: str) -> None:
    """What may pass is tried three times, what would come again once; the summary names the kind; no URL is lost.

    A request that dies with a kept connection is sent again at once on a new one (RFC 9112, 9.3.1): that is no try.
    """
    served = site([page("/", link("/bad", "/good")), {"path": "/bad", "body": "x" * 20, **answer}, page("/good")])
    settings = {"SPIDERPROJ_IDLE_TIMEOUT": 0.1, "DOWNLOAD_TIMEOUT": 0.3}
    done = await crawl(f"{served.base}/", tmp_path / "out", settings, gate="get")

    assert served.hits("GET /bad") in (range(tries, 2 * tries) if kind == "reset" else [tries])
    assert done.summary["errors"] == {kind: 1}
    assert done.summary["pages"] == 2
    assert done.status == 0
    assert disagreements(done) == []


@pytest.mark.parametrize("retries", [0, 1, 4])
@pytest_twisted.ensureDeferred
async def test_retry_times(site: Factory, tmp_path: Path, retries: int) -> None:
    """RETRY_TIMES is the number of tries after the first, across a restart too."""
    served = site([page("/", link("/bad")), {"path": "/bad", "status": 500}])
    for _ in range(8):
        done = await crawl(f"{served.base}/", tmp_path / "out", {"RETRY_TIMES": retries, "CLOSESPIDER_PAGECOUNT": 2})
        if done.summary["state"] == "finished":
            break

    assert served.hits("GET /bad") == retries + 1


@pytest_twisted.ensureDeferred
async def test_second_try_that_succeeds_leaves_no_trace(site: Factory, tmp_path: Path) -> None:
    """A page that comes at the second try is a page like any other."""
    once = {"sequence": [{"status": 500}, {"fault": "close"}, {"body": "<title>here</title>" + link("/next")}]}
    served = site([page("/", link("/bad")), {"path": "/bad", "headers": {"Content-Type": "text/html"}, **once},
                   page("/next")])  # fmt: skip
    done = await crawl(f"{served.base}/", tmp_path / "out")

    assert asked(served) == ["/", "HEAD /bad", "/bad", "/bad", "/next"] or served.hits("GET /bad") >= 2
    assert done.summary["errors"] == {}
    assert done.page(f"{served.base}/bad")["title"] == "here"
    assert disagreements(done) == []


@pytest.mark.parametrize(("status", "after"), [(429, "1"), (503, "{{DATE_IN_2}}")])
@pytest_twisted.ensureDeferred
async def test_retry_after_is_for_the_whole_host(site: Factory, tmp_path: Path, status: int, after: str) -> None:
    """After a 429 or 503 with Retry-After, nothing at all is asked of the host for so long; other hosts go on."""
    busy = {"sequence": [{"status": status, "headers": {"Retry-After": after}}, {"status": 200, "body": "here now"}]}
    names = [f"/{number}" for number in range(6)]
    far = [page(f"/far{n}", link(f"{{{{OTHER}}}}/far{n + 1}"), port="other") for n in range(6)]
    served = site([page("/", link("{{OTHER}}/far0", "/busy", *names)), {"path": "/busy", **busy}, *map(page, names),
                   *far, page("/far6", port="other")])  # fmt: skip
    done = await crawl(f"{served.base}/", tmp_path / "out", {**LOOPBACK, **ONE}, mode="all", gate="get")

    home = [each for each in served.log if each.port == served.port]
    refused = next(n for n, each in enumerate(home) if each.status == status)
    assert home[refused + 1].time - home[refused].time >= 0.8  # the server may note the 429 late
    assert served.hits("GET /busy") == 2
    assert all(served.hits(f"GET {name}") == 1 for name in names)
    during = [each for each in served.log if each.port != served.port]
    assert max(each.time for each in during) < home[refused + 1].time
    assert done.status == 0
    assert done.summary["errors"] == {}


@pytest_twisted.ensureDeferred
async def test_crawl_delay(site: Factory, tmp_path: Path) -> None:
    """The Crawl-delay of our group spaces all requests of the host, HEADs too, whatever the concurrency."""
    robots = "User-agent: *\nCrawl-delay: 9\n\nUser-agent: spiderproj\nCrawl-delay: 0.1\n"
    served = site([page("/", link("/1", "/2.pdf", "/3")), *map(page, ("/1", "/3")), text("/robots.txt", robots),
                   text("/2.pdf", "x", "application/pdf")])  # fmt: skip
    await crawl(f"{served.base}/", tmp_path / "out")

    assert len(served.log) == 5
    assert span(served) > 3 * 0.1 * TARDY


@pytest_twisted.ensureDeferred
async def test_delay_on_loopback(site: Factory, tmp_path: Path) -> None:
    """One's own machine has no delay, unless DOWNLOAD_DELAY is set; then robots.txt, HEADs and GETs all keep to it."""
    routes = [page("/", link("/1", "/2.pdf", "/3")), *map(page, ("/1", "/3")), text("/2.pdf", "x", "application/pdf")]
    for name, settings in (("none", {}), ("explicit", {"DOWNLOAD_DELAY": 0.3})):
        served = site(routes)
        await crawl(f"{served.base}/", tmp_path / name, settings)

        assert len(served.log) == 5
        assert (span(served) > 4 * 0.3 * TARDY) is (name == "explicit")


@pytest.mark.parametrize("limit", [1, 2, 8])
@pytest_twisted.ensureDeferred
async def test_concurrency_at_the_server(site: Factory, tmp_path: Path, limit: int) -> None:
    """So many requests are in a host's hands at once, HEADs and robots.txt among them, and never more."""
    names = [f"/{number}{'' if number % 3 else '.pdf'}" for number in range(48)]
    served = site([page("/", link(*names)), *({"path": name, "delay_s": 0.01, "body": "x"} for name in names)])
    await crawl(f"{served.base}/", tmp_path / "out", {"CONCURRENT_REQUESTS_PER_DOMAIN": limit}, select="page:all")

    assert highest_at_once(served) == limit
    assert len(asked(served)) == 49


@pytest_twisted.ensureDeferred
async def test_hosts_are_asked_side_by_side(site: Factory, tmp_path: Path) -> None:
    """The limit is each host's own: while one is slow, all pages of the other are fetched."""
    slow = [page(f"/s{n}", delay_s=0.4) for n in range(3)]
    fast = [page(f"/f{n}", port="other") for n in range(10)]
    names = [*(f"/s{n}" for n in range(3)), *(f"{{{{OTHER}}}}/f{n}" for n in range(10))]
    served = site([page("/", link(*names)), *slow, *fast])
    await crawl(f"{served.base}/", tmp_path / "out", {**LOOPBACK, **ONE}, mode="all")

    when = times(served)
    assert max(when[f"/f{n}"] for n in range(10)) < when["/s2"]


@pytest_twisted.ensureDeferred
async def test_host_that_refuses_for_ever(site: Factory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that answers 429 to everything is given up after some waits, and the crawl ends as interrupted."""
    monkeypatch.setattr("spiderproj.politeness.host._BACK_OFFS", {429: 0.001, 503: 0.001})
    monkeypatch.setattr("spiderproj.politeness.host._FIRST_DELAY", 0.0001)
    names = [f"/{number}" for number in range(30)]
    served = site([page("/", link(*names)), *({"path": name, "status": 429} for name in names)])
    done = await crawl(f"{served.base}/", tmp_path / "out")

    assert done.summary["reason"] == "parked"
    assert (done.status, done.summary["state"]) == (6, "stopped")
    assert done.summary["pending"] > 0
    assert len(served.log) < 40
    assert disagreements(done) == []


@pytest_twisted.ensureDeferred
async def test_unreachable_robots_of_another_host(
    site: Factory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The URLs of a host whose robots.txt is out of reach wait for other hosts, and are given up after them."""
    monkeypatch.setattr("spiderproj.middlewares.robots._PUT_OFF", 0.05)
    down = text("/robots.txt", "", host="localhost", status=503)
    names = [f"/{number}" for number in range(5)]
    served = site([page("/", link("{{ALT}}/x", "{{ALT}}/y", *names)), down, page("/x"),
                   *(page(name, delay_s=0.05) for name in names), page("/y")])  # fmt: skip
    settings = {**LOOPBACK, **ONE, "SPIDERPROJ_ROBOTS_WAIT": 0}
    done = await crawl(f"{served.base}/", tmp_path / "out", settings, mode="all")

    assert pages_asked(served) == ["/", *names]
    assert done.reasons() == {f"{served.alt}/x": "robots", f"{served.alt}/y": "robots"}
    assert done.status == 0
    assert float(done.summary["seconds"]) < 10


BIG = 2_000_000
DOUBTFUL = [
    page("/", link("/page", "/page.html", "/doc.pdf", "/doc", "/img.png")),
    page("/page"), page("/page.html"),
    text("/doc.pdf", "x" * 100, "application/pdf"), text("/doc", "x" * 100, "application/pdf"),
    text("/img.png", "x" * 100, "image/png"),
]  # fmt: skip
GATES = {
    "get": ["/", "/page", "/page.html", "/doc.pdf", "/doc", "/img.png"],
    "extension": ["/", "/page", "/page.html", "/doc"],
    "head": ["HEAD /", "/", "HEAD /page", "/page", "HEAD /page.html", "/page.html", "HEAD /doc.pdf", "HEAD /doc",
             "HEAD /img.png"],
    "auto": ["/", "/page", "/page.html", "HEAD /doc.pdf", "/doc", "HEAD /img.png"],
}  # fmt: skip


@pytest.mark.parametrize("gate", GATES)
@pytest_twisted.ensureDeferred
async def test_what_each_gate_asks(site: Factory, tmp_path: Path, gate: str) -> None:
    """The exact HEADs and GETs of each gate; the refusals are the same, and the connection survives a short body."""
    served = site(DOUBTFUL)
    done = await crawl(f"{served.base}/", tmp_path / "out", ONE, gate=gate)

    assert asked(served) == GATES[gate]
    assert {row["url"].removeprefix(served.base): row["reason"] for row in done.refused} == dict.fromkeys(
        ("/doc.pdf", "/doc", "/img.png"), "type"
    )
    assert highest_at_once(served) == 1
    assert disagreements(done) == []


@pytest_twisted.ensureDeferred
async def test_head_is_given_up_where_it_fails(site: Factory, tmp_path: Path) -> None:
    """After a few HEADs that fail where GET works, a host is sent no more, and nothing is lost by it."""
    names = [f"/d{number}/x{number}.pdf" for number in range(12)]
    pages = [page(name) for name in names]
    served = site([page("/", link(*names)), {"path_re": r"/d.*", "method": "HEAD", "status": 405}, *pages])
    done = await crawl(f"{served.base}/", tmp_path / "out", ONE)

    methods = Counter(each.method for each in served.log)
    assert methods["HEAD"] == 3
    assert done.summary["pages"] == 13
    assert done.summary["requests"] == {"GET": 14, "HEAD": 3}


@pytest.mark.parametrize("gate", ["get", "auto", "head"])
@pytest_twisted.ensureDeferred
async def test_large_unwanted_body_is_not_received(
    site: Factory, tmp_path: Path, gate: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a large body that is not wanted no more comes than what was under way, and nothing of it is kept."""
    video = {"path": "/film", "headers": {"Content-Type": "video/mp4"}, "body_repeat": {"unit": "x", "count": BIG}}
    served = site([page("/", link("/film", "/a")), video, page("/a")])
    received: list[int] = []
    feed = Exchange.feed

    def count(exchange: Exchange, data: bytes) -> None:
        received.append(len(data))
        feed(exchange, data)

    monkeypatch.setattr(Exchange, "feed", count)
    done = await crawl(f"{served.base}/", tmp_path / "out", ONE, gate=gate)

    assert done.reasons() == {f"{served.base}/film": "type"}
    assert 0 < sum(received) < BIG // 4
    assert done.summary["files"] == 2
    assert done.summary["pages"] == 2
