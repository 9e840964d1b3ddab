"""Every black-box case below tests/cases holds: the product, crawled as a user would, two crawls at a time."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from tests.judge_requests import Seen
from tests.run_cases import CASES, Outcome, fill, run_case
from tests.site import Site, load
from tests.warm import Starter

if TYPE_CHECKING:
    from collections.abc import Iterator

CASE_KEYS = {"source", "title", "class", "level", "routes", "crawl", "expect"}
FOLDERS = sorted(path.parent for path in CASES.glob("*/case.json"))
each_case = pytest.mark.parametrize("name", [folder.name for folder in FOLDERS])


@pytest.fixture(scope="module")
def outcomes(request: pytest.FixtureRequest) -> Iterator[dict[str, Future[Outcome]]]:
    """Return the coming outcome of every selected case; they run ahead while the first is waited for."""
    items: list[Any] = [item for item in request.session.items if "outcomes" in getattr(item, "fixturenames", ())]
    with Starter() as starter, ThreadPoolExecutor(2) as pool:
        yield {
            name: pool.submit(run_case, CASES / name, starter.start)
            for name in (item.callspec.params["name"] for item in items)
        }
        pool.shutdown(cancel_futures=True)


@pytest.mark.slow
@each_case
def test_case(name: str, outcomes: dict[str, Future[Outcome]]) -> None:
    """What the case expects is so."""
    assert outcomes[name].result().failures == []


@each_case
def test_case_is_sound(name: str) -> None:
    """A case has the known keys, says why, and every request it expects is one that its routes answer."""
    case = load(CASES / name / "case.json")
    assert set(case) == CASE_KEYS
    assert case["expect"]["notes"]
    with Site(case["routes"], folder=CASES / name) as site:
        expect, routes = fill(case["expect"], site.names), site.routes
        for request in [*expect.get("fetched", ()), *expect.get("fetched_should", ()), *expect.get("order", ())]:
            method, host, target = Seen([], site.base).key(request)
            port = "other" if host == site.other.removeprefix("http://") else ""
            found = routes.find("GET" if method == "ANY" else method, target, port, [("Host", host)])
            assert found.place is not None, f"nothing answers {request}"
