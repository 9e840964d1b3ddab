"""A crawl that is killed again and again ends with everything once, whole, and hardly anything fetched twice.

What may be fetched twice is what was asked for in the last moments before a kill: what was still in flight, and what
had come but was not committed yet (the store commits every ``SPIDERPROJ_COMMIT_INTERVAL``, 0.2 s).
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from tests.kill_site import KillSite, kill_site
from tests.run_cases import command

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.answers import RouteSpec
    from tests.site import Site

SCRAPY = str(Path(sys.executable).with_name("scrapy"))
KILLS = 5  # in each crawl; four crawls
UNCOMMITTED_S = 0.5  # the slowest answer or the commit interval, and the commit itself
TIMEOUT_S = 120


class Loss(NamedTuple):
    """What a crawl lacks or has too much of."""

    lost: list[str]  # pages without a good row or file
    doubled: list[str]  # URLs with more than one row in pages.jsonl
    torn: list[str]  # files whose bytes are no page's
    spare: int  # files beyond one a page
    links: list[str]  # pages whose links are not in links.jsonl, or there twice
    again: int  # GETs beyond the one, or two, that each page takes


def test_the_truth_can_be_told() -> None:
    """The same seed gives the same site, a tenth of it faulty, and every page is reachable and distinct."""
    one, two = kill_site(1, 500), kill_site(1, 500)
    assert one == two
    assert one.digests != kill_site(2, 500).digests
    assert len(set(one.digests.values())) == 500
    bad = len(one.once) + sum(route.get("status") == 302 or "delay_s" in route for route in one.routes)
    assert 30 <= bad <= 70


def test_losses_are_seen(site: Callable[[Iterable[RouteSpec]], Site], tmp_path: Path) -> None:
    """A missing row, a doubled row, a torn file and a link written twice each show."""
    truth = kill_site(1, 4)
    server = site(truth.routes)
    whole = write_copy(truth, server, tmp_path)
    assert measure(truth, server, tmp_path)[:5] == ([], [], [], 0, [])
    pages = (tmp_path / "pages.jsonl").read_text("utf-8").splitlines(keepends=True)
    (tmp_path / "pages.jsonl").write_text(pages[0] * 2 + "".join(pages[2:]), "utf-8")
    (tmp_path / "links.jsonl").write_text((tmp_path / "links.jsonl").read_text("utf-8") * 2, "utf-8")
    whole[3].write_bytes(whole[3].read_bytes()[:100])
    (tmp_path / "files" / "left-over").touch()
    loss = measure(truth, server, tmp_path)
    assert (len(loss.lost), len(loss.doubled), loss.torn, loss.spare) == (2, 1, ["3", "left-over"], 1)
    assert loss.links


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 5))
def test_kills(seed: int, site: Callable[[Iterable[RouteSpec]], Site], tmp_path: Path) -> None:
    """Nothing is lost, doubled or torn by five kills, and only what was asked for just before one is fetched again."""
    truth, out = kill_site(seed), tmp_path / "out"
    server = site(truth.routes)
    settings = {"RETRY_TIMES": "5", "LOG_LEVEL": "WARNING"}
    line = [SCRAPY, *command({"seed": server.base + "/", "args": {"settings": settings}}, {}, out)]
    kills = [crawl(line, server, tmp_path, moment) for moment in moments(random.Random(seed), len(truth.digests))]
    crawl(line, server, tmp_path, None)
    loss = measure(truth, server, out)
    open_at_a_kill = sum(0 <= kill - entry.time <= UNCOMMITTED_S for kill in kills for entry in server.log)
    print(
        f"seed {seed}: {len(kills)} kills, {len(server.log)} requests for {len(truth.digests)} pages; {describe(loss)}"
    )
    assert loss[:5] == ([], [], [], 0, [])
    assert loss.again <= open_at_a_kill


def write_copy(truth: KillSite, server: Site, out: Path) -> list[Path]:
    """Write what a perfect crawl of *truth* leaves in *out*; return its files in the order of the pages."""
    bodies = {route["path"]: route["body"] for route in truth.routes if "body" in route}
    (out / "files").mkdir()
    rows, links, files = [], [], []
    for number, (path, digest) in enumerate(truth.digests.items()):
        files.append(out / "files" / str(number))
        files[-1].write_text(bodies[path], "utf-8")
        row = {"url": server.base + path, "status": 200, "error": None, "digest": digest, "path": f"files/{number}"}
        rows.append(json.dumps(row) + "\n")
        ends = ({"source": server.base + path, "target": server.base + to, "tag": "a"} for to in truth.links[path])
        links += [json.dumps(link) + "\n" for link in ends]
    (out / "pages.jsonl").write_text("".join(rows), "utf-8")
    (out / "links.jsonl").write_text("".join(links), "utf-8")
    return files


def moments(rng: random.Random, pages: int) -> list[tuple[int, float]]:
    """Return when to kill: so many requests of the whole crawl after the first, and so many seconds later."""
    return [(count, rng.random() * 0.3) for count in sorted(rng.sample(range(pages * 9 // 10), KILLS))]


def crawl(line: list[str], server: Site, work: Path, moment: tuple[int, float] | None) -> float:
    """Run the crawl to its end, or kill it at *moment*; return when it ended, by the server's clock."""
    with (work / "messages.txt").open("ab") as messages:
        process = subprocess.Popen(line, stdout=messages, stderr=messages, start_new_session=True)
    try:
        if moment is None:
            assert process.wait(TIMEOUT_S) == 0, (work / "messages.txt").read_text("utf-8", "replace")[-2000:]
        else:
            before = len(server.log)
            assert server.wait_for(lambda site: len(site.log) > max(before, moment[0]), TIMEOUT_S)
            time.sleep(moment[1])  # a kill at any point between two requests
            assert process.poll() is None, "the crawl had ended before it could be killed"
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return time.monotonic()


