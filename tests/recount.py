"""What a crawl left, counted again: the lines against each other, against the files and against the summary."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from spiderproj.models import Reason

if TYPE_CHECKING:
    from pathlib import Path

    from tests.crawling import Crawled

_REASONS = frozenset(map(str, Reason))


def disagreements(done: Crawled) -> list[str]:
    """Return every contradiction between what *done* says in one place and in another, in words."""
    return [*_once(done), *_bodies(done), *_verdicts(done), *_figures(done)]


def listing(folder: Path) -> list[str]:
    """Return the names in *folder*, sorted."""
    return sorted(path.name for path in folder.iterdir())


def is_good(row: dict[str, Any]) -> bool:
    """Say whether a row of ``pages.jsonl`` is a whole answer."""
    return row["error"] is None and (200 <= row["status"] < 300 or row["status"] == 304)


def _once(done: Crawled) -> Iterator[str]:
    for name, rows in (("pages", done.pages), ("refused", done.refused)):
        yield from (f"{url} twice in {name}" for url, n in Counter(row["url"] for row in rows).items() if n > 1)
    both = {row["url"] for row in done.pages} & {row["url"] for row in done.refused}
    yield from (f"{url} is fetched and refused" for url in both)


def _bodies(done: Crawled) -> Iterator[str]:
    on_disk = {str(path.relative_to(done.out)) for path in (done.out / "files").rglob("*") if not path.is_dir()}
    named: set[str] = set()
    for row in done.pages:
        if row["path"] is None:
            if row["digest"] is not None or is_good(row):
                yield f"{row['url']} has no file"
            continue
        named.add(row["path"])
        if row["path"] not in on_disk:
            yield f"{row['url']}: {row['path']} is not there"
            continue
        body = (done.out / row["path"]).read_bytes()
        if (row["size"], row["digest"]) != (len(body), f"sha256:{sha256(body).hexdigest()}"):
            yield f"{row['url']}: {row['path']} is another body"
    yield from (f"no page has {path}" for path in on_disk - named)


def _verdicts(done: Crawled) -> Iterator[str]:
    rows = {("fetched", row["url"]): row for row in done.pages} | {("refused", row["url"]): row for row in done.refused}
    said = defaultdict(set)
    for row in done.links:
        said[row["target"]].add((row["decision"], row["reason"], row["depth"], row["level"], row["type"]))
    yield from (f"{target} has the verdicts {verdicts}" for target, verdicts in said.items() if len(verdicts) > 1)
    for target, verdicts in said.items():
        decision, reason, depth, level, kind = next(iter(verdicts))
        row = rows.get((decision, target), {})
        if not row and decision != "queued":
            yield f"{target} is {decision} for its links alone"
        elif row and (depth, level, reason) != (row["depth"], row["level"], row.get("reason")):
            yield f"{target} is {reason} at {depth}, {level} for its links and {row} for itself"
        elif decision == "refused" and kind != row["type"]:
            yield f"{target} is of type {kind} for its links and {row['type']} for itself"
    pages = {row["url"] for row in done.pages}
    yield from (f"a link stands on {row['source']}, no page" for row in done.links if row["source"] not in pages)
    yield from (f"no good reason: {row}" for row in done.refused if row["reason"] not in _REASONS or not row["rule"])


def _figures(done: Crawled) -> Iterator[str]:
    files = [path for path in (done.out / "files").rglob("*") if path.is_file()]
    refused = Counter(row["reason"] for row in done.refused if row["reason"] != "budget")
    errors = Counter(row["error"] for row in done.pages if row["error"])
    errors.update(row["rule"] for row in done.refused if row["reason"] == "error")
    counted = {
        "pages": sum(map(is_good, done.pages)),
        "files": len(files),
        "bytes": sum(path.stat().st_size for path in files),
        "duplicates": sum(row["duplicate_of"] is not None for row in done.pages),
        "links_total": len(done.links),
        "refused": dict(refused),
        "errors": dict(errors),
    }
    yield from (f"{name}: {done.summary[name]}, counted {value}" for name, value in counted.items()
                if done.summary[name] != value)  # fmt: skip
