"""Run black-box cases: a site served by its script, a crawl as a user starts it, and what must be right after it.

    .venv/bin/python -m tests.run_cases [--cases DIR] [--keep] [--jobs 2] [NAME ...]

A case is a folder with a ``case.json``: title, class, level ("must" or "should"), routes (``tests/routes.py``), crawl,
and expect (``tests/judge_requests.py``, ``tests/judge_output.py``). ``crawl`` has

    seed    given as it is; {{BASE}} and the other placeholders are filled
    args    neutral words (scope "host", "all" or "dir"; robots, convert, requisites, sitemaps, depth, timeout_s), and
            "arguments" ({name: value}, given with -a) and "settings" ({NAME: value}, given with -s), which win
    runs    one crawl after another in the same output folder: {"stop": "KILL", "TERM" or "INT", "after": [requests] or
            "after_requests": N}; {"resume": true} runs to its end; "arguments" and "settings" of this run only

Exit status 0 when every "must" expectation of every "must" case holds.
"""

from __future__ import annotations

import argparse
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.judge_output import Ended, judge_output
from tests.judge_requests import Seen, judge_requests
from tests.site import Site, load
from tests.warm import Started, Starter

if TYPE_CHECKING:
    from collections.abc import Mapping

CASES = Path(__file__).parent / "cases"
Start = Callable[[list[str], Path], Started]
_MODES = {"host": "local", "all": "all", "dir": "directory"}


@dataclass(frozen=True)
class Outcome:
    """What came of a case: ``wrong`` is everything that falls short, advice beginning with "(should)"."""

    name: str
    wrong: list[str]
    must: bool
    requests: int
    seconds: float

    @property
    def failures(self) -> list[str]:
        """What must not be."""
        return [text for text in self.wrong if not text.startswith("(should)")] if self.must else []


def run_case(folder: Path, start: Start, *, keep: bool = False) -> Outcome:
    """Serve the case in *folder*, crawl it with commands that *start* starts, and return its outcome."""
    case = load(folder / "case.json")
    work = Path(tempfile.mkdtemp(prefix=f"case-{folder.name}-"))
    ended = Ended(work / "out")
    began = time.monotonic()
    try:
        with Site(case["routes"], folder=folder) as site:
            crawl, expect = fill(case["crawl"], site.names), fill(case["expect"], site.names)
            for run in crawl.get("runs", [{}]):
                line = command(crawl, run, ended.out)
                process = start(line, work / "messages.txt")
                _follow(process, run, site, ended, expect.get("max_seconds", 60))
            ended.messages = (work / "messages.txt").read_text("utf-8", "replace")
            wrong = [*judge_requests(expect, Seen(site.log, site.base)), *judge_output(expect, ended)]
    finally:
        if keep:
            print(f"kept {work}")
        else:
            shutil.rmtree(work, ignore_errors=True)
    must = case.get("level", "must") == "must"
    return Outcome(folder.name, wrong, must, len(site.log), time.monotonic() - began)


def command(crawl: Mapping[str, Any], run: Mapping[str, Any], out: Path) -> list[str]:
    """Return scrapy's arguments for one *run* of a *crawl* into *out*."""
    words = crawl.get("args", {})
    scope = words.get("scope", "host")
    arguments = {"seed": crawl["seed"], "out": str(out), "mode": _MODES[scope]}
    arguments |= {"select": "page:all child:all"} if scope == "dir" else {}
    arguments |= {"mirror": "1"} if words.get("convert") else {}
    arguments |= {"requisites": "1"} if words.get("requisites") else {"requisites": "0"}
    arguments |= {"sitemap": "on"} if words.get("sitemaps") else {}
    arguments |= {"depth": str(words["depth"])} if words.get("depth") is not None else {}
    arguments |= words.get("arguments", {}) | run.get("arguments", {})
    settings = {"ROBOTSTXT_OBEY": str(bool(words.get("robots"))), "DOWNLOAD_DELAY": "0"}
    settings["DOWNLOAD_TIMEOUT"] = str(words.get("timeout_s", 8))
    settings |= words.get("settings", {}) | run.get("settings", {})
    line = ["crawl", "site"]
    for flag, pairs in (("-a", arguments), ("-s", settings)):
        line += [part for name, value in pairs.items() for part in (flag, f"{name}={value}")]
    return line


def fill(value: Any, names: Mapping[str, str]) -> Any:
    """Return *value* with the placeholders in all its strings replaced."""
    if isinstance(value, str):
        return re.sub(r"\{\{(\w+)\}\}", lambda m: names.get(m[1], m[0]), value)
    if isinstance(value, list):
        return [fill(item, names) for item in value]
    if isinstance(value, dict):
        return {fill(key, names): fill(item, names) for key, item in value.items()}
    return value


def _follow(process: Started, run: Mapping[str, Any], site: Site, ended: Ended, limit_s: float) -> None:
    """Stop a crawl when *run* says so, and add how it went to *ended*."""
    before = len(site.log)
    try:
        if "stop" in run and site.wait_for(lambda site: _is_due(run, site, before), limit_s):
            process.send_signal(signal.Signals[f"SIG{run['stop']}"])
            code = process.wait(limit_s)
            ended.codes.append("stopped")
            if run["stop"] != "KILL":
                ended.stopped.append(code)
        else:
            ended.codes.append(process.wait(limit_s))
    except subprocess.TimeoutExpired:
        ended.codes.append("time")
    finally:
        process.kill()
        process.wait()


def _is_due(run: Mapping[str, Any], site: Site, before: int) -> bool:
    if "after_requests" in run and len(site.log) < max(run["after_requests"], before + 1):
        return False
    return all(site.hits(request) for request in run.get("after", ()))


def main() -> int:
    """Run the cases whose names contain one of the given words; print a line for each."""
    parser = argparse.ArgumentParser(description="Run black-box cases and say what falls short.")
    parser.add_argument("--cases", type=Path, default=CASES)
    parser.add_argument("--keep", action="store_true", help="keep the output folders and say where they are")
    parser.add_argument("--jobs", type=int, default=2, help="crawls at a time")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    folders = [path.parent for path in sorted(options.cases.glob("*/case.json"))]
    chosen = [f for f in folders if not options.names or any(name in f.name for name in options.names)]
    failed = 0
    with Starter() as starter, ThreadPoolExecutor(options.jobs) as pool:
        for outcome in pool.map(lambda folder: run_case(folder, starter.start, keep=options.keep), chosen):
            failed += bool(outcome.failures)
            verdict = "FAIL" if outcome.failures else "pass"
            print(
                verdict,
                outcome.name,
                f"{outcome.requests} requests, {outcome.seconds:.1f} s |",
                " ; ".join(outcome.wrong)[:600],
                flush=True,
            )
    print(f"{len(chosen) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
