"""The server of ``scrapy ui``: who gets an answer, what its answers say, what it starts, stops, fetches after all."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import statistics
import time
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from spiderproj.ui.tables import A_PAGE
from tests.page import Page, large_store
from tests.routes import link, page, text
from tests.site import Site

if TYPE_CHECKING:
    from collections.abc import Iterator

HOSTILE = "T</title><script>alert(1)</script>"
START = link("/a", "/gone", "/b.pdf", "/closed", "http://127.0.0.2/x", "/s")
ROUTES = [
    text("/robots.txt", "User-agent: *\nDisallow: /closed\n"),
    {**page("/"), "body": f"<title>{escape(HOSTILE)}</title>" + START},
    page("/a", link("/gone", "/deep/")),
    text("/b.pdf", "%PDF", "application/pdf"),
    page("/closed"),
    text("/s", "alert(1)", "text/html; charset=windows-1252"),
    page("/deep/", link("/deep/c")),
    page("/deep/c", link("/new")),
    page("/new"),
]


@pytest.fixture(scope="module")
def world() -> Iterator[Site]:
    """Return a small site."""
    with Site(ROUTES) as site:
        yield site


@pytest.fixture(scope="module")
def ui(tmp_path_factory: pytest.TempPathFactory, world: Site) -> Iterator[Page]:
    """Return the page's server about one crawl of the small site, made by it, and a large store."""
    root = tmp_path_factory.mktemp("crawls")
    large_store(root / "large", 200_000)
    with Page(root) as served:
        started = served.ask("/api/start", {"name": "small", "arguments": {"seed": f"{world.base}/", "depth": "1"}})
        assert started.status == 200, started
        assert served.until("small", "finished")["answers"] == 4
        yield served


def test_every_route_is_closed(ui: Page) -> None:
    """Without the secrets, or asked by another site, no route gives data or does anything; nobody is let read it."""
    for path in (
        "/api/state",
        "/api/urls?name=small",
        "/api/progress?name=small",
        "/api/start",
        "/api/stop",
        "/api/fetch",
    ):
        for change in (
            {"Cookie": ""},
            {"X-Spiderproj-Key": ""},
            {"Host": "evil.example"},
            {"Sec-Fetch-Site": "cross-site"},
            {"Origin": "http://evil.example"},
            {"Origin": "null"},
        ):
            for method in ("GET", "POST"):
                said = ui.send(method, path, {} if method == "POST" else None, change)
                assert said.status in (401, 403, 421), (method, path, change)
                assert "Access-Control-Allow-Origin" not in said.headers


@pytest.mark.parametrize(
    "path", ["/api/start", "/api/stop", "/api/fetch", "/api/expression", "/api/estimate", "/api/nothing"]
)
@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH"])
def test_only_a_post_does_anything(ui: Page, path: str, method: str) -> None:
    """A deed asked for by another method is not there, whoever asks."""
    assert ui.send(method, f"{path}?name=small").status in (404, 405)


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"x" * 70_000, {}, 413),
        (b"{}", {"Content-Length": "99999999999"}, 413),
        (b"2\r\n{}\r\n0\r\n\r\n", {"Transfer-Encoding": "chunked"}, 413),
        (b"{", {}, 400),
        (b"[]", {}, 400),
        (b"[" * 60_000, {}, 400),
        (b'{"a": NaN}', {}, 400),
        (b"a=b", {"Content-Type": "application/x-www-form-urlencoded"}, 415),
    ],
)
def test_bodies_are_bounded(ui: Page, body: bytes, headers: dict[str, str], status: int) -> None:
    """A body that is too long, of no said length, or no JSON object is refused, before it is read where it is long."""
    said = ui.send("POST", "/api/estimate", body, headers)
    assert said.status == status
    assert ui.ask("/api/state").status == 200


def test_headers_of_the_page(ui: Page) -> None:
    """The page forbids frames, foreign scripts, sniffing and keeping; it names no other address."""
    for path in ("/", "/app.js", "/base.css", "/api/state"):
        said = ui.send("GET", path)
        assert said.status == 200
        policy = said.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert (said.headers["X-Content-Type-Options"], said.headers["Cache-Control"]) == ("nosniff", "no-store")
    for path in ("/../commands/ui.py", "/%2e%2e/__init__.py", "/static/app.js", "//app.js", "/app.js/", "/server.py"):
        assert ui.send("GET", path).status == 404


