"""Every case in a crawl of its own, as a user starts it, with ordinary pages beside it; a table of what came of it."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.process import Usage, run
from tests.hostile.cases import Case, Fate, Way
from tests.hostile.catalogue import chosen
from tests.hostile.foreign import ForeignServer
from tests.hostile.judge import Left, judge_case, judge_crawl
from tests.hostile.listed import OTHERWISE
from tests.hostile.server import HostileProcess, serve

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SCRAPY = Path(sys.executable).with_name("scrapy")
ORDINARY = 20
HOLD_SECONDS = 1.0
PEAK_MB = 768


@dataclass(frozen=True, kw_only=True)
class Met:
    """What came of a crawl that met some cases."""

    name: str
    cases: Sequence[Case]
    wrong: list[str]
    usage: Usage
    held: float  # longest hold of the event loop, in seconds
    ordinary: float  # seconds from the first request to the last of the ordinary pages


Server = HostileProcess | ForeignServer


def meet(cases: Sequence[Case], server: Server, folder: Path, settings: Sequence[str] = ()) -> Met:
    """Return what one crawl makes of *cases* beside the ordinary pages."""
    name = cases[0].name if len(cases) == 1 else cases[0].kind
    folder.mkdir(exist_ok=True)
    out, log, seeds = folder / name, folder / f"{name}.log", folder / f"{name}.seeds"
    fine = server.fine(ORDINARY)
    seeds.write_text("\n".join([*(seed for case in cases for seed in server.seeds(case)), *fine]))
    before = len(server.asked)
    usage = run(_limited(_command(out, seeds, cases, settings)), log, _seconds(cases) + 30)
    asked = server.asked[before:]
    summary: dict[str, Any] = {}
    if (out / "summary.json").exists():
        left = Left.read(out, log.read_text(errors="replace"), asked)
        wrong = [text for case in cases for text in judge_case(case, server, left)] + judge_crawl(server, left, fine)
        summary = json.loads((out / "summary.json").read_bytes())
    else:
        wrong = [f"{name}: the crawl did not end by itself (status {usage.exit_status})"]
    ordinary_targets = {url.removeprefix(server.at["twin"]) for url in fine}
    times = [one.seconds for one in asked if one.place == "twin" and one.target in ordinary_targets]
    ordinary = max(times, default=0.0) - min((one.seconds for one in asked), default=0.0)
    held = summary.get("longest_hold_seconds", 0.0)
    return Met(name=name, cases=cases, wrong=wrong, usage=usage, held=held, ordinary=ordinary)


def too_much(met: Met, usual: Met, slowness: float = 1.0) -> list[str]:
    """Return which bounds *met* breaks; *usual* is the crawl of the ordinary pages alone."""
    usage = met.usage
    limits = {
        "seconds": (usage.wall_s, usual.usage.wall_s + slowness * _seconds(met.cases)),
        "MB more": (usage.peak_mb - usual.usage.peak_mb, max(case.growth_mb for case in met.cases)),
        "MB": (usage.peak_mb, PEAK_MB),
        "s held": (met.held, slowness * HOLD_SECONDS),
        "s for the ordinary pages": (met.ordinary, slowness * (2 * usual.ordinary + 1 + len(met.cases) / 10)),
    }
    return [
        f"{met.name}: {value:.1f} {what}, over {limit:.1f}" for what, (value, limit) in limits.items() if value > limit
    ]


def _command(out: Path, seeds: Path, cases: Sequence[Case], settings: Sequence[str]) -> list[str]:
    """Return the command that crawls *seeds* in the mode of *cases*."""
    sitemap = "on" if any(case.way is Way.SITEMAP for case in cases) else "off"
    limits = (
        ["CLOSESPIDER_PAGECOUNT=300", "CLOSESPIDER_TIMEOUT=60"]
        if any(case.fate is Fate.LIMITED for case in cases)
        else []
    )
    arguments = [f"seed=@{seeds}", f"out={out}", f"mode={cases[0].mode}", f"sitemap={sitemap}"]
    chosen_settings = [*limits, *(text for case in cases for text in case.settings), *settings]
    return [str(SCRAPY), "crawl", "site", *_each("-a", arguments), *_each("-s", chosen_settings)]


def _limited(command: Sequence[str]) -> list[str]:
    """Return *command* in a shell that lets it, and each of its children, have no more memory of its own than that."""
    return ["sh", "-c", 'ulimit -d "$0" && exec "$@"', str(PEAK_MB * 1024), *command]


def _seconds(cases: Sequence[Case]) -> float:
    """Return how long a crawl of *cases* may take: they are met beside each other."""
    return max(case.seconds for case in cases) + 2 * (len(cases) - 1)


def _each(option: str, values: Iterable[str]) -> list[str]:
    return [part for value in values for part in (option, value)]


def table(results: Sequence[Met], usual: Met) -> str:
    """Return the results by class, in Markdown."""
    lines = ["| class | passed | worst growth, MB | worst hold, s | slowest, s |", "| --- | --- | --- | --- | --- |"]
    for kind in dict.fromkeys(met.cases[0].kind for met in results):
        own = [met for met in results if met.cases[0].kind == kind]
        passed = sum(not met.wrong for met in own)
        growth = max(met.usage.peak_mb for met in own) - usual.usage.peak_mb
        held, slowest = max(met.held for met in own), max(met.usage.wall_s for met in own)
        lines.append(f"| {kind} | {passed} of {len(own)} | {growth:.0f} | {held:.2f} | {slowest:.0f} |")
    return "\n".join(lines)


def main() -> int:
    """Run the cases that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    parser.add_argument("words", nargs="*", metavar="CLASS or CASE")
    parser.add_argument("--serve", action="store_true", help="only serve")
    parser.add_argument("--server", metavar="URL", help="meet the cases that the server there publishes")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of the crawls")
    options = parser.parse_args()
    if options.serve:
        serve()
        return 0
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        if options.server is None:
            with HostileProcess() as own:
                return _meet_all(chosen(options.words), own, Path(folder), options.set)
        with ForeignServer(options.server) as foreign:
            wrong = _meet_all(chosen(options.words, foreign.cases), foreign, Path(folder), options.set)
            print("\nNot met:", *(f"{name}: {why}" for name, why in foreign.not_met.items()), sep="\n    ")
            print("\nOther than listed:", *(f"{name}: {other.why}" for name, other in OTHERWISE.items()), sep="\n    ")
            return wrong


def _meet_all(cases: Sequence[Case], server: Server, folder: Path, settings: Sequence[str]) -> int:
    """Meet each of *cases* alone and print what came of it; return 1 when anything is wrong."""
    usual, results = meet([server.cases["cookies.echo"]], server, folder / "usual", settings), []
    for case in cases:
        server.prepare(case)
        met = meet([case], server, folder, settings)
        met.wrong.extend(too_much(met, usual))
        results.append(met)
        print(_line(met), *met.wrong[:5], sep="\n    ", flush=True)
    print(f"\nusual: {_line(usual)}\n\n{table(results, usual)}")
    return int(any(met.wrong for met in results))


def _line(met: Met) -> str:
    usage = met.usage
    return (f"{'wrong' if met.wrong else 'ok':5} {met.name:32} {usage.wall_s:6.1f} s {usage.cpu_s:5.1f} s CPU"
            f" {usage.peak_mb:5.0f} MB {met.held:5.2f} s held {met.ordinary:5.2f} s beside")  # fmt: skip
