"""The part of the report on what a crawl has learned about its URLs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from spiderproj.learning import Rule
from spiderproj.report import MAX_ROWS, Column, Table
from spiderproj.store.database import Database
from spiderproj.store.rulebook import Rulebook

_MEANING: Final = (
    "Parts of URLs that never change the page, with the evidence; scrapy rules DIR changes them. Wrong at most: that "
    "share of the skips, at 95 %, by audits that all agreed."
)
_COLUMNS: Final = (
    Column("rule", "number"),
    Column("where"),
    Column("part"),
    Column("standing"),
    Column("trials", "number"),
    Column("failed", "number"),
    Column("skipped", "number"),
    Column("audits", "number"),
    Column("wrong at most", "number"),
)


def learned_tables(database: Database) -> Iterator[Table]:
    """Yield the table of rules, if there are any with evidence."""
    hosts = dict(database.execute("SELECT id, key FROM hosts").fetchall())
    rules = [rule for rule in Rulebook(database, strict=False).rules() if rule.has_evidence]
    rules.sort(key=lambda rule: -rule.skipped)
    rows = [_row(rule, hosts.get(rule.host, "")) for rule in rules[:MAX_ROWS]]
    if rows:
        yield Table("Learned about URLs", _MEANING, _COLUMNS, rows, len(rules))


def _row(rule: Rule, host: str) -> tuple[str, ...]:
    counts = (rule.trials, rule.failures, rule.skipped, rule.audits)
    wrong = "" if rule.most_wrong is None else f"{rule.most_wrong:.1%}"
    return (str(rule.id), f"{host}{rule.where}", str(rule.rewrite), rule.standing, *(f"{n:,}" for n in counts), wrong)
