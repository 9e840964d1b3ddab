r"""What the scripted server answers: routes given as data, the first that fits, rendered to bytes.

A route is a dictionary, the same in Python and in a ``case.json``; keys that are not named here are ignored:

    path            the request target, path and query as on the request line; or
    path_re         a regular expression over the whole target, its groups are {{1}}, {{2}} ...
    host            the Host field without its port (default: any)
    port            "other": only on the server's second port (default: any)
    method          one name or a list (default: GET and HEAD; HEAD is answered without a body)
    when            {request field: regular expression that is found in its value}
    status, reason  200 and its usual phrase by default
    headers         [[name, value], ...] or {name: value}; text goes out as latin-1, so "\xd0" is one raw byte
    body            text; or body_base64, body_file (beside case.json),
                    or body_repeat {"prefix", "unit", "count", "suffix"}
    body_charset    how text becomes bytes (default utf-8; surrogates stand for raw bytes)
    pack            "gzip": the resource itself is gzip data
    coding          "gzip" or "deflate": compressed, and Content-Encoding says so
    add_headers     false: no Content-Length, Date and Connection of the server's own
    delay_s         seconds before the answer
    send_bytes      full Content-Length, but only so many bytes of the body; then the connection ends
    fault           "close", "reset" (RST), "hang": no answer at all, or, with send_bytes, after that much of it;
                    "chunked", "chunked_cut" (no last chunk), "until_close" (no length), "head_body" (to HEAD too)
    raw             the whole response as latin-1 text, then the connection is closed
    sequence        [{response keys}, ...]: the n-th hit takes the n-th, the last one repeats

Text may hold {{BASE}}, {{ALT}} (the same server as localhost), {{OTHER}} (its second port), {{HOST}}, {{PORT}},
{{HIT}} (hits of this route so far) and {{DATE_IN_n}} (an HTTP-date n seconds from now).
"""

from __future__ import annotations

import json
import re
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.answers import fill, render

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tests.answers import Answer, RouteSpec

_NOT_FOUND: RouteSpec = {
    "status": 404,
    "headers": {"Content-Type": "text/html; charset=utf-8"},
    "body": "<!doctype html><title>404</title><p>no such page",
}


class Found(NamedTuple):
    """The route that answers a request: its place in the list (None for the 404 page) and its captured groups."""

    place: int | None
    groups: tuple[str, ...]


class Routes:
    """An ordered list of routes with their hit counts; exact paths are found by dictionary."""

    def __init__(self, specs: Iterable[RouteSpec], names: Mapping[str, str], folder: Path | None = None) -> None:
        self.specs = list(specs)
        self.hits = [0] * len(self.specs)
        self._names = dict(names)
        self._folder = folder or Path()
        self._exact: dict[str, list[int]] = {}
        self._patterns: list[tuple[int, re.Pattern[str]]] = []
        self._cache: dict[tuple[int | None, int], Answer] = {}
        for index, spec in enumerate(self.specs):
            if "path_re" in spec:
                self._patterns.append((index, re.compile(spec["path_re"])))
            else:
                self._exact.setdefault(fill(spec["path"], self._names), []).append(index)

    def find(self, method: str, target: str, port: str, headers: list[tuple[str, str]]) -> Found:
        """Return the first route that fits a request and count the hit."""
        candidates = [Found(index, ()) for index in self._exact.get(target, ())]
        for index, pattern in self._patterns:
            if match := pattern.fullmatch(target):
                candidates.append(Found(index, tuple(group or "" for group in match.groups())))
        for found in sorted(candidates):
            if found.place is not None and _fits(self.specs[found.place], method, port, headers):
                self.hits[found.place] += 1
                return found
        return Found(None, ())

    def answer(self, found: Found) -> Answer:
        """Return the answer for the latest hit of *found*; one that can never change is rendered once."""
        spec, hit = _NOT_FOUND, 0
        if found.place is not None:
            spec, hit = self.specs[found.place], self.hits[found.place]
        turn = min(hit, len(spec["sequence"])) if "sequence" in spec else 0
        ready = self._cache.get((found.place, turn))
        if ready is None:
            if turn:
                spec = {**spec, **spec["sequence"][turn - 1]}
            groups = {str(n): text for n, text in enumerate(found.groups, 1)}
            ready = render(spec, {**self._names, **groups, "HIT": str(hit)}, self._folder)
            if not found.groups and not re.search(r"\{\{(HIT|DATE_IN_\d+)\}\}", json.dumps(spec, default=str)):
                self._cache[found.place, turn] = ready
        return ready


def page(path: str, body: str = "", **keys: Any) -> dict[str, Any]:
    """Return the route of an HTML page with *body* between its tags."""
    html = f"<!doctype html>\n<html><head><title>Page {escape(path)}</title></head>\n<body>\n{body}\n</body></html>\n"
    return {"path": path, "headers": {"Content-Type": "text/html; charset=utf-8"}, "body": html, **keys}


def link(*hrefs: str) -> str:
    """Return an ``a`` element for each of *hrefs*."""
    return "\n".join(f'<p><a href="{escape(href)}">{escape(href)}</a></p>' for href in hrefs)


def text(path: str, body: str, content_type: str = "text/plain", **keys: Any) -> dict[str, Any]:
    """Return the route of a resource of *content_type* with *body* as it is: robots.txt, CSS, a sitemap."""
    return {"path": path, "headers": {"Content-Type": content_type}, "body": body, **keys}


def redirect(path: str, location: str, status: int = 302, **keys: Any) -> dict[str, Any]:
    """Return the route of a redirect to *location*."""
    return {"path": path, "status": status, "headers": {"Location": location}, **keys}


def _fits(spec: RouteSpec, method: str, port: str, headers: list[tuple[str, str]]) -> bool:
    """Whether the conditions of *spec* other than its path hold for a request."""
    methods = spec.get("method", ("GET", "HEAD"))
    if method not in ((methods,) if isinstance(methods, str) else methods) or spec.get("port", port) != port:
        return False
    fields = [(name.lower(), value) for name, value in headers]
    if "host" in spec and spec["host"] != next((_without_port(v) for n, v in fields if n == "host"), ""):
        return False
    wanted = spec.get("when", {}).items()
    return all(any(n == name.lower() and re.search(rx, v) for n, v in fields) for name, rx in wanted)


def _without_port(host: str) -> str:
    return host if host.endswith("]") else host.rpartition(":")[0] or host
