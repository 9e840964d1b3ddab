"""``scrapy crawl`` that draws pages, as a process: stopped by signals it leaves nothing running, and loses nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from spiderproj.browser import processes
from tests.browsing import command_line, needs_browser
from tests.routes import page
from tests.site import Site
from tests.source_code import ROOT

PAGES = [
    page(
        "/",
        "<div id=root></div><script>fetch('/slow').then(() => { root.innerHTML = '<a href=/found>f</a>' })</script>",
    ),
    {"path": "/slow", "body": "x", "delay_s": 1},
    page("/found"),
]


def start(site: Site, out: Path, *more: str) -> subprocess.Popen[str]:
    """Start a crawl in a process group of its own."""
    command = [sys.executable, "-m", "scrapy", "crawl", "site", "-a", f"seed={site.base}/", "-a", f"out={out}",
               "-a", "render=auto", *more]  # fmt: skip
    return subprocess.Popen(
        command, cwd=ROOT, text=True, stderr=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )


def wait_until_gone(pids: list[int]) -> None:
    """Wait until none of *pids* is a browser or its driver any more."""
    ends = time.monotonic() + 20
    while any(b"chromium" in command_line(pid) or b"run-driver" in command_line(pid) for pid in pids):
        assert time.monotonic() < ends, [command_line(pid)[:80] for pid in pids]
        time.sleep(0.05)


@needs_browser
def test_killed(tmp_path: Path) -> None:
    """A crawl that is killed takes its browser with it; the next one finds everything."""
    with Site(PAGES) as site:
        crawl = start(site, tmp_path / "out")
        assert site.wait_for(lambda site: site.hits("GET /slow") == 1, 60)
        pids = processes.tree(crawl.pid)
        assert len(pids) > 3
        crawl.kill()
        crawl.communicate()
        wait_until_gone(pids[1:])
        again = start(site, tmp_path / "out")
        said = again.communicate(timeout=60)
        assert (again.returncode, site.hits("GET /found")) == (0, 1), said[1]


@needs_browser
def test_interrupted_from_the_keyboard(tmp_path: Path) -> None:
    """Ctrl-C reaches the driver and the browser too: the page being drawn is drawn, or drawn by the next run."""
    with Site(PAGES) as site:
        crawl = start(site, tmp_path / "out")
        assert site.wait_for(lambda site: site.hits("GET /slow") == 1, 60)
        pids = processes.tree(crawl.pid)
        os.killpg(crawl.pid, signal.SIGINT)
        said = crawl.communicate(timeout=60)
        assert crawl.returncode == 6, said[1]
        assert "Traceback" not in said[1]
        wait_until_gone(pids[1:])
        again = start(site, tmp_path / "out")
        said = again.communicate(timeout=60)
        assert (again.returncode, site.hits("GET /found")) == (0, 1), said[1]
        assert json.loads((tmp_path / "out" / "summary.json").read_bytes())["rendered"] == 1


def test_without_what_it_needs(tmp_path: Path) -> None:
    """Without a browser the command ends with status 2 and one line that says how to get one."""
    with Site(PAGES) as site:
        crawl = start(site, tmp_path / "out", "-s", "SPIDERPROJ_CHROMIUM=/nowhere/chromium")
        _, said = crawl.communicate(timeout=60)
        assert (crawl.returncode, len(said.splitlines()), site.log) == (2, 1, [])
        assert "render='auto': expected never, or a browser at /nowhere/chromium: make render-deps installs it" in said


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said to be missing is the package, where that is not installed."""
    monkeypatch.setattr("spiderproj.rendering.installed.find_spec", lambda _: None)
    from spiderproj.rendering import missing

    assert missing(sys.executable) == "the Python package playwright"
