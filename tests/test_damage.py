"""A store that was cut or whose bits have rotted is gone on with, or the crawl ends with status 8; nothing else."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import pytest

from spiderproj import exports
from spiderproj.arguments import parse_arguments
from spiderproj.errors import StoreDamagedError
from spiderproj.files import json_line
from spiderproj.job import Job
from spiderproj.models import CrawlURL, Link, LinkRole, ResourceType
from spiderproj.store import Database, Outcome
from spiderproj.store.figures import figures
from spiderproj.store.lines import link_lines
from tests.crawling import project_settings

PAGES, STORED = 150, 100
BASE = "http://h"
EVERY = bool(os.environ.get("SPIDERPROJ_SOAK"))  # make soak: every byte, 1000 flips
TAIL = 64 * 1024


class Copy(NamedTuple):
    """An output folder that is kept to be damaged, and what is in it."""

    out: Path
    bodies: dict[str, bytes]


def open_job(out: Path) -> Job:
    """Open the crawl in *out*."""
    settings = project_settings(SPIDERPROJ_DISK_RESERVE=0)
    return Job(parse_arguments({"seed": f"{BASE}/0", "out": str(out)}, Path("/")), settings)


def fetch(job: Job, url: CrawlURL) -> None:
    """Take in a page that links to the two below it, or a 404 for what the damage has made of a URL."""
    number = url.url.removeprefix(f"{BASE}/")
    if not number.isdecimal() or int(number) >= PAGES:
        job.ledger.record(url, Outcome(status=404, fetched_at=1.0), [])
        return
    body, path = f"page {number}".encode(), f"h/{number}.html"
    below = [n for n in (2 * int(number) + 1, 2 * int(number) + 2) if n < PAGES]
    links = [Link(f"{BASE}/{n}", "", "a", "href", "", LinkRole.NAVIGATION, None) for n in below]
    job.folder.store(path, sha256(body).digest(), body)
    content = job.ledger.add_content(url, sha256(body).digest(), 0, len(body), path)
    outcome = Outcome(status=200, fetched_at=1.0, type=ResourceType.HTML, size=len(body), content=content.id)
    rows = job.ledger.record(url, outcome, links)
    job.lines["pages"].append(json_line({"url": url.url}))
    job.lines["links"].append(link_lines(url.url, rows))


def go_on(job: Job, pages: int = 10 * PAGES) -> None:
    """Fetch at most so many pages, committing after every tenth."""
    for number in range(pages):
        url = job.frontier.lease(0.0, lambda _: 0.0)
        if url is None:
            assert not job.frontier.pending, "URLs are pending that nobody is ever given"
            return
        fetch(job, url)
        if number % 10 == 9:
            job.commit()


def end(job: Job) -> None:
    """End the crawl as the summary does."""
    job.seal()
    figures(job.database)
    exports.write_all(job.database, job.out)
    job.finish("finished")


@pytest.fixture(scope="module", params=["clean", "killed"])
def copy(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """Return a crawl that was stopped in order, or killed with its log not yet in the store."""
    work, out = tmp_path_factory.mktemp("damage") / "work", tmp_path_factory.mktemp("damage") / "out"
    job = open_job(work)
    go_on(job, STORED)
    if request.param == "killed":
        shutil.copytree(work, out, ignore=shutil.ignore_patterns("*-shm"))
        job.close()
    else:
        job.commit()
        job.close()
        shutil.copytree(work, out)
    assert (out / "crawl.db-wal").exists() == (request.param == "killed")
    return Copy(out, {path.name: path.read_bytes() for path in (out / "files").rglob("*") if path.is_file()})


def outcome(copy: Copy, work: Path, name: str, content: bytes) -> str:
    """Return what becomes of a crawl whose file *name* has this *content*: "whole", "damaged", or "else"."""
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(copy.out, work)
    (work / name).write_bytes(content)
    damage = _run(work)
    if damage is not None:
        assert ".recover" in str(damage) or "fresh=1" in str(damage)
        assert damage.exit_status == 8
        said = "damaged"
    else:
        pages = [json.loads(line)["url"] for line in (work / "pages.jsonl").read_bytes().splitlines()]
        said = "whole" if sorted(pages) == sorted(f"{BASE}/{n}" for n in range(PAGES)) else "else"
    for lines in ("pages.jsonl", "links.jsonl"):
        content = (work / lines).read_bytes()
        assert not content or content.endswith(b"\n")
        assert all(json.loads(line) for line in content.splitlines())
    return said


def _run(work: Path) -> StoreDamagedError | None:
    """Crawl to the end; return the damage that was met."""
    try:
        job = open_job(work)
        try:
            go_on(job)
            end(job)
        finally:
            job.close()
    except StoreDamagedError as error:
        return error
    return None


def bodies_stay(copy: Copy, work: Path) -> bool:
    """Return whether every body that was stored is still there, with its bytes."""
    return all((work / "files" / "h" / name).read_bytes() == body for name, body in copy.bodies.items())


def chosen(count: int, limit: int) -> list[int]:
    """Return *limit* of the numbers below *count*, or all of them in a soak."""
    return list(range(count)) if EVERY or count <= limit else sorted(random.Random(1).sample(range(count), limit))


@pytest.mark.slow
def test_a_store_that_was_cut(copy: Copy, tmp_path: Path) -> None:
    """Cut in its last 64 KiB, a store or its log loses commits that are made again, or the crawl ends with status 8."""
    for name in ("crawl.db", "crawl.db-wal"):
        if not (copy.out / name).exists():
            continue
        content = (copy.out / name).read_bytes()
        tail = min(TAIL, len(content))
        for cut in chosen(tail, 60):
            said = outcome(copy, tmp_path / "out", name, content[: len(content) - tail + cut])
            assert said != "else", f"{name} cut by {tail - cut} bytes"
            assert bodies_stay(copy, tmp_path / "out")


@pytest.mark.slow
def test_bits_that_flip(copy: Copy, tmp_path: Path) -> None:
    """With any bit turned, a crawl goes on or ends with status 8; of the log only what is as written is taken."""
    rng, flips = random.Random(2), 500 if EVERY else 50
    for name in ("crawl.db", "crawl.db-wal"):
        if not (copy.out / name).exists():
            continue
        original = (copy.out / name).read_bytes()
        for _ in range(flips):
            content, place = bytearray(original), rng.randrange(len(original) * 8)
            content[place // 8] ^= 1 << place % 8
            said = outcome(copy, tmp_path / "out", name, bytes(content))
            assert name == "crawl.db" or said != "else", f"bit {place} of {name}"
            assert bodies_stay(copy, tmp_path / "out")


@pytest.mark.parametrize("content", [b"", b"\0" * 5000, b"not a store" * 1000, b"SQLite format 3\0"])
def test_another_file_in_its_place(copy: Copy, tmp_path: Path, content: bytes) -> None:
    """An empty or a foreign file in the place of the store is no new crawl: status 8, unless the log has everything."""
    said = outcome(copy, tmp_path / "out", "crawl.db", content)
    assert said == "damaged" or (said == "whole" and (copy.out / "crawl.db-wal").exists())
    assert bodies_stay(copy, tmp_path / "out")
    if said == "whole":
        return
    assert (tmp_path / "out" / "pages.jsonl").read_bytes() == (copy.out / "pages.jsonl").read_bytes()


def test_damage_that_is_met_late(tmp_path: Path) -> None:
    """Damage that SQLite meets at a later row is told like any other."""
    path = tmp_path / "crawl.db"
    with Database(path) as database:
        for number in range(2000):
            database.set_meta(f"name {number}", "x" * 100)
        database.commit()
    content = bytearray(path.read_bytes())
    content[len(content) // 2 : len(content) // 2 + 20_000] = b"\xff" * 20_000
    path.write_bytes(content)
    with Database(path) as database:
        rows = database.execute("SELECT name, value FROM meta ORDER BY name")
        assert rows.fetchone() is not None
        with pytest.raises(StoreDamagedError, match="whole"):
            rows.fetchall()
        with pytest.raises(StoreDamagedError, match="whole"):
            list(database.execute("SELECT name, value FROM meta"))


def test_nothing_is_written_after_a_failed_write(tmp_path: Path) -> None:
    """What a failed write was a part of is never committed; after a rollback the store is as it was, and usable."""
    with Database(tmp_path / "crawl.db") as database:
        database.set_meta("state", "before")
        database.commit()
        database.set_meta("state", "half")
        with pytest.raises(StoreDamagedError):
            database.write("INSERT INTO meta VALUES (NULL, NULL)")
        with pytest.raises(StoreDamagedError):
            database.set_meta("other", "1")
        with pytest.raises(StoreDamagedError):
            database.commit()
        database.rollback()
        assert database.meta("state") == "before"
        database.set_meta("state", "after")
        database.commit()
    assert sqlite3.connect(tmp_path / "crawl.db").execute("SELECT value FROM meta").fetchall() == [("after",)]
