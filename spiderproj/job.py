"""One crawl job: its arguments, its rules, and everything it keeps in its output folder, opened and closed together.

Scrapy's components find it as ``crawler.spider.job``.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict
from importlib import import_module
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from spiderproj import arguments, default_settings, mediatype, order, rendering, scope
from spiderproj.addresses import AddressPolicy
from spiderproj.errors import ArgumentError, SpiderprojError
from spiderproj.failpoints import failpoint
from spiderproj.files import Spool, prepare
from spiderproj.files.failures import failure
from spiderproj.filters import Filter
from spiderproj.gate import Gate, GateMode
from spiderproj.levels import Home, home_of
from spiderproj.login import read_login
from spiderproj.models import CrawlURL, ResourceType
from spiderproj.patterns import Patterns
from spiderproj.robots import RobotsState
from spiderproj.store import Folder, Frontier, Ledger
from spiderproj.store.folder import WARC
from spiderproj.store.renderings import Renderings
from spiderproj.urls import split
from spiderproj.warc import Warcs

if TYPE_CHECKING:
    from scrapy.http import Headers
    from scrapy.settings import BaseSettings

    from spiderproj.arguments import CrawlOptions
    from spiderproj.items import Capture
    from spiderproj.scope import Judgement

_READ_WHOLE = frozenset({ResourceType.HTML, ResourceType.STYLE, ResourceType.IMAGE})
"""Types whose links are read, so that they are kept in memory (up to DOWNLOAD_MAXSIZE)."""


class Job:
    """An opened crawl. ``state`` tells what the folder held: "new", "resumed" or "revisit"."""

    def __init__(self, options: CrawlOptions, settings: BaseSettings) -> None:
        self.options = options
        self.out = Path(options.out)
        self.failure: SpiderprojError | None = None
        self.on_failure: Callable[[SpiderprojError], None] = lambda _: None
        self.on_ended: Callable[[CrawlURL], None] = lambda _: None
        self.home_scheme = split(options.seeds[0]).scheme
        self.login = read_login(options.login) if options.login is not None else None
        self.is_sealed = False  # the crawl is over: nothing more is taken in
        # Nothing is handed out before the site has let us in, and the browser has started.
        self.is_ready = self.login is None and options.render is arguments.Render.NEVER
        self._stream_above = settings.getint("SPIDERPROJ_STREAM_ABOVE")
        _check_networks(settings)
        _check_browser(options, settings)
        self.scope = build_scope(options, settings)
        self._living = Counter(map(home_of, options.seeds))  # seeds by their home
        self._order = hook(settings, "SPIDERPROJ_ORDER")
        if options.fresh:
            _set_aside(self.out)
        self.folder = Folder(
            self.out,
            fsync=settings.getbool("SPIDERPROJ_FSYNC"),
            reserve=settings.getint("SPIDERPROJ_DISK_RESERVE"),
            warcs=_warcs(options, settings) if options.warc else None,
        )
        try:
            self._open()
        except BaseException:
            self.folder.close()
            raise

    def _open(self) -> None:
        self.database, self.files, self.lines = self.folder.database, self.folder.files, self.folder.lines
        self.gate = Gate(GateMode(self.options.gate))
        self.counts: Counter[str] = Counter()  # requests by method and connections, over all runs
        self.run_pages = self.run_ended = 0
        self.folder.recover()
        failpoint("open.recovered")
        if self.options.warc:
            self.folder.captures.prepare()
        with self.database.reading():
            self._begin()
        self.frontier = Frontier(self.database, worker=f"{os.getpid()}")
        self._rank = order.key_function(self.options.order, self.scope.homes)
        self.ledger = Ledger(self.database, self.frontier, self.scope.judge, self.rank)
        self.renderings = Renderings(self.database)
        self.seeds_new = [seed for seed in self.options.seeds if self._add_seed(seed)]
        if self.state == "revisit":
            self.ledger.requeue(everything=True)
        elif "requisites" in self.changed_arguments and self.options.requisites:
            self.ledger.judge_again()
        failpoint("open.commit")
        self.commit()
        self.folder.check_room()

    def _begin(self) -> None:
        """Find out whether this is a new crawl, and take up what an earlier run has learned."""
        meta = self.database.meta
        self.counts.update(orjson.loads(meta("counts") or "{}"))
        for stored in orjson.loads(meta("homes") or "[]"):
            if (home := Home(*stored)) not in self.scope.homes:
                self.scope.homes.append(home)
        for seed in self.options.seeds:
            self._leave(seed)
        before = meta("state")
        self.state = "new" if before is None else "revisit" if before == "finished" else "resumed"
        self.changed_arguments: list[str] = []
        draws = self.options.render is not arguments.Render.NEVER
        drew = True
        if (arguments_before := meta("arguments")) is not None:
            options_before = arguments.CrawlOptions.from_json(arguments_before)
            drew = options_before.render is self.options.render
            self.changed_arguments = arguments.differences(options_before, self.options)
            if options_before.mirror != self.options.mirror:
                self.state = "resumed"  # the copy changes its form; what it holds is not asked for again
        goes_on = self.state == "resumed" and meta("judges_anew") == "1"
        self.judges_anew = goes_on or bool(self.changed_arguments)  # what pages link to that have not changed, too
        self.database.set_meta("judges_anew", str(int(self.judges_anew)))
        self.draws_anew = draws and (not drew or (self.state == "resumed" and meta("draws_anew") == "1"))
        self.database.set_meta("draws_anew", str(int(self.draws_anew)))
        self.database.set_meta("arguments", self.options.to_json())
        self.database.set_meta("state", "running")
        (self.out / "summary.json").unlink(missing_ok=True)  # it says how an earlier run ended

    def rank(self, judgement: Judgement, url: str) -> order.OrderKey:
        """Return the place of a queued URL in the order."""
        if self._order is not None:
            values = scope.values(url, judgement.level, judgement.predicted, judgement.depth)
            return order.OrderKey(round(self._order(values) * 1000), judgement.depth, 0)
        is_file = judgement.predicted not in (None, ResourceType.HTML) or judgement.role == "requisite"
        return self._rank(order.Place(split(url), judgement.level, judgement.depth, is_file))

    def move_home(self, seed: str, home: Home) -> None:
        """Let the crawl be at home where a redirect of a *seed* led."""
        homes = self.scope.homes
        if home in homes:
            return
        homes.append(home)
        self.database.set_meta("homes", orjson.dumps([list(home) for home in homes]).decode())
        self._leave(seed)

    def _leave(self, seed: str) -> None:
        """Leave the directory of a *seed* that is a directory itself, by the slash its server adds to it."""
        parts, old = split(seed), home_of(seed)
        if Home(parts.authority, f"{parts.path}/") not in self.scope.homes:
            return
        self._living[old] -= 1
        if not self._living[old] and old in self.scope.homes:
            self.scope.homes.remove(old)

    def robots_state(self, origin: str) -> RobotsState:
        """Return what is remembered of an origin's robots.txt."""
        row = self.database.execute("SELECT state, body FROM robots WHERE origin = ?", (origin,)).fetchone()
        return RobotsState(**orjson.loads(row[0]), body=row[1]) if row else RobotsState()

    def keep_robots_state(self, origin: str, state: RobotsState) -> None:
        """Remember an origin's robots.txt for later runs."""
        columns = asdict(state)
        body = columns.pop("body")
        self.database.write("INSERT OR REPLACE INTO robots VALUES (?, ?, ?)",
                            (origin, orjson.dumps(columns).decode(), body))  # fmt: skip

    def spool(self, status: int, headers: Headers) -> Spool | None:
        """Return a place on disk for a large file that begins to arrive, None for a body to keep in memory."""
        size = headers.get(b"Content-Length") or b""
        is_small = size.isdigit() and len(size) < 20 and int(size) <= self._stream_above
        if not 200 <= status < 300 or is_small:
            return None
        kinds = [value.decode("latin-1") for value in headers.getlist(b"Content-Type")]
        if mediatype.resource_type(mediatype.parse(kinds).essence) in _READ_WHOLE:
            return None
        return self.files.spool()

    def ended(self, item: Capture) -> None:
        """Count a capture that the ledger has taken, and tell the scheduler."""
        self.run_ended += 1
        self.run_pages += item.is_good or item.is_unchanged
        if item.status == 0 and item.url.url in self.options.seed_fallbacks:
            self._try_fallback(item.url.url)
        self.on_ended(item.url)

    def fail(self, error: SpiderprojError) -> None:
        """Stop the crawl because its folder or store cannot be used any more."""
        if self.failure is None:
            self.failure = error
            self.on_failure(error)

    def commit(self) -> None:
        """Make everything so far last."""
        self._keep_counts()
        self.folder.commit()

    def seal(self) -> None:
        """Commit for the last time but for the final state: what is written from now on is the crawl's result.

        After a failure what was done since the last commit is not whole, and is undone.
        """
        if self.failure is not None:
            self.folder.recover()
        self._keep_counts()
        self.folder.seal()
        self.is_sealed = True

    def finish(self, state: str) -> None:
        """Commit the final *state*: finished or stopped."""
        failpoint("finish.state")
        self.database.set_meta("state", state)
        self._keep_counts()
        self.folder.commit()

    def close(self) -> None:
        """Let go of the folder."""
        self.folder.close()

    def _keep_counts(self) -> None:
        self.database.set_meta("counts", orjson.dumps(dict(self.counts)).decode())

    def _try_fallback(self, seed: str) -> None:
        """Go on with http:// where a seed given without a scheme does not answer to https://."""
        fallback = self.options.seed_fallbacks[seed]
        self.scope.homes.append(home_of(fallback))
        self._add_seed(fallback)

    def _add_seed(self, seed: str) -> bool:
        return self.ledger.add_seed(seed, self.scope.judge_seed(seed))


