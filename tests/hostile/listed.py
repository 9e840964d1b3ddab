"""Cases that another hostile server publishes in its ``/cases.json``, and what a crawl of ours must make of them.

A row has ``id``, ``category``, ``kind``, ``attack``, ``outcome``, ``max_seconds``, ``max_rss_mb``, ``heavy``,
``off_loopback``, ``available`` and ``url``. Its outcome is what must come of it, but for the rows of ``OTHERWISE``,
where a crawl of ours is right and words it differently; ``BESIDE`` is what must be so as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from tests.hostile.cases import Case, Fate, Way

Row = Mapping[str, Any]

_FATES = {
    "ok": Fate.STORED,
    "error": Fate.FAILED,
    "flagged": Fate.FAILED,  # a page with its problem is no whole page
    "refused": Fate.STORED,  # what it leads to is not reached: that is asked of every crawl
    "bounded": Fate.LIMITED,
}
_WAYS = {"robots": Way.ROBOTS, "sitemap": Way.SITEMAP}
_PRIVATE, _SCHEME = "private-address", "scheme"


class Otherwise(NamedTuple):
    """What becomes of a case whose outcome is worded differently, and why that is right."""

    why: str
    fate: Fate
    error: str = ""
    refuses: Mapping[str, str] = {}


OTHERWISE: dict[str, Otherwise] = {
    "redir.ping": Otherwise("two redirects to URLs that are known: each is asked for once, nothing fails", Fate.MOVED),
    "redir.endless": Otherwise("ten hops are redirects, the eleventh is refused", Fate.MOVED, "", {"n=11": "trap"}),
    "redir.long": Otherwise("a redirect; its target is refused as too long", Fate.MOVED, "", {"": "too-long"}),
    "redir.badport": Otherwise("a redirect; its target is refused as no URL", Fate.MOVED, "", {"": "invalid"}),
    "redir.ssh-port": Otherwise("a redirect; its target is refused unasked", Fate.MOVED, "", {"": _PRIVATE}),
    "refresh.loop": Otherwise("a whole page; ten hops on, the next is refused", Fate.STORED, "", {"n=11": "trap"}),
    "status.version": Otherwise("taken as HTTP/1.1, which its text allows", Fate.STORED),
    "status.204-body": Otherwise("204 has no body: a row without a file, as its text asks", Fate.ANY),
    "cookie.flood": Otherwise("15 MB of fields are over the 256 KiB of a head", Fate.FAILED, "too-many-headers"),
    "html.links": Otherwise("31 MB are over the 16 MiB of a page", Fate.FAILED, "too-large"),
    "robots.redirect-internal": Otherwise(
        "a robots.txt that may not be fetched is unreachable: nothing may be asked for", Fate.FAILED, "unreachable"
    ),
    "robots.silent": Otherwise("unreachable: nothing may be asked for (RFC 9309)", Fate.FAILED, "unreachable"),
    "robots.500": Otherwise("unreachable: nothing may be asked for (RFC 9309)", Fate.FAILED, "unreachable"),
}


class Beside(NamedTuple):
    """What must be so as well, and what the crawl needs for it."""

    asks: tuple[str, ...] = ()
    spares: tuple[str, ...] = ()
    refuses: Mapping[str, str] = {}
    settings: tuple[str, ...] = ()
    mode: str = "all"


_OK = ("/ok/1.html",)
_SHUT = Beside(_OK, ("/no/",))
_OPEN = Beside((*_OK, "/no/1.html"))

BESIDE: dict[str, Beside] = {
    **{f"redir.{name}": Beside(refuses={"": _SCHEME}) for name in ("file", "data", "js", "ftp", "gopher")},
    **{
        f"redir.{name}": Beside(refuses={"": _PRIVATE})
        for name in ("internal", "internal-dec", "internal-short", "internal-name", "mapped6", "scheme-rel", "triple")
    },
    **{
        f"charset.{name}": Beside(_OK)
        for name in ("idna", "zlib", "undefined", "utf7", "utf16", "utf16-odd", "utf32", "nonsense", "long", "bom")
    },
    "header.retry-after": Beside(settings=("SPIDERPROJ_RETRY_AFTER_MAX=2",)),
    "redir.userinfo": Beside(("/echo",)),
    "refresh.internal": Beside(refuses={"": _PRIVATE}),
    "refresh.header": Beside(refuses={"javascript:": _SCHEME}),
    "cookie.bad": Beside(("/echo",)),
    "html.deep": Beside(_OK),
    "html.attrs": Beside(_OK),
    "html.nested-a": Beside(("/ok/999.html",), settings=("CLOSESPIDER_PAGECOUNT=1100",)),
    "html.schemes": Beside(_OK, refuses={"file:": _SCHEME, "ftp:": _SCHEME}),
    "html.filehost": Beside(_OK, refuses={"file:": _SCHEME}),
    "html.base": Beside(refuses={"/secret": _PRIVATE}),
    "html.badlinks": Beside((*_OK, "/ok/2.html"), mode="local"),  # it names hosts that are nobody's
    "paths.index": Beside(mode="local"),  # the same
    "sitemap.schemes": Beside(("/ok/3.html", "/ok/4.html")),
    "robots.endless": _SHUT,
    "robots.cross": _SHUT,
    "robots.utf16": _SHUT,
    "robots.cr-nul": _SHUT,
    "robots.500": Beside(spares=(*_OK, "/no/")),
    "robots.silent": Beside(spares=(*_OK, "/no/")),
    "robots.redirect-internal": Beside(spares=(*_OK, "/no/")),
    "robots.rules": Beside(_OK),  # rules with many wildcards may forbid more than they say
    "robots.html": _OPEN,
    "robots.binary": _OPEN,
    "robots.delay": Beside(settings=("CLOSESPIDER_TIMEOUT=20",)),
}

_ERRORS: dict[str, tuple[str, ...]] = {
    # by the beginning of the id: what the failure begins with
    "bomb.": ("bomb", "too-large"),
    "body.endless": ("too-large",),
    "body.cl-huge": ("too-large",),
    "header.flood": ("too-many-headers",),
    "header.many": ("too-many-headers",),
    "header.fold": ("too-many-headers",),
    "header.long": ("too-many-headers",),
    "port.": ("unreachable",),
}


def case_of(row: Row) -> Case:
    """Return the case that *row* publishes; its name is the category and the id."""
    parts, way = urlsplit(row["url"]), _WAYS.get(row["kind"], Way.SEED)
    known, target = BESIDE.get(row["id"], Beside()), parts.path + (f"?{parts.query}" if parts.query else "")
    errors = next((errors for start, errors in _ERRORS.items() if row["id"].startswith(start)), "")
    case = Case(
        name=f"{row['category']}.{row['id']}",
        attack=row["attack"],
        fate=_fate(row),
        answer=lambda _: (),  # the other server has it
        way=Way.SITEMAP if row["id"] == "robots.sitemaps" else way,
        target="/" if way is Way.SITEMAP else target,
        error=errors,
        asks=known.asks,
        spares=known.spares,
        refuses=known.refuses,
        seconds=row["max_seconds"],
        growth_mb=row["max_rss_mb"],
        settings=known.settings,
        mode=known.mode,
        slow=row["heavy"],
    )
    other = OTHERWISE.get(row["id"])
    return replace(case, fate=other.fate, error=other.error, refuses=other.refuses) if other else case


def _fate(row: Row) -> Fate:
    """Return what the listed outcome means for the row of the case's own URL."""
    fate = _FATES[row["outcome"]]
    if row["kind"] == "sitemap" and fate is not Fate.LIMITED:
        return Fate.STORED  # the page that names it: what is wrong in a sitemap costs no page
    if row["id"].startswith("redir.") and fate is Fate.STORED:
        return Fate.MOVED
    return fate


def why_not(row: Row) -> str:
    """Return why the case of *row* cannot be met, empty when it can."""
    if row["off_loopback"]:
        return "it leads off loopback"
    return "" if row["available"] else "its server cannot serve it"
