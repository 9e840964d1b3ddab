"""The page's server for tests: ``scrapy ui`` as a process, a client that knows its secrets, a large store."""

from __future__ import annotations

import http.client
import json
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self
from urllib.parse import urlencode

from spiderproj.arguments import parse_arguments
from spiderproj.store import Database
from spiderproj.urls import url_key
from tests.source_code import ROOT

if TYPE_CHECKING:
    from types import TracebackType

SECONDS = 60


class Said(NamedTuple):
    """What the server answered, and the milliseconds that the slowest request for it took."""

    status: int
    values: Any
    headers: dict[str, str]
    milliseconds: float


class Page:
    """``scrapy ui`` about the crawls in *root*; a context manager that ends it."""

    def __init__(self, root: Path, *options: str) -> None:
        command = [sys.executable, "-m", "scrapy", "ui", str(root), "--port", "0", *options]
        self.process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().split()[1]
        self.base, _, self.token = self.address.partition("/#token=")
        self.host = self.base.removeprefix("http://")
        self.cookie = self.key = ""
        entered = self.send("POST", "/api/enter", {"token": self.token})
        self.cookie = entered.headers["Set-Cookie"].partition(";")[0]
        self.key = entered.values["key"]
        self.files: str = self.ask("/api/state").values["files"]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.terminate()
        self.process.communicate(timeout=SECONDS)

    def own(self) -> dict[str, str]:
        """Return the headers that the page itself sends."""
        return {"Host": self.host, "Origin": self.base, "Cookie": self.cookie, "X-Spiderproj-Key": self.key,
                "Sec-Fetch-Site": "same-origin", "Content-Type": "application/json"}  # fmt: skip

    def send(self, method: str, path: str, body: object = None, headers: dict[str, str] | None = None) -> Said:
        """Return the answer to one request; *headers* in the place of the page's own, "" for one that is not sent."""
        given = {name: value for name, value in (self.own() | (headers or {})).items() if value}
        data = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
        return _exchange(self.host, method, path, data, given)

    def ask(self, path: str, body: object = None, **query: object) -> Said:
        """Return the answer to a question, whose tickets are followed and which is put again while it is prepared."""
        target = f"{path}?{urlencode(query)}" if query else path
        ends = time.monotonic() + SECONDS
        while time.monotonic() < ends:
            said = self._answer(self.send("GET" if body is None else "POST", target, body))
            if not (isinstance(said.values, dict) and said.values.get("preparing")):
                return said
            time.sleep(0.05)
        raise TimeoutError(target)

    def until(self, name: str, *states: str) -> dict[str, Any]:
        """Return how the crawl *name* goes once it is in one of these *states*."""
        ends = time.monotonic() + SECONDS
        while time.monotonic() < ends:
            told: dict[str, Any] = self.ask("/api/progress", name=name).values
            if told["state"] in states and (
                told["state"] == "running" or (told["child"] or {}).get("status") is not None
            ):
                return told
            time.sleep(0.1)
        raise TimeoutError(told)

    def file(self, path: str, method: str = "GET", headers: dict[str, str] | None = None) -> Said:
        """Return the answer of the copies' own origin to a *path* below its key."""
        host, _, key = self.files.removeprefix("http://").partition("/")
        port = host.rpartition(":")[2]
        return _exchange(f"127.0.0.1:{port}", method, f"/{key}{path}", None, {"Host": host} | (headers or {}))

    def _answer(self, said: Said) -> Said:
        slowest = said.milliseconds
        while said.status == 202:
            time.sleep(0.05)
            said = self.send("GET", f"/api/ticket?id={said.values['ticket']}")
            slowest = max(slowest, said.milliseconds)
        return said._replace(milliseconds=slowest)


def _exchange(host: str, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> Said:
    connection = http.client.HTTPConnection(host, timeout=SECONDS)
    began = time.perf_counter()
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for name, value in headers.items():
        connection.putheader(name, value)
    if body is not None and "Content-Length" not in headers and "Transfer-Encoding" not in headers:
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders()
    if body is not None:
        connection.send(body)
    answer = connection.getresponse()
    received = answer.read()
    took = (time.perf_counter() - began) * 1000
    connection.close()
    is_json = answer.headers.get("Content-Type") == "application/json" and received
    return Said(answer.status, json.loads(received) if is_json else received, dict(answer.headers), took)


def large_store(out: Path, count: int) -> None:
    """Write the store of a crawl with *count* URLs, half of them fetched, as if it had been crawled into *out*."""
    for name in (".spiderproj", ".spiderproj/tmp", ".spiderproj/kept", "files"):
        (out / name).mkdir(parents=True, mode=0o700)
    with Database(out / "crawl.db") as database:
        options = parse_arguments({"seed": "https://docs.example/1/", "out": str(out)}, Path("/"))
        database.set_meta("arguments", options.to_json())
        database.set_meta("state", "stopped")
        database.commit()
    with closing(sqlite3.connect(out / "crawl.db")) as store:
        store.execute("PRAGMA synchronous = OFF")
        store.create_function("key_of", 1, url_key)
        for statement in _LARGE:
            store.execute(statement, (count,) if "?" in statement else ())
        store.commit()


_LARGE = (
    "INSERT INTO hosts (id, key) VALUES (1, 'docs.example'), (2, 'other.example')",
    """
    CREATE TEMP TABLE n AS WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ?)
    SELECT n, iif(n % 5 = 4, 'other', 'docs') || '.example/' || (n % 40) || '/topic' || (n % 900) || '/' || n || '.html'
        AS at, iif(n % 2, 'fetched', iif(n % 6, 'refused', 'queued')) AS verdict FROM n
    """,
    """
    INSERT INTO urls (id, key, url, host, depth, via, level, role, near, hops, type, answered, text, verdict, reason,
        rule, fetch)
    SELECT n, key_of('https://' || at), 'https://' || at, 1 + (n % 5 = 4), min(9, length(n) * 2), nullif(n / 3, 0),
        substr('childchildpage host other', 1 + n % 5 * 5, 5 - (n % 5 IN (2, 3))), 'navigation', 0, 0,
        CASE n / 7 % 4 WHEN 0 THEN 'html' WHEN 1 THEN 'image' WHEN 2 THEN 'document' END, n % 2, 'Topic ' || n, verdict,
        CASE WHEN verdict = 'refused' THEN CASE n / 2 % 3 WHEN 0 THEN 'scope' WHEN 1 THEN 'type' ELSE 'deny' END END,
        '', iif(n % 2, n, NULL) FROM n
    """,
    """
    INSERT INTO frontier (url, host, first, second, third) SELECT n, 1 + (n % 5 = 4), 0, 0, 0 FROM n
    WHERE verdict = 'queued'
    """,
    """
    INSERT INTO fetches (id, url, fetched_at, seconds, status, type, content_type, size, content, duplicate, title,
        error)
    SELECT n, n, 1.79e9 + n / 100.0, 0.1, iif(n % 101, 200, 404), 'html', 'text/html', n * 7919 % 90000, n, n % 97 = 0,
        'Title ' || n, iif(n % 101, NULL, 'HTTP 404') FROM n WHERE n % 2
    """,
    """
    INSERT INTO page_links (source, links)
    SELECT n, '[[' || (n * 31 % 200000 + 1) || ',"t","a","href","","navigation",null,0,null]]' FROM n WHERE n % 2
    """,
)
