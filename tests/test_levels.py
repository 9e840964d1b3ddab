"""Levels, climbing and moved homes, by tables."""

from __future__ import annotations

import pytest

from spiderproj.levels import Home, home_of, level, levels_up, moved_home
from spiderproj.models import Level
from spiderproj.urls import split

HOME = home_of("http://h.example/a/b/page.html")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://h.example/a/b/page.html", Level.PAGE),
        ("http://h.example/a/b/", Level.PAGE),
        ("http://h.example/a/b/?q=1", Level.PAGE),
        ("https://h.example/a/b/other", Level.PAGE),
        ("http://h.example/a/b/c/", Level.CHILD),
        ("http://h.example/a/b/c/d.html", Level.CHILD),
        ("http://h.example/a/", Level.PARENT),
        ("http://h.example/a/x", Level.PARENT),
        ("http://h.example/a/b", Level.PARENT),
        ("http://h.example/", Level.PARENT),
        ("http://h.example/x/", Level.HOST),
        ("http://h.example/a/bc/", Level.HOST),
        ("http://h.example/a/c/b/", Level.HOST),
        ("http://h.example:8080/a/b/", Level.OTHER),
        ("http://sub.h.example/a/b/", Level.OTHER),
        ("http://h.example.evil/a/b/", Level.OTHER),
    ],
)
def test_level_is_seen_from_the_seeds_directory(url: str, expected: Level) -> None:
    """Each URL has the level that the table of docs/arguments.md gives it."""
    assert expected == level(split(url), [HOME])


def test_nearest_home_counts() -> None:
    """With several seeds a URL has its best level."""
    homes = [Home("h.example", "/a/"), Home("h.example", "/b/")]

    assert level(split("http://h.example/b/x/"), homes) is Level.CHILD


@pytest.mark.parametrize(
    ("url", "expected"),
    [("/a/b/", 0), ("/a/b/c/d", 0), ("/a/x", 1), ("/a/x/y/z", 1), ("/", 2), ("/q/r", 2)],
)
def test_levels_up_counts_the_climb(url: str, expected: int) -> None:
    """It is the number of directories to leave before the URL lies below."""
    assert expected == levels_up(split(f"http://h.example{url}"), [HOME])


@pytest.mark.parametrize(
    ("seed", "target", "expected"),
    [
        ("http://h/", "https://h/", Home("h", "/")),
        ("http://h/", "http://www.h/", Home("www.h", "/")),
        ("http://www.h/x", "https://h/y", Home("h", "/")),
        ("http://h/docs", "http://h/docs/", Home("h", "/docs/")),
        ("http://h/docs/a", "http://h/en/", Home("h", "/docs/")),
        ("http://h:8000/docs", "http://h:8000/docs/", Home("h:8000", "/docs/")),
        ("http://h/", "http://other/", None),
        ("http://h:8000/", "http://h:8001/", None),
        ("http://h/", "http://h.evil/", None),
    ],
)
def test_moved_home_follows_only_its_own(seed: str, target: str, expected: Home | None) -> None:
    """A change of scheme, of www. or of a missing slash moves the home; another host or port does not."""
    assert expected == moved_home(seed, target)
