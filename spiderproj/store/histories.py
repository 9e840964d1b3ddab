"""What a store knows of how often its pages change, and the plan that follows for the visit that begins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from spiderproj.revisit.plan import Candidate, Plan, make_plan
from spiderproj.revisit.rates import History, change_probability, kind_rate, page_rate
from spiderproj.store.visits import current_visit
from spiderproj.templates import template
from spiderproj.urls import split

if TYPE_CHECKING:
    from spiderproj.store.database import Database

FULL_VISITS: Final = 4
"""Visits that ask for everything, the first crawl among them, before one leaves anything out."""

_KEYS: Final = float(1 << 64)  # keys of URLs are spread evenly over so many numbers
_HISTORIES = """
SELECT u.id, u.url, u.key, count(*) - 1, coalesce(c.changed, 0), min(f.fetched_at), max(f.fetched_at)
FROM urls AS u JOIN fetches AS f ON f.url = u.id
    LEFT JOIN (SELECT url, count(*) AS changed FROM changes WHERE what IN ('changed', 'moved', 'gone')
               GROUP BY url) AS c ON c.url = u.id
WHERE u.verdict = 'fetched' AND (f.error IS NULL OR f.status IN (404, 410))
    AND NOT EXISTS (SELECT 1 FROM fetches AS failed WHERE failed.url = u.id AND failed.id > u.fetch) GROUP BY u.id
"""


def plan_visit(database: Database, *, now: float, coverage: float) -> tuple[Plan, set[int]] | None:
    """Return the plan of the visit that begins at *now* and the pages it leaves out, None when it asks for all.

    What failed or was held back the last time is in neither: it is asked for again in any case.
    """
    visit = current_visit(database)
    if visit is None or visit.number < FULL_VISITS or coverage >= 1:
        return None
    rows: list[tuple[int, str, float, History, float]] = []
    kinds: dict[str, History] = {}
    for number, url, key, visits, changed, first, last in database.execute(_HISTORIES):
        parts = split(url)
        kind = f"{parts.authority}{template(parts.path)}"
        history = History(visits, min(changed, visits), last - first)
        kinds[kind] = kinds.get(kind, History()).plus(history)
        rows.append((number, kind, key / _KEYS + 0.5, history, last))
    rates = {kind: kind_rate(history) for kind, history in kinds.items()}
    pages = [
        Candidate(number, change_probability(page_rate(history, rates[kind]), max(0.0, now - last)), last, phase)
        for number, kind, phase, history, last in rows
    ]
    plan = make_plan(pages, now=now, budget=len(pages), coverage=coverage, seed=visit.number)
    return plan, {page.id for page in pages} - {number for number, _ in plan.chosen}
