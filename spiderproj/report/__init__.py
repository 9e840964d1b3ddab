"""The report of a crawl: ``report.html`` beside its files, and its tables for spreadsheets.

``records`` say what it tells, ``page`` makes the HTML of it with the ``charts``, ``sheets`` the CSV of a table. Pure:
whoever reads the store is above.
"""

from spiderproj.report.page import render
from spiderproj.report.records import (
    MAX_BARS,
    MAX_LINES,
    MAX_ROWS,
    Chart,
    Column,
    Grid,
    Pace,
    Picture,
    Ranking,
    Report,
    Stretch,
    Table,
)
from spiderproj.report.sheets import FOLDER, sheet

__all__ = [
    "FOLDER",
    "MAX_BARS",
    "MAX_LINES",
    "MAX_ROWS",
    "Chart",
    "Column",
    "Grid",
    "Pace",
    "Picture",
    "Ranking",
    "Report",
    "Stretch",
    "Table",
    "render",
    "sheet",
]
