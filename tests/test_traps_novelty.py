"""Novelty budgets on a simulated site most of whose links lead into spaces without end; states, dates, families."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

import pytest

from spiderproj.store.quarantine import Brought, Quarantine
from spiderproj.traps import content_digest
from spiderproj.urls import url_key
from tests import trap_sites
from tests.test_learner import Crawl

if TYPE_CHECKING:
    from pathlib import Path

    from spiderproj.models import CrawlURL
    from tests.duplicate_sites import DuplicateSite

NOW = 1_796_000_000.0  # November 2026


class TrapCrawl(Crawl):
    """A crawl that looks for traps, with or without learning rules."""

    def __init__(self, path: Path, site: DuplicateSite, *, learns: bool) -> None:
        super().__init__(path, site, strict=False)
        if not learns:
            self.decisions.learner = None
        self.quarantine = Quarantine(self.database, self.decisions, self.frontier, self._content, lambda: NOW)

    def run(self, limit: int = 100_000) -> None:
        """Crawl to the end, or to *limit* requests."""
        holders = (self.learner, self.quarantine)
        while self.frontier.pending or any(holder.has_work for holder in holders):
            leased = self.frontier.lease(0, lambda _: 0.0)
            if leased is None:
                assert any(holder.advance() for holder in holders), "a crawl that neither goes on nor ends"
            elif self.quarantine.admits(leased):
                self._fetch(leased)
                if len(self.site.asked) >= limit:
                    return
        self.quarantine.flush()

    def _fetch(self, leased: CrawlURL) -> None:
        super()._fetch(leased)
        html = self.bodies.get(leased.id)
        title = None if html is None else html.partition("<title>")[2].partition("</title>")[0]
        read = partial(self._content, leased.id)
        self.quarantine.observe(leased, None if html is None else Brought(url_key(html), title, read))

    def _content(self, row: int) -> int:
        reading = self.of(row)
        return 0 if reading is None else content_digest(reading)


@pytest.mark.parametrize("learns", [False, True], ids=["novelty alone", "with rules"])
def test_a_site_of_traps_is_crawled_whole(tmp_path: Path, *, learns: bool) -> None:
    """Within 1.5 times the size of the site 99 % of the real pages are there, and the crawl ends by itself."""
    size = trap_sites.FULL if os.environ.get("SPIDERPROJ_SOAK") else trap_sites.SMALL
    where = trap_sites.TrapSite(size)
    crawl = TrapCrawl(tmp_path, where.site, learns=learns)
    with crawl.database:
        crawl.run(limit=round(1.5 * size.real))
        requests, fresh = where.requests.total(), where.fresh.total()
        print(dict(where.requests), dict(where.fresh), requests, fresh / requests, where.share())
        assert not crawl.frontier.pending
        assert where.share() >= 0.99
        assert fresh / requests >= 0.8
        assert where.requests["loop"] <= 150
