"""The report's table of the families of URLs that are set aside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spiderproj.report import MAX_ROWS, Column, Table
from spiderproj.store.families import read, samples, set_aside

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spiderproj.store.database import Database


def trap_tables(database: Database) -> Iterator[Table]:
    """Yield the table, if there is anything in it: each family with its counts and a URL that waits."""
    found = read(database)
    if not found:
        return
    rows = []
    for family in found[:MAX_ROWS]:
        counts = (family.new, family.fetched, set_aside(database, family.id))
        example = next(iter(samples(database, family.id, 1)), "")
        rows.append((str(family.id), family.name, *(f"{count:,}" for count in counts), example))
    numbers = [Column(name, "number") for name in ("new", "fetched", "set aside")]
    columns = (Column("number", "number"), Column("family"), *numbers, Column("for example", "url"))
    meaning = "Families of URLs that brought next to nothing new; scrapy traps DIR --release NUMBER lets one in."
    yield Table("Traps", meaning, columns, rows, len(found))
