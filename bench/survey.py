"""Hold surveys against whole crawls: ``python -m bench.survey http://127.0.0.1:8901/ ...``, one line a figure.

Each seed is surveyed and then crawled with the default arguments, both with ``--delay`` seconds between requests. A
line says whether the range holds what the crawl came to.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

_SCRAPY = [sys.executable, "-m", "scrapy", "crawl"]
_FIGURES = ("urls", "pages", "files", "bytes", "hours")


def main() -> None:
    """Compare, and end with how many of the ranges hold."""
    parser = argparse.ArgumentParser(description="Hold surveys against whole crawls.")
    parser.add_argument("seeds", nargs="+")
    parser.add_argument("--delay", default="0.02", help="seconds between two requests (default: 0.02)")
    options = parser.parse_args()
    held = 0
    print("| seed | figure | known | range | truth | holds |\n| --- | --- | --- | --- | --- | --- |")
    for seed in options.seeds:
        with tempfile.TemporaryDirectory() as folder:
            held += _compare(seed, Path(folder), options.delay)
    print(f"\n{held} of {len(options.seeds) * len(_FIGURES)} ranges hold")


def _compare(seed: str, folder: Path, delay: str) -> int:
    """Print a line a figure; return how many of the ranges hold."""
    for spider in ("survey", "site"):
        _crawl(spider, seed, folder / spider, delay)
    survey = json.loads((folder / "survey/survey.json").read_bytes())
    truth = _truth(folder / "site")
    local = survey["choices"][0]
    requests = sum(survey["rate"]["requests"].values())
    held = 0
    for name in _FIGURES:
        low, high = local[name]["low"], local[name]["high"]
        holds = low <= truth[name] and (high is None or truth[name] <= high)
        held += holds
        shown = f"{low:,.4g} to {'any' if high is None else f'{high:,.4g}'}"
        known, found = f"{seed} ({requests} requests) | {name} | {local['known']:,}", f"{truth[name]:,.4g}"
        print(f"| {known} | {shown} | {found} | {holds} |", flush=True)
    return held


def _crawl(spider: str, seed: str, out: Path, delay: str) -> None:
    settings = ["-s", f"DOWNLOAD_DELAY={delay}", "-s", "LOG_LEVEL=WARNING"]
    command = [*_SCRAPY, spider, "-a", f"seed={seed}", "-a", f"out={out}", *settings]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def _truth(out: Path) -> dict[str, Any]:
    """Return what the crawl in *out* came to, under the names of the survey's figures."""
    summary = json.loads((out / "summary.json").read_bytes())
    with (out / "pages.jsonl").open("rb") as pages:
        urls = sum(1 for _ in pages)
    return {"urls": urls, **{name: summary[name] for name in ("pages", "files", "bytes")},
            "hours": summary["seconds"] / 3600}  # fmt: skip


if __name__ == "__main__":
    main()
