"""Crawl a virtual site of a million pages, with faults and traps, for as long as is asked for; watch what it takes.

    python -m bench.soak                  # half an hour, 1,200,000 pages, 5 % of them faulty at first
    python -m bench.soak --minutes 480    # a night

The crawl is that of a user, in one process; the server (``bench.dyn_server``) has another. Every few seconds the
crawl's resident memory, processor time, open files and threads are read. A tenth is a tenth of the pages; slopes are
those of the straight line through the samples after the first tenth. Eight hours are extrapolated from it, unless they
were run. Exit status 1 when the crawl does not end well, or has taken more than 512 MB.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import StatisticsError, linear_regression
from typing import Any, NamedTuple, Self
from urllib.request import ProxyHandler, build_opener

_SCRAPY = str(Path(sys.executable).with_name("scrapy"))
_FAULTS = "5"
_MAX_MB = 512
_HOURS = 8
_ENDING_S = 1800  # the last files of a million pages take their time


class Sample(NamedTuple):
    """What a crawl had taken, so many seconds after its start."""

    seconds: float
    pages: int  # sent whole, each once, those of traps too
    rss_mb: float
    cpu_s: float
    files: int  # open
    threads: int


class Server:
    """The virtual site, a program of its own; a context manager that ends it."""

    def __init__(self, pages: int) -> None:
        command = [sys.executable, "-m", "bench.dyn_server", "--pages", str(pages), "--port", "0"]
        self._process = subprocess.Popen(
            [*command, "--faults", _FAULTS, "--traps"], stdout=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL
        )
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip()
        self._open = build_opener(ProxyHandler({})).open

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def counts(self) -> dict[str, int]:
        """Return what was asked for until now."""
        with self._open(self.url + "-/counts", timeout=60) as answer:
            counts: dict[str, int] = json.load(answer)
            return counts


def sample(pid: int, began: float, counts: dict[str, int]) -> Sample | None:
    """Return what process *pid* has taken, None when it has ended."""
    process = Path(f"/proc/{pid}")
    try:
        fields = (process / "stat").read_text().rpartition(")")[2].split()
        files = sum(1 for _ in (process / "fd").iterdir())
    except OSError:
        return None
    return Sample(
        seconds=time.monotonic() - began,
        pages=counts.get("distinct", 0) + counts.get("traps", 0),
        rss_mb=int(fields[21]) * os.sysconf("SC_PAGE_SIZE") / 1e6,
        cpu_s=(int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"),
        files=files,
        threads=int(fields[17]),
    )


def watch(server: Server, out: Path, seconds: float) -> tuple[list[Sample], int]:
    """Crawl *server* into *out* for so many *seconds*; return the samples meanwhile and the exit status."""
    command = [_SCRAPY, "crawl", "site", "-a", f"seed={server.url}", "-a", f"out={out}"]
    command += ["-s", f"CLOSESPIDER_TIMEOUT={seconds:.0f}"]
    samples: list[Sample] = []
    with out.with_suffix(".log").open("wb") as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        began, pause = time.monotonic(), min(10.0, seconds / 60)
        try:
            while process.poll() is None and time.monotonic() - began < seconds:
                time.sleep(pause)
                if (one := sample(process.pid, began, server.counts())) is not None:
                    samples.append(one)
            return samples, process.wait(_ENDING_S)
        finally:
            process.kill()


def figures(samples: Sequence[Sample]) -> str:
    """Return what *samples* come to, a line each."""
    last, first = samples[-1], next(one for one in samples if one.pages * 10 >= samples[-1].pages)
    late = next(one for one in samples if one.pages * 10 >= last.pages * 9)
    steady = [one for one in samples if one.pages >= first.pages]
    by_pages = _slope([one.pages for one in steady], steady) * 20_000
    by_hours = _slope([one.seconds / 3600 for one in steady], steady)
    left = _HOURS - last.seconds / 3600
    cpu = _cpu_ms(samples[0], first), _cpu_ms(late, last)
    lines = [
        f"pages: {last.pages:,} in {last.seconds / 60:.1f} min, {last.pages / last.seconds:.0f}/s",
        f"CPU ms a page: {cpu[0]:.2f} in the first tenth, {cpu[1]:.2f} in the last",
        f"resident: {first.rss_mb:.1f} MB at 10 %, {last.rss_mb:.1f} MB at the end",
        f"slope: {by_pages:+.2f} MB per 20,000 pages, {by_hours:+.2f} MB an hour",
        f"after {_HOURS} hours: {last.rss_mb + max(0.0, left) * by_hours:.0f} MB" + " (extrapolated)" * (left > 0),
        f"open files: {first.files} at 10 %, {last.files} at the end; threads: {first.threads}, {last.threads}",
    ]
    return "\n".join(lines)


def _slope(places: Sequence[float], samples: Sequence[Sample]) -> float:
    try:
        return linear_regression(places, [one.rss_mb for one in samples]).slope
    except StatisticsError:
        return 0.0  # of one sample, or of a crawl that stood still


def _cpu_ms(start: Sample, end: Sample) -> float:
    return 1000 * (end.cpu_s - start.cpu_s) / max(1, end.pages - start.pages)


def ending(out: Path, status: int, counts: dict[str, int]) -> tuple[str, bool]:
    """Return how the crawl into *out* ended, a line each, and whether well."""
    summary: dict[str, Any] = json.loads((out / "summary.json").read_bytes())
    peak, rows = summary["peak_rss_mb"], max(1, summary["pages"])
    store, log = (out / "crawl.db").stat().st_size, out.with_suffix(".log").stat().st_size
    lines = [
        f"ended: status {status}, {summary['state']} ({summary['reason']}), {summary['pending']:,} pending",
        f"errors: {summary['errors']}; refused: {summary['refused']}",
        f"asked: {counts}",
        f"peak: {peak} MB, the last files included; longest hold of the loop: {summary['longest_hold_seconds']} s",
        f"bytes a page: {store / rows:,.0f} in the store, {log / rows:.1f} in the log",
    ]
    return "\n".join(lines), status == 0 and summary["state"] in ("finished", "stopped") and peak < _MAX_MB


def main() -> int:
    """Crawl, and print the figures."""
    parser = argparse.ArgumentParser(description="Crawl a virtual site of a million pages and watch what it takes.")
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--pages", type=int, default=1_200_000)
    parser.add_argument("--work", type=Path, default=Path("/var/tmp"), help="where the copy may be, meanwhile")
    options = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="soak-", dir=options.work))
    try:
        with Server(options.pages) as server:
            samples, status = watch(server, work / "out", options.minutes * 60)
            if not (work / "out" / "summary.json").exists():
                print(f"the crawl ended with status {status}:", (work / "out.log").read_text()[-2000:], sep="\n")
                return 1
            text, is_good = ending(work / "out", status, server.counts())
        print(figures(samples), text, sep="\n")
    finally:
        shutil.rmtree(work)
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
