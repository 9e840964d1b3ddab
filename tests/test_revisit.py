"""The plan of a revisit, by its parts and on simulated sites whose pages change at known rates (T5)."""

from __future__ import annotations

import os
import random
from dataclasses import dataclass, field
from math import exp, isclose, log
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spiderproj.revisit.lastmod import TRIALS, Signal
from spiderproj.revisit.plan import (
    MAX_AGE,
    WEEK,
    Candidate,
    Plan,
    Why,
    budget_of,
    is_due,
    make_plan,
    missed,
)
from spiderproj.revisit.rates import History, change_probability, kind_rate, page_rate

WARM_UP, WEEKS = 4, 12
PAGES = 20_000 if os.environ.get("SPIDERPROJ_SOAK") else 2_500
RATES = (0.003, 0.05, 0.35, 1.5, 7.0)  # changes a week of the five kinds of pages
SLACK = 0.0 if os.environ.get("SPIDERPROJ_SOAK") else 0.035
"""What a small site may be off by chance."""
MIXES = {
    "documentation": (0.72, 0.21, 0.05, 0.015, 0.005),
    "site": (0.50, 0.25, 0.13, 0.08, 0.04),
    "shop": (0.26, 0.20, 0.20, 0.20, 0.14),
}
TEMPLATES, PURE = 100, 0.85


class Told(NamedTuple):
    """How a site tells of changes: the share of pages that have a lastmod, how often it is right."""

    share: float = 0.0
    recall: float = 0.0
    false_alarm: float = 0.0


SILENT, HONEST, LYING = Told(), Told(0.49, 0.9, 0.02), Told(0.49, 0.99, 0.99)


@dataclass
class Page:
    """A simulated page: its true rate, and what the planner has seen of it."""

    rate: float
    template: int
    has_word: bool
    history: History = field(default_factory=History)
    last: float = 0.0
    is_stale: bool = False  # it has changed since it was visited
    is_told: bool = False


@dataclass
class Outcome:
    """What the planned weeks came to."""

    requests: float = 0.0  # share of all pages, a week
    caught: float = 0.0  # share of the changes of a week
    estimated: float = 0.0  # share of the changes that the audits say are missed
    plans: list[Plan] = field(default_factory=list)


def simulated(mix: str, told: Told = SILENT, *, budget: int | None = None, seed: int = 1) -> Outcome:
    """Return what eight planned weeks come to, after four full ones, on a site of a *mix*."""
    rng = random.Random(seed)
    pages = _pages(rng, MIXES[mix], told)
    signal, done = Signal(), Outcome()
    changes = caught = missed_changes = 0.0
    for week in range(1, WEEKS + 1):
        now = week * WEEK
        changing = {number for number, page in enumerate(pages) if rng.random() < 1 - exp(-page.rate)}
        for number, page in enumerate(pages):
            page.is_stale = page.is_stale or number in changing
            page.is_told = page.has_word and rng.random() < (told.recall if number in changing else told.false_alarm)
        if week <= WARM_UP:
            plan = Plan([(number, Why.AGE) for number in range(len(pages))], 0, 0, 0)
        else:
            plan = make_plan(_candidates(pages, signal, now), now=now, budget=budget or len(pages), seed=week)
        sample = _visit(pages, plan, signal, now)
        if week > WARM_UP:
            done.plans.append(plan)
            changes += len(changing)
            caught += sum(number in changing for number, _ in plan.chosen)
            missed_changes += missed(plan, sample, WEEK)
    weeks = WEEKS - WARM_UP
    done.requests = sum(len(plan.chosen) for plan in done.plans) / weeks / len(pages)
    done.caught, done.estimated = caught / changes, missed_changes / changes
    return done


