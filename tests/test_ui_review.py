"""What a crawl has found out by itself, on the page: learned rules, families set aside, changes; a person's word."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests import duplicate_sites
from tests.browsing import needs_browser
from tests.page import Page
from tests.person import Person, browser
from tests.routes import link, page
from tests.site import Site
from tests.test_crawl_learning import routes as routes_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.answers import RouteSpec

PROSE = "<main><p>{}</p></main>"
SPACE = [
    page("/", link(*(f"/same/{number}" for number in range(200)))),
    {**page(""), "path_re": "/same/[0-9]+"},  # always the same page
]


def pages(words: str, *, chapters: int = 12) -> list[RouteSpec]:
    """Return a site whose chapters say *words*."""
    names = [f"/chapter/{number}" for number in range(chapters)]
    start = link(*names) + PROSE.format(duplicate_sites.prose("start"))
    return [page("/", start), *(page(name, PROSE.format(duplicate_sites.prose(words + name))) for name in names)]


@pytest.fixture(scope="module")
def ui(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """Return the page's server about no crawl yet."""
    with Page(tmp_path_factory.mktemp("crawls")) as served:
        yield served


def crawl(ui: Page, name: str, site: Site, **more: object) -> dict[str, Any]:
    """Crawl a *site* to its end, or once more, and return how that went."""
    started = ui.ask("/api/start", {"name": name, "arguments": {"seed": f"{site.base}/", **more}})
    assert started.status == 200, started
    told = ui.until(name, "finished")
    assert told["child"]["status"] == 0, told
    return told


def overview(ui: Page, name: str) -> dict[str, Any]:
    """Return what the list of crawls says of one."""
    (found,) = [copy for copy in ui.ask("/api/state").values["copies"] if copy["name"] == name]
    return dict(found)


@pytest.fixture(scope="module")
def blog(ui: Page) -> Iterator[str]:
    """Return a copied blog whose posts have fourteen addresses each."""
    with Site(routes_of(duplicate_sites.blog(posts=6, toggles=14))) as site:
        crawl(ui, "blog", site, unique="learn")
        yield "blog"


@pytest.fixture(scope="module")
def space(ui: Page) -> Iterator[Site]:
    """Return a site, crawled as ``space``, most of whose pages are the same."""
    with Site(SPACE) as site:
        crawl(ui, "space", site, unique="learn")
        yield site


@pytest.fixture(scope="module")
def visited(ui: Page) -> Iterator[Site]:
    """Return a site, crawled twice as ``visited``: its start page lost its links, one page changed, one went."""
    with Site(pages("old")) as site:
        crawl(ui, "visited", site)
        assert ui.ask("/api/changes", name="visited").values["counts"] == {}
        start = page("/", PROSE.format(duplicate_sites.prose("moved out")))
        site.set_routes([start, *pages("old")[1:-2], *pages("new")[-2:-1]])
        crawl(ui, "visited", site)
        yield site


def test_learned_rules_are_listed_and_forbidden(ui: Page, blog: str) -> None:
    """The rules of a real crawl are listed with what they have spared, and a person has the last word."""
    stored = overview(ui, blog)["arguments"]
    assert (stored["unique"], stored["window"], stored["window_end"]) == ("learn", "", "")  # can be given again so
    skipped = ui.ask("/api/facets", name=blog).values["reasons"]["learned"]
    rules = ui.ask("/api/rules", {"name": blog}).values["rules"]
    assert sum(rule["skipped"] for rule in rules) == skipped > 20
    first = rules[0]
    assert (first["pin"], first["trials"] > 0, "toggle" in first["rewrite"]) == (None, True, True)
    changed = ui.ask("/api/rules", {"name": blog, "action": "forbid", "rule": first["id"]}).values["rules"]
    assert {one["id"]: (one["pin"], one["skipped"]) for one in changed}[first["id"]] == ("forbid", 0)
    for wrong in ({"action": "json", "rule": 1}, {"action": "pin", "rule": "1"}, {"action": "pin"}):
        assert ui.ask("/api/rules", {"name": blog, **wrong}).status == 422


