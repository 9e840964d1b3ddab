"""Targets: robots.txt, sitemaps, and the lines that a crawl writes about them and all else."""

from __future__ import annotations

import orjson

from fuzz.expect import body, expect, parts, text
from fuzz.of_urls import check_canonical
from spiderproj import robots, sitemaps
from spiderproj.files.lines import json_line
from spiderproj.models import Link, LinkRole
from spiderproj.robots.lines import MAX_CRAWL_DELAY
from spiderproj.store.known import Known
from spiderproj.store.lines import link_lines

_URLS = (
    "http://example.org/",
    "http://example.org/a/b.html?c=d%2Fe",
    "http://example.org/A*$%3F$",
    "http://example.org//",
)


def robots_txt(data: bytes) -> None:
    """Expect of every robots.txt an answer on every URL, and the line that it comes from."""
    rules = robots.parse(body(data), "spiderproj")
    expect(rules.crawl_delay is None or 0 <= rules.crawl_delay <= MAX_CRAWL_DELAY, "a delay", rules.crawl_delay)
    for url in _URLS:
        line = rules.rule_for(url)
        if rules.allows(url):
            expect(line is None or line.startswith("Allow: "), "an Allow line, or none", url, line)
        else:
            expect(line is not None and line.startswith("Disallow: "), "a Disallow line", url, line)
    for url in rules.sitemaps:
        expect("\n" not in url and "\r" not in url, "one line", url)


def sitemap(data: bytes) -> None:
    """Expect that every sitemap can be read, and that what it lists is canonical."""
    found = sitemaps.read(body(data), "http://example.org/sitemap.xml")
    for url in (*(entry.loc for entry in found.entries), *found.children, *found.images):
        check_canonical(url)
    for entry in found.entries:
        expect(entry.priority is None or 0 <= entry.priority <= 1, "a priority", entry)


def lines(data: bytes) -> None:
    """Expect one line of JSON in UTF-8, whatever a record holds."""
    one, two, three = map(text, parts(data, 3))
    record = {"a": one, two: [three, {"b": one}], "n": float(len(data)), "none": None}
    _check_line(json_line(record))
    link = Link(one, two, three, "href", two, LinkRole.NAVIGATION, None)
    known = Known(1, "refused", "scope", 1, "other", None, "navigation", settled=True)
    written = _check_line(link_lines(three, [(link, known)]))
    expect(written["target"] == one.encode("utf-8", "replace").decode(), "the text as it was", one, written)


def _check_line(line: bytes) -> dict[str, object]:
    expect(line.endswith(b"\n") and line.count(b"\n") == 1, "one line", line)
    line.decode()
    found: dict[str, object] = orjson.loads(line)
    return found
