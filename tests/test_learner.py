"""The learner on simulated sites: how much is asked for, that nothing is lost, and that a wrong rule falls."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from spiderproj import content, links, order, urls
from spiderproj.learning import State
from spiderproj.levels import home_of
from spiderproj.models import Level, Link, LinkRole, ResourceType
from spiderproj.scope import Scope, Source
from spiderproj.store import Database, Decisions, Frontier, Ledger, Outcome
from spiderproj.store.learner import Learner
from spiderproj.store.trials import Answer
from tests import duplicate_sites as sites

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from spiderproj.content import Reading
    from spiderproj.models import CrawlURL
    from tests.duplicate_sites import DuplicateSite, Reply


SOAK = bool(os.environ.get("SPIDERPROJ_SOAK"))
FLIP = 198  # just after a shop of 150 items has been understood


class Crawl:
    """A crawl of a simulated site, one request at a time, without Scrapy and without a network."""

    def __init__(
        self, path: Path, site: DuplicateSite, *, strict: bool, bodies: dict[int, str] | None = None,
    ) -> None:  # fmt: skip
        self.site = site
        self.bodies = {} if bodies is None else bodies
        self._readings: dict[int, Reading] = {}
        self.database = Database(path / "crawl.db")
        self.frontier = Frontier(self.database, "test")
        scope = Scope(mode="local", homes=[home_of(site.seed)], select=dict.fromkeys(Level, frozenset(ResourceType)))
        rank = order.key_function(order.Order.BREADTH, scope.homes)
        self.decisions = Decisions(
            self.database, self.frontier, scope.judge,
            lambda judged, _: rank(order.Place(None, judged.level, judged.depth, is_file=False)),  # type: ignore[arg-type]  # not looked at
        )  # fmt: skip
        self.learner = self.decisions.learner = Learner(
            self.database, self.frontier, self.decisions, self, strict=strict, audit_every=50, seed=1
        )
        self.ledger = Ledger(self.database, self.decisions)
        self.decisions.add_seed(site.seed, scope.judge_seed(site.seed))

    def of(self, row: int) -> Reading | None:
        """Return the main content of a page, as ``PageReadings``."""
        if row not in self._readings and row in self.bodies:
            self._readings[row] = content.read_blocks(self.bodies[row])
        return self._readings.get(row)

    def kept(self, row: int) -> Reading | None:
        """Return what was kept of it."""
        return self._readings.get(row)

    def keep(self, row: int, reading: Reading | None) -> None:
        """Forget what was kept."""
        assert reading is None
        self._readings.pop(row, None)

    def run(self) -> None:
        """Crawl to the end."""
        while self.frontier.pending or self.learner.has_work:
            self.step()

    def step(self) -> None:
        """Make one request, or let held URLs go."""
        leased = self.frontier.lease(0, lambda _: 0.0)
        if leased is not None:
            self._fetch(leased)
        else:
            assert self.learner.advance(), "a crawl that neither goes on nor ends"

    def run_until_revoked(self, flip_at: int) -> int:
        """Crawl until a rule has fallen; return how many URLs were skipped from the request *flip_at* on until then."""
        while len(self.site.asked) < flip_at - 1:
            self.step()
        before = skipped = self.refused()
        while all(rule.state is State.ON for rule in self.learner.rules):
            skipped = max(skipped, self.refused())
            self.step()
        return skipped - before

    def refused(self) -> int:
        """Return how many URLs are refused as learned."""
        return int(self.database.scalar("SELECT count(*) FROM urls WHERE reason = 'learned'"))

    def _fetch(self, leased: CrawlURL) -> None:
        reply, first_new = self.site.ask(leased.url), self.decisions.next_id
        found, answer, outcome = self._read(leased, reply)
        rows = self.decisions.decide(Source.of(leased), found)
        self.ledger.record_decided(leased, outcome, rows)
        self.learner.observe(leased, answer, rows, first_new)

    def _read(self, leased: CrawlURL, reply: Reply | None) -> tuple[list[Link], Answer | None, Outcome]:
        if reply is None:
            return [], None, Outcome(status=404, fetched_at=0, error="HTTP 404")
        if reply.location is not None:
            target = urls.canonical(reply.location, leased.url)
            link = Link(target, "", "redirect", "location", "", LinkRole.NAVIGATION, None)
            return [link], Answer(None, target), Outcome(status=301, fetched_at=0, final_url=target)
        page = links.read_html(reply.html.encode(), leased.url)
        digest = hash(reply.html).to_bytes(8, "big", signed=True)
        stored = self.ledger.add_content(leased, digest, 0, len(reply.html), f"file{len(self.site.asked)}")
        self.bodies[leased.id] = reply.html
        answer = Answer(stored.id, None)
        return page.links, answer, Outcome(status=200, fetched_at=0, type=ResourceType.HTML, content=stored.id)


@contextmanager
def crawled(path: Path, site: DuplicateSite, *, strict: bool) -> Iterator[Crawl]:
    """Crawl *site* to its end."""
    crawl = Crawl(path, site, strict=strict)
    with crawl.database:
        crawl.run()
        yield crawl


@pytest.mark.parametrize(("strict", "most"), [(False, 60), (True, 65)])
def test_a_blog_is_fetched_once(tmp_path: Path, *, strict: bool, most: int) -> None:
    """Of 382 addresses at most so many are asked for, and each of the 22 contents is there."""
    site = sites.blog()
    with crawled(tmp_path, site, strict=strict) as crawl:
        assert site.lost == []
        assert len(site.contents) == 22
        assert len(site.asked) <= most
        assert crawl.refused() == 382 - len(set(site.asked))


SMALL = [
    ("shop", sites.shop(100), False, 200),
    ("shop-strict", sites.shop(100), True, 270),
    ("5%", sites.shop(100, matters=0.05), False, 330),
    ("5%-strict", sites.shop(100, matters=0.05), True, 330),
    ("20%", sites.shop(100, matters=0.2), False, 420),
    ("50%", sites.shop(100, matters=0.5), False, 822),
    ("doc", sites.newspaper(60), False, 450),
    ("sessions", sites.sessions(60), False, 220),
    ("spellings", sites.spellings(60), False, 190),
]
WHOLE = [
    ("shop", sites.shop(), False, 600),
    ("shop-strict", sites.shop(), True, 1000),
    ("1%-strict", sites.shop(matters=0.01), True, 1000),
    ("5%", sites.shop(matters=0.05), False, 1150),
    ("5%-strict", sites.shop(matters=0.05), True, 1150),
    ("20%", sites.shop(matters=0.2), False, 1450),
    ("50%", sites.shop(matters=0.5), False, 2882),
    ("doc", sites.newspaper(), False, 2000),
    ("sessions", sites.sessions(), False, 520),
    ("spellings", sites.spellings(), False, 260),
]
SITES = WHOLE if SOAK else SMALL


@pytest.mark.parametrize(("name", "site", "strict", "most"), SITES, ids=[case[0] for case in SITES])
def test_nothing_is_lost(tmp_path: Path, name: str, site: DuplicateSite, *, strict: bool, most: int) -> None:
    """Every content is there in the end, for about as many requests as the method promises."""
    with crawled(tmp_path, site, strict=strict) as crawl:
        print(f"{name}: {len(site.asked)} requests for {len(site.contents)} contents, {crawl.refused()} skipped")
        assert site.lost == []
        assert len(site.asked) <= most
        assert all(rule.skipped >= 0 for rule in crawl.learner.rules)


def test_rules_know_where_they_hold(tmp_path: Path) -> None:
    """A parameter that is neutral on one template and the content of another becomes a rule on the first alone."""
    with crawled(tmp_path, sites.newspaper(40), strict=False) as crawl:
        states = {rule.template: rule.state for rule in crawl.learner.rules}
    assert states == {"/news/{n}": State.ON, "/doc/{n}": State.OFF}


def test_a_rule_that_turns_wrong_falls(tmp_path: Path) -> None:
    """When a parameter begins to matter its rule falls within 149 more skips, and all it has skipped is fetched."""
    seeds = range(1, 101 if SOAK else 3)
    late = 0
    for seed in seeds:
        (tmp_path / str(seed)).mkdir()
        site = sites.shop(150, flip_at=FLIP, seed=seed)
        crawl = Crawl(tmp_path / str(seed), site, strict=False)
        with crawl.database:
            late += crawl.run_until_revoked(FLIP) > 149
            crawl.run()
            for (url,) in crawl.database.execute("SELECT url FROM urls WHERE reason = 'learned'").fetchall():
                answered = site.answer(url, FLIP)
                assert answered is not None
                assert answered[0] in site.seen
    assert late <= max(1, len(seeds) // 20)


def test_evidence_is_kept(tmp_path: Path) -> None:
    """A store that is opened again in the middle of its trials goes on with them, and holds what was held."""
    site = sites.blog()
    first = Crawl(tmp_path, site, strict=False)
    with first.database:
        while len(site.asked) < 30:
            first.step()
        first.learner.flush()
        first.database.commit()
    crawl = Crawl(tmp_path, site, strict=False, bodies=first.bodies)
    with crawl.database:
        assert crawl.frontier.held > 100
        crawl.run()
        assert site.lost == []
        assert len(site.asked) <= 62