def _depth(options: CrawlOptions, settings: BaseSettings) -> int | None:
    """Return the limit of hops: the argument's, else Scrapy's DEPTH_LIMIT, where 0 is none."""
    if options.mode == "files":
        return 1
    return options.depth if options.depth is not None else settings.getint("DEPTH_LIMIT") or None


def build_patterns(options: CrawlOptions) -> Patterns | None:
    """Return the compiled ``allow`` and ``deny`` patterns, None when there are none."""
    if not options.allow and not options.deny:
        return None
    return Patterns.parse([pattern.text for pattern in options.allow], [pattern.text for pattern in options.deny])


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


def check(options: CrawlOptions, settings: BaseSettings) -> None:
    """Raise ArgumentError for what an opened job would find wrong: patterns, filter, functions, networks, login."""
    _check_networks(settings)
    _check_browser(options, settings)
    build_scope(options, settings)
    hook(settings, "SPIDERPROJ_ORDER")
    if options.login is not None:
        read_login(options.login)


def _check_networks(settings: BaseSettings) -> None:
    """Raise ArgumentError when the networks that may be dialled cannot be read."""
    name = "SPIDERPROJ_ALLOWED_NETWORKS"
    try:
        AddressPolicy(settings.getlist(name))
    except ValueError as error:
        raise ArgumentError(name, settings.get(name), "networks such as 10.0.0.0/8,fd00::/8") from error


