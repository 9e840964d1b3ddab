"""One crawl job: its arguments, its rules, and everything it keeps in its output folder, opened and closed together.

Scrapy's components find it as ``crawler.spider.job``.
"""

from __future__ import annotations

import logging
import math
import os
import time
from collections import Counter
from collections.abc import Callable
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from spiderproj import arguments, mediatype, order, scope, steady, windows
from spiderproj.configuration import build_scope, build_warcs, check_settings, hook
from spiderproj.errors import SpiderprojError
from spiderproj.failpoints import failpoint
from spiderproj.files import Spool, prepare
from spiderproj.files.failures import failure
from spiderproj.gate import Gate, GateMode
from spiderproj.levels import Home, home_of, homes_of
from spiderproj.login import read_login
from spiderproj.models import CrawlURL, ResourceType
from spiderproj.store import Decisions, Folder, Frontier, Ledger
from spiderproj.store.changed import pair_moves
from spiderproj.store.changes import Changes
from spiderproj.store.gate_families import load_gate, save_gate
from spiderproj.store.histories import plan_visit
from spiderproj.store.holders import build_learner, build_quarantine
from spiderproj.store.readings import Readings
from spiderproj.store.renderings import Renderings
from spiderproj.store.visits import begin_visit, current_visit
from spiderproj.urls import split

if TYPE_CHECKING:
    from scrapy.http import Headers
    from scrapy.settings import BaseSettings

    from spiderproj.arguments import CrawlOptions
    from spiderproj.items import Capture
    from spiderproj.scope import Judgement

logger = logging.getLogger(__name__)

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
        self.window = None if options.window is None else windows.Window.parse(options.window)
        self._began = steady.now()
        self.is_sealed = False  # the crawl is over: nothing more is taken in
        # Nothing is handed out before the site has let us in, and the browser has started.
        self.is_ready = self.login is None and options.render is arguments.Render.NEVER
        self._stream_above = settings.getint("SPIDERPROJ_STREAM_ABOVE")
        self._looks_for_traps = settings.getbool("SPIDERPROJ_TRAPS")
        check_settings(options, settings)
        self._coverage = settings.getfloat("SPIDERPROJ_REVISIT_COVERAGE")
        self.scope = build_scope(options, settings)
        self._order = hook(settings, "SPIDERPROJ_ORDER")
        if options.fresh:
            _set_aside(self.out)
        self.folder = Folder(
            self.out,
            fsync=settings.getbool("SPIDERPROJ_FSYNC"),
            reserve=settings.getint("SPIDERPROJ_DISK_RESERVE"),
            warcs=build_warcs(options, settings) if options.warc else None,
        )
        try:
            self._open()
        except BaseException:
            self.folder.close()
            raise

    def _open(self) -> None:
        self.database, self.files, self.lines = self.folder.database, self.folder.files, self.folder.lines
        self.counts: Counter[str] = Counter()  # requests by method and connections, over all runs
        self.run_pages = self.run_ended = 0
        self.folder.recover()
        failpoint("open.recovered")
        with self.database.reading():
            self._begin()
        self.gate = Gate(GateMode(self.options.gate), load_gate(self.database))
        self.frontier = Frontier(self.database, worker=f"{os.getpid()}")
        self.lease = self.frontier.lease  # a survey puts its own choice in between
        self._rank = order.key_function(self.options.order, self.scope.homes)
        self.decisions = Decisions(self.database, self.frontier, self.scope.judge, self.rank)
        self.renderings = Renderings(self.database)
        self._build_holders()
        self.ledger = Ledger(self.database, self.decisions)
        visit = current_visit(self.database)
        self.changes = None if visit is None else Changes(self.database, self.folder, self.decisions, visit)
        self.seeds_new = [seed for seed in self.options.seeds if self._add_seed(seed)]
        if self.state == "revisit":
            self.ledger.requeue(everything=True, spared=self._spared())
            for holder in self.holders:
                holder.begin_anew()
        elif "requisites" in self.changed_arguments and self.options.requisites:
            self.decisions.judge_again()
        failpoint("open.commit")
        self.commit()
        self.folder.check_room()

    def _spared(self) -> set[int]:
        """Return what is stored and not asked for on this visit: it is too unlikely to have changed."""
        is_new_work = self.judges_anew or self.draws_anew  # each page is needed once more
        planned = None if is_new_work else plan_visit(self.database, now=time.time(), coverage=self._coverage)
        if planned is None:
            return set()
        plan, spared = planned
        share = plan.caught / plan.expected if plan.expected else 1.0
        logger.info("Asking for %d pages (%s), not for %d: %.0f%% of the expected changes",
                    len(plan.chosen), plan.counts, plan.skipped, share * 100)  # fmt: skip
        return spared

    def _build_holders(self) -> None:
        """Make what holds back URLs, or sets them aside, and let back in what nothing holds any more."""
        shared = (self.database, self.frontier, self.decisions, Readings(self.database, self.folder, self.renderings))
        self.learner = self.decisions.learner = build_learner(self.options.unique, *shared)
        self.quarantine = build_quarantine(self.options.unique, *shared, is_wanted=self._looks_for_traps)
        self.holders = [holder for holder in (self.learner, self.quarantine) if holder is not None]

    def _begin(self) -> None:
        """Find out whether this is a new crawl, and take up what an earlier run has learned."""
        meta = self.database.meta
        self.counts.update(orjson.loads(meta("counts") or "{}"))
        moved = [Home(*stored) for stored in orjson.loads(meta("homes") or "[]")]
        self.scope.homes[:] = homes_of(self.options.seeds, moved)
        before = meta("state")
        self.state = "new" if before is None else "revisit" if before == "finished" else "resumed"
        if self.state == "revisit":
            begin_visit(self.database)
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

    def move_home(self, home: Home) -> None:
        """Let the crawl be at home where a redirect of a seed led."""
        homes = self.scope.homes
        if home in homes:
            return
        moved = [*homes, home]
        self.database.set_meta("homes", orjson.dumps([list(each) for each in moved]).decode())
        homes[:] = homes_of(self.options.seeds, moved)

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

    def closed_for(self) -> float:
        """Return for how many seconds nothing may be fetched because the window is closed; 0 when it is not."""
        if self.window is None:
            return 0.0
        return self.window.closed_for(windows.second_of_day(), steady.now() - self._began)

    @property
    def waits(self) -> bool:
        """Whether it waits for its window to open again."""
        return self.options.window_end is arguments.WindowEnd.WAIT and self.closed_for() != math.inf

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
        self._keep_learned()
        self.folder.commit()

    def seal(self) -> None:
        """Commit for the last time but for the final state: what is written from now on is the crawl's result.

        After a failure what was done since the last commit is not whole, and is undone.
        """
        if self.failure is not None:
            self.folder.recover()
        else:
            self._keep_learned()
        self._keep_counts()
        pair_moves(self.database)
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

    def _keep_learned(self) -> None:
        for holder in self.holders:
            holder.flush()
        save_gate(self.database, self.gate.changed())

    def _keep_counts(self) -> None:
        self.database.set_meta("counts", orjson.dumps(dict(self.counts)).decode())

    def _try_fallback(self, seed: str) -> None:
        """Go on with http:// where a seed given without a scheme does not answer to https://."""
        fallback = self.options.seed_fallbacks[seed]
        self.scope.homes.append(home_of(fallback))
        self._add_seed(fallback)

    def _add_seed(self, seed: str) -> bool:
        return self.decisions.add_seed(seed, self.scope.judge_seed(seed))


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
