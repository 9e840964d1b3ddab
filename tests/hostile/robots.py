"""robots.txt in every wrong form, each for an origin of its own: its start page links to /open/1 and to /shut/1."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable

from tests.hostile.answers import OK, Ask, Move, Step, endless, moved, page, whole
from tests.hostile.cases import Case, Fate, Way
from tests.hostile.codings import bomb

TEXT = "text/plain"
_ANY = "User-agent: *\n"


def _text(text: str | bytes) -> list[Step]:
    return whole(text, "200 OK", TEXT)


def _crossed(_: Ask) -> Iterable[Step]:
    agents = "".join(f"User-agent: bot{i}\n" for i in range(4000))
    return _text(agents + _ANY + "".join(f"Disallow: /no/{i}\n" for i in range(4000)) + "Disallow: /shut/\n")


def _endless(_: Ask) -> Iterable[Step]:
    start = OK + b"Content-Type: text/plain\r\n\r\n" + _ANY.encode() + b"Disallow: /shut/\n"
    return endless(start, lambda number: b"".join(b"Disallow: /no/%d\n" % (number * 1000 + i) for i in range(1000)))


def _bomb(_: Ask) -> Iterable[Step]:
    yield from whole(bomb("gzip"), "200 OK", TEXT, "Content-Encoding: gzip")


def _sitemaps(ask: Ask) -> Iterable[Step]:
    lines = [f"Sitemap: {ask.here}/map.xml?{i}" for i in range(10_000)]
    return _text("\n".join([_ANY, "Sitemap: file:///etc/passwd", f"Sitemap: {ask.at['inside']}/map", *lines]))


_OPEN, _SHUT = ("/open/1",), ("/shut/",)
_ALL = ("/open/1", "/shut/1")

_FORMS: dict[str, tuple[str, Callable[[Ask], Iterable[Step]], tuple[str, ...], tuple[str, ...]]] = {
    # name: attack, answer, what must be asked for, what must not
    "crossed": ("4,000 agents of 4,000 rules", _crossed, _OPEN, _SHUT),
    "rules": (
        "100,000 rules with two wildcards",
        lambda _: _text(_ANY + "Disallow: /shut/\n" + "".join(f"Disallow: /no/*{i}*z$\n" for i in range(100_000))),
        _OPEN,
        _SHUT,
    ),
    "html": ("an HTML page", lambda _: whole(page("none") + "User-agent: *<br>Disallow: /"), _ALL, ()),
    "noise": ("a megabyte of noise", lambda _: _text(random.Random(1).randbytes(1_000_000)), _ALL, ()),
    "delay": (
        "a Crawl-delay of a year, of nan and of -1",
        lambda _: _text("User-agent: spiderproj\nCrawl-delay: nan\nCrawl-delay: -1\nAllow: /\n"),
        _ALL,
        (),
    ),
    "utf16": ("UTF-16 with a mark", lambda _: _text((_ANY + "Disallow: /shut/\r\n").encode("utf-16")), _OPEN, ()),
    "line-ends": (
        "CR alone, NULs, a line of a megabyte",
        lambda _: _text(b"User-agent: *\rDisallow: /shut/\r\0\rAllow: /" + b"a" * 1_000_000 + b"\rDisallow: /no/\r"),
        _OPEN,
        _SHUT,
    ),
}

_GONE: dict[str, tuple[str, Callable[[Ask], Iterable[Step]]]] = {
    # name: attack, answer; nothing of such an origin may be fetched (RFC 9309, 2.3.1.4)
    "error": ("500", lambda _: whole("oops", "500 Oops", TEXT)),
    "mute": ("no answer", lambda _: [Move.HOLD]),
}

_ELSEWHERE: dict[str, tuple[str, Callable[[Ask], Iterable[Step]]]] = {
    "inside": ("a redirect to the inside", lambda ask: moved(f"{ask.at['inside']}/robots")),
    "loop": ("redirects for ever", lambda ask: moved(f"/robots.txt?n={ask.number('n') + 1}")),
}

CASES = [
    *(
        Case(
            name=f"robots.{name}",
            attack=attack,
            fate=Fate.STORED,
            answer=answer,
            way=Way.ROBOTS,
            asks=asks,
            spares=spares,
        )
        for name, (attack, answer, asks, spares) in _FORMS.items()
    ),
    *(
        Case(
            name=f"robots.{name}",
            attack=attack,
            fate=Fate.FAILED,
            error="unreachable",
            answer=answer,
            way=Way.ROBOTS,
            spares=("/open/", "/shut/"),
            seconds=120,
        )
        for name, (attack, answer) in _GONE.items()
    ),
    *(
        Case(name=f"robots.{name}", attack=attack, fate=Fate.ANY, answer=answer, way=Way.ROBOTS, seconds=60)
        for name, (attack, answer) in _ELSEWHERE.items()
    ),
    Case(
        name="robots.long-delay",
        attack="a Crawl-delay of a year",
        fate=Fate.LIMITED,
        answer=lambda _: _text(_ANY + "Crawl-delay: 31536000\n"),
        settings=("CLOSESPIDER_TIMEOUT=35",),
        seconds=60,
        way=Way.ROBOTS,
    ),
    Case(
        name="robots.endless",
        attack="rules for ever",
        fate=Fate.STORED,
        answer=_endless,
        way=Way.ROBOTS,
        asks=_OPEN,
        spares=_SHUT,
        slow=True,
    ),
    Case(
        name="robots.bomb",
        attack="a gigabyte in gzip",
        fate=Fate.ANY,
        answer=_bomb,
        way=Way.ROBOTS,
        seconds=60,
        slow=True,
    ),
    Case(
        name="robots.sitemaps",
        attack="10,000 sitemaps, local files and the inside among them",
        fate=Fate.STORED,
        answer=_sitemaps,
        way=Way.SITEMAP,
        seconds=120,
    ),
]
