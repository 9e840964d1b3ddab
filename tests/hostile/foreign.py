"""A hostile server that somebody else runs: its cases as it publishes them, and what it was asked for.

``/cases.json`` has the number of the first port (``base``) and the cases. The second port is the inside, the third has
ordinary pages under ``/ok/``. ``/_/hits.json?since=N`` has the requests from the N-th on: ``port`` (from the first),
``method``, ``target``, ``cookie``, ``auth`` and the time ``t``. What its sitemaps and paths must come to is at
``/_/paths.json`` and ``/_/site.json``.
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import replace
from http.client import HTTPException
from typing import Any, Self
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, build_opener

from spiderproj.urls import RefusedURLError, canonical
from tests.hostile.cases import Case, Way
from tests.hostile.listed import Row, case_of, why_not
from tests.hostile.server import Asked, Places
from tests.routes import page, text
from tests.site import Site

_PREPARING_SECONDS = 600  # a bomb of gigabytes takes a busy server this long to make
_PLACES = {1: "inside", 2: "twin"}


class ForeignServer(Places):
    """A running server of published cases; a context manager, for what is served beside it."""

    def __init__(self, url: str) -> None:
        self._main = canonical("/", url).rstrip("/")
        self._open = build_opener(ProxyHandler({})).open
        self._asked: list[Asked] = []
        published = self._read("/cases.json")
        rows = [row for row in published["cases"] if not why_not(row)]
        super().__init__({case.name: case for case in map(self._case, rows)})
        self.not_met = {row["id"]: why for row in published["cases"] if (why := why_not(row))}
        self.at.update({name: f"http://127.0.0.1:{published['base'] + port}" for port, name in _PLACES.items()})
        self._attacks = {name: _attack(row) for name, row in zip(self.cases, rows, strict=True)}
        with ExitStack() as beside:
            self.at.update(zip(self.cases, (_home(row, beside) for row in rows), strict=True))
            self._beside = beside.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._beside.close()

    def seeds(self, case: Case) -> list[str]:
        """Return what a crawl that meets *case* begins with: beside a sitemap also a page of its server."""
        is_beside = case.way is Way.SITEMAP and case.kind == "sitemap"
        return [self.url(case), *([self._main + "/ok/beside"] if is_beside else [])]

    def whose(self, _case: Case) -> set[str]:
        """Return the places whose requests a case is judged by: it is met alone."""
        return {"twin", "other"}

    def fine(self, count: int) -> list[str]:
        """Return so many ordinary pages, on the second origin."""
        return [f"{self.at['twin']}/ok/ordinary-{i}" for i in range(count)]

    @property
    def asked(self) -> list[Asked]:
        """The requests until now."""
        for hit in self._read(f"/_/hits.json?since={len(self._asked)}"):
            place = _PLACES.get(hit["port"], "other")
            cookie, authorization = hit["cookie"] or "", hit["auth"] or ""
            self._asked.append(Asked(place, hit["method"], hit["target"], cookie, authorization, hit["t"]))
        return list(self._asked)

    def prepare(self, case: Case) -> None:
        """Ask once for what is heavy, so that the server has made it when the crawl comes."""
        if case.slow:
            try:
                with self._open(self._attacks[case.name], timeout=_PREPARING_SECONDS) as answer:
                    answer.read(1)
            except (OSError, HTTPException):
                return  # it is hostile

    def _case(self, row: Row) -> Case:
        """Return the case of *row*, with what the server says of its files."""
        case = case_of(row)
        if row["id"] == "paths.index":
            return replace(case, holds=self._marks())
        if row["id"] == "site.clean":
            return replace(case, holds=self._digests(case.target.split("/")[2]))
        return case

    def _marks(self) -> dict[str, str]:
        """Return what the body of each target holds; those that are asked for under another spelling are left out."""
        marks = self._read("/_/paths.json")
        return {target: mark for target, mark in marks.items() if self._is_asked(target)}

    def _is_asked(self, target: str) -> bool:
        try:
            return canonical(target, self._main + "/") == self._main + target
        except RefusedURLError:
            return False

    def _digests(self, key: str) -> dict[str, str]:
        pages = self._read(f"/_/site.json?key={key}")["pages"]
        return {target: f"sha256:{digest}" for target, digest in pages.items()}

    def _read(self, target: str) -> Any:
        with self._open(self._main + target, timeout=_PREPARING_SECONDS) as answer:
            return json.load(answer)


def _attack(row: Row) -> str:
    """Return the URL of what is hostile in the case of *row*."""
    url: str = row["url"]
    return canonical("/robots.txt", url) if row["kind"] == "robots" else url


def _home(row: Row, beside: ExitStack) -> str:
    """Return the origin of the case of *row*: of a sitemap that of a page *beside*, whose robots.txt names it."""
    if row["kind"] == "sitemap":
        routes = [page("/"), text("/robots.txt", f"User-agent: *\nAllow: /\nSitemap: {row['url']}\n")]
        return beside.enter_context(Site(routes)).base
    parts = urlsplit(row["url"])
    return f"{parts.scheme}://{parts.netloc}"
