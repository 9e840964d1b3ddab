"""What a case expects of the requests, read from the server's log.

A request is named "GET /x", "HEAD /x" or "ANY /x", "/x" alone is "GET /x"; another host is given by its base:
"{{ALT}}/x". The keys of ``expect`` that are judged here:

    fetched, not_fetched     requests that were made, or must not be; with _should: advice
    not_fetched_re           regular expressions that no target may fit
    hits                     {request: [least, most]}
    max_requests             of all requests together
    refetched_max            GETs beyond the first of each target
    order, order_any         targets whose first GETs came in this order, or in one of these orders
    statuses                 {request: [status of each answer in turn]}
    gap_s                    {target: least seconds between two GETs of it}
    request_gap_s            least seconds between any two requests but robots.txt
    quiet_after_s            {request: seconds without any request after its first answer}
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tests.connection import Logged

_IN_FLIGHT_S = 0.3  # requests sent before an answer was read may still arrive


class Seen:
    """The log of a crawl, asked in the shorthand of the cases."""

    def __init__(self, log: Sequence[Logged], base: str) -> None:
        self.log = log
        self._host = base.removeprefix("http://")
        self._counts = Counter((entry.method, entry.host, entry.target) for entry in log)

    def all(self, request: str) -> list[Logged]:
        """Return the entries that *request* names."""
        method, host, target = self.key(request)
        return [e for e in self.log if (e.host, e.target) == (host, target) and method in ("ANY", e.method)]

    def count(self, request: str) -> int:
        """Return how many entries *request* names."""
        method, host, target = self.key(request)
        methods = ("GET", "HEAD", "POST") if method == "ANY" else (method,)
        return sum(self._counts[m, host, target] for m in methods)

    def again(self) -> int:
        """Return the number of GETs beyond the first of each target."""
        return sum(count - 1 for (method, _, _), count in self._counts.items() if method == "GET")

    def first_gets(self, targets: Sequence[str]) -> list[str]:
        """Return those of *targets* that were fetched, by their first GET."""
        wanted = set(targets)
        return list(dict.fromkeys(e.target for e in self.log if e.method == "GET" and e.target in wanted))

    def key(self, request: str) -> tuple[str, str, str]:
        """Return method, Host field and target of *request*."""
        method, _, url = request.partition(" ") if re.match(r"(GET|HEAD|ANY) ", request) else ("GET", "", request)
        if not url.startswith("http://"):
            return method, self._host, url
        host, slash, rest = url.removeprefix("http://").partition("/")
        return method, host, slash + rest


def judge_requests(expect: Mapping[str, Any], seen: Seen) -> Iterator[str]:
    """Yield what the log lacks or has too much of; advice begins with "(should)"."""
    yield from _presence(expect, seen)
    yield from _counts(expect, seen)
    yield from _order(expect, seen)
    yield from _times(expect, seen)


def _presence(expect: Mapping[str, Any], seen: Seen) -> Iterator[str]:
    for suffix, note in (("", ""), ("_should", "(should) ")):
        for request in expect.get("fetched" + suffix, ()):
            if not seen.count(request):
                yield f"{note}missing {request:.90}"
        for request in expect.get("not_fetched" + suffix, ()):
            if seen.count(request):
                yield f"{note}unwanted {request:.90}"
    for pattern in expect.get("not_fetched_re", ()):
        for target in sorted({entry.target for entry in seen.log if re.search(pattern, entry.target)}):
            yield f"unwanted /{pattern}/: {target:.80}"


def _counts(expect: Mapping[str, Any], seen: Seen) -> Iterator[str]:
    for request, (least, most) in expect.get("hits", {}).items():
        if not least <= (hits := seen.count(request)) <= most:
            yield f"{hits} hits of {request:.60}, expected {least} to {most}"
    if len(seen.log) > (most := expect.get("max_requests", len(seen.log))):
        yield f"{len(seen.log)} requests, expected at most {most}"
    if (again := seen.again()) > expect.get("refetched_max", again):
        yield f"{again} fetched again, expected at most {expect['refetched_max']}"
    for request, statuses in expect.get("statuses", {}).items():
        if (got := [entry.status for entry in seen.all(request)]) != statuses:
            yield f"{request} answered {got}, expected {statuses}"


def _order(expect: Mapping[str, Any], seen: Seen) -> Iterator[str]:
    orders = expect.get("order_any") or ([expect["order"]] if "order" in expect else [])
    if orders and (came := seen.first_gets(orders[0])) not in orders:
        yield f"fetched in the order {came}, expected {' or '.join(map(str, orders))}"


def _times(expect: Mapping[str, Any], seen: Seen) -> Iterator[str]:
    for target, least in expect.get("gap_s", {}).items():
        yield from _too_close(seen.all(f"GET {target}"), least)
    if "request_gap_s" in expect:
        yield from _too_close([e for e in seen.log if e.target != "/robots.txt"], expect["request_gap_s"])
    for request, quiet in expect.get("quiet_after_s", {}).items():
        for start in seen.all(request)[:1]:
            early = [e.target for e in seen.log if start.time + _IN_FLIGHT_S < e.time < start.time + quiet]
            if early:
                yield f"requests within {quiet} s of {request}: {early}"


def _too_close(entries: Sequence[Logged], least: float) -> Iterator[str]:
    for one, two in pairwise(entries):
        if two.time - one.time < least:
            yield f"{two.time - one.time:.2f} s between {one.target:.40} and {two.target:.40}, expected {least}"
