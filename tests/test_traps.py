"""The walls against spaces without end: what lies behind them, and what must not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spiderproj.traps import MAX_REPEATS, MAX_SEGMENTS, wall

HERE = "http://h/a/a/"


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("/", None),
        ("/a/a/a", None),  # so short that it does not matter
        ("/a/b/c/d/e/f/g/", None),
        ("/a/a/b/b/c/", None),
        ("/a/b/a/b/a/b/", None),
        ("/2011/11/11/11/why.html", None),
        ("/docs//guide//a//b", None),
        ("/a///b/c", None),
        ("/a/a/a/", "the segment 'a' 3 times in a row"),
        ("/x/a/a/a/y", "the segment 'a' 3 times in a row"),
        ("/a////b/c", "the segment '' 3 times in a row"),
        ("/a/b/a/b/a/b/a/", "the segment 'a' 4 times"),
        ("/1/1/1/1/", "the segment '1' 4 times"),
        ("/" + "/".join(map(str, range(MAX_SEGMENTS))), None),
        ("/" + "/".join(map(str, range(MAX_SEGMENTS + 1))), f"more than {MAX_SEGMENTS} segments"),
    ],
)
def test_walls(path: str, rule: str | None) -> None:
    """A path is refused by the rule it breaks, but only on a page whose own path has grown already."""
    assert wall(path, HERE) == rule
    assert wall(path, "http://h" + "/deep" * (MAX_SEGMENTS // 2 + 1)) == rule
    assert wall(path, "http://h/a/b/c/") is None


@given(st.lists(st.sampled_from("abc1"), min_size=1, max_size=60))
@settings(deadline=None)
def test_no_growing_path_goes_on_for_ever(segments: list[str]) -> None:
    """A path of few different segments is behind a wall as soon as it has more than each may have."""
    if len(segments) > MAX_REPEATS * len(set(segments)):
        assert wall("/" + "/".join(segments), "http://h/" + "/".join(segments[:-1])) is not None


@given(st.lists(st.integers(), unique=True, max_size=MAX_SEGMENTS))
@settings(deadline=None)
def test_no_path_of_different_segments_is_a_trap(segments: list[int]) -> None:
    """What repeats nothing and is not too deep is never refused."""
    assert wall("/" + "/".join(map(str, segments)), HERE) is None


@given(st.text(alphabet="/ab%.1", max_size=300))
@settings(deadline=None)
def test_any_path_can_be_judged(path: str) -> None:
    """Every path gets an answer, a short one."""
    assert len(wall(f"/{path}", HERE) or "") < 100
