"""A crawl that dies or finds the disk full at any step of writing records leaves records and store that agree."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZipFile

import pytest

from spiderproj.failpoints import KILLED
from tests import small_site, warcs
from tests.site import Site
from tests.test_failpoints import WARC, die_and_resume, run
from tests.warm import Starter

if TYPE_CHECKING:
    from collections.abc import Iterator

RECOVERY = {"warc.cut", "warc.remove"}
"""Places that only a crawl comes to that goes on after a kill."""
FALLIBLE = ("warc.spool", "warc.make", "lines.write", "wacz.write", "wacz.rename")
STATUSES = {"ENOSPC": 5, "EIO": 3, "EROFS": 3}
SETTINGS = {"SPIDERPROJ_WARC_SIZE": "3000"}


@pytest.fixture(scope="module")
def starter() -> Iterator[Starter]:
    """Return a warm process whose commands have failpoints."""
    with Starter(failpoints=True) as made:
        yield made


def assert_agree(site: Site, out: Path) -> None:
    """Check records, index and archive of a crawl that has finished."""
    warcs.check(*warcs.files(out))
    places = {(path.name, record.offset) for path in warcs.files(out) for record in warcs.read(path)}
    index = [fields for _, _, fields in warcs.index_of(out / "crawl.wacz")]
    assert {(fields["filename"], int(fields["offset"])) for fields in index} <= places
    fetched = {row["url"] for row in small_site.lines(out / "pages.jsonl")}
    assert fetched <= {fields["url"] for fields in index}
    with ZipFile(out / "crawl.wacz") as wacz:
        for part in json.loads(wacz.read("datapackage.json"))["resources"]:
            assert part["hash"] == f"sha256:{hashlib.sha256(wacz.read(part['path'])).hexdigest()}"
        assert {Path(name).name for name in wacz.namelist() if name.startswith("archive/")} == {
            path.name for path in warcs.files(out)
        }


def leave_torn(out: Path) -> None:
    """Leave what a kill leaves between two commits: a record behind the noted length, a file that nobody knows."""
    first, last = min(warcs.files(out)), max(warcs.files(out))
    last.with_name("spiderproj-20990102030405-00000-1.warc.gz").write_bytes(first.read_bytes()[:100])
    last.write_bytes(last.read_bytes() + first.read_bytes()[:1000])


def test_the_places_are_known() -> None:
    """Making, appending, rotating, cutting and archiving have their places."""
    assert set(WARC) > RECOVERY
    assert len(WARC) == 10


@pytest.mark.slow
@pytest.mark.parametrize("place", [*WARC, "commit.noted", "committed", "lines.write", "lines.written", "sealed"])
def test_a_crawl_that_dies(place: str, starter: Starter, tmp_path: Path) -> None:
    """Every page of the resumed crawl has its record, every line of the index too, and every digest holds."""
    out = tmp_path / "out"
    with Site(small_site.routes()) as site:
        if place in RECOVERY:
            assert run(starter, site, out, "wacz.write:1", warc="1", **SETTINGS) == KILLED
            leave_torn(out)
        deaths = die_and_resume(starter, site, out, place, warc="1", **SETTINGS)
        assert deaths
        for number in range(deaths):
            assert_agree(site, tmp_path / f"out{number}")


@pytest.mark.slow
@pytest.mark.parametrize("place", FALLIBLE)
def test_a_write_that_fails(place: str, starter: Starter, tmp_path: Path) -> None:
    """The status is the failure's own, and the next run completes records and archive."""
    out = tmp_path / "out"
    with Site(small_site.routes()) as site:
        for error, status in STATUSES.items():
            for hit in (1, 3):
                line = [*small_site.arguments(site, out, **SETTINGS), "-a", "warc=1"]
                code = starter.start(line, tmp_path / "messages.txt", f"{place}:{hit}:{error}").wait(60)
                assert code == status or (code == 0 and hit == 3)
                if code:
                    assert run(starter, site, out, warc="1", **SETTINGS) == 0
                assert_agree(site, out)
                assert small_site.faults(site, out) == []
                shutil.rmtree(out)
    assert "Traceback" not in (tmp_path / "messages.txt").read_text("utf-8", "replace")
