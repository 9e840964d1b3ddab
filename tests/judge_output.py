"""What a case expects of the output folder, the exit status and the messages.

The keys of ``expect`` that are judged here (a list as a row's value means one of these):

    exit "ok"                the last run ended by itself with status 0
    exit_status              the last run's status, or a list of allowed ones
    stopped_exit_status      the status of every run that was stopped politely
    stderr                   texts that are in the messages; no_traceback: none may be
    files                    [{"path": glob below files/, "contains", "not_contains", "count", "name_not_re",
                             "charset": "declared", "optional"}]: without count at least one file must fit
    offline_links_resolve    globs: every relative href and src there is a file
    inside_output_only       nothing was written beside the output folder
    links, not_links         targets, or {"from", "url"}
    link_rows, pages, refused  rows (some of their keys and values) that links.jsonl, pages.jsonl, refused.jsonl have
    links_unique, pages_once   no two equal rows of source and target; one row for each URL of pages.jsonl
    incomplete_flagged       paths with an error in pages.jsonl or a row in refused.jsonl
    summary, summary_keys    values and names that summary.json has
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    Expect = Mapping[str, Any]
    Rows = dict[str, list[dict[str, Any]]]

LINE_FILES = ("links.jsonl", "pages.jsonl", "refused.jsonl")
_OWN_NAMES = frozenset({"messages.txt"})


@dataclass
class Ended:
    """How the runs of a case ended, and where they wrote."""

    out: Path
    codes: list[int | str] = field(default_factory=list)  # exit status, "time" or "stopped" of each run
    stopped: list[int] = field(default_factory=list)  # exit status of each run that was asked to stop
    messages: str = ""


def judge_output(expect: Expect, ended: Ended) -> Iterator[str]:
    """Yield what the output lacks or has too much of; advice begins with "(should)"."""
    yield from _ending(expect, ended)
    yield from _files(expect, ended.out / "files")
    yield from _offline(expect, ended.out / "files")
    if "time" in ended.codes or ended.codes[-1] == 2:
        return  # no crawl was finished, or none begun: there are no lines to judge
    rows: Rows = {}
    yield from _lines(ended.out, rows)
    yield from _links(expect, rows["links.jsonl"])
    yield from _rows(expect, rows)
    yield from _summary(expect, ended.out / "summary.json")
    if expect.get("inside_output_only"):
        strangers = {p.name for p in ended.out.parent.iterdir()} - _OWN_NAMES - {ended.out.name}
        yield from (f"outside the output folder: {name}" for name in sorted(strangers))


def _ending(expect: Expect, ended: Ended) -> Iterator[str]:
    allowed = expect.get("exit_status", 0 if expect.get("exit") == "ok" else ended.codes[-1])
    if not _is(ended.codes[-1], allowed):
        yield f"exit status {ended.codes[-1]}, expected {allowed}"
    for code in ended.stopped:
        if code != expect.get("stopped_exit_status", code):
            yield f"stopped with status {code}, expected {expect['stopped_exit_status']}"
    for text in expect.get("stderr", ()):
        if text not in ended.messages:
            yield f"no {text!r} in the messages"
    if "Traceback (most" in ended.messages:
        yield "a traceback in the messages" if expect.get("no_traceback") else "(should) a traceback in the messages"


def _files(expect: Expect, root: Path) -> Iterator[str]:
    for wanted in expect.get("files", ()):
        found = _glob(root, wanted["path"])
        texts = [(path, _text(path, wanted.get("charset"))) for path in found]
        fit = [(path, text) for path, text in texts if all(part in text for part in wanted.get("contains", ()))]
        what = f"files {wanted['path']} with {wanted.get('contains', 'anything')!s:.80}"
        if "count" in wanted and len(fit) != wanted["count"]:
            yield f"{what}: {len(fit)} of {len(found)}, expected {wanted['count']}"
        elif "count" not in wanted and not fit and (found or not wanted.get("optional")):
            yield f"{what}: none of {len(found)}"
        for path, text in fit:
            yield from (f"{path.name} has {part:.60}" for part in wanted.get("not_contains", ()) if part in text)
            if "name_not_re" in wanted and re.search(wanted["name_not_re"], path.name):
                yield f"name {path.name}"


def _glob(root: Path, pattern: str) -> list[Path]:
    """Return the files below *root* whose path ends as *pattern* says; ** spans folders."""
    rx = re.escape(pattern).replace(r"\*\*/", "(?:.*/)?").replace(r"\*\*", ".*").replace(r"\*", "[^/]*")
    whole = re.compile(f"(?:.*/)?{rx}", re.DOTALL)
    return [p for p in root.rglob("*") if p.is_file() and whole.fullmatch(p.relative_to(root).as_posix())]


def _text(path: Path, charset: str | None) -> str:
    """Return the text of a file in UTF-8, or in the encoding it declares itself."""
    body = path.read_bytes()
    if charset != "declared" or body.startswith(b"\xef\xbb\xbf"):
        return body.decode("utf-8-sig" if charset == "declared" else "utf-8", "replace")
    meta = re.search(rb"<meta[^>]+charset\s*=\s*[\"']?([\w-]+)", body, re.IGNORECASE)
    return body.decode(meta[1].decode() if meta else "cp1252", "replace")


def _offline(expect: Expect, root: Path) -> Iterator[str]:
    for pattern in expect.get("offline_links_resolve", ()):
        for path in _glob(root, pattern):
            text = path.read_bytes().decode("utf-8", "replace")
            for reference in re.findall(r"(?:href|src)\s*=\s*[\"']([^\"'>]*)[\"']", text):
                target = reference.replace("&amp;", "&").strip()
                if not target or target.startswith(("#", "//")) or re.match("[a-z]+:", target):
                    continue
                if not (path.parent / unquote(re.split("[?#]", target)[0])).is_file():
                    yield f"offline {path.relative_to(root)} -> {target:.70}"


def _lines(out: Path, rows: Rows) -> Iterator[str]:
    """Fill *rows* by file name; yield the files and lines that are not what they should be."""
    for name in LINE_FILES:
        rows[name] = []
        if not (out / name).exists():
            yield f"no {name}"
            continue
        for number, line in enumerate((out / name).read_bytes().splitlines(), 1):
            try:
                row = json.loads(line.decode())
                json.dumps(row, ensure_ascii=False).encode()  # a lone surrogate cannot be encoded
            except ValueError as error:
                yield f"{name} line {number}: {error}"
            else:
                rows[name].append(row)


def _links(expect: Expect, links: list[dict[str, Any]]) -> Iterator[str]:
    pairs = Counter((row.get("source"), row.get("target")) for row in links)
    targets = {target for _, target in pairs}
    for wanted in expect.get("links", ()):
        known = wanted in targets if isinstance(wanted, str) else (wanted["from"], wanted["url"]) in pairs
        if not known:
            yield f"no link {wanted}"
    for unwanted in expect.get("not_links", ()):
        if unwanted in targets:
            yield f"unwanted link {unwanted}"
    if expect.get("links_unique") and (twice := [pair for pair, count in pairs.items() if count > 1]):
        yield f"{len(twice)} links twice, such as {twice[0]}"


def _rows(expect: Expect, rows: Rows) -> Iterator[str]:
    for key, name in (("link_rows", "links.jsonl"), ("pages", "pages.jsonl"), ("refused", "refused.jsonl")):
        for wanted in expect.get(key, ()):
            if not any(_has(row, wanted) for row in rows[name]):
                near = next(
                    (
                        row
                        for row in rows[name]
                        if any(_has(row, {k: wanted[k]}) for k in ("url", "target") if k in wanted)
                    ),
                    None,
                )
                yield f"no row {wanted} in {name}" + (f", but {near}" if near else "")
    urls = Counter(row.get("url") for row in rows["pages.jsonl"])
    if expect.get("pages_once") and (twice := [url for url, count in urls.items() if count > 1]):
        yield f"{len(twice)} URLs twice in pages.jsonl, such as {twice[0]}"
    failed = [row for row in rows["pages.jsonl"] if row.get("error")] + rows["refused.jsonl"]
    flagged = {_path(row["url"]) for row in failed}
    yield from (f"not flagged {path}" for path in expect.get("incomplete_flagged", ()) if path not in flagged)


def _path(url: str) -> str:
    """Return the path of *url*, which need not be a valid one."""
    return "/" + re.split("[?#]", url.partition("//")[2])[0].partition("/")[2]


def _summary(expect: Expect, path: Path) -> Iterator[str]:
    if "summary" not in expect:
        return
    if not path.exists():
        yield "no summary.json"
        return
    summary = json.loads(path.read_text("utf-8"))
    for key, wanted in expect["summary"].items():
        if not _is(summary.get(key), wanted):
            yield f"summary {key} is {summary.get(key)!r}, expected {wanted!r}"
    yield from (f"no {key} in the summary" for key in expect.get("summary_keys", ()) if key not in summary)


def _has(row: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return all(key in row and _is(row[key], value) for key, value in wanted.items())


def _is(value: Any, wanted: Any) -> bool:
    return value in wanted if isinstance(wanted, list) else bool(value == wanted)
