"""The report as one self-contained HTML page: no script, nothing loaded, charts as SVG, fit to be printed.

Whatever a site has sent is text here: shortened, without control characters, escaped, its direction isolated (bdi).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from spiderproj.display import one_line
from spiderproj.landing.markup import Markup, element
from spiderproj.landing.parts import document, foreign, moment
from spiderproj.landing.style import CSS
from spiderproj.report import charts
from spiderproj.report.records import Column, Report, Table
from spiderproj.report.sheets import FOLDER

_TEXT: Final = 200  # characters of a cell
_WORD: Final = 16  # of one that is not broken into lines: every reason, "HTTP 404"
_STYLE: Final = f"""{CSS}{charts.STYLE}nav ul {{ columns: 16rem }}
.figures {{ max-width: 24rem }}
td.number, th.number {{ padding-right: .75rem }}
td.word {{ white-space: nowrap }}
tr, .charts > section {{ break-inside: avoid }}
h2 {{ break-after: avoid }}
@media print {{ details, .charts > section > h2 {{ font-size: .9rem }} details {{ display: none }} }}
details > summary {{ cursor: pointer }}
"""


def render(report: Report) -> bytes:
    """Return the page, to lie beside ``index.html``."""
    name = one_line(report.name, _TEXT)
    header = element("header", element("h1", foreign(name)), element("p", _when(report), class_="faint"))
    nav, main = element("nav", *_contents(report)), element("main", *_main(report))
    return document(f"{name} (report)", _STYLE, header, nav, main)


def _when(report: Report) -> str:
    if report.crawled is None:
        return "Report of a crawl; nothing was answered yet"
    first, last = map(moment, report.crawled)
    return f"Report of a crawl, fetched {first}" + ("" if first == last else f" to {last}")


def _contents(report: Report) -> Iterator[Markup]:
    """Yield the way to each table, with the number of its rows, and to the landing page."""
    items = [element("li", element("a", "Pages and files of the copy", href="index.html"))]
    for number, table in enumerate(report.tables):
        items.append(element("li", element("a", table.title, href=f"#t{number}"), f" {table.total:,}"))
    yield element("ul", *items)


def _main(report: Report) -> Iterator[Markup]:
    rows = (element("tr", element("th", name, scope="row"), element("td", value, class_="number"))
            for name, value in report.figures.items())  # fmt: skip
    yield element("h2", "In all")
    yield element("table", element("tbody", *rows), class_="figures")
    drawn = [parts for picture in report.charts if (parts := list(charts.draw(picture)))]
    yield element("div", *(element("section", *parts) for parts in drawn), class_="charts")
    for number, table in enumerate(report.tables):
        yield element("section", *_section(table, f"t{number}"))


def _section(table: Table, anchor: str) -> Iterator[Markup]:
    yield element("h2", table.title, id=anchor)
    yield element("p", table.meaning, class_="faint")
    if not table.rows:
        yield element("p", "None.")
        return
    head = element("tr", *(_head(column) for column in table.columns))
    rows = (element("tr", *map(_cell, table.columns, row)) for row in table.rows)
    yield element("table", element("thead", head), element("tbody", *rows))
    more = f"and {table.total - len(table.rows):,} more; all" if table.total > len(table.rows) else "the same"
    sheet = element("a", table.sheet, href=f"{FOLDER}/{table.sheet}")
    yield element("p", f"{more} for a spreadsheet: ", sheet, class_="faint")


def _head(column: Column) -> Markup:
    if column.kind == "number":
        return element("th", column.name, scope="col", class_="number")
    return element("th", column.name, scope="col")


def _cell(column: Column, text: str) -> Markup:
    if column.kind == "number":
        return element("td", text, class_="number")
    shown = foreign(one_line(text, _TEXT))
    if column.kind == "url" and text.startswith(("http://", "https://")):
        return element("td", element("a", shown, href=text, rel="noreferrer"))
    return element("td", shown, class_="word") if len(text) <= _WORD else element("td", shown)
