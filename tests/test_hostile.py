"""A crawl comes through every attack of ``tests/hostile``: what becomes of it, in what time, memory and hold.

A class of attacks is met by one crawl, beside ordinary pages, and each case must come out as if it were alone. Cases
that are heavy have a crawl of their own. What the clock decides needs a quiet machine and is asked nightly.
``python -m tests.hostile`` measures every case alone, with the settings of a user; here time-outs are short.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.hostile.catalogue import CASES, chosen
from tests.hostile.run import Met, meet, too_much
from tests.hostile.server import HostileProcess
from tests.pace import slowness

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

QUICK = [
    "DOWNLOAD_TIMEOUT=3",
    "RETRY_TIMES=1",
    "SPIDERPROJ_ROBOTS_WAIT=1",
    "SPIDERPROJ_RETRY_AFTER_MAX=1",
]
LIGHT = {
    case.kind: [other for other in CASES.values() if other.kind == case.kind and not other.slow]
    for case in CASES.values()
}
HEAVY = [case.name for case in CASES.values() if case.slow]

pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module")
def server() -> Iterator[HostileProcess]:
    """Return the hostile server, a program of its own."""
    with HostileProcess() as server:
        yield server


@pytest.fixture(scope="module")
def usual(server: HostileProcess, tmp_path_factory: pytest.TempPathFactory) -> Met:
    """Return a crawl of ordinary pages, and what a crawl sends."""
    return meet(chosen(["cookies.echo"]), server, tmp_path_factory.mktemp("usual"), QUICK)


def test_an_ordinary_crawl_is_well(usual: Met) -> None:
    """Nothing is wrong with a crawl that meets no attack: the judge does not cry wolf."""
    assert usual.wrong == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", LIGHT)
def test_light_attacks_together(kind: str, server: HostileProcess, tmp_path: Path) -> None:
    """Every light case of a class comes out as it must, all in one crawl."""
    assert meet(LIGHT[kind], server, tmp_path, QUICK).wrong == []


@pytest.mark.nightly
@pytest.mark.parametrize("kind", LIGHT)
def test_light_attacks_are_bounded(kind: str, server: HostileProcess, usual: Met, tmp_path: Path) -> None:
    """The light cases of a class, all in one crawl, cost no more time, memory and hold of the loop than they may."""
    assert too_much(meet(LIGHT[kind], server, tmp_path, QUICK), usual, slowness()) == []


@pytest.mark.nightly
@pytest.mark.parametrize("name", HEAVY)
def test_heavy_attack(name: str, server: HostileProcess, usual: Met, tmp_path: Path) -> None:
    """A heavy case comes out as it must, within its bounds."""
    met = meet([CASES[name]], server, tmp_path, QUICK)
    assert met.wrong + too_much(met, usual, slowness()) == []
