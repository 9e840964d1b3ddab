"""Novelty budgets on a simulated site most of whose links lead into spaces without end; states, dates, families."""

from __future__ import annotations

import json
import os
from functools import partial
from typing import TYPE_CHECKING

import pytest
import pytest_twisted
from hypothesis import given, settings
from hypothesis import strategies as st

from spiderproj import traps
from spiderproj.commands.explain import Command as Explain
from spiderproj.commands.traps import Command
from spiderproj.store.quarantine import Brought, Quarantine
from spiderproj.traps import CAREFUL, Family, Look, State, content_digest, family_names, is_far
from spiderproj.urls import split, url_key
from tests import trap_sites
from tests.crawling import crawl
from tests.duplicate_sites import prose
from tests.stored import run
from tests.test_learner import Crawl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from spiderproj.models import CrawlURL
    from tests.answers import RouteSpec
    from tests.duplicate_sites import DuplicateSite
    from tests.site import Site

    MakeSite = Callable[[Iterable[RouteSpec]], Site]

NOW = 1_796_000_000.0  # November 2026


class TrapCrawl(Crawl):
    """A crawl that looks for traps, with or without learning rules."""

    def __init__(self, path: Path, site: DuplicateSite, *, learns: bool) -> None:
        super().__init__(path, site, strict=False)
        if not learns:
            self.decisions.learner = None
        self.quarantine = Quarantine(self.database, self.decisions, self.frontier, self._content, lambda: NOW)

    def run(self, limit: int = 100_000) -> None:
        """Crawl to the end, or to *limit* requests."""
        holders = (self.learner, self.quarantine)
        while self.frontier.pending or any(holder.has_work for holder in holders):
            leased = self.frontier.lease(0, lambda _: 0.0)
            if leased is None:
                assert any(holder.advance() for holder in holders), "a crawl that neither goes on nor ends"
            elif self.quarantine.admits(leased):
                self._fetch(leased)
                if len(self.site.asked) >= limit:
                    return
        self.quarantine.flush()

    def _fetch(self, leased: CrawlURL) -> None:
        super()._fetch(leased)
        html = self.bodies.get(leased.id)
        title = None if html is None else html.partition("<title>")[2].partition("</title>")[0]
        read = partial(self._content, leased.id)
        self.quarantine.observe(leased, None if html is None else Brought(url_key(html), title, read))

    def _content(self, row: int) -> int:
        reading = self.of(row)
        return 0 if reading is None else content_digest(reading)


@pytest.mark.parametrize("learns", [False, pytest.param(True, marks=pytest.mark.nightly)], ids=["alone", "with rules"])
def test_a_site_of_traps_is_crawled_whole(tmp_path: Path, *, learns: bool) -> None:
    """Within 1.5 times the size of the site 99 % of the real pages are there, and the crawl ends by itself.

    What a trap costs does not shrink with the site, so that a small one may take a little more.
    """
    is_full = bool(os.environ.get("SPIDERPROJ_SOAK"))
    size, most, least = (trap_sites.FULL, 1.5, 0.8) if is_full else (trap_sites.SMALL, 1.7, 0.7)
    where = trap_sites.TrapSite(size)
    crawl = TrapCrawl(tmp_path, where.site, learns=learns)
    with crawl.database:
        crawl.run(limit=round(most * size.real))
        requests, fresh = where.requests.total(), where.fresh.total()
        print(f"{size.real} real pages, {requests} requests, {fresh / requests:.1%} new: {dict(where.requests)}")
        assert not crawl.frontier.pending
        assert where.share() >= 0.99
        assert fresh / requests >= least
        assert where.requests["loop"] <= 150


def seen(family: Family, news: str) -> list[State]:
    """Return the states of *family* after each answer: N is new, o is known, - says nothing."""
    states = []
    for place, letter in enumerate(news):
        family.observe(is_new={"N": True, "o": False}.get(letter), total=place + 1)
        states.append(family.state)
    return states


