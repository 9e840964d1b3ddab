"""A crawl ends by signals with status 6 and goes on afterwards; of two crawls in one folder exactly one runs."""

from __future__ import annotations

import os
import shutil
import signal
import socket
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests import small_site
from tests.site import Site
from tests.warm import Starter

if TYPE_CHECKING:
    from collections.abc import Iterator

RACES = 200 if os.environ.get("SPIDERPROJ_SOAK") else 20
REQUESTS = {"at the first page": 1, "in the middle": 8, "near the end": 16}


@pytest.fixture(scope="module")
def starter() -> Iterator[Starter]:
    """Return a warm process."""
    with Starter() as made:
        yield made


def slow_site() -> list[dict[str, object]]:
    """Return the small site, each answer a twentieth of a second late."""
    return [{**spec, "delay_s": 0.05} for spec in small_site.routes()]


def complete(starter: Starter, site: Site, out: Path) -> None:
    """Run a stopped crawl to its end: nothing that was saved is asked for again, and the copy is whole."""
    safe, before = small_site.committed(out), len(site.log)
    messages = out.with_name("messages.txt")
    code = starter.start(small_site.arguments(site, out), messages).wait(60)
    assert code == 0, messages.read_text("utf-8")[-3000:]
    again = [r.target for r in site.log[before:] if site.base + r.target in safe]
    assert (again, small_site.faults(site, out)) == ([], [])


@pytest.mark.slow
@pytest.mark.parametrize("when", REQUESTS)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("times", [1, 2])
def test_a_signal(number: signal.Signals, times: int, when: str, starter: Starter, tmp_path: Path) -> None:
    """Once: everything that came is saved. Twice: at once. Either way status 6, and the next run completes the copy."""
    out, messages = tmp_path / "out", tmp_path / "messages.txt"
    with Site(slow_site()) as site:
        command = starter.start(small_site.arguments(site, out), messages)
        assert site.wait_for(lambda site: len(site.log) >= REQUESTS[when])
        for _ in range(times):
            command.send_signal(number)
        assert command.wait(60) == 6, messages.read_text("utf-8")[-3000:]
        assert "Traceback" not in messages.read_text("utf-8")
        if times == 1:
            assert len(small_site.committed(out)) == len(site.log)
            assert b'"stopped"' in (out / "summary.json").read_bytes()
        complete(starter, site, out)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_at_the_start(number: signal.Signals, starter: Starter, tmp_path: Path) -> None:
    """A crawl that is stopped while its folder is opened ends at once, with status 6 too."""
    out, messages = tmp_path / "out", tmp_path / "messages.txt"
    with Site(small_site.routes()) as site:
        command = starter.start(small_site.arguments(site, out), messages)
        while not (out / ".spiderproj" / "lock").exists():
            assert command.poll() is None
        command.send_signal(number)
        assert command.wait(60) == 6, messages.read_text("utf-8")[-3000:]
        complete(starter, site, out)


@pytest.mark.slow
def test_a_crawl_that_sleeps(starter: Starter, tmp_path: Path) -> None:
    """Stopped for a while and continued, a crawl goes on and ends well."""
    out = tmp_path / "out"
    with Site(slow_site()) as site:
        command = starter.start(small_site.arguments(site, out), tmp_path / "messages.txt")
        assert site.wait_for(lambda site: len(site.log) >= 5)
        command.send_signal(signal.SIGSTOP)
        asked = len(site.log)
        site.wait_for(lambda site: len(site.log) > asked + 2, 0.3)
        command.send_signal(signal.SIGCONT)
        assert command.wait(60) == 0
        assert small_site.faults(site, out) == []


@pytest.mark.slow
def test_two_crawls_in_one_folder(starter: Starter, tmp_path: Path) -> None:
    """Of two crawls that start at once one runs; the other ends with status 4 and names the first."""
    with Site([{**spec, "delay_s": 0.5 * (spec["path"] == "/")} for spec in small_site.routes()]) as site:
        for race in range(RACES):
            out = tmp_path / f"out{race}"
            texts = [tmp_path / f"{race}{name}.txt" for name in "ab"]
            commands = [starter.start(small_site.arguments(site, out), text) for text in texts]
            codes = [command.wait(60) for command in commands]
            assert sorted(codes) == [0, 4], [text.read_text("utf-8") for text in texts]
            loser = codes.index(4)
            said = texts[loser].read_text("utf-8")
            assert f"process {commands[1 - loser].pid} on '{socket.gethostname()}'" in said
            assert said.count("\n") == 1
            assert small_site.faults(site, out) == []
            shutil.rmtree(out)
