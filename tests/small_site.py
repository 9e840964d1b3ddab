"""A site with one of everything that is kept on disk, in two versions, and whether a copy of it is whole.

Between the versions a page changes, the first of two equal pages changes, and a large file that goes to disk while it
arrives changes; everything else stays.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.routes import link, page, redirect, text

if TYPE_CHECKING:
    from tests.answers import RouteSpec
    from tests.site import Site

SETTINGS = {
    "ROBOTSTXT_OBEY": "0",
    "DOWNLOAD_DELAY": "0",
    "CONCURRENT_REQUESTS_PER_DOMAIN": "2",
    "SPIDERPROJ_COMMIT_INTERVAL": "0.005",
    "SPIDERPROJ_STREAM_ABOVE": "20000",
    "SPIDERPROJ_DISK_RESERVE": "0",
    "LOG_LEVEL": "WARNING",
}
"""So that a crawl of little commits often and streams."""


def routes(version: int = 1, pages: int = 10, *, fails: bool = False) -> list[RouteSpec]:
    """Return the site's *version*, with *pages* plain pages; one of them *fails* at first."""
    numbers = range(pages)
    large = str(version) * 50_000
    plain = [page(f"/p{n}", link(f"/p{(n + 1) % pages}", "/") + ("x" * 500 * n)) for n in numbers]
    plain[2] |= {"sequence": [{"send_bytes": 99}, {}]} if fails else {}
    plain[3] = page("/p3", link("/p4", "/none") + f"version {version}")
    everything = link("/twin-a", "/twin-b", "/large.bin", "/moved", "/none", *(f"/p{n}" for n in numbers))
    return [
        page("/", everything + '<img src="/i.png">'),
        *plain,
        text("/twin-a", "the same" if version == 1 else "no longer the same"),
        text("/twin-b", "the same"),
        text("/large.bin", large, "application/octet-stream"),
        text("/i.png", "not quite a picture", "image/png"),
        redirect("/moved", "/p1"),
    ]


def arguments(server: Site, out: Path, **settings: str) -> list[str]:
    """Return the arguments of ``scrapy`` that crawl *server* into *out*."""
    line = ["crawl", "site", "-a", f"seed={server.base}/", "-a", f"out={out}"]
    line += ["-a", "mode=directory", "-a", "select=page:all child:all"]
    for name, value in (SETTINGS | settings).items():
        line += ["-s", f"{name}={value}"]
    return line


def faults(server: Site, out: Path) -> list[str]:
    """Return what is wrong with the copy of *server* in *out*: lost, doubled, torn, spare; nothing when it is whole."""
    rows = lines(out / "pages.jsonl")
    found = {row["url"].removeprefix(server.base): row for row in rows}
    wanted = {spec["path"]: spec for spec in server.routes.specs} | {"/none": {"status": 404}}
    wrong = [f"doubled: {url}" for url, count in Counter(row["url"] for row in rows).items() if count > 1]
    wrong += [f"lost: {path}" for path in wanted.keys() - found.keys()]
    wrong += [f"never there: {path}" for path in found.keys() - wanted.keys()]
    for path, row in found.items():
        spec = wanted.get(path, {})
        if spec.get("status", 200) == 200 and (error := _body_fault(row, out, spec["body"].encode())):
            wrong.append(f"{error}: {path}")
    held = {f"files/{path.relative_to(out / 'files')}" for path in (out / "files").rglob("*") if path.is_file()}
    wrong += [f"spare: {path}" for path in held - {row["path"] for row in rows}]
    links = Counter((row["source"], row["target"], row["attribute"]) for row in lines(out / "links.jsonl"))
    pages = len([path for path in wanted if path.startswith("/p")])
    expected = pages * 2 + (5 + pages + 1) + 1  # of the plain pages, of the first page, of the redirect
    wrong += [] if sum(links.values()) == expected else [f"{sum(links.values())} links, not {expected}"]
    wrong += _leftovers(out)
    return wrong


def lines(path: Path) -> list[dict[str, Any]]:
    """Return the lines of *path*, every one whole."""
    content = path.read_bytes() if path.exists() else b""
    assert not content or content.endswith(b"\n"), f"{path} ends in the middle of a line"
    return [json.loads(line) for line in content.splitlines()]


def committed(out: Path) -> set[str]:
    """Return the URLs that need not be asked for again, reading a copy so that nothing is touched."""
    with tempfile.TemporaryDirectory() as work:
        for path in out.glob("crawl.db*"):
            shutil.copy(path, work)
        database = sqlite3.connect(Path(work) / "crawl.db")
        try:
            if database.execute("SELECT value FROM meta WHERE name = 'state'").fetchone() == ("finished",):
                return set()  # the next run asks for everything again
            return {url for (url,) in database.execute("SELECT url FROM urls WHERE verdict = 'fetched'")}
        except sqlite3.OperationalError:  # it had no tables yet
            return set()
        finally:
            database.close()


def _body_fault(row: dict[str, Any], out: Path, body: bytes) -> str:
    path = out / row["path"] if row["path"] else None
    if row["status"] not in (200, 304) or path is None or not path.is_file():
        return f"no body ({row['status']}, {row['path']})"
    if path.read_bytes() != body:
        return "torn"
    return "" if row["digest"] == f"sha256:{hashlib.sha256(body).hexdigest()}" else "wrong digest"


def _leftovers(out: Path) -> list[str]:
    """Return what only a crawl that runs may have."""
    engine = out / ".spiderproj"
    left = [*(engine / "tmp").iterdir(), *(engine / "kept").iterdir(), *out.glob(".*.new")]
    left += [engine / "journal"] if (engine / "journal").stat().st_size else []
    state = json.loads((out / "summary.json").read_bytes())["state"]
    return [f"left over: {path}" for path in left] + ([] if state == "finished" else [f"state {state}"])
