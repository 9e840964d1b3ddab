"""A disk that is full, fails or is read-only ends a crawl with its own status; with space again it is completed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests import small_site
from tests.routes import redirect
from tests.site import Site
from tests.warm import Starter

if TYPE_CHECKING:
    from collections.abc import Iterator

FALLIBLE = (
    "body.make", "body.write", "body.rename", "body.fsync", "folder.make", "spool.write", "journal.note",
    "journal.clear", "lines.write", "lines.cut", "store.schema", "store.commit", "export.write", "export.rename",
)  # fmt: skip
STEPS = 50 if os.environ.get("SPIDERPROJ_SOAK") else 2
"""How many hits of each place fail, one crawl each: in a soak as many as a crawl of 50 pages has."""
STATUSES = {"ENOSPC": 5, "EIO": 3, "EROFS": 3}


@pytest.fixture(scope="module")
def starter() -> Iterator[Starter]:
    """Return a warm process whose commands have failpoints."""
    with Starter(failpoints=True) as made:
        yield made


def run(starter: Starter, site: Site, out: Path, failpoint: str = "", **settings: str) -> int:
    """Crawl *site* into *out* and return the exit status; there is never a traceback."""
    messages = out.parent.with_name("messages.txt")  # not on the disk that is full
    code = starter.start(small_site.arguments(site, out, **settings), messages, failpoint).wait(60)
    text = messages.read_text("utf-8", "replace")
    assert "Traceback" not in text, text[-3000:]
    return code


def assert_honest(out: Path) -> None:
    """Check that the lines are whole, and that no summary says that the crawl is finished."""
    small_site.lines(out / "pages.jsonl")
    small_site.lines(out / "links.jsonl")
    if (out / "summary.json").exists():
        summary = json.loads((out / "summary.json").read_bytes())
        assert summary["state"] == "stopped"
        assert summary["pages"] == sum(row["status"] == 200 for row in small_site.lines(out / "pages.jsonl"))


@pytest.mark.slow
@pytest.mark.parametrize("place", FALLIBLE)
def test_a_write_that_fails(place: str, starter: Starter, tmp_path: Path) -> None:
    """Wherever a write fails, the status is its own, nothing is torn, and the next run completes the copy."""
    settings = {"SPIDERPROJ_FSYNC": "1"} if place == "body.fsync" else {}
    with Site(small_site.routes(pages=50 if STEPS > 2 else 10)) as site:
        for number in range(1, STEPS + 1):
            for error, status in STATUSES.items():
                out = tmp_path / f"{error}{number}"
                code = run(starter, site, out, f"{place}:{number}:{error}", **settings)
                if code == 0:
                    assert number > 1, "the crawl never came to the place"
                    continue
                assert code == status
                assert_honest(out)
                safe, before = small_site.committed(out), len(site.log)
                assert run(starter, site, out) == 0
                again = [r.target for r in site.log[before:] if site.base + r.target in safe]
                assert (again, small_site.faults(site, out)) == ([], [])
                shutil.rmtree(out)


@contextmanager
def mounted(place: Path, *arguments: str) -> Iterator[Path]:
    """Mount what the *arguments* of mount say at *place*; skip the test where that is not allowed."""
    place.mkdir(exist_ok=True)
    done = subprocess.run(["mount", *arguments, str(place)], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"a file system can only be mounted by root, where there are loop devices: {done.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "reserve"),
    [
        ("size=100k", 0),
        ("size=300k", 0),
        ("size=600k", 0),
        ("size=1m", 0),
        ("size=10m,nr_inodes=20", 0),
        ("size=10m,nr_inodes=40", 0),
        ("size=16m", 15_800_000),
        ("size=16m", 15_500_000),
        ("size=16m", 1 << 40),
    ],
)
def test_a_small_disk(options: str, reserve: int, starter: Starter, tmp_path: Path) -> None:
    """A crawl that fills a disk ends with status 5, as often as it is tried, and is completed on a larger one."""
    tmpfs = ["-t", "tmpfs", "-o", options, "tmpfs"]
    with mounted(tmp_path / "disk", *tmpfs) as disk, Site(small_site.routes(pages=50)) as site:
        out = disk / "out"
        for _ in range(2):
            assert run(starter, site, out, SPIDERPROJ_DISK_RESERVE=str(reserve)) == 5
            if out.exists():
                assert_honest(out)
        subprocess.run(["mount", "-o", "remount,size=64m,nr_inodes=10000", str(disk)], check=True)
        assert run(starter, site, out) == 0
        assert small_site.faults(site, out) == []


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("mkfs.ext4") is None, reason="there is no mkfs.ext4 (e2fsprogs)")
@pytest.mark.parametrize("asked", [1, 20, 40])
def test_a_disk_that_becomes_read_only(asked: int, starter: Starter, tmp_path: Path) -> None:
    """A crawl on a disk that fails, which the kernel makes read-only, ends with status 3; repaired, it is completed.

    A file system with open files cannot be asked to become read-only. What was not on the disk yet is lost, as in a
    power cut: hence SPIDERPROJ_FSYNC.
    """
    settings = {"SPIDERPROJ_FSYNC": "1", "SPIDERPROJ_COMMIT_INTERVAL": "0.05"}
    out, messages = tmp_path / "disk" / "out", tmp_path / "messages.txt"
    slow = {"delay_s": 0.5, **redirect("/moved", "/p1")}  # so that the crawl does not end before its disk
    with (
        mounted(tmp_path / "memory", "-t", "tmpfs", "tmpfs") as memory,
        Site([*small_site.routes(pages=50)[:-1], slow]) as site,
    ):
        image = memory / "image"
        image.write_bytes(b"")
        os.truncate(image, 32 << 20)
        subprocess.run(["mkfs.ext4", "-q", "-F", str(image)], check=True, capture_output=True)
        with mounted(tmp_path / "disk", "-o", "loop", str(image)) as disk:
            command = starter.start(small_site.arguments(site, out, **settings), messages)
            assert site.wait_for(lambda site: len(site.log) >= asked)
            subprocess.run(["mount", "-o", "remount,abort", str(disk)], check=True)
            code, said = command.wait(60), messages.read_text("utf-8", "replace")
            assert (code, "Traceback" in said) == (3, False), said[-3000:]
            if out.exists():
                assert_honest(out)
        assert subprocess.run(["e2fsck", "-fy", str(image)], capture_output=True, check=False).returncode in {0, 1}
        with mounted(tmp_path / "disk", "-o", "loop", str(image)):
            assert run(starter, site, out, **settings) == 0
            assert small_site.faults(site, out) == []


@pytest.mark.nightly
def test_a_folder_that_vanishes(starter: Starter, tmp_path: Path) -> None:
    """A crawl whose folder is removed ends with status 3 and writes nothing elsewhere."""
    out = tmp_path / "out"
    with Site([*small_site.routes(pages=50), {"path": "/p9", "delay_s": 0.1}]) as site:
        command = starter.start(small_site.arguments(site, out), tmp_path / "messages.txt")
        assert site.wait_for(lambda site: len(site.log) > 10)
        shutil.rmtree(out)
        assert command.wait(60) == 3
    assert "Traceback" not in (tmp_path / "messages.txt").read_text("utf-8")
    assert [path.name for path in tmp_path.iterdir() if path != out] == ["messages.txt"]
