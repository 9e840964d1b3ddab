"""The second process that rewrites makes what would be made without it, and takes nothing along when it fails."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest_twisted

import spiderproj
from spiderproj import mirror
from spiderproj.assistant import Assistant
from spiderproj.rewrite import Rewriter, Task
from tests.crawling import crawl
from tests.routes import link, page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import pytest

    from tests.answers import RouteSpec
    from tests.site import Site

    Factory = Callable[[Iterable[RouteSpec]], Site]

TASKS = [
    Task(
        path=f"h/d/{number}.html", url=f"http://h/d/{number}", kind="html", charset=None,
        body=b'<a href="x"><a href=/y>', is_drawn=False, leads={"http://h/d/x": "h/d/x.html"},
    )
    for number in range(20)
]  # fmt: skip
SCRIPT = """
from spiderproj.assistant import Assistant
assistant = Assistant()
assistant.give([])
assistant.take()
print(assistant._process.pid, flush=True)
input()
"""
PATIENCE = 20.0


def copy_of(out: Path) -> dict[str, bytes]:
    """Return the files of a copy."""
    return {str(path.relative_to(out)): path.read_bytes() for path in (out / "files").rglob("*") if path.is_file()}


@pytest_twisted.ensureDeferred
async def test_the_same_copy(site: Factory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever rewrites a document, it becomes the same; also when the process dies with documents in its hands."""
    names = [f"/d/{number}" for number in range(60)]
    served = site([page("/", link(*names)), *(page(name, link("/", *names[::7])) for name in names)])
    await crawl(f"{served.base}/", tmp_path / "alone", mirror="1")
    monkeypatch.setattr(mirror, "_WORTH_ASSISTANCE", 3)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    assisted = await crawl(f"{served.base}/", tmp_path / "assisted", mirror="1")
    monkeypatch.setattr(Assistant, "give", give_to_the_dying)
    orphaned = await crawl(f"{served.base}/", tmp_path / "orphaned", mirror="1")

    assert copy_of(tmp_path / "assisted") == copy_of(tmp_path / "alone") == copy_of(tmp_path / "orphaned")
    assert assisted.summary["references"] == orphaned.summary["references"]
    assert len(copy_of(tmp_path / "alone")) == 61


def give_to_the_dying(
    self: Assistant, tasks: list[Task], give: Callable[[Assistant, list[Task]], None] = Assistant.give
) -> None:
    """Give *tasks* to a process that is killed before it can have done them."""
    give(self, tasks)
    assert self._process is not None
    self._process.kill()


def test_forms_come_back_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the other process makes of tasks is what is made of them here; without a second core there is none."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    rewriter = Rewriter()
    with Assistant() as assistant:
        for _ in range(3):
            assistant.give(TASKS)
            assert assistant.take() == [rewriter(task) for task in TASKS]
    assert assistant.fails
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    assert Assistant().fails


def test_it_ends_with_its_parent() -> None:
    """After a kill nobody is left behind."""
    parent = subprocess.Popen(
        [sys.executable, "-c", SCRIPT], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(spiderproj.__file__).parents[1])},
    )  # fmt: skip
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    parent.send_signal(signal.SIGKILL)
    parent.communicate()

    until = time.monotonic() + PATIENCE
    while Path(f"/proc/{child}/stat").exists() and Path(f"/proc/{child}/stat").read_text().split(") ")[1][0] != "Z":
        assert time.monotonic() < until, "the assistant outlives its parent"
        os.sched_yield()