def _pages(rng: random.Random, mix: tuple[float, ...], told: Told) -> list[Page]:
    kinds = rng.choices(range(5), mix, k=TEMPLATES)
    pages = []
    for _ in range(PAGES):
        template = rng.randrange(TEMPLATES)
        kind = kinds[template] if rng.random() < PURE else rng.choices(range(5), mix)[0]
        pages.append(Page(RATES[kind] * rng.gammavariate(4, 0.25), template, rng.random() < told.share))
    return pages


def _candidates(pages: list[Page], signal: Signal, now: float) -> list[Candidate]:
    sums = [History()] * TEMPLATES
    for page in pages:
        sums[page.template] = sums[page.template].plus(page.history)
    rates = list(map(kind_rate, sums))
    found = []
    for number, page in enumerate(pages):
        probability = change_probability(page_rate(page.history, rates[page.template]), now - page.last)
        if page.has_word:
            probability = signal.weigh(probability, is_told=page.is_told)
        found.append(Candidate(number, probability, page.last, number * 0.618034 % 1))
    return found


def _visit(pages: list[Page], plan: Plan, signal: Signal, now: float) -> list[tuple[bool, float]]:
    """Visit what was planned; return what those of its sample say."""
    sample = []
    for number, why in plan.chosen:
        page = pages[number]
        if page.has_word and why is not Why.LIKELY:
            signal.observe(is_told=page.is_told, has_changed=page.is_stale)
        if number in plan.sample:
            sample.append((page.is_stale, now - page.last))
        page.history = page.history.plus(History(1, int(page.is_stale), now - page.last))
        page.last, page.is_stale = now, False
    return sample


# --- T5


@pytest.mark.parametrize(
    ("mix", "told", "most", "least"),
    [
        ("documentation", SILENT, 0.58, 0.93),
        ("documentation", HONEST, 0.48, 0.93),
        ("site", SILENT, 0.58, 0.95),
        ("site", HONEST, 0.48, 0.95),
        ("shop", SILENT, 0.80, 0.95),
        ("shop", HONEST, 0.70, 0.95),
    ],
)
def test_fewer_requests_for_nearly_all_changes(mix: str, told: Told, most: float, least: float) -> None:
    """After four full weeks few requests catch nearly all changes; the audits say how many they miss."""
    done = simulated(mix, told)
    figures = f"requests {done.requests:.1%}, caught {done.caught:.1%}, missed by the audits {done.estimated:.1%}"
    print(f"{mix}, lastmod {told.recall}: {figures}")

    assert done.requests <= most, figures
    assert done.caught >= least - SLACK, figures
    assert abs(done.estimated - (1 - done.caught)) < 0.02 + SLACK, figures


def test_a_lying_lastmod_costs_nothing() -> None:
    """A host that calls every page changed is found out: within a point of none at all."""
    without, lied_to = simulated("site"), simulated("site", LYING)

    assert abs(lied_to.requests - without.requests) <= 0.01
    assert abs(lied_to.caught - without.caught) <= 0.01


@pytest.mark.parametrize("share", [0.2, 0.3, 0.4])
def test_the_budget_is_kept(share: float) -> None:
    """A window that is too short for all is filled with what is likeliest, and never overrun."""
    budget = int(PAGES * share)
    done = simulated("shop", budget=budget)

    assert max(len(plan.chosen) for plan in done.plans) <= budget
    assert done.caught > share * 1.4
    assert done.plans[-1].counts["likely"] > 0


# --- its parts


def test_rate_of_a_kind() -> None:
    """The estimator is that of the paper: it stays finite when every visit found a change, and is 0 for none."""
    assert kind_rate(History(4, 4, 4.0)) == -log(0.5 / 4.5)
    assert kind_rate(History(4, 0, 4.0)) == 0.0
    assert kind_rate(History()) == 0.0


@given(st.integers(1, 50), st.integers(0, 50), st.floats(1, 1e9), st.floats(0, 1))
@settings(deadline=None)
def test_rate_of_a_page(visits: int, changed: int, exposure: float, of_kind: float) -> None:
    """A page's rate is finite, and more visits that found a change never make it less."""
    changed = min(changed, visits)
    rate = page_rate(History(visits, changed, exposure), of_kind)

    assert 0 <= rate < 1e9
    assert rate >= page_rate(History(visits, max(0, changed - 1), exposure), of_kind)
    assert 0 <= change_probability(rate, exposure) <= 1


