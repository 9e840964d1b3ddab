"""A generated site of which a tenth answers badly, and the truth about what a complete copy of it holds.

Page *n* links to its three children (3n+1, 3n+2, 3n+3), its parent and five pages by chance, so that the tree alone
reaches every page. The same seed gives the same bytes and the same faults. Each fault is one of

    reset      the first answer is a TCP reset
    busy       the first answer is 503
    cut        the first answer ends in the middle of its body
    slow       every answer waits 0.3 s
    moved      the page is linked as /go/n.html only, which redirects to it
"""

from __future__ import annotations

import hashlib
import random
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.answers import RouteSpec

SHARES = {"reset": 0.025, "cut": 0.025, "slow": 0.025, "moved": 0.02, "busy": 0.005}
"""How many of the pages have each fault; 503 is rare, because a host that says it often is rightly left alone."""

_WORDS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "omega")
_ANSWERS: dict[str, dict[str, Any]] = {
    "reset": {"sequence": [{"fault": "reset"}, {}]},
    "busy": {"sequence": [{"status": 503}, {}]},
    "cut": {"sequence": [{"send_bytes": 300}, {}]},
    "slow": {"delay_s": 0.3},
}


@dataclass(frozen=True)
class KillSite:
    """Routes, and what is true of them."""

    routes: list[RouteSpec]
    digests: dict[str, str]  # path of every page: hexadecimal SHA-256 of its body
    links: dict[str, list[str]]  # path of every page: the paths it links to, as often as it does
    once: frozenset[str]  # paths whose first answer is a failure, so that a second GET is right


def kill_site(seed: int, pages: int = 2000) -> KillSite:
    """Return the site of *seed*."""
    rng = random.Random(seed)
    faults = rng.choices(["", *SHARES], [1 - sum(SHARES.values()), *SHARES.values()], k=pages)
    faults[0] = ""
    routes: list[RouteSpec] = []
    digests, links, once = {}, {}, set()
    for number, fault in enumerate(faults):
        path, body = _path(number), _body(number, faults, rng)
        digests[path] = hashlib.sha256(body.encode()).hexdigest()
        links[path] = re.findall(r'href="([^"]*)', body)
        answer = _ANSWERS.get(fault, {})
        if "sequence" in answer:
            once.add(path)
        routes.append({"path": path, "headers": {"Content-Type": "text/html; charset=utf-8"}, "body": body, **answer})
        if fault == "moved":
            routes.append({"path": _linked(number, fault), "status": 302, "headers": {"Location": path}})
    return KillSite(routes, digests, links, frozenset(once))


def _path(number: int) -> str:
    return f"/d{number % 20}/p{number}.html" if number else "/"


def _linked(number: int, fault: str) -> str:
    return f"/go/{number}.html" if fault == "moved" else _path(number)


def _body(number: int, faults: list[str], rng: random.Random) -> str:
    """Return a page of 2 to 6 KB that no other page equals."""
    pages = len(faults)
    children = range(3 * number + 1, min(3 * number + 4, pages))
    targets = [*children, (number - 1) // 3 if number else 0, *(rng.randrange(pages) for _ in range(5))]
    links = "".join(f'<li><a href="{_linked(n, faults[n])}">page {n}</a></li>\n' for n in targets)
    text = " ".join(rng.choices(_WORDS, k=rng.randint(200, 900)))
    return f"<!doctype html>\n<title>Page {number}</title>\n<ul>\n{links}</ul>\n<p>{text}</p>\n"
