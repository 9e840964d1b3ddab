"""What the machine does to a crawl: its clock is set, its proxies are of others, files are few, it sleeps."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from functools import partial
from typing import TYPE_CHECKING

import pytest
import pytest_twisted

from spiderproj import steady
from tests import small_site
from tests.crawling import crawl
from tests.kill_site import kill_site
from tests.routes import link, page
from tests.site import Site
from tests.test_kills import SCRAPY, measure
from tests.warm import Starter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from tests.answers import RouteSpec

    Factory = Callable[[Iterable[RouteSpec]], Site]

DAY = 86_400


def has_asked(count: int, site: Site) -> bool:
    """Return whether *site* was asked so often."""
    return len(site.log) >= count


@pytest.mark.parametrize("jump", [-DAY, 3652 * DAY], ids=["a day back", "ten years on"])
@pytest_twisted.ensureDeferred
async def test_a_clock_that_is_set(jump: int, site: Factory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A retry waits its second, and robots.txt its time, whatever the clock is set to meanwhile."""
    fails = {**page("/a"), "sequence": [{"status": 500}, {}]}
    served = site([page("/", link("/a", "/b")), fails, page("/b")])
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + (jump if served.hits("GET /a") else 0))
    began = time.monotonic()
    done = await crawl(f"{served.base}/", tmp_path / "out", {"CLOSESPIDER_TIMEOUT": 120})

    assert (done.status, done.summary["state"], done.summary["pages"]) == (0, "finished", 3)
    assert served.hits("GET /a") == 2
    assert 0.5 < time.monotonic() - began < 100


def test_the_steady_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the clock's time when nobody sets the clock, and goes on when somebody does."""
    assert abs(steady.now() - time.time()) < 60
    before = steady.now()
    monkeypatch.setattr(time, "time", lambda: 0.0)
    assert 0 <= steady.now() - before < 60


@pytest_twisted.ensureDeferred
async def test_proxies_of_the_environment(site: Factory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Proxies that the environment names, for whatever reason, are not used: the address gate would not see behind."""
    served, proxy = site([page("/", link("/a")), page("/a")]), site([])
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, proxy.base)
    monkeypatch.delenv("no_proxy", raising=False)
    done = await crawl(f"{served.base}/", tmp_path / "out")

    assert done.summary["pages"] == 2
    assert not proxy.log


@pytest.mark.slow
@pytest.mark.parametrize(("files", "statuses"), [(64, {0}), (24, {3})])
def test_few_descriptors(files: int, statuses: set[int], tmp_path: Path) -> None:
    """A crawl does with 64 open files; where they are too few it ends with status 3, and is completed later."""
    out = tmp_path / "out"
    with Site(small_site.routes(pages=50)) as site:
        line = small_site.arguments(site, out, CONCURRENT_REQUESTS_PER_DOMAIN="8")
        limited = ["sh", "-c", f'ulimit -n {files} && exec "$@"', "sh", SCRAPY, *line]
        done = subprocess.run(limited, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode in statuses, done.stderr[-3000:]
        assert "Traceback" not in done.stderr
        if done.returncode:
            assert subprocess.run([SCRAPY, *line], capture_output=True, timeout=120, check=False).returncode == 0
        assert small_site.faults(site, out) == []


@pytest.mark.slow
def test_a_machine_that_sleeps(tmp_path: Path) -> None:
    """A crawl that stands still for longer than its time-outs goes on, and lacks nothing."""
    truth, out = kill_site(7, 60), tmp_path / "out"
    settings = {"DOWNLOAD_TIMEOUT": "1", "SPIDERPROJ_IDLE_TIMEOUT": "1", "RETRY_TIMES": "5"}
    with Starter() as starter, Site(truth.routes) as site:
        line = small_site.arguments(site, out, **settings)
        command = starter.start(line, tmp_path / "messages.txt")
        for asked in (10, 40):
            assert site.wait_for(partial(has_asked, asked))
            command.send_signal(signal.SIGSTOP)
            with pytest.raises(subprocess.TimeoutExpired):
                command.wait(1.5)  # as long as its time-outs, and more
            os.kill(command.pid, signal.SIGCONT)
        assert command.wait(60) == 0
        assert measure(truth, site, out)[:5] == ([], [], [], 0, [])