def measure(truth: KillSite, server: Site, out: Path) -> Loss:
    """Compare the output folder and the server's log with the *truth*."""
    rows, lines = _rows(out / "pages.jsonl"), _rows(out / "links.jsonl")
    links = Counter((line["source"], line["target"]) for line in lines if line["tag"] == "a")
    wanted = Counter((server.base + path, server.base + to) for path, targets in truth.links.items() for to in targets)
    good = {server.base + path: digest for path, digest in truth.digests.items()}
    stored = {row["url"]: row for row in rows if row["status"] == 200 and not row["error"]}
    lost = [url for url, digest in good.items() if not _is_whole(stored.get(url), out, digest)]
    digests = {
        path: hashlib.sha256(path.read_bytes()).hexdigest() for path in (out / "files").rglob("*") if path.is_file()
    }
    gets = Counter(entry.target for entry in server.log if entry.method == "GET")
    return Loss(
        lost=lost,
        doubled=[url for url, count in Counter(row["url"] for row in rows).items() if count > 1],
        torn=sorted(path.name for path, digest in digests.items() if digest not in good.values()),
        spare=len(digests) - len(good),
        links=[source for source, _ in (links - wanted) + (wanted - links)],
        again=sum(max(0, gets[path] - 1 - (path in truth.once)) for path in truth.digests),
    )


def describe(loss: Loss) -> str:
    """Return *loss* as one line."""
    counts = (len(loss.lost), len(loss.doubled), len(loss.torn), loss.spare, len(loss.links), loss.again)
    return "{} lost, {} doubled, {} torn, {} spare files, {} links wrong, {} fetched again".format(*counts)


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def _is_whole(row: dict[str, Any] | None, out: Path, digest: str) -> bool:
    """Whether a page has a row with the right digest, and the file that the row names."""
    if row is None or row["digest"].removeprefix("sha256:") != digest:
        return False
    path = out / row["path"]
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == digest