@pytest.mark.parametrize(
    ("news", "fetched"),
    [
        ("N" * 1000, None),
        ("o" * 1000, 100),
        ("N" * 60 + "o" * 60, 108),
        (("o" * 15 + "N") * 50, None),
        ("-" * 1000, None),
        ("o" * 99 + "-" * 500, None),
    ],
    ids=["new", "known", "known from a point on", "one in sixteen", "errors", "too few"],
)
def test_a_family_is_parked_by_what_it_brings(news: str, fetched: int | None) -> None:
    """It takes 100 answers, of the last 50 of which fewer than one in twenty was new; errors say nothing."""
    states = seen(Family(1, 1, "x"), news)
    assert (states.index(State.PARKED) + 1 if State.PARKED in states else None) == fetched


def test_a_careful_budget() -> None:
    """A crawl that wants a row for each duplicate gives a family ten times as much."""
    family, states = Family(1, 1, "x"), []
    for total in range(1, 1101):
        family.observe(is_new=False, total=total, budget=CAREFUL)
        states.append(family.state)
    assert states.index(State.PARKED) + 1 == 1000
    assert Family(1, 1, "x", fetched=900).look(CAREFUL) is Look.BYTES


@pytest.mark.parametrize(
    ("news", "state"), [("o" * 10, State.PARKED), ("oNooNooNoN", State.OPEN), ("-" * 10, State.PARKED)]
)
def test_a_wake_up(news: str, state: State) -> None:
    """Four of twenty new ones bring a family back, ten known or failed ones in a row do not."""
    family = Family(1, 1, "x")
    seen(family, "o" * 100)
    first = family.next_wake
    family.wake()
    assert [family.admit() for _ in range(11)] == [True] * 10 + [False]
    assert (seen(family, news)[-1], first) == (state, 200)


def test_wake_ups_in_vain_become_rare() -> None:
    """The crawl has to double, then to become four and eight times as large."""
    family, total = Family(1, 1, "x"), 100
    seen(family, "o" * 100)
    for factor in (2, 4, 8, 16):
        assert family.next_wake == factor * total
        total = family.next_wake
        family.wake()
        for _ in range(10):
            family.observe(is_new=False, total=total)


def test_what_the_user_releases_is_never_parked() -> None:
    """The user has the last word."""
    family = Family(1, 1, "x")
    family.keep()
    assert set(seen(family, "o" * 500)) == {State.OPEN}


@pytest.mark.parametrize(
    ("target", "far"),
    [
        ("/calendar?month=2031-05", True),
        ("/calendar?month=2027-05", False),
        ("/calendar?day=1889-12-31&view=day", True),
        ("/calendar?year=2150&month=3", True),
        ("/calendar?id=2150", False),
        ("/events/2040-01/", True),
        ("/2040/01/", True),
        ("/2040/99/", False),
        ("/2008/05/post.html", False),
        ("/item/2150", False),
        ("/calendar?month=9999-99-99999", False),
    ],
)
def test_far_dates(target: str, far: bool) -> None:
    """A date before 1990, or more than 400 days ahead, is far; what only looks like one is none."""
    assert is_far(split(f"http://h{target}"), NOW) is far


@given(st.text(alphabet="/?&=0129-ym", max_size=300))
@settings(deadline=None)
def test_any_url_has_families(text: str) -> None:
    """Every URL has one to three families, and is far or not."""
    parts = split(f"http://h/{text}")
    assert 1 <= len(family_names(parts)) <= 3
    assert is_far(parts, NOW) in (True, False)


