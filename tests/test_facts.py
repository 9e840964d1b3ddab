"""Facts about Scrapy that the code is built on; each test fails loudly when a new version changes one."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING

import pytest_twisted
from scrapy.core.downloader import Downloader
from scrapy.core.engine import ExecutionEngine, _Slot

from spiderproj.downloader.turns import Downloader as Turns
from tests.crawling import crawl
from tests.routes import link, page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.answers import RouteSpec
    from tests.site import Site

    Factory = Callable[[Iterable[RouteSpec]], Site]


def test_engine_is_woken_through_its_slot() -> None:
    """The scheduler wakes the engine by ``_slot.nextcall.schedule()``: there is no public way."""
    assert "nextcall" in inspect.signature(_Slot.__init__).parameters
    assert "_slot" in inspect.getsource(ExecutionEngine.__init__)


def test_downloader_core_calls_what_we_override() -> None:
    """The engine's way into the downloader is ``fetch``, which hands ``_enqueue_request`` to the middlewares."""
    assert "self._enqueue_request" in inspect.getsource(Downloader.fetch)
    assert Turns._enqueue_request is not Downloader._enqueue_request


@pytest_twisted.ensureDeferred
async def test_concurrency_of_a_host_is_kept(site: Factory, tmp_path: Path) -> None:
    """Scrapy's own downloader lets 27 requests go at once where one is allowed; ours does not."""
    names = [f"/{number}" for number in range(30)]
    routes = [page("/", link(*names)), *({"path": name, "delay_s": 0.01, "body": "x"} for name in names)]
    served = site(routes)
    for limit in (1, 3):
        out = tmp_path / str(limit)
        await crawl(f"{served.base}/", out, {"CONCURRENT_REQUESTS_PER_DOMAIN": limit}, select="page,child,parent:all")
        connections = {request.connection for request in served.log}

        assert len(connections) <= limit
        served.log.clear()


@pytest_twisted.ensureDeferred
async def test_robots_request_is_not_stopped_by_scope_or_gate(site: Factory, tmp_path: Path) -> None:
    """robots.txt is asked for first, with a GET, and obeyed, although no scope names it."""
    served = site(
        [page("/a/", link("/a/secret")), {"path": "/robots.txt", "body": "User-agent: *\nDisallow: /a/secret"}]
    )
    done = await crawl(f"{served.base}/a/", tmp_path / "out", mode="directory", select="page:html")

    assert [(r.method, r.target) for r in served.log] == [("GET", "/robots.txt"), ("GET", "/a/")]
    assert done.reasons() == {f"{served.base}/a/secret": "robots"}


@pytest_twisted.ensureDeferred
async def test_seed_is_fetched_once(site: Factory, tmp_path: Path) -> None:
    """Scrapy's default start() lets a seed through twice; a link back to it costs us nothing."""
    served = site([page("/", link("/", "/#x"))])
    await crawl(f"{served.base}/", tmp_path / "out")

    assert served.hits("GET /") == 1


@pytest_twisted.ensureDeferred
async def test_depth_limit_keeps_its_name(site: Factory, tmp_path: Path) -> None:
    """Scrapy's DEPTH_LIMIT bounds the hops although its middleware is not loaded; ``depth`` wins over it."""
    served = site([page("/", link("/1")), page("/1", link("/2")), page("/2", link("/3")), page("/3")])
    by_setting = await crawl(f"{served.base}/", tmp_path / "one", {"DEPTH_LIMIT": 1})
    by_argument = await crawl(f"{served.base}/", tmp_path / "two", {"DEPTH_LIMIT": 1}, depth="2")

    assert by_setting.reasons() == {f"{served.base}/2": "depth"}
    assert by_argument.reasons() == {f"{served.base}/3": "depth"}
