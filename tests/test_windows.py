"""The hours in which a crawl fetches: nothing is asked for outside them, and what is left waits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest
import pytest_twisted
from hypothesis import given
from hypothesis import strategies as st

from spiderproj import windows
from spiderproj.windows import Window
from tests.crawling import crawl
from tests.routes import link, page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from tests.answers import RouteSpec
    from tests.site import Site

    MakeSite = Callable[[Iterable[RouteSpec]], Site]

HOUR = 3600
NIGHT = Window.parse("22:00-06:30")


@pytest.mark.parametrize(
    ("window", "hour", "closed", "opened"),
    [
        (NIGHT, 22, 0, 8.5), (NIGHT, 3, 0, 3.5), (NIGHT, 6.5, 15.5, 0), (NIGHT, 21.5, 0.5, 0),
        (Window.parse("09:00-17:00"), 17, 16, 0), (Window.parse("09:00-17:00"), 16, 0, 1),
    ],
)  # fmt: skip
def test_windows_of_a_day(window: Window, hour: float, closed: float, opened: float) -> None:
    """A window may lie over midnight; its last second is the one before its end."""
    assert (window.closed_for(hour * HOUR, 0), window.open_for(hour * HOUR, 0)) == (closed * HOUR, opened * HOUR)


def test_a_window_from_the_start() -> None:
    """Hours from the start end once and for all."""
    window = Window.parse("+2h")
    assert (window.closed_for(0, 7199), window.open_for(0, 7199)) == (0, 1)
    assert (window.closed_for(0, 7200), window.open_for(0, 7200)) == (math.inf, 0)


@given(st.integers(0, 1439), st.integers(0, 1439), st.integers(0, 86399))
def test_it_is_open_or_closed(opens: int, closes: int, second: int) -> None:
    """At each second a window is either open for some time or closed for some, and then it is the other."""
    if opens == closes:
        return
    window = Window(opens * 60, closes * 60)
    closed, opened = window.closed_for(second, 0), window.open_for(second, 0)
    assert (closed > 0) is not (opened > 0)
    later = (second + closed + opened) % 86400
    assert (window.closed_for(later, 0) > 0) is (opened > 0)


@pytest_twisted.ensureDeferred
async def test_a_closed_window(tmp_path: Path, site: MakeSite, monkeypatch: pytest.MonkeyPatch) -> None:
    """Outside its window a crawl asks for nothing, not even robots.txt and sitemaps, and ends where it is told to."""
    where = site([page("/", link("/a")), page("/a")])
    monkeypatch.setattr(windows, "second_of_day", lambda: 12 * HOUR)
    arguments: dict[str, Any] = {"window": "22:00-06:00", "window_end": "stop", "sitemap": "on"}
    done = await crawl(f"{where.base}/", tmp_path / "out", **arguments)
    assert (done.status, done.summary["state"], done.summary["reason"]) == (0, "waiting", "window")
    assert (done.summary["limited_by"], done.summary["pending"]) == ("window", 1)
    assert where.log == []
    monkeypatch.setattr(windows, "second_of_day", lambda: 23 * HOUR)
    done = await crawl(f"{where.base}/", tmp_path / "out", **arguments)
    assert (done.status, done.summary["state"], done.summary["pages"]) == (0, "finished", 2)


@pytest_twisted.ensureDeferred
async def test_a_window_that_closes(tmp_path: Path, site: MakeSite, monkeypatch: pytest.MonkeyPatch) -> None:
    """When its window closes a crawl asks for nothing more; in the next one it goes on with what is left."""
    where = site([page("/", link("/a", "/b", "/c")), *map(page, ("/a", "/b", "/c"))])
    monkeypatch.setattr(windows, "second_of_day", lambda: 23 * HOUR + 8 * HOUR * (len(where.log) >= 3))
    settings = {"CONCURRENT_REQUESTS_PER_DOMAIN": 1}
    done = await crawl(f"{where.base}/", tmp_path / "out", settings, window="22:00-06:00", window_end="stop")
    assert (done.summary["state"], done.summary["pages"], done.summary["pending"]) == ("waiting", 2, 2)
    assert len(where.log) == 3
    assert set(done.reasons().values()) == {"window"}
    done = await crawl(f"{where.base}/", tmp_path / "out", settings, window="+1h")
    assert (done.summary["state"], done.summary["pages"]) == ("finished", 4)
    assert [entry.target for entry in where.log if entry.target != "/robots.txt"] == ["/", "/a", "/b", "/c"]


@pytest_twisted.ensureDeferred
async def test_it_waits(tmp_path: Path, site: MakeSite, monkeypatch: pytest.MonkeyPatch) -> None:
    """A crawl that waits for its window goes on by itself when that opens."""
    where = site([page("/", link("/a")), page("/a")])
    seconds = iter([22 * HOUR - 0.2] * 8)
    monkeypatch.setattr(windows, "second_of_day", lambda: next(seconds, 22 * HOUR))
    done = await crawl(f"{where.base}/", tmp_path / "out", window="22:00-06:00")
    assert (done.summary["state"], done.summary["pages"]) == ("finished", 2)
