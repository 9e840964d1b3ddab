"""What is wrong with what a crawl made of the cases: rows, files, requests and log held against what must be."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spiderproj.urls import canonical
from tests.hostile.cases import Case, Fate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tests.hostile.server import Asked, Places

Row = dict[str, Any]

_SECRETS = (b"root:x:0:", b"INSIDE-SECRET", b"INTERNAL-SECRET")  # of /etc/passwd, of the inside
_PASSWORDS = (b"hunter2", b"user:secret@")  # in URLs of the pages
_COOKIE_BYTES = 8192
_LOG_LINE = 2000
_KEPT = (
    "pages.jsonl",
    "refused.jsonl",
    "links.jsonl",
    "summary.json",
    "crawl.db",
    "index.html",
    "report.html",
    "__doc.txt",
)


@dataclass(frozen=True, kw_only=True)
class Left:
    """What a crawl left: its rows, its folder, its log, and what the server was asked meanwhile."""

    pages: Sequence[Row]
    refused: Sequence[Row]
    out: Path
    log: str
    asked: Sequence[Asked]

    @classmethod
    def read(cls, out: Path, log: str, asked: Sequence[Asked]) -> Left:
        """Return what lies in *out*; a line that is no strict JSON in UTF-8 is an error."""
        return cls(
            pages=_rows(out / "pages.jsonl"), refused=_rows(out / "refused.jsonl"), out=out, log=log, asked=asked
        )


def judge_case(case: Case, places: Places, left: Left) -> list[str]:
    """Return what is wrong with the outcome of *case*."""
    url = canonical(places.url(case))
    pages = [row for row in left.pages if row["url"] == url]
    refused = [row for row in left.refused if row["url"] == url]
    wrong = list(_wrong_fate(case, pages, refused))
    targets = {asked.target for asked in left.asked if asked.place in places.whose(case)}
    wrong += [f"not asked for: {target}" for target in case.asks if target not in targets]
    wrong += [f"asked for: {target[:80]}" for target in targets if case.spares and target.startswith(case.spares)]
    for part, reason in case.refuses.items():
        found = [row for row in left.refused if part in row["url"] and (part or row["via"] == url)]
        if not any(row["reason"] == reason for row in found):
            wrong.append(f"no URL with {part!r} refused by {reason}: {[row['reason'] for row in found]}")
    wrong += _wrong_files(places.at[case.name], case.holds, left)
    return [f"{case.name}: {text}" for text in wrong]


def judge_crawl(places: Places, left: Left, fine: Iterable[str]) -> list[str]:
    """Return what is wrong with a crawl as a whole, whatever cases it met; *fine* are its ordinary pages."""
    stored = {row["url"] for row in left.pages if row["error"] is None and row["path"]}
    wrong = [f"ordinary page not stored: {url}" for url in fine if url not in stored]
    for asked in left.asked:
        if asked.place == "inside":
            wrong.append(f"the inside was reached: {asked.method} {asked.target}")
        if asked.authorization or (asked.cookie and asked.place == "twin") or len(asked.cookie) > _COOKIE_BYTES:
            wrong.append(f"sent to {asked.place}{asked.target[:80]}: {asked.cookie[:80]!r} {asked.authorization!r}")
    wrong += _leaks(left.out)
    wrong += _wrong_log(left.log)
    wrong += [f"not a part of an output folder: {path}" for path in _strange(left.out)]
    missing = [row["path"] for row in left.pages if row["path"] and not (left.out / row["path"]).is_file()]
    return wrong + [f"named in pages.jsonl and not there: {path}" for path in missing]


def _wrong_fate(case: Case, pages: Sequence[Row], refused: Sequence[Row]) -> Iterator[str]:
    rows = [*pages, *refused]
    if len(rows) != 1:
        yield f"one row expected: {rows}"
        return
    row = rows[0]
    problem = row["rule"] if refused else row["error"]
    is_stored = bool(pages) and row["error"] is None and bool(row["path"])
    if case.fate is Fate.STORED and not is_stored:
        yield f"not stored: {row}"
    if case.fate is Fate.FAILED and not (problem and problem.startswith(case.error)):
        yield f"no failure by {case.error!r}: {row}"
    if case.fate is Fate.MOVED and not (pages and 300 <= row["status"] < 400 and row["error"] is None):
        yield f"not recorded as a redirect: {row}"


def _wrong_files(origin: str, holds: Mapping[str, str], left: Left) -> Iterator[str]:
    """Every target has a page and a file of its own that holds what it must."""
    files: dict[str, str] = {}
    for url, held in ((origin + target, held) for target, held in holds.items()):
        rows = [row for row in left.pages if row["url"] == url]
        if len(rows) != 1 or not rows[0]["path"]:
            yield f"one file expected of {url[:100]}: {rows}"
            continue
        if held != rows[0]["digest"] and held.encode() not in (left.out / rows[0]["path"]).read_bytes():
            yield f"another page's bytes in {rows[0]['path']}"
        folded = rows[0]["path"].casefold()
        if folded in files:
            yield f"{url} and {files[folded]} share {folded}"
        files[folded] = url


def _wrong_log(log: str) -> Iterator[str]:
    if "Traceback" in log:
        yield f"a traceback in the log: {log[log.index('Traceback') :][-1500:]}"
    for line in log.split("\n"):
        if len(line) > _LOG_LINE:
            yield f"a log line of {len(line)} characters: {line[:100]}"
        if not line.isprintable():
            yield f"not printable in the log: {line[:200]!r}"


def _leaks(out: Path) -> Iterator[str]:
    """Nothing of /etc/passwd and of the inside is anywhere; a password in a URL is in the bodies alone."""
    for path in out.rglob("*"):
        if path.is_file():
            is_body = path.relative_to(out).parts[0] == "files"
            held = path.read_bytes()
            yield from (
                f"{secret!r} in {path}" for secret in _SECRETS + (() if is_body else _PASSWORDS) if secret in held
            )


def _strange(out: Path) -> list[Path]:
    """Return symbolic links, and what lies beside the parts of an output folder."""
    links = [path for path in out.rglob("*") if path.is_symlink()]
    others = [path for path in out.iterdir() if path.name not in (*_KEPT, "files", ".spiderproj")]
    return links + [path for path in others if not path.name.startswith("crawl.db-")]


def _rows(path: Path) -> list[Row]:
    return [json.loads(line.decode()) for line in path.read_bytes().splitlines()]
