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
from spiderproj.report.records import Chart, Column, Report, Table

_TEXT: Final = 200  # characters of a cell
_WORD: Final = 16  # of one that is not broken into lines: every reason, "HTTP 404"
_WIDTH, _HEIGHT, _WIDEST, _GAP = 300, 100, 50, 1  # of a chart, its widest bar, and between two, in its own units
_STYLE: Final = f"""{CSS}
nav ul {{ columns: 16rem }}
.charts {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(17rem, 1fr)); gap: 0 2.5rem }}
svg {{ display: block; width: 100%; height: auto; margin: .5rem 0; border-bottom: 1px solid var(--line) }}
rect {{ fill: var(--link) }}
td.number, th.number {{ padding-right: .75rem }}
td.word {{ white-space: nowrap }}
section {{ break-inside: avoid-page }}
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
    yield element("table", element("tbody", *rows))
    yield element(
        "div", *(element("section", *_chart(chart)) for chart in report.charts if chart.bars), class_="charts"
    )
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
    if table.total > len(table.rows):
        yield element("p", f"and {table.total - len(table.rows):,} more, in pages.jsonl, refused.jsonl and crawl.db")


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


def _chart(chart: Chart) -> Iterator[Markup]:
    """Yield a bar for each number, and the numbers themselves for who does not see them, or wants to know."""
    most = max(1, *(value for _, value in chart.bars))
    step = min(_WIDTH / len(chart.bars), _WIDEST)
    bars = []
    for place, (name, value) in enumerate(chart.bars):
        height = _HEIGHT * value / most
        label = element("title", f"{one_line(name, _TEXT)}: {value:,} {chart.unit}")
        bars.append(element("rect", label, x=f"{place * step:.1f}", y=f"{_HEIGHT - height:.1f}",
                            width=f"{max(1.0, step - _GAP):.1f}", height=f"{height:.1f}"))  # fmt: skip
    about = f"{chart.title}: {len(chart.bars)} bars, the highest {most:,} {chart.unit}"
    yield element("h2", chart.title)
    yield element("svg", *bars, viewBox=f"0 0 {_WIDTH} {_HEIGHT}", role="img", aria_label=about)
    rows = (element("tr", element("th", foreign(one_line(name, _TEXT)), scope="row"),
                    element("td", f"{value:,}", class_="number")) for name, value in chart.bars)  # fmt: skip
    yield element("details", element("summary", "The numbers"), element("table", element("tbody", *rows)))
