"""Image candidates, by WPT's rows where they are at hand and by rows of the same kinds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spiderproj.links.srcset import candidates

WPT = Path(__file__).parents[2] / "shared" / "suites" / "wpt-srcset" / "cases.json"


@pytest.mark.parametrize(
    ("value", "urls"),
    [
        ("", []),
        (" , ,", []),
        ("a", ["a"]),
        ("\t a \n", ["a"]),
        ("a,", ["a"]),
        ("a,,,", ["a"]),
        (",,,a", ["a"]),
        ("a,b", ["a,b"]),
        ("a, b", ["a", "b"]),
        ("a,\tb,", ["a", "b"]),
        ("a 1x,b 2x", ["a", "b"]),
        ("a 1x b, c", ["a", "c"]),
        ("a (b, c 1x), d", ["a", "d"]),
        ("a (b, c 1x", ["a"]),
        ("a 1x (, b 1x, ), c", ["a", "c"]),
        ("a (, ((, ), b", ["a", "b"]),
        ("a\u00a01x, b", ["a\u00a01x", "b"]),
        ("data:,a 1x, data:image/png;base64,x= 2x", ["data:,a", "data:image/png;base64,x="]),
        ("w_100,h_50/a.jpg 100w, w_200,h_100/a.jpg 200w", ["w_100,h_50/a.jpg", "w_200,h_100/a.jpg"]),
        ("a 0x, b -1w, c nonsense", ["a", "b", "c"]),
    ],
)
def test_candidates(value: str, urls: list[str]) -> None:
    """URLs end at blanks and shed final commas; commas in them or in parentheses do not split."""
    assert candidates(value) == urls


@pytest.mark.skipif(not WPT.exists(), reason="the WPT rows are not here")
def test_wpt_rows() -> None:
    """Each row of WPT: the candidate that a browser chooses is among ours, and none is cut."""
    for row in json.loads(WPT.read_text()):
        found = candidates(row["srcset"])

        assert not row["chosen_at_1x"] or row["chosen_at_1x"] in found, row
        assert all(url in row["srcset"] and not url.endswith(",") for url in found), row


@given(st.text("a,( )\t", max_size=30))
def test_every_candidate_is_a_word(value: str) -> None:
    """Whatever the value, a candidate is a piece of it without blanks or outer commas."""
    for url in candidates(value):
        assert url in value
        assert url.split() == [url.strip(",")] or url.startswith("(")
