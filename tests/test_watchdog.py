"""The watchdog sees how long the event loop is held, and by what."""

from __future__ import annotations

import asyncio
import logging
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, cast

import pytest

from spiderproj.extensions import watchdog
from spiderproj.extensions.watchdog import Watchdog, working_on

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy.statscollectors import StatsCollector

HOLDS, LONGEST = "spiderproj/loop/holds", "spiderproj/loop/longest_hold_seconds"


class Stats(dict[str, float]):
    """As much of a stats collector as the watchdog uses."""

    set_value = dict.__setitem__

    def inc_value(self, name: str) -> None:
        """Count one more."""
        self[name] += 1


def watched(*work: tuple[str, float]) -> Stats:
    """Return the stats after each URL of *work* has held a loop for so many seconds, all in one go."""
    with ThreadPoolExecutor(1) as beside:  # the reactor's loop is busy with pytest
        return beside.submit(asyncio.run, _watched(work)).result()


async def _watched(work: Iterable[tuple[str, float]]) -> Stats:
    stats = Stats()
    dog = Watchdog(cast("StatsCollector", stats))
    dog.spider_opened()
    for url, seconds in work:
        working_on(url)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            pass
    working_on("http://h/next")
    dog._beat()
    dog.spider_closed()
    return stats


def test_a_long_hold_is_told_with_its_url(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """A hold past the bound is one warning, which names what took longest, not what came last."""
    monkeypatch.setattr(watchdog, "_LONG", 0.1)
    with caplog.at_level(logging.WARNING):
        stats = watched(("http://h/quick", 0.0), ("http://h/slow", 0.25), ("http://h/last", 0.01))
    assert stats[HOLDS] == 1
    assert stats[LONGEST] >= 0.2
    assert [record.args[1] for record in caplog.records if record.args] == ["http://h/slow"]  # type: ignore[index]


def test_no_hold_no_word(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """Work that lets the loop go is no hold."""
    monkeypatch.setattr(watchdog, "_LONG", 60)
    assert watched(("http://h/quick", 0.0))[HOLDS] == 0
    assert not caplog.records


def test_noting_what_is_worked_on_costs_next_to_nothing() -> None:
    """It is noted twice a page, so it may cost a microsecond even on a slow machine."""
    best = min(_timed() for _ in range(20))
    assert best < 2e-6


def _timed() -> float:
    began = time.perf_counter()
    for _ in range(1000):
        working_on("http://h/")
    return (time.perf_counter() - began) / 1000