def test_parked_traps_are_released(ui: Page, space: Site) -> None:
    """What is set aside is listed with samples; one of it can be fetched after all, and its family released."""
    assert overview(ui, "space")["has_traps"]
    (family,) = ui.ask("/api/traps", {"name": "space"}).values["traps"]
    assert (family["state"], family["released"], family["set_aside"] > 20) == ("parked", False, True)
    rows = ui.ask("/api/urls", name="space", view="refused", reason="trap").values
    assert rows["total"] == family["set_aside"]
    one = rows["rows"][0]
    assert one["url"] in family["samples"]
    assert ui.ask("/api/fetch", {"name": "space", "ids": [one["id"]]}).values["queued"] == 1
    assert ui.until("space", "finished")["child"]["status"] == 0
    assert space.log[-1].target == one["url"].removeprefix(space.base)  # and it is not set aside again
    (family,) = ui.ask("/api/traps", {"name": "space", "release": str(family["id"])}).values["traps"]
    assert (family["released"], family["set_aside"]) == (True, rows["total"] - 1)
    assert ui.ask("/api/traps", {"name": "space", "release": "--json"}).status == 422


def test_changes_are_listed_and_believed(ui: Page, visited: Site) -> None:
    """A second visit tells what changed and went; what it did not believe is taken over when a person says so."""
    assert overview(ui, "visited")["is_revisited"]
    found = ui.ask("/api/changes", name="visited").values
    told = {row["url"].removeprefix(visited.base): row["what"] for row in found["rows"]}
    assert told == {"/": "held-back", "/chapter/10": "changed", "/chapter/11": "gone"}
    assert (found["counts"]["held-back"], found["counts"]["unchanged"], found["total"]) == (1, 10, 3)
    assert [row["what"] for row in ui.ask("/api/changes", name="visited", what="gone").values["rows"]] == ["gone"]
    assert ui.ask("/api/changes", name="visited", offset=3).values["rows"] == []
    for wrong in ({"what": "x"}, {"offset": "-1"}, {"name": "../x"}):
        assert ui.ask("/api/changes", **({"name": "visited"} | wrong)).status == 422
    believed = {"name": "visited", "believe": True, "arguments": {"seed": f"{visited.base}/"}}
    assert "SPIDERPROJ_ACCEPT_CHANGES=1" in ui.ask("/api/start", believed).values["command"]
    ui.until("visited", "finished")
    assert ui.ask("/api/changes", name="visited").values["counts"]["held-back"] == 0


def test_a_crawl_that_waits_for_its_window_is_paused(ui: Page) -> None:
    """Outside its hours a crawl asks for nothing and says what it waits for; it is paused, and keeps them."""
    now = datetime.now().astimezone()
    window = f"{now + timedelta(hours=2):%H:%M}-{now + timedelta(hours=3):%H:%M}"
    with Site(pages("old")) as site:
        chosen = {"seed": f"{site.base}/", "window": window, "window_end": "wait", "unique": "strict"}
        started = ui.ask("/api/start", {"name": "night", "arguments": chosen}).values
        assert f"window={window}" in started["command"]
        assert "unique=strict" in started["command"]
        ends = time.monotonic() + 30
        while ui.until("night", "running")["limit"] != f"window {window}, closed now":
            assert time.monotonic() < ends
            time.sleep(0.05)
        assert ui.ask("/api/stop", {"name": "night"}).values == {"stopped": True}
        assert ui.until("night", "stopped")["child"]["status"] == 6
        assert site.log == []
        stored = overview(ui, "night")["arguments"]
        assert (stored["window"], stored["window_end"], stored["unique"]) == (window, "wait", "strict")
    wrong = ui.ask("/api/start", {"name": "day", "arguments": {**chosen, "window": "25:00-26:00"}})
    assert (wrong.status, wrong.values["field"]) == (422, "window")


SCREENS = ("blog/result/learned", "space/result/traps", "visited/result/changes", "blog/choose")


def visit(ui: Page) -> list[str]:
    """Look at each screen, wide and narrow, light and dark; return what is wrong with them."""
    faults: list[str] = []
    with browser() as started:
        for person in (Person(started, ui.address, 1280), Person(started, ui.address, 390, "dark")):
            for screen in SCREENS:
                person.go(screen)
                person.look(screen.replace("/", "-"))
            faults += person.faults
        released = person.page.get_by_role("button", name="Release family")
        person.go("space/result/traps")
        if released.count():  # unless another test has released it
            released.click()
        person.page.get_by_role("cell", name="released").wait_for()
    return faults


@needs_browser
@pytest.mark.slow
@pytest.mark.usefixtures("blog", "space", "visited")
def test_screens_of_what_was_found_out(ui: Page) -> None:
    """The lists can be read at both widths, without a serious fault, and a button releases a family."""
    with ThreadPoolExecutor(1) as beside:
        assert beside.submit(visit, ui).result() == []
