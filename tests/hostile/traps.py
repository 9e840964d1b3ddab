"""Sites without end: no page of them is wrong, and no crawl of them is ever done. A limit must end it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable

from tests.hostile.answers import Ask, Step, moved, page, whole
from tests.hostile.cases import Case, Fate


def _some(count: int) -> list[str]:
    return [f"{random.getrandbits(48):x}" for _ in range(count)]


def _calendar(ask: Ask) -> list[str]:
    month = ask.number("month", 24_000)
    return [f"{ask.path}?month={month + step}" for step in (-1, 1)]


def _sessions(_: Ask) -> list[str]:
    return [f"/p{i};jsessionid={a}?PHPSESSID={b}" for i, (a, b) in enumerate(zip(_some(10), _some(10), strict=True))]


def _facets(ask: Ask) -> list[str]:
    chosen = {name for name in ask.query if name.startswith("f")}
    return [f"{ask.path}?{'&'.join(f'{name}=1' for name in sorted(chosen ^ {f'f{i}'}))}" for i in range(20)]


def _fan(ask: Ask) -> Iterable[Step]:
    if "to" in ask.query:
        return moved(f"{ask.path}?page={ask.query['to']}")
    return whole(page("fan", *(f"{ask.path}?to={key}" for key in _some(10))))


def _site(links: Callable[[Ask], list[str]], title: str = "") -> Callable[[Ask], Iterable[Step]]:
    return lambda ask: whole(page(title or f"page {ask.target[-40:]}", *links(ask)))


_SITES: dict[str, tuple[str, Callable[[Ask], Iterable[Step]], str]] = {
    "calendar": ("every month links to the next, for ever", _site(_calendar), "/"),
    "sessions": ("ten pages under ever new session ids", _site(_sessions, "ten pages"), "/p0"),
    "growing": ("a path that grows with every click", _site(lambda _: ["a/", "b/", "a/b/a/b/"]), "/"),
    "soft404": (
        "any URL is a page with new links",
        _site(lambda _: [f"/{x}" for x in _some(20)], "?"),
        "",
    ),
    "facets": ("a million combinations of 20 filters", _site(_facets), "/"),
    "fan": ("every link redirects to a page of new links", _fan, "/"),
}

CASES = [
    Case(name=f"traps.{name}", attack=attack, fate=Fate.LIMITED, answer=answer, target=target, seconds=60)
    for name, (attack, answer, target) in _SITES.items()
]