def test_way_in(ui: Page) -> None:
    """Only the token opens; what it gives is a cookie that no script and no other site gets, and a key."""
    refused = ui.send("POST", "/api/enter", {"token": "guess"}, {"Cookie": "", "X-Spiderproj-Key": ""})
    assert (refused.status, "Set-Cookie" in refused.headers) == (401, False)
    said = ui.send("POST", "/api/enter", {"token": ui.token}, {"Cookie": "", "X-Spiderproj-Key": ""})
    assert (said.status, said.values) == (200, {"key": ui.key})
    assert said.headers["Set-Cookie"].endswith("; Path=/; HttpOnly; SameSite=Strict")


def test_files_of_a_copy(ui: Page, world: Site) -> None:
    """A stored page comes under a policy by which nothing of it runs; no other file of the disk comes at all."""
    rows = {row["url"]: row for row in ui.ask("/api/urls", name="small", view="stored").values["rows"]}
    shown = ui.file("small/" + rows[f"{world.base}/s"]["path"])
    assert (shown.status, shown.values) == (200, b"alert(1)")
    assert shown.headers["Content-Type"] == "text/html; charset=windows-1252"
    assert shown.headers["Content-Security-Policy"].startswith("sandbox; default-src 'none'")
    assert "Set-Cookie" not in shown.headers
    assert ui.file("small/" + rows[f"{world.base}/s"]["path"], "HEAD").values == b""
    for path in (
        "small/../crawl.db",
        "small/%2e%2e/crawl.db",
        "small/../../../../etc/passwd",
        "small//etc/passwd",
        "small/",
        "small",
        "",
        "small/%00",
        "%2e%2e/x",
        "small/" + "a/" * 5000,
        "small/%ff",
        "large/docs.example/1",
    ):
        assert ui.file(path).status == 404, path
    assert ui.file("small/x", "POST").status == 405
    assert ui.file("small/x", headers={"Host": "evil.example"}).status == 421


def test_symlink_in_the_place_of_a_file(ui: Page, world: Site) -> None:
    """A stored file that was replaced by a symlink is not followed."""
    root = Path(ui.ask("/api/state").values["root"])
    rows = {row["url"]: row for row in ui.ask("/api/urls", name="small", view="stored").values["rows"]}
    path = rows[f"{world.base}/a"]["path"]
    stored = root / "small" / "files" / path
    kept = stored.read_bytes()
    stored.unlink()
    stored.symlink_to("/etc/passwd")
    assert ui.file(f"small/{path}").status == 404
    stored.unlink()
    stored.write_bytes(kept)
    assert ui.file(f"small/{path}").status == 200


def test_lists_say_what_the_store_does(ui: Page) -> None:
    """Each list has the rows that its verdict, reason and fields name, sorted as asked; totals agree with the store."""
    with sqlite3.connect(Path(ui.ask("/api/state").values["root"]) / "large/crawl.db") as store:
        verdicts = dict(store.execute("SELECT verdict, count(*) FROM urls GROUP BY 1"))
    facets = ui.ask("/api/facets", name="large").values
    assert facets["verdicts"] == verdicts
    counted = sum(count for types in facets["matrix"].values() for each in types.values() for count in each.values())
    assert facets["total"] == counted == 200_000
    found = ui.ask("/api/urls", name="large", view="refused", level="child", reason="deny", sort="size").values
    assert {(row["verdict"], row["level"], row["reason"]) for row in found["rows"]} == {("refused", "child", "deny")}
    sizes = [
        row["size"] for row in ui.ask("/api/urls", name="large", view="fetched", sort="size", desc="1").values["rows"]
    ]
    assert sizes == sorted(sizes, reverse=True)
    assert len(sizes) == A_PAGE
    assert ui.ask("/api/urls", name="large", text="/77777.html").values["total"] == 1
    assert ui.ask("/api/urls", name="large", text="100%_").values["total"] == 0
    assert ui.ask("/api/urls", name="large", view="broken").values["total"] == facets["broken"] > 0
    for wrong in ({"sort": "rule; DROP"}, {"view": "x"}, {"offset": "-1"}, {"offset": "999999"}, {"name": "../x"}):
        assert ui.ask("/api/urls", **({"name": "large"} | wrong)).status == 422


