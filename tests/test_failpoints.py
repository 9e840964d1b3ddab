"""A crawl that dies at any step of any write loses nothing, doubles nothing, tears nothing."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
import sys
import timeit
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from spiderproj.failpoints import KILLED, failpoint
from tests import small_site
from tests.site import Site
from tests.warm import Starter

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(__file__).parent.parent / "spiderproj"
SOURCES = "".join(path.read_text("utf-8") for path in PACKAGE.rglob("*.py"))
PLACES = sorted(set(re.findall(r'failpoint\("(.+?)"\)', SOURCES)))
HITS = 1000 if os.environ.get("SPIDERPROJ_SOAK") else 3
"""The first times a place is come to; in a soak every one."""
REVISIT = {  # places that matter when there is an earlier copy; for some of them there must be a death before
    "body.bring_back": "store.content:1",
    "body.keep": "",
    "body.kept": "",
    "body.remove": "body.renamed:1",
    "body.renamed": "",
    "committed": "",
    "export.renamed": "",
    "journal.cleared": "",
    "open.commit": "",
    "sealed": "",
    "spool.commit": "",
    "store.commit": "",
    "store.content": "",
}
MIRROR = [place for place in PLACES if place.startswith("original.")]
WARC = [place for place in PLACES if place.startswith(("warc.", "wacz."))]  # tests/test_warc_kills.py
NEW = [p for p in PLACES if p not in ("body.bring_back", "body.keep", "body.kept", "body.remove", *MIRROR, *WARC)]


@pytest.fixture(scope="module")
def starter() -> Iterator[Starter]:
    """Return a warm process whose commands have failpoints."""
    with Starter(failpoints=True) as made:
        yield made


@pytest.fixture(scope="module")
def finished(starter: Starter, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, Path]]:
    """Return a site that has changed since a crawl of it was finished, and that crawl, to be copied."""
    out = tmp_path_factory.mktemp("finished") / "out"
    with Site(small_site.routes()) as site:
        assert run(starter, site, out) == 0
        assert small_site.faults(site, out) == []
        site.set_routes(small_site.routes(2))
        yield site, out


def run(
    starter: Starter, site: Site, out: Path, failpoint: str = "", *, mirror: str = "0", warc: str = "0", **settings: str
) -> int:
    """Crawl *site* into *out* and return the exit status."""
    messages = out.with_name("messages.txt")
    line = [*small_site.arguments(site, out, **settings), "-a", f"mirror={mirror}", "-a", f"warc={warc}"]
    code = starter.start(line, messages, failpoint).wait(60)
    assert code in (0, KILLED), messages.read_text("utf-8", "replace")[-3000:]
    return code


def tree(out: Path) -> dict[str, bytes]:
    """Return every stored file with its bytes."""
    files = out / "files"
    return {str(path.relative_to(files)): path.read_bytes() for path in files.rglob("*") if path.is_file()}


def die_and_resume(starter: Starter, site: Site, out: Path, place: str, **settings: str) -> int:
    """Let a crawl die at the first hit of *place*, the next one at the second ...; resume a copy after each.

    Returns how many died. In the resumed crawl nothing is asked for that was committed, and the copy is whole; the
    second of two equal pages may be asked for again, because its body was the first one's.
    """
    for deaths in range(HITS):
        if run(starter, site, out, f"{place}:{deaths + 1}", **settings) != KILLED:
            return deaths
        copy = out.with_name(f"out{deaths}")
        shutil.copytree(out, copy)
        safe, before = small_site.committed(copy) - {f"{site.base}/twin-b"}, len(site.log)
        assert run(starter, site, copy, **settings) == 0
        again = [r.target for r in site.log[before:] if r.method == "GET" and site.base + r.target in safe]
        assert (again, small_site.faults(site, copy)) == ([], []), f"after {before} requests"
    return HITS


def test_there_are_places_at_every_step() -> None:
    """At least 25 steps of what is written have a place, each with a name of its own."""
    assert len(PLACES) >= 25
    assert [name for name in PLACES if SOURCES.count(f'failpoint("{name}")') != 1] == []
    assert set(REVISIT) <= set(PLACES)


def test_a_place_costs_nothing() -> None:
    """Without the variable a place is a call of a built-in function, cheaper than an empty one of ours."""
    assert failpoint is len
    ours = min(timeit.repeat("place('store.commit')", globals={"place": lambda _: None}, number=20_000, repeat=5))
    assert min(timeit.repeat("place('store.commit')", globals={"place": failpoint}, number=20_000, repeat=5)) < ours


def test_the_variable_is_heeded() -> None:
    """A process that comes to the place dies there with status 137, at the hit that the variable names."""
    code = "from spiderproj.failpoints import failpoint\nfor n in 1, 2, 3: print(n, flush=True); failpoint('here')"
    environment = {"SPIDERPROJ_FAILPOINT": "here:2"}
    process = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=PACKAGE.parent, capture_output=True, check=False
    )
    assert (process.returncode, process.stdout) == (KILLED, b"1\n2\n")


@pytest.mark.slow
@pytest.mark.parametrize("place", NEW)
def test_a_crawl_that_dies(place: str, starter: Starter, tmp_path: Path) -> None:
    """The first, second and third time a new crawl comes to a place, it may die there, one death after another."""
    settings = {"SPIDERPROJ_FSYNC": "1"} if place == "body.fsync" else {}
    with Site(small_site.routes(fails=place == "store.release")) as site:
        assert die_and_resume(starter, site, tmp_path / "out", place, **settings)


@pytest.mark.slow
@pytest.mark.parametrize("place", [place for place in MIRROR if place != "original.prune"])
def test_a_mirror_that_dies(place: str, starter: Starter, tmp_path: Path) -> None:
    """A crawl that dies while it rewrites its files ends, run again, with the files of one that did not."""
    with Site(small_site.routes()) as site:
        assert run(starter, site, tmp_path / "whole", mirror="1") == 0
        for deaths in range(HITS):
            if run(starter, site, tmp_path / "out", f"{place}:{deaths + 1}", mirror="1") != KILLED:
                break
        assert deaths
        assert run(starter, site, tmp_path / "out", mirror="1") == 0
    assert tree(tmp_path / "out") == tree(tmp_path / "whole")


@pytest.mark.slow
@pytest.mark.parametrize("place", ["export.write:1", "export.renamed:2", "export.rename:4", "finish.state:1"])
def test_nothing_is_finished_before_it_is_whole(place: str, starter: Starter, tmp_path: Path) -> None:
    """While any of the results is not written, the store does not call the crawl finished."""
    with Site(small_site.routes()) as site:
        assert run(starter, site, tmp_path / "out", place) == KILLED
    state = "SELECT value FROM meta WHERE name = 'state'"
    assert sqlite3.connect(tmp_path / "out" / "crawl.db").execute(state).fetchall() == [("running",)]


@pytest.mark.slow
@pytest.mark.parametrize("place", REVISIT)
def test_a_revisit_that_dies(place: str, starter: Starter, finished: tuple[Site, Path], tmp_path: Path) -> None:
    """So may a crawl that replaces what an earlier one has stored."""
    site, earlier = finished
    shutil.copytree(earlier, tmp_path / "out")
    if REVISIT[place]:
        assert run(starter, site, tmp_path / "out", REVISIT[place]) == KILLED
    assert die_and_resume(starter, site, tmp_path / "out", place)
