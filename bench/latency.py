"""Crawl a site whose every answer takes its time, and say how near to the least possible the crawl comes.

    python -m bench.latency                     # 50 and 200 ms, ours and wget2
    python -m bench.latency --pages 300 --runs 1 --latencies 200

The least possible with c connections is requests x latency / c. Times are the server's: from the first request to the
last answer, so that no tool's start counts. Both tools have eight connections.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import NamedTuple

from bench.process import run
from bench.site5k import TOOLS

CONNECTIONS = 8
_OWN = ["-s", f"CONCURRENT_REQUESTS_PER_DOMAIN={CONNECTIONS}", "-s", f"CONCURRENT_REQUESTS={CONNECTIONS}"]
COMMANDS = {"site": [*TOOLS["site"], *_OWN], "wget2": [*TOOLS["wget2"], f"--max-threads={CONNECTIONS}"]}
_TIMEOUT_S = 600


class Run(NamedTuple):
    """What one crawl took, as the server saw it."""

    seconds: float
    requests: int
    pages: int
    most_open: int

    def ratio(self, latency_ms: float) -> float:
        """Return the time over the least possible."""
        return self.seconds / (self.requests * latency_ms / 1000 / CONNECTIONS)


def measure(tool: str, latency_ms: float, pages: int, work: Path) -> Run:
    """Crawl a fresh virtual site of so many *pages* with *tool*."""
    out = work / "out"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    options = ["--pages", str(pages), "--port", "0", "--latency", str(latency_ms)]
    with subprocess.Popen(
        [sys.executable, "-m", "bench.dyn_server", *options], stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        try:
            url = server.stdout.readline().strip()
            command = [part.replace("{url}", url).replace("{out}", str(out)) for part in COMMANDS[tool]]
            run(command, work / f"{tool}.log", _TIMEOUT_S)
        finally:
            server.terminate()
        counts = json.loads(server.stdout.read())
    requests = counts.get("GET", 0) + counts.get("HEAD", 0)
    return Run(counts["ms"] / 1000, requests, counts["distinct"], counts["most_open"])


def main() -> None:
    """Measure, tool by tool in turn, and print a table."""
    parser = argparse.ArgumentParser(description="Crawl a site whose every answer takes its time.")
    parser.add_argument("--latencies", default="50,200", help="milliseconds, separated by commas")
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    tools = [tool for tool in COMMANDS if shutil.which(COMMANDS[tool][0])]
    print("| latency ms | tool | s [min-max] | over the least possible | requests | pages | most connections |")
    print("|" + " --- |" * 7)
    with tempfile.TemporaryDirectory() as work:
        for latency in map(float, options.latencies.split(",")):
            found: dict[str, list[Run]] = {tool: [] for tool in tools}
            for _ in range(options.runs):
                for tool in tools:
                    found[tool].append(measure(tool, latency, options.pages, Path(work)))
            for tool, runs in found.items():
                print(_line(tool, latency, runs), flush=True)


def _line(tool: str, latency: float, runs: list[Run]) -> str:
    times = [one.seconds for one in runs]
    ratio = median(one.ratio(latency) for one in runs)
    shown = f"{median(times):.2f} [{min(times):.2f}-{max(times):.2f}]"
    last = runs[-1]
    return f"| {latency:g} | {tool} | {shown} | {ratio:.3f} | {last.requests} | {last.pages} | {last.most_open} |"


if __name__ == "__main__":
    main()