LISTS: list[dict[str, object]] = [
    {},
    {"sort": "size", "desc": "1"},
    {"view": "refused", "sort": "text"},
    {"text": "topic77"},
    {"text": "nowhere"},
    {"view": "broken"},
    {"view": "duplicates"},
    {"family": "docs.example/#/topic#/"},
    {"host": "other.example", "sort": "url"},
]
CHOICES: list[dict[str, str]] = [{"depth": "3", "deny": "7"}, {"filter": '"7" in text', "mode": "all"}]
QUESTIONS: list[tuple[str, dict[str, object], object]] = [
    ("/api/state", {}, None),
    ("/api/facets", {}, None),
    ("/api/progress", {}, None),
    ("/api/why", {"url": "https://docs.example/6/topic6/6.html"}, None),
    ("/api/linkers", {"ids": "3,5,7"}, None),
    *(("/api/urls", query, None) for query in LISTS),
    *(("/api/estimate", {}, {"seed": "https://docs.example/1/", **chosen}) for chosen in CHOICES),
]


@pytest.mark.parametrize("number", range(len(QUESTIONS)))
def test_no_lag_at_200_000_urls(ui: Page, number: int) -> None:
    """Every request is answered soon, by the answer or by a ticket for it, on a machine with other work."""
    assert _milliseconds(ui, *QUESTIONS[number], tries=1) < 2000


@pytest.mark.nightly
def test_200_ms_at_200_000_urls(ui: Page) -> None:
    """On a quiet machine every request is answered within 200 ms."""
    for question in QUESTIONS:
        assert _milliseconds(ui, *question, tries=5) < 200, question


def _milliseconds(ui: Page, path: str, query: dict[str, object], chosen: object, *, tries: int) -> float:
    """Return how long the slowest request for an answer takes, the median of some *tries*."""
    ui.ask("/api/facets", name="large")  # it is open
    body = None if chosen is None else {"name": "large", "arguments": chosen}
    said = [ui.ask(path, body, **({} if body else {"name": "large"}), **query) for _ in range(tries)]
    assert {one.status for one in said} == {200}
    return statistics.median(one.milliseconds for one in said)


def test_estimate_of_a_small_crawl_is_the_crawl(ui: Page, world: Site) -> None:
    """Where every URL is judged, an estimate with the crawl's own arguments takes what the crawl took."""
    own: dict[str, Any] = {"name": "small", "arguments": {"seed": f"{world.base}/", "depth": "1"}}
    said = ui.ask("/api/estimate", own).values
    facets = ui.ask("/api/facets", name="small").values
    assert (said["takes"], said["error"], said["of"]) == (facets["verdicts"]["fetched"], 0, facets["total"])
    assert said["command"].startswith("scrapy crawl site -a seed=")
    own["arguments"]["depth"] = "0"
    assert ui.ask("/api/estimate", own).values["takes"] == 1
    own["arguments"]["depth"] = "x"
    wrong = ui.ask("/api/estimate", own)
    assert (wrong.status, wrong.values["field"]) == (422, "depth")


def test_replay_tells_exactly(ui: Page, world: Site) -> None:
    """The exact answer is that of ``scrapy replay``."""
    job = ui.ask("/api/replay", {"name": "small", "arguments": {"seed": f"{world.base}/", "depth": "2"}}).values["job"]
    answer = ui.ask("/api/replay", job=job).values
    assert answer["status"] == 0, answer["said"]
    assert answer["answer"]["comes_in"]["total"] == 1
    assert ui.ask("/api/replay", job="crawl small").status == 422


def test_hostile_text_stays_text(ui: Page, world: Site) -> None:
    """A title of markup is text in JSON, under a type that no browser reads as a page."""
    rows = ui.ask("/api/urls", name="small", view="stored").values["rows"]
    assert HOSTILE in {row["title"] for row in rows}
    assert ui.send("GET", "/api/urls?name=small").headers["Content-Type"] == "application/json"
    why = ui.ask("/api/why", name="small", url=f"{world.base}/closed").values
    assert (why["reason"], why["decided_by"]) == ("robots", "robots.txt")


