"""Fuzz some targets, or all in turn: ``python -m fuzz [--seconds N] [TARGET ...]``.

Finds are kept in ``fuzz/corpus/TARGET``, where the tests replay them; whatever reached new code is kept in ``.fuzz``,
where the next run begins.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from fuzz.targets import CORPUS, TARGETS

WORK = Path(".fuzz")
LONGEST_INPUT = 2048  # bytes; a longer one tells little more, and no person reads it
MEMORY_MB = 2048
_EXECUTIONS = re.compile(rb"stat::number_of_executed_units: *(\d+)")


def fuzz(name: str, seconds: int) -> tuple[int, bool]:
    """Return how many inputs target *name* got within *seconds*, and whether one of them is a find."""
    work, corpus = WORK / name, CORPUS / name
    for folder in (work, corpus):
        folder.mkdir(parents=True, exist_ok=True)
    (WORK / ".gitignore").write_text("*\n")
    options = [f"-max_total_time={seconds}", f"-max_len={LONGEST_INPUT}", "-timeout=20", f"-rss_limit_mb={MEMORY_MB}"]
    options += [f"-artifact_prefix={corpus}/", "-print_final_stats=1", str(work), str(corpus)]
    command = [sys.executable, "-m", "fuzz.one", name, *options]
    with (work.parent / f"{name}.log").open("w+b") as log:
        status = subprocess.run(command, stdout=log, stderr=log, check=False).returncode  # noqa: S603  # our own
        log.seek(0)
        executions = _EXECUTIONS.search(log.read())
    return int(executions[1]) if executions else 0, status != 0


def main() -> int:
    """Return the exit status: 1 when there was a find."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=(__doc__ or "").partition(":")[0])
    parser.add_argument("--seconds", type=int, default=60, help="for each target (default: %(default)s)")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(TARGETS)} (default: all)")
    options = parser.parse_args()
    for name in set(options.targets) - set(TARGETS):
        parser.error(f"{name}: expected one of {', '.join(TARGETS)}")
    if find_spec("atheris") is None:
        parser.error("atheris is not installed: pip install -r requirements-fuzz.txt")
    found = 0
    for name in options.targets or TARGETS:
        executions, find = fuzz(name, options.seconds)
        found += find
        told = f"FIND: see {WORK / name}.log" if find else "no find"
        sys.stdout.write(f"{name:12} {executions:>10} inputs  {told}\n")
        sys.stdout.flush()
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