def test_a_page_without_visits_is_one_of_its_kind() -> None:
    """What nobody has visited twice changes as its kind does; a long history outweighs the kind."""
    assert page_rate(History(), 0.25) == 0.25
    assert page_rate(History(1000, 0, 1000.0), 0.25) < 0.001
    assert isclose(page_rate(History(2, 0, 2.0), 0.25), -log(1 - (1 - exp(-0.25)) / 2))


def test_weighing_a_word() -> None:
    """An honest word raises and its absence lowers; a word that always comes changes nothing; few visits neither."""
    honest, lying = Signal(told=90, untold=10, false=20, silent=980), Signal(told=100, false=900)

    assert honest.weigh(0.1, is_told=True) > 0.8
    assert honest.weigh(0.1, is_told=False) < 0.02
    assert abs(lying.weigh(0.1, is_told=True) - 0.1) < 0.01
    few = Signal()
    for _ in range(TRIALS - 1):
        few.observe(is_told=True, has_changed=True)
    assert few.weigh(0.1, is_told=True) == 0.1
    few.observe(is_told=True, has_changed=True)
    assert few.weigh(0.1, is_told=True) != 0.1


@given(st.floats(0, 1), st.floats(0, 1e9), st.integers(1, 20))
@settings(deadline=None)
def test_nothing_grows_too_old(phase: float, start: float, weeks: int) -> None:
    """A page that is never likely falls due once in MAX_AGE, at the first plan after its own time."""
    last = start
    for week in range(1, weeks + 1):
        now = start + week * WEEK
        if is_due(Candidate(0, 0.0, last, phase), now):
            last = now
        assert now - last < MAX_AGE + WEEK


def test_due_pages_are_spread() -> None:
    """Pages that were last visited together do not fall due together."""
    now = 8 * MAX_AGE
    due = sum(is_due(Candidate(number, 0.0, now - WEEK, number / 1000), now) for number in range(1000))

    assert 120 <= due <= 130


def test_new_pages_come_first_and_stay() -> None:
    """The order is new, old, audit, likely; when time is short the unlikeliest go, and are told."""
    pages = [Candidate(number, number / 1000, 0.0, 0.5) for number in range(1000)]
    plan = make_plan(pages, now=WEEK, budget=300, new=[5000, 5001])
    order = [why for _, why in plan.chosen]

    assert order == sorted(order, key=[Why.NEW, Why.AGE, Why.AUDIT, Why.LIKELY].index)
    assert [page for page, _ in plan.chosen[:2]] == [5000, 5001]
    assert 299 <= len(plan.chosen) <= 300
    assert plan.sample == {page for page, why in plan.chosen if why is Why.AUDIT}
    short = plan.within(100)
    assert (len(short.chosen), short.dropped) == (100, len(plan.chosen) - 100)
    assert max(page for page, why in plan.chosen if why is Why.LIKELY) == 999
    assert plan.within(1).counts == {"new": 2, "audit": order.count(Why.AUDIT)}


def test_coverage_ends_the_plan() -> None:
    """Pages beyond the wanted share of the expected changes are left out but for the audit."""
    pages = [Candidate(number, 0.9 if number < 100 else 0.001, 0.0, 0.5) for number in range(1000)]
    plan = make_plan(pages, now=WEEK, budget=1000)

    assert plan.counts["likely"] < 100
    assert plan.counts["audit"] == round((1000 - plan.counts["likely"]) * 0.02)
    assert plan.caught >= 0.95 * plan.expected


def test_budget_of_a_window() -> None:
    """Some requests are redirects and retries: they are allowed for."""
    assert budget_of(55.6, 6 * 3600) == 1_091_781
