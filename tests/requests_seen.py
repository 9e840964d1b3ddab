"""What the scripted server was asked for, in few words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.connection import Logged
    from tests.site import Site

LOOPBACK = {"SPIDERPROJ_ALLOWED_NETWORKS": "127.0.0.0/8,::1/128"}
"""Lets a crawl of the server's one name go to its others, as it would to another public host."""
ONE = {"CONCURRENT_REQUESTS_PER_DOMAIN": 1}
"""One request at a time: the order of the log is the order of the crawl."""


def asked(served: Site) -> list[str]:
    """Return the requests in order, without robots.txt: "/a", "HEAD /a", "ALT/a" and "OTHER/a"."""
    return [_words(served, each) for each in list(served.log) if each.target != "/robots.txt"]


def pages_asked(served: Site) -> list[str]:
    """Return the targets of the GETs, sorted."""
    return sorted(words for words in asked(served) if not words.startswith("HEAD "))


def highest_at_once(served: Site) -> int:
    """Return on how many connections the server was asked: the most requests it can have had in hand at once."""
    return len({each.connection for each in served.log})


def _words(served: Site, each: Logged) -> str:
    names = {served.alt: "ALT", served.other: "OTHER"}
    host = next((name for base, name in names.items() if base.endswith(f"//{each.host}")), "")
    return f"{'' if each.method == 'GET' else each.method + ' '}{host}{each.target}"
