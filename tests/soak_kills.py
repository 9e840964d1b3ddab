"""Kill crawls as often as is asked for, and print what was lost: the nightly form of ``tests/test_kills.py``.

    .venv/bin/python -m tests.soak_kills [--kills 1000] [--pages 2000] [--first-seed 1]

Each crawl is of another site, and is killed five times. Exit status 1 when anything is lost, doubled, torn or spare, or
when more is fetched again than was asked for just before a kill.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tests.kill_site import kill_site
from tests.run_cases import command
from tests.site import Site
from tests.test_kills import KILLS, TIMEOUT_S, UNCOMMITTED_S, describe, measure, moments
from tests.warm import Starter

if TYPE_CHECKING:
    from tests.test_kills import Loss

SETTINGS = {"RETRY_TIMES": "5", "LOG_LEVEL": "WARNING"}


class Round(NamedTuple):
    """One crawl that was killed five times and then ended."""

    loss: Loss
    open_at_kills: int  # requests just before a kill: what may be fetched again
    waits: list[float]  # seconds from each start to its first request

    @property
    def is_good(self) -> bool:
        """Whether nothing was lost."""
        return self.loss[:5] == ([], [], [], 0, []) and self.loss.again <= self.open_at_kills


def kill(starter: Starter, server: Site, line: list[str], work: Path, moment: tuple[int, float] | None) -> float:
    """Run a crawl to its end, or kill it at *moment*; return the seconds to its first request."""
    before, began = len(server.log), time.monotonic()
    process = starter.start(line, work / "messages.txt")
    try:
        if moment is None:
            code = process.wait(TIMEOUT_S)
            assert code == 0, (work / "messages.txt").read_text("utf-8", "replace")[-2000:]
        else:
            assert server.wait_for(lambda site: len(site.log) > max(before, moment[0]), TIMEOUT_S)
            time.sleep(moment[1])
            process.kill()
            process.wait(TIMEOUT_S)
    finally:
        process.kill()
    return server.log[before].time - began if len(server.log) > before else 0.0


def one(starter: Starter, seed: int, pages: int, work: Path) -> Round:
    """Kill the crawl of the site of *seed* five times, and let it end."""
    truth, out = kill_site(seed, pages), work / "out"
    with Site(truth.routes) as server:
        line = command({"seed": server.base + "/", "args": {"settings": SETTINGS}}, {}, out)
        waits, kills = [], []
        for moment in moments(random.Random(seed), pages):
            waits.append(kill(starter, server, line, work, moment))
            kills.append(time.monotonic())
        waits.append(kill(starter, server, line, work, None))
        just_before = sum(0 <= end - entry.time <= UNCOMMITTED_S for end in kills for entry in server.log)
        return Round(measure(truth, server, out), just_before, waits)


def main() -> int:
    """Kill, and print a line for each crawl and one for all."""
    parser = argparse.ArgumentParser(description="Kill crawls again and again and say what was lost.")
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--pages", type=int, default=2000)
    parser.add_argument("--first-seed", type=int, default=1)
    options = parser.parse_args()
    rounds: list[Round] = []
    with Starter() as starter:
        for seed in range(options.first_seed, options.first_seed + -(-options.kills // KILLS)):
            with tempfile.TemporaryDirectory(prefix="kills-") as work:
                rounds.append(one(starter, seed, options.pages, Path(work)))
            print(f"seed {seed}: {describe(rounds[-1].loss)} of {rounds[-1].open_at_kills} open", flush=True)
    waits = sorted(wait for done in rounds for wait in done.waits if wait)
    again = sum(done.loss.again for done in rounds)
    bad = sum(not done.is_good for done in rounds)
    print(
        f"{KILLS * len(rounds)} kills of {len(rounds)} crawls of {options.pages} pages: {bad} crawls not whole, "
        f"{again / len(rounds) / KILLS:.1f} fetched again a kill; from start to first request "
        f"{waits[len(waits) // 2]:.2f} s, p95 {waits[len(waits) * 95 // 100]:.2f} s"
    )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
