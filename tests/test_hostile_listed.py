"""What is asked of a case that another hostile server publishes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.hostile.cases import Fate, Way
from tests.hostile.listed import BESIDE, OTHERWISE, case_of, why_not


def row(**changes: Any) -> dict[str, Any]:
    """Return a published row."""
    plain = {"id": "chunk.cut", "category": "body", "kind": "fetch", "attack": "no end", "outcome": "error"}
    bounds = {"max_seconds": 30, "max_rss_mb": 100, "heavy": False, "off_loopback": False, "available": True}
    return {**plain, **bounds, "url": "http://127.0.0.1:1/chunk/cut?n=1", **changes}


@pytest.mark.parametrize(
    ("changes", "fate"),
    [
        ({"outcome": "ok"}, Fate.STORED),
        ({"outcome": "error"}, Fate.FAILED),
        ({"outcome": "flagged"}, Fate.FAILED),
        ({"outcome": "bounded", "kind": "crawl"}, Fate.LIMITED),
        ({"outcome": "refused", "kind": "crawl"}, Fate.STORED),
        ({"outcome": "refused", "id": "redir.file"}, Fate.MOVED),
        ({"outcome": "ok", "id": "redir.bytes"}, Fate.MOVED),
        ({"outcome": "error", "id": "redir.empty"}, Fate.FAILED),
        ({"outcome": "error", "kind": "sitemap"}, Fate.STORED),  # of the page that names it
        ({"outcome": "error", "id": "redir.long"}, Fate.MOVED),  # otherwise
    ],
)
def test_outcomes(changes: dict[str, Any], fate: Fate) -> None:
    """A listed outcome is held against the row of the case's own URL."""
    assert case_of(row(**changes)).fate is fate


def test_a_case_has_the_bounds_of_its_row() -> None:
    """Name, seed, seconds and memory are those that are published; what is not known asks for nothing more."""
    case = case_of(row())
    assert (case.name, case.kind, case.target) == ("body.chunk.cut", "body", "/chunk/cut?n=1")
    assert (case.seconds, case.growth_mb, case.way, case.mode) == (30, 100, Way.SEED, "all")
    assert (case.asks, case.spares, case.refuses, case.error) == ((), (), {}, "")


def test_what_is_worded_otherwise_has_its_reason() -> None:
    """Each exception says why, and none takes back what must be so beside it."""
    assert all(len(other.why) > 20 for other in OTHERWISE.values())
    assert not [name for name in OTHERWISE.keys() & BESIDE.keys() if BESIDE[name].refuses]


@pytest.mark.parametrize(
    ("changes", "why"), [({}, ""), ({"off_loopback": True}, "off loopback"), ({"available": False}, "cannot serve")]
)
def test_what_is_not_met(changes: dict[str, Any], why: str) -> None:
    """Only what leads off loopback, and what its server lacks the means for, is left out, and it is said."""
    said = why_not(row(**changes))
    assert why in said
    assert bool(said) == bool(why)
