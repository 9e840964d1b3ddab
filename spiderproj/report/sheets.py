"""A table of the report as a CSV file that is safe and right in a spreadsheet (RFC 4180)."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from spiderproj.display import inert_cell
from spiderproj.report.records import MAX_LINES, Column, Table

FOLDER: Final = "report"
"""Where the sheets lie, beside the page."""

_MARK: Final = "\ufeff"  # without it spreadsheets read UTF-8 as the encoding of the country
_AT_ONCE: Final = 1000  # rows
_NUMBER: Final = re.compile(r"-?[0-9]+(?:\.[0-9]+)?%?")


def sheet(table: Table) -> Iterator[bytes]:
    """Yield the file of *table*, all its rows up to MAX_LINES, a thousand at a time."""
    rows = iter(table.every() if table.every is not None and table.total > len(table.rows) else table.rows)
    yield _lines([[f"{_MARK}{table.columns[0].name}", *(column.name for column in table.columns[1:])]])
    rows = islice(rows, MAX_LINES)
    while part := list(islice(rows, _AT_ONCE)):
        yield _lines([[*map(_cell, table.columns, row)] for row in part])


def _lines(rows: Sequence[Sequence[str]]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    return text.getvalue().encode("utf-8", "replace")


def _cell(column: Column, text: str) -> str:
    """Return a cell: numbers without commas, which some countries take for a point; texts that nothing runs."""
    if column.kind == "number" and _NUMBER.fullmatch(plain := text.replace(",", "")):
        return plain
    return inert_cell(text)
