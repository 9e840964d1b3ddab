"""Put the arguments of a crawl together: every name known, every value read, no two of them at odds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from spiderproj.arguments.lists import patterns
from spiderproj.arguments.options import CrawlOptions, Mode, Sitemap
from spiderproj.arguments.seeds import folder_name
from spiderproj.arguments.table import ARGUMENTS
from spiderproj.arguments.values import EVERY_TYPE, Given, LevelTypes, nearest
from spiderproj.errors import ArgumentError
from spiderproj.models import Level, ResourceType
from spiderproj.order import Order

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

_READERS = {argument.name: argument.read for argument in ARGUMENTS}
_AGAIN = re.compile(r"(allow|deny)\.(0|[1-9][0-9]{0,5})")
_SCRAPYD_NAMES = frozenset({"_job", "_version"})  # Scrapyd gives them to every spider that it starts

_HTML = frozenset({ResourceType.HTML})
_NO_TYPE: frozenset[ResourceType] = frozenset()
_SELECT: Mapping[Mode, LevelTypes] = {
    Mode.LOCAL: {**dict.fromkeys(Level, _HTML), Level.OTHER: _NO_TYPE},
    Mode.ALL: dict.fromkeys(Level, _HTML),
    Mode.DIRECTORY: {
        Level.PAGE: EVERY_TYPE,
        Level.CHILD: _HTML,
        Level.PARENT: frozenset({ResourceType.IMAGE}),
        Level.HOST: _NO_TYPE,
        Level.OTHER: _NO_TYPE,
    },
    Mode.FILES: dict.fromkeys(Level, EVERY_TYPE - _HTML),
}


class _Contradiction(NamedTuple):
    """Arguments that cannot hold together: the one to blame and what is expected of it."""

    argument: str
    holds: Callable[[Mapping[str, str], CrawlOptions], bool]
    expected: str


_CONTRADICTIONS = (
    _Contradiction(
        "depth",
        lambda given, options: options.mode is Mode.FILES and "depth" in given,
        "no depth with mode=files, which fetches what the seed page links to and nothing further",
    ),
    _Contradiction(
        "near",
        lambda _, options: options.near and options.mode is Mode.ALL,
        "near=0 with mode=all, where every host belongs; name the types in select",
    ),
    _Contradiction(
        "sitemap",
        lambda _, options: options.sitemap is Sitemap.ONLY and options.mode is Mode.FILES,
        "off or on with mode=files, which fetches the links of the seed page",
    ),
    _Contradiction(
        "requisites",
        lambda _, options: options.mirror and not options.requisites,
        "requisites=1 with mirror=1: a copy without its styles and images does not show",
    ),
    _Contradiction(
        "deny_types",
        lambda _, options: not any(types - options.deny_types for types in options.select.values()),
        "a type left to fetch at one level at least; this denies all that select names",
    ),
    _Contradiction(
        "window_end",
        lambda given, options: "window_end" in given and options.window is None,
        "a window beside it, e.g. window=22:00-06:00",
    ),
)


def parse_arguments(raw: Mapping[str, str], cwd: Path) -> CrawlOptions:
    """Return the options that the arguments *raw* mean, relative paths seen from *cwd*.

    Raises ArgumentError for the first argument that is unknown, wrong or at odds with another. Files
    named with ``@`` are read; nothing else is touched.
    """
    given = {name: text for name, text in raw.items() if name not in _SCRAPYD_NAMES}
    for name, text in given.items():
        _check_name(name, text)
    if "seed" not in given:
        raise ArgumentError("seed", "", "a URL to begin at, e.g. seed=https://example.org/docs/")
    options = _completed(_read(given, cwd), cwd)
    for one in _CONTRADICTIONS:
        if one.holds(given, options):
            raise ArgumentError(one.argument, given.get(one.argument, ""), one.expected)
    return options


def _check_name(name: str, text: str) -> None:
    if name in _READERS or _AGAIN.fullmatch(name):
        return
    shown = ascii(name)[1:-1]
    shown = shown if len(shown) <= 60 else shown[:57] + "..."
    raise ArgumentError(shown, text, f"an argument that exists; the nearest is {nearest(name, _READERS)}")


def _read(given: Mapping[str, str], cwd: Path) -> dict[str, Any]:
    """Return the value of each argument by its name, None for one that has no default of its own."""
    values: dict[str, Any] = {}
    for argument in ARGUMENTS:
        text = given.get(argument.name, argument.default)
        values[argument.name] = None if text is None else argument.read(Given(argument.name, text, cwd))
    for name in ("allow", "deny"):
        values[name] = values[name] or ()
        for again in _given_again(name, given):
            values[name] += patterns(Given(again, given[again], cwd))
    return values


def _given_again(name: str, given: Mapping[str, str]) -> list[str]:
    """Return the names like ``allow.1`` that were given, in the order of their numbers."""
    return sorted((key for key in given if key.startswith(f"{name}.")), key=lambda key: int(key.rpartition(".")[2]))


def _completed(values: dict[str, Any], cwd: Path) -> CrawlOptions:
    """Return the options, with the defaults that depend on other arguments."""
    seeds = values.pop("seed")
    mode: Mode = values["mode"]
    dependent = {
        "select": _SELECT[mode],
        "requisites": values["mirror"],
        "order": Order.SECTION if mode is Mode.DIRECTORY else Order.BREADTH,
        "out": cwd / "crawls" / folder_name(seeds.urls[0]),
    }
    values |= {name: default for name, default in dependent.items() if values[name] is None}
    return CrawlOptions(seeds=seeds.urls, seed_fallbacks=seeds.fallbacks, **values)
