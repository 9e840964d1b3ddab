"""Crawl one generated site with this project and with other tools in turn, and say what each took.

    python -m bench.site5k                              # our spider alone, three runs
    python -m bench.site5k --with wget,httrack,bare     # interleaved with others
    python -m bench.site5k --args "-a mirror=1 -a gate=get" --json /tmp/mirror.jsonl

Site, output and logs are on tmpfs (--work). Each run has a fresh nginx and an empty output folder; wall time is that
of the whole process, start-up included; requests, connections and completeness are counted in the server's log. A
run during which others kept the machine busy for more than 15 % of its time is marked with * and left out of the
medians while there are better ones.
"""

from __future__ import annotations

import argparse
import json
import shlex
import shutil
import sys
from collections import defaultdict
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

from bench.make_site import Manifest, Options, make_site
from bench.nginx import Nginx, read_log
from bench.process import run
from bench.score import score

_SCRAPY = str(Path(sys.executable).with_name("scrapy"))
_ALL_TYPES = "page,child,parent,host:all"
TOOLS: dict[str, list[str]] = {
    "site": [
        _SCRAPY,
        "crawl",
        "site",
        "-a",
        "seed={url}",
        "-a",
        "mode=local",
        "-a",
        f"select={_ALL_TYPES}",
        "-a",
        "out={out}",
    ],
    "bare": [sys.executable, str(Path(__file__).with_name("bare_spider.py")), "{url}", "{out}"],
    "wget": ["wget", "-r", "-np", "-l", "inf", "-nv", "-P", "{out}", "{url}"],
    "wget2": ["wget2", "-r", "-np", "-l", "inf", "-nv", "-P", "{out}", "{url}"],
    "httrack": shlex.split("httrack {url} -O {out} -q --robots=0 --disable-security-limits -c8 -%c0 -A0 -C0"),
}
_DISTURBED = 0.15
_COLUMNS = (
    *("tool", "runs", "wall s [min-max]", "pages/s", "CPU ms/page", "peak MB", "GET", "HEAD", "conns"),
    *("html %", "all %", "saved %", "again", "exit"),
)

Row = dict[str, Any]


def measure(tool: str, command: list[str], manifest: Manifest, work: Path, timeout_s: float) -> Row:
    """Return the figures of one run of *command*, in which {url} and {out} stand for the site and the output."""
    out = work / "out"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    with Nginx(work / "site" / "www", work / "nginx") as server:
        line = [part.replace("{url}", server.base + "/").replace("{out}", str(out)) for part in command]
        server_cpu = server.cpu_s()
        usage = run(line, work / f"{tool}.log", timeout_s)
        server_cpu = server.cpu_s() - server_cpu
    result = score(read_log(work / "nginx" / "access.log"), manifest, out)
    others = max(0.0, usage.machine_cpu_s - usage.cpu_s - server_cpu) / usage.wall_s
    rates = {
        "pages_per_s": result.pages / usage.wall_s,
        "cpu_ms_per_page": 1000 * usage.cpu_s / max(1, result.pages),
        "others": others,
    }
    return {"tool": tool, **asdict(usage), **asdict(result), **rates}


def table(rows: list[Row]) -> str:
    """Return *rows* as a Markdown table of medians, a line a tool, the fastest first."""
    by_tool: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_tool[row["tool"]].append(row)
    lines = []
    for tool, runs in by_tool.items():
        calm = [row for row in runs if row["others"] <= _DISTURBED]
        lines.append((-_median(calm or runs, "pages_per_s"), _line(tool, calm or runs, len(runs))))
    head = [f"| {' | '.join(_COLUMNS)} |", "|" + " --- |" * len(_COLUMNS)]
    return "\n".join([*head, *(line for _, line in sorted(lines))])


def _line(tool: str, rows: list[Row], runs: int) -> str:
    walls = [row["wall_s"] for row in rows]
    cells = [
        tool + ("*" if rows[0]["others"] > _DISTURBED else ""),
        f"{len(rows)} of {runs}",
        f"{median(walls):.2f} [{min(walls):.2f}-{max(walls):.2f}]",
        f"{_median(rows, 'pages_per_s'):.0f}",
        f"{_median(rows, 'cpu_ms_per_page'):.2f}",
        f"{_median(rows, 'peak_mb'):.0f}",
        *(f"{median(row['methods'].get(method, 0) for row in rows):.0f}" for method in ("GET", "HEAD")),
        f"{_median(rows, 'connections'):.0f}",
        *(f"{_median(rows, key):.1f}" for key in ("html_pct", "all_pct", "saved_pct")),
        f"{_median(rows, 'repeats'):.0f}",
        str(sorted({row["exit_status"] for row in rows})),
    ]
    return f"| {' | '.join(cells)} |"


def _median(rows: list[Row], key: str) -> float:
    return float(median(row[key] for row in rows))


def chosen(names: str, extra: str) -> dict[str, list[str]]:
    """Return the commands to run: ours with *extra* arguments, and those of *names* that are installed."""
    commands = {"site": TOOLS["site"] + shlex.split(extra)}
    for name in filter(None, names.split(",")):
        if name not in TOOLS:
            raise SystemExit(f"--with {name}: expected some of {', '.join(TOOLS)}")
        if shutil.which(TOOLS[name][0]) is None:
            print(f"{name} is not installed: left out", file=sys.stderr)
        else:
            commands[name] = TOOLS[name]
    return commands


def main() -> None:
    """Run the bench and print its table."""
    parser = argparse.ArgumentParser(description="Crawl a generated site with this project and with others.")
    parser.add_argument("--with", dest="others", default="", help=f"of {', '.join(TOOLS)}")
    parser.add_argument("--args", default="", help="further arguments of our spider, in one string")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--pages", type=int, default=Options.pages)
    parser.add_argument("--page-bytes", type=int, default=Options.page_bytes)
    parser.add_argument("--timeout", type=float, default=600, help="seconds for one run")
    parser.add_argument("--work", type=Path, default=Path("/dev/shm/spiderproj-bench"))
    parser.add_argument("--json", type=Path, help="add a line for each run to this file")
    options = parser.parse_args()
    files = max(10, options.pages * Options.files // Options.pages)
    site = Options(pages=options.pages, page_bytes=options.page_bytes, files=files, broken=options.pages * 3 // 100)
    manifest = make_site(site, options.work / "site")
    commands, rows = chosen(options.others, options.args), []
    for _ in range(options.runs):
        for tool, command in commands.items():
            rows.append(measure(tool, command, manifest, options.work, options.timeout))
            print(_line(tool, rows[-1:], 1), file=sys.stderr, flush=True)
            if options.json:
                with options.json.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(rows[-1]) + "\n")
    print(table(rows))
    shutil.rmtree(options.work / "out", ignore_errors=True)


if __name__ == "__main__":
    main()
