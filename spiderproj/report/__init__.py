"""The report of a crawl: ``report.html`` beside its files.

``records`` say what it tells, ``page`` makes the HTML of it. Pure: whoever reads the store is above.
"""

from spiderproj.report.page import render
from spiderproj.report.records import MAX_BARS, MAX_ROWS, Chart, Column, Report, Table

__all__ = ["MAX_BARS", "MAX_ROWS", "Chart", "Column", "Report", "Table", "render"]
