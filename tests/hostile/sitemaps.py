"""XML: entities, bombs, lists without end. Each is named by the robots.txt of an origin of its own."""

from __future__ import annotations

import gzip
import html
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

from tests.hostile.answers import OK, Ask, Step, endless, whole
from tests.hostile.cases import Case, Fate, Way
from tests.hostile.codings import inflating

if TYPE_CHECKING:
    from tests.hostile.answers import Answer

XML = "application/xml"
_HEAD = '<?xml version="1.0"?>'


def _urlset(*locations: str, doctype: str = "") -> str:
    return f"{_HEAD}{doctype}<urlset>" + "".join(f"<url><loc>{loc}</loc></url>" for loc in locations) + "</urlset>"


def _laughs(ask: Ask) -> str:
    levels = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 12))
    return _urlset(
        f"{ask.here}/open/&e11;", f"{ask.here}/open/laughs", doctype=f'<!DOCTYPE u [<!ENTITY e0 "lol">{levels}]>'
    )


def _quadratic(_: Ask) -> str:
    return _urlset(*["&e;"] * 10_000, doctype=f'<!DOCTYPE u [<!ENTITY e "{"x" * 1_000_000}">]>')


def _outside(ask: Ask) -> str:
    inside = ask.at["inside"]
    doctype = (f'<!DOCTYPE u SYSTEM "{inside}/dtd" [<!ENTITY f SYSTEM "file:///etc/passwd">'
               f'<!ENTITY g SYSTEM "{inside}/xxe">]>')  # fmt: skip
    return _urlset(f"{ask.here}/open/?&f;&g;", f"{ask.here}/open/outside", doctype=doctype)


def _index(ask: Ask) -> str:
    number = ask.number("n")
    children = "".join(f"<sitemap><loc>{ask.here}/map.xml?n={number * 10 + i + 1}</loc></sitemap>" for i in range(10))
    return f"{_HEAD}<sitemapindex>{children}</sitemapindex>"


def _itself(ask: Ask) -> str:
    return f"<sitemapindex><sitemap><loc>{ask.here}/map.xml</loc></sitemap></sitemapindex>"


def _foreign(ask: Ask) -> str:
    locations = [
        *("file:///etc/passwd", "javascript:alert(1)", f"{ask.at['inside']}/from-sitemap", "ftp://127.0.0.1/", ""),
        *("/open/relative", "   ", f"{ask.here}/open/blanks\n\n", "http://[", f"{ask.here}/open/last"),
    ]
    return _urlset(*map(html.escape, locations))


@cache
def _bomb() -> bytes:
    return gzip.compress(b"<urlset>") + inflating(b" " * (1 << 20), 1024)


def _long_list(ask: Ask) -> Iterable[Step]:
    start = OK + b"Content-Type: application/xml\r\n\r\n<urlset>"
    entry = b"<url><loc>" + ask.here.encode() + b"/none/%d</loc></url>"
    return endless(start, lambda number: b"".join(entry % (number * 1000 + i) for i in range(1000)))


def _full_list(ask: Ask) -> str:
    return _urlset(*(f"{ask.here}/none/{'x' * 900}{i}" for i in range(50_000)))


def _xml(text: object) -> Answer:
    return lambda ask: whole(text(ask), "200 OK", XML)  # type: ignore[operator]  # a function of the Ask


_SMALL = {
    # name: attack, text, what must be asked for, what must not
    "laughs": ("a billion laughs", _laughs, ("/open/laughs",), ()),
    "quadratic": ("a megabyte entity, 10,000 times", _quadratic, (), ()),
    "outside": ("entities and a DTD from elsewhere", _outside, ("/open/outside",), ()),
    "index": ("each index lists ten new ones", _index, (), ("/map.xml?n=1111",)),
    "itself": ("an index that lists itself", _itself, (), ()),
    "foreign": ("URLs of other schemes and hosts, and broken ones", _foreign, ("/open/blanks", "/open/last"), ()),
    "deep": ("100,000 elements within each other", lambda _: "<urlset>" + "<url>" * 100_000 + "<loc>x", (), ()),
}

CASES = [
    *(
        Case(
            name=f"sitemaps.{name}",
            attack=attack,
            fate=Fate.STORED,
            answer=_xml(text),
            way=Way.SITEMAP,
            asks=asks,
            spares=spares,
        )
        for name, (attack, text, asks, spares) in _SMALL.items()
    ),
    Case(
        name="sitemaps.encoding",
        attack="says UTF-16, is ASCII, holds NULs",
        fate=Fate.STORED,
        answer=lambda _: whole(b'<?xml version="1.0" encoding="UTF-16"?><urlset><url><loc>http://127.0.0.1/\0\1</loc>',
                               "200 OK", XML),
        way=Way.SITEMAP,
    ),
    Case(
        name="sitemaps.endless",
        attack="a list without end",
        fate=Fate.STORED,
        answer=_long_list,
        way=Way.SITEMAP,
        seconds=60,
        growth_mb=250,
        slow=True,
    ),
    Case(
        name="sitemaps.full",
        attack="50 MB, 50,000 long URLs",
        fate=Fate.LIMITED,
        answer=_xml(_full_list),
        way=Way.SITEMAP,
        asks=("/none/" + "x" * 900 + "0",),
        seconds=60,
        growth_mb=300,
        slow=True,
    ),
    Case(
        name="sitemaps.bomb",
        attack="a gigabyte of blanks in a .gz",
        fate=Fate.STORED,
        answer=lambda _: whole(_bomb(), "200 OK", "application/gzip"),
        way=Way.SITEMAP,
        growth_mb=200,
        slow=True,
    ),
]  # fmt: skip
