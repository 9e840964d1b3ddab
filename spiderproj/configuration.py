"""From arguments and settings to the rules of a crawl: whatever is wrong with them is said before it begins."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

from spiderproj import arguments, default_settings, rendering, scope
from spiderproj.addresses import AddressPolicy
from spiderproj.errors import ArgumentError
from spiderproj.filters import Filter
from spiderproj.levels import home_of
from spiderproj.login import read_login
from spiderproj.patterns import Patterns
from spiderproj.store.folder import WARC
from spiderproj.warc import Warcs

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from spiderproj.arguments import CrawlOptions


def check(options: CrawlOptions, settings: BaseSettings) -> None:
    """Raise ArgumentError for what an opened job would find wrong: patterns, filter, functions, networks, login."""
    check_settings(options, settings)
    build_scope(options, settings)
    hook(settings, "SPIDERPROJ_ORDER")
    if options.login is not None:
        read_login(options.login)


def build_scope(options: CrawlOptions, settings: BaseSettings) -> scope.Scope:
    """Return the rules that *options* and the SPIDERPROJ_FILTER function stand for."""
    conditions: list[tuple[str, scope.Condition]] = []
    if options.filter:
        conditions.append((f"filter={options.filter}", Filter.parse(options.filter)))
    if (function := hook(settings, "SPIDERPROJ_FILTER")) is not None:
        conditions.append((f"SPIDERPROJ_FILTER={settings.get('SPIDERPROJ_FILTER')}", scope.FunctionCondition(function)))
    return scope.Scope(
        mode=options.mode,
        homes=list(dict.fromkeys(map(home_of, options.seeds))),
        select=options.select,
        near=options.near,
        requisites=options.requisites,
        depth=_depth(options, settings),
        deny_types=options.deny_types,
        follow_links=options.sitemap != "only",
        predict_refuses=options.gate == "extension",
        hint_refuses=options.gate in ("auto", "extension"),
        patterns=build_patterns(options),
        conditions=conditions,
    )


def build_patterns(options: CrawlOptions) -> Patterns | None:
    """Return the compiled ``allow`` and ``deny`` patterns, None when there are none."""
    if not options.allow and not options.deny:
        return None
    return Patterns.parse([pattern.text for pattern in options.allow], [pattern.text for pattern in options.deny])


def build_warcs(options: CrawlOptions, settings: BaseSettings) -> Warcs:
    """Return what appends to the crawl's WARC files."""
    size = settings.getint("SPIDERPROJ_WARC_SIZE")
    if size < 1:
        raise ArgumentError("SPIDERPROJ_WARC_SIZE", size, "bytes, at least 1")
    robots = "obey" if settings.getbool("ROBOTSTXT_OBEY") else "ignore"
    fields = {"isPartOf": options.out.name, "robots": robots, "http-header-user-agent": settings.get("USER_AGENT")}
    info = "".join(f"{name}: {' '.join(str(value).split())}\r\n" for name, value in fields.items())
    fsync = settings.getbool("SPIDERPROJ_FSYNC")
    return Warcs(options.out / WARC, worker=f"{os.getpid()}", max_size=size, info=info, fsync=fsync)


def hook(settings: BaseSettings, name: str) -> Callable[[Mapping[str, object]], Any] | None:
    """Return the function that the setting *name* imports, None when it is empty; ArgumentError when it cannot."""
    path = settings.get(name)
    if not path:
        return None
    try:
        module, _, attribute = path.rpartition(".")
        function = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise ArgumentError(name, path, "the import path of a function, such as mymodule.myfunction") from error
    if not callable(function):
        raise ArgumentError(name, path, "a function of one argument, the values of docs/arguments.md")
    return function  # type: ignore[no-any-return]  # what the user's module holds


def check_settings(options: CrawlOptions, settings: BaseSettings) -> None:
    """Raise ArgumentError when a setting cannot be read, or when what it names is not there."""
    _check_networks(settings)
    _check_browser(options, settings)
    _check_coverage(settings)


def _check_networks(settings: BaseSettings) -> None:
    """Raise ArgumentError when the networks that may be dialled cannot be read."""
    name = "SPIDERPROJ_ALLOWED_NETWORKS"
    try:
        AddressPolicy(settings.getlist(name))
    except ValueError as error:
        raise ArgumentError(name, settings.get(name), "networks such as 10.0.0.0/8,fd00::/8") from error


def _check_coverage(settings: BaseSettings) -> None:
    """Raise ArgumentError when the share of changes that a revisit has to catch is none."""
    name = "SPIDERPROJ_REVISIT_COVERAGE"
    with suppress(ValueError):
        if 0 < settings.getfloat(name, 1.0) <= 1:
            return
    raise ArgumentError(name, str(settings.get(name)), "a number above 0, at most 1, e.g. 0.95")


def _check_browser(options: CrawlOptions, settings: BaseSettings) -> None:
    """Raise ArgumentError when pages are to be drawn and there is nothing to draw them in."""
    if options.render is arguments.Render.NEVER:
        return
    executable = settings.get("SPIDERPROJ_CHROMIUM") or default_settings.SPIDERPROJ_CHROMIUM  # not loaded yet
    if (lacks := rendering.missing(executable)) is not None:
        raise ArgumentError("render", options.render.value, f"never, or {lacks}: make render-deps installs it")


def _depth(options: CrawlOptions, settings: BaseSettings) -> int | None:
    """Return the limit of hops: the argument's, else Scrapy's DEPTH_LIMIT, where 0 is none."""
    if options.mode == "files":
        return 1
    return options.depth if options.depth is not None else settings.getint("DEPTH_LIMIT") or None