def test_fetched_after_all(ui: Page, world: Site) -> None:
    """Of what was refused the chosen is fetched, whatever its type and depth, none of its links, and nothing again."""
    rows = {row["url"]: row for row in ui.ask("/api/urls", name="small", view="refused").values["rows"]}
    chosen = [f"{world.base}/b.pdf", f"{world.base}/deep/", f"{world.base}/closed"]
    before = len(world.log)
    said = ui.ask("/api/fetch", {"name": "small", "ids": [*(rows[url]["id"] for url in chosen), 10**9]})
    assert said.values == {"queued": 2, "passed_over": {"robots": 1, "unknown": 1}, "is_all": True}
    told = ui.until("small", "finished")
    assert (told["child"]["status"], told["pending"]) == (0, 0), told
    asked = {entry.target for entry in world.log[before:]}
    assert asked - {"/robots.txt"} == {"/b.pdf", "/deep/"}
    verdicts = {row["url"]: row["verdict"] for row in _refreshed(ui, chosen[0], "fetched")}
    assert verdicts[f"{world.base}/deep/"] == "fetched"
    assert verdicts[f"{world.base}/deep/c"] == "refused"
    for wrong in ([1.5], "1", [True], list(range(2000))):
        assert ui.ask("/api/fetch", {"name": "small", "ids": wrong}).status == 422


def _refreshed(ui: Page, url: str, verdict: str) -> list[dict[str, Any]]:
    """Return the rows of the small crawl once they know that *url* has this *verdict*."""
    ends = time.monotonic() + 30
    while time.monotonic() < ends:
        rows: list[dict[str, Any]] = ui.ask("/api/urls", name="small").values["rows"]
        if {row["url"]: row["verdict"] for row in rows}[url] == verdict:
            return rows
        time.sleep(0.1)
    raise TimeoutError(rows)


def test_paused_and_resumed_over_a_restart(tmp_path: Path) -> None:
    """A crawl outlives the server that started it; the next one finds it, pauses it, resumes it, and it is whole."""
    pages = [page("/", link(*(f"/{number}" for number in range(60)))), *(page(f"/{number}") for number in range(60))]
    with Site(pages) as site:
        with Page(tmp_path) as first:
            slow = {"seed": f"{site.base}/", "delay": "2"}
            name = first.ask("/api/start", {"arguments": slow}).values["name"]
            pid = first.until(name, "running")["pid"]
            first.process.send_signal(signal.SIGINT)
            first.process.wait(30)
        os.kill(pid, 0)  # it lives
        with Page(tmp_path) as second:
            assert second.ask("/api/progress", name=name).values["pid"] == pid
            assert second.ask("/api/start", {"name": name, "arguments": {"seed": f"{site.base}/"}}).status == 409
            assert second.ask("/api/fetch", {"name": name, "ids": [1]}).status == 409
            assert second.ask("/api/stop", {"name": name}).values == {"stopped": True}
            ends = time.monotonic() + 30
            while second.ask("/api/progress", name=name).values["state"] == "running":
                assert time.monotonic() < ends
                time.sleep(0.05)
            assert json.loads((tmp_path / name / "summary.json").read_bytes())["reason"] == "shutdown"
            assert second.ask("/api/stop", {"name": name}).values == {"stopped": False}
            second.ask("/api/start", {"name": name, "arguments": {"seed": f"{site.base}/"}})
            assert second.until(name, "finished")["answers"] == 61


def test_wrong_starts_are_told(ui: Page) -> None:
    """A crawl that cannot begin says why: at once, or by what it printed."""
    for arguments, field in (
        ({"seed": "mailto:x"}, "seed"),
        ({"seed": "http://h/", "filter": "depth <"}, "filter"),
        ({}, "seed"),
    ):
        said = ui.ask("/api/start", {"arguments": arguments})
        assert (said.status, said.values["field"]) == (422, field)
    assert ui.ask("/api/start", {"name": "..", "arguments": {"seed": "http://h/"}}).status == 422
    assert ui.ask("/api/start", {"kind": "shell", "arguments": {"seed": "http://h/"}}).status == 422