def _check_browser(options: CrawlOptions, settings: BaseSettings) -> None:
    """Raise ArgumentError when pages are to be drawn and there is nothing to draw them in."""
    if options.render is arguments.Render.NEVER:
        return
    executable = settings.get("SPIDERPROJ_CHROMIUM") or default_settings.SPIDERPROJ_CHROMIUM  # not loaded yet
    if (lacks := rendering.missing(executable)) is not None:
        raise ArgumentError("render", options.render.value, f"never, or {lacks}: make render-deps installs it")


def _warcs(options: CrawlOptions, settings: BaseSettings) -> Warcs:
    """Return what appends to the crawl's WARC files."""
    size = settings.getint("SPIDERPROJ_WARC_SIZE")
    if size < 1:
        raise ArgumentError("SPIDERPROJ_WARC_SIZE", size, "bytes, at least 1")
    robots = "obey" if settings.getbool("ROBOTSTXT_OBEY") else "ignore"
    fields = {"isPartOf": options.out.name, "robots": robots, "http-header-user-agent": settings.get("USER_AGENT")}
    info = "".join(f"{name}: {' '.join(str(value).split())}\r\n" for name, value in fields.items())
    fsync = settings.getbool("SPIDERPROJ_FSYNC")
    return Warcs(options.out / WARC, worker=f"{os.getpid()}", max_size=size, info=info, fsync=fsync)


def _set_aside(out: Path) -> None:
    """Rename an earlier crawl's folder out of the way; it is never deleted."""
    if (out / "crawl.db").exists():
        prepare(out).release()  # refuses when that crawl is running
        stamp = f"{out.name}.{time.strftime('%Y%m%d-%H%M%S')}"
        names = chain([stamp], (f"{stamp}.{number}" for number in count(2)))
        try:
            out.rename(next(aside for name in names if not (aside := out.with_name(name)).exists()))
        except OSError as error:
            raise failure(error, out) from error


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