# --- whole crawls


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give families as little as with unique=strict, whose rules would have these pages first."""
    monkeypatch.setattr(traps, "CAREFUL", traps.EAGER)


TEXT = "<p>" + prose("the same page", 60) + "</p>"


def space(real: int = 30, traps: int = 400) -> list[RouteSpec]:
    """Return a site of some real pages, each of which leads into a space of pages that are all the same."""
    routes: list[RouteSpec] = []
    pages = {f"/real/{number}": f"<p>{prose(str(number))}</p>" for number in range(real)}
    token = "<form><input type=hidden name=token value={}></form>"
    pages |= {f"/same/x?state={number}": TEXT + token.format(number) for number in range(traps)}
    names = list(pages)
    for place, (path, text) in enumerate([("/", ""), *pages.items()]):
        onward = [
            *names[:5],
            *names[place : place + 3],
            *(f"/same/x?state={(place * 7 + step) % traps}" for step in range(9)),
        ]
        anchors = "".join(f'<li><a href="{name}">go</a></li>' for name in onward)
        title = f"Page {path.partition('?')[0]}"
        body = f"<!doctype html><title>{title}</title><main>{text}</main><nav><ul>{anchors}</ul></nav>"
        routes.append({"path": path, "headers": {"Content-Type": "text/html; charset=utf-8"}, "body": body})
    return routes


@pytest.mark.usefixtures("eager")
@pytest_twisted.ensureDeferred
async def test_a_trap_is_set_aside_and_released(
    tmp_path: Path, site: MakeSite, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    """The rest of a space is refused as ``trap``, listed with samples, and fetched once it is released."""
    where = site(space())
    done = await crawl(f"{where.base}/", tmp_path / "out")
    trapped = [url for url, reason in done.reasons().items() if reason == "trap"]
    assert 200 <= len(trapped) < 300
    assert all("/same/x" in url for url in trapped)
    assert sum("/real/" in row["url"] for row in done.pages) == 30
    assert (done.summary["traps"], done.summary["pending"], done.summary["state"]) == (1, 0, "finished")
    assert b"Traps" in (done.out / "report.html").read_bytes()
    (row,) = map(json.loads, run(Command, capsysbinary, done.out, json=True, release=None).output.splitlines())
    assert (row["state"], row["set_aside"], row["samples"][0] in trapped) == ("parked", len(trapped), True)
    explained = run(Explain, capsysbinary, done.out, trapped[0], json=False).output
    assert f"--release {row['id']}" in explained
    assert "released" in run(Command, capsysbinary, done.out, json=False, release=str(row["id"])).output
    done = await crawl(f"{where.base}/", tmp_path / "out")
    assert "trap" not in done.summary["refused"]
    assert len({row["url"] for row in done.pages if "/same/" in row["url"]}) == 400


@pytest.mark.usefixtures("eager")
@pytest_twisted.ensureDeferred
async def test_it_goes_on_where_it_was_stopped(tmp_path: Path, site: MakeSite) -> None:
    """A crawl stopped again and again sets aside as much as one that is not; without the setting it fetches all."""
    where = site(space())
    for _ in range(40):
        done = await crawl(f"{where.base}/", tmp_path / "out", {"CLOSESPIDER_PAGECOUNT": 20})
        if done.summary["state"] == "finished":
            break
    assert (done.summary["state"], done.summary["traps"]) == ("finished", 1)
    assert 180 <= done.summary["refused"]["trap"] < 300
    done = await crawl(f"{where.base}/", tmp_path / "out", {"SPIDERPROJ_TRAPS": False})
    assert "trap" not in done.summary["refused"]
    assert len({row["url"] for row in done.pages if "/same/" in row["url"]}) == 400


@pytest.mark.usefixtures("eager")
@pytest_twisted.ensureDeferred
async def test_a_revisit_takes_nothing_away(tmp_path: Path, site: MakeSite) -> None:
    """What was fetched stays fetched, and what was set aside stays so, when the same site is visited again."""
    where = site(space())
    first = await crawl(f"{where.base}/", tmp_path / "out")
    again = await crawl(f"{where.base}/", tmp_path / "out")
    assert {row["url"] for row in first.pages} <= {row["url"] for row in again.pages}
    assert 180 <= again.summary["refused"]["trap"] <= first.summary["refused"]["trap"]


@pytest_twisted.ensureDeferred
async def test_duplicates_have_their_rows(tmp_path: Path, site: MakeSite) -> None:
    """With unique=exact a family as large as a site's own keeps a row for each of its duplicates."""
    where = site(space(real=5, traps=200))
    done = await crawl(f"{where.base}/", tmp_path / "out")
    assert "trap" not in done.summary["refused"]
    assert len(done.pages) == 206


@pytest_twisted.ensureDeferred
async def test_a_number_that_is_none(
    tmp_path: Path, site: MakeSite, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    """A family that does not exist is a wrong argument, said in one line; ``all`` of none is nothing wrong."""
    where = site(space(real=2, traps=3))
    done = await crawl(f"{where.base}/", tmp_path / "out")
    said = run(Command, capsysbinary, done.out, json=False, release="99")
    assert (said.status, len(said.complaints)) == (2, 1)
    assert "--release='99'" in said.complaints[0]
    assert run(Command, capsysbinary, done.out, json=False, release="all").status == 0
