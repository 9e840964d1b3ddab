"""Score a crawl by the server's log and by what it saved, against the manifest of the site."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from bench.make_site import Manifest
    from bench.nginx import Line


@dataclass(frozen=True, kw_only=True)
class Score:
    """What a crawl asked for and got; percentages are of the manifest."""

    pages: int  # distinct HTML pages served whole
    html_pct: float
    all_pct: float
    saved_pct: float  # files of the manifest that lie in the output, byte for byte
    repeats: int  # GETs beyond the first of each URL
    unknown: int  # URLs asked for that the site neither has nor mentions
    methods: dict[str, int]
    statuses: dict[str, int]
    connections: int
    sent_mb: float


def score(lines: Iterable[Line], manifest: Manifest, saved: Path) -> Score:
    """Return the score of a crawl that left *lines* in the server's log and its files below *saved*."""
    methods: Counter[str] = Counter()
    statuses: Counter[str] = Counter()
    gets: Counter[str] = Counter()
    connections, got, sent = set(), set(), 0
    for line in lines:
        path = unquote(urlsplit(line.uri).path)
        methods[line.method] += 1
        statuses[str(line.status)] += 1
        connections.add(line.connection)
        sent += line.bytes
        if line.method == "GET":
            gets[path] += 1
            if line.status == 200 and path in manifest.urls and line.body_bytes == manifest.urls[path].size:
                got.add(path)
    html = {path for path, entry in manifest.urls.items() if entry.type == "html"}
    return Score(
        pages=len(got & html),
        html_pct=_percent(len(got & html), len(html)),
        all_pct=_percent(len(got), len(manifest.urls)),
        saved_pct=_percent(_saved(saved, manifest), len(manifest.urls)),
        repeats=sum(gets.values()) - len(gets),
        unknown=len(set(gets) - set(manifest.urls) - set(manifest.broken) - {"/robots.txt", "/sitemap.xml"}),
        methods=dict(methods),
        statuses=dict(statuses),
        connections=len(connections),
        sent_mb=round(sent / 1e6, 1),
    )


def _saved(folder: Path, manifest: Manifest) -> int:
    """Return how many of the manifest's files are below *folder*, under whatever name."""
    have = {hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.rglob("*") if path.is_file()}
    return sum(entry.sha256 in have for entry in manifest.urls.values())


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 1)
