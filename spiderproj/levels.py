"""Where a URL lies, seen from the seed's directory (docs/arguments.md, "Levels")."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from spiderproj.models import Level
from spiderproj.urls import URLParts, directory, split


class Home(NamedTuple):
    """What a seed is at home on: its host key (scheme-less host and port) and its directory D."""

    authority: str
    directory: str


_RANK = {level: rank for rank, level in enumerate(Level)}


def home_of(seed: str) -> Home:
    """Return the home of a canonical *seed* URL."""
    parts = split(seed)
    return Home(parts.authority, directory(parts.path))


def homes_of(seeds: Sequence[str], moved: Iterable[Home]) -> list[Home]:
    """Return where a crawl is at home: at its *seeds*, and where their redirects have *moved* it.

    The directory of a seed that is a directory itself, by the slash its server adds to it, is left unless another seed
    is at home there.
    """
    found = dict.fromkeys([*map(home_of, seeds), *moved])
    staying = Counter(map(home_of, seeds))
    for seed in seeds:
        parts = split(seed)
        if Home(parts.authority, f"{parts.path}/") in found:
            staying[home_of(seed)] -= 1
    return [home for home in found if staying.get(home, 1)]


def level(parts: URLParts, homes: Iterable[Home]) -> Level:
    """Return the level of a URL seen from the nearest of *homes*.

    >>> level(split("http://h/a/b/c"), [Home("h", "/a/")])
    <Level.CHILD: 'child'>
    """
    return min((_level(parts, home) for home in homes), key=_RANK.__getitem__, default=Level.OTHER)


def levels_up(parts: URLParts, homes: Iterable[Home]) -> int:
    """Return how many levels to climb from the nearest home's directory to reach an ancestor of the URL's directory.

    0 for the directory itself and everything below it; only meaningful on a home's host.
    """
    mine = directory(parts.path)
    return min((_climb(home.directory, mine) for home in homes if home.authority == parts.authority), default=0)


def moved_home(seed: str, target: str) -> Home | None:
    """Return the home that a seed's redirect to *target* leads to, None where it leaves home.

    A redirect to another scheme of the same host, or to the host with or without ``www.``, moves the home; a redirect
    that only adds the slash of a directory (``/docs`` to ``/docs/``) makes that directory D.
    """
    old, new = split(seed), split(target)
    if old.host.removeprefix("www.") != new.host.removeprefix("www."):
        return None
    if old.port != new.port and (old.port or new.port) and old.scheme == new.scheme:
        return None
    slash_added = new.path == old.path + "/"
    return Home(new.authority, directory(new.path if slash_added else old.path))


def _level(parts: URLParts, home: Home) -> Level:
    if parts.authority != home.authority:
        return Level.OTHER
    mine = directory(parts.path)
    if mine == home.directory:
        return Level.PAGE
    if mine.startswith(home.directory):
        return Level.CHILD
    return Level.PARENT if home.directory.startswith(mine) else Level.HOST


def _climb(home: str, mine: str) -> int:
    steps = 0
    while not mine.startswith(home):
        home = directory(home[:-1])
        steps += 1
    return steps
