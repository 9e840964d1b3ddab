"""The charts of the report as inline SVG: legible in light, in dark and on paper, with their numbers below."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import log1p
from typing import Final

from spiderproj.display import one_line
from spiderproj.landing.markup import Markup, element, join
from spiderproj.landing.parts import foreign, size_of
from spiderproj.report.records import Chart, Grid, Pace, Picture, Ranking, Stretch

STYLE: Final = """
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(18rem, 100%), 1fr)); gap: 0 2.5rem }
svg { display: block; width: 100%; height: auto; margin: .5rem 0 }
svg text { fill: var(--ink); font: 10px system-ui, sans-serif }
svg .faint { fill: var(--faint) }
svg .end { text-anchor: end }
svg .middle { text-anchor: middle }
rect, line { fill: var(--link); stroke: none }
line { stroke: var(--line) }
"""
"""Style rules of the charts; attributes alone would not know of the dark."""

_TEXT: Final = 200  # characters of a name among the numbers
_WIDTH: Final = 300  # of a chart, in its own units; about as many pixels
_HIGH, _TOP, _FOOT, _WIDEST, _GAP = 100, 14, 16, 100, 1  # of bars that stand, their labels, the widest, between two
_LINE, _NAME, _LETTERS, _NUMBER = 18, 108, 19, 52  # of bars that lie: a row, its name, letters of that, its number
_CORNER: Final = 56  # of a grid: names of its rows
_PALE, _STRONG = 0.08, 0.45  # of its cells: none is so dark that its number is not legible
_SHADES: Final = (1.0, 0.55, 0.3, 0.12)  # of what limits, the most frequent first; the last for all others
_STRIP: Final = 8


def draw(picture: Picture) -> Iterator[Markup]:
    """Yield the heading of a chart, the chart, and its numbers; nothing where it has none."""
    match picture:
        case Chart(bars=bars) if bars:
            yield from _framed(picture.title, _standing(picture), _numbers(bars))
        case Ranking(bars=bars) if bars:
            yield from _framed(picture.title, _lying(picture), _numbers(bars))
        case Grid(rows=rows) if rows:
            yield from _framed(picture.title, _cells(picture), _table_of(picture))
        case Pace(stretches=stretches) if stretches:
            yield from _framed(picture.title, _pace(picture), _stretches(stretches))


def _framed(title: str, drawing: Markup, numbers: Markup) -> Iterator[Markup]:
    yield element("h2", title)
    yield drawing
    yield element("details", element("summary", "The numbers"), numbers)


def _svg(about: str, height: float, *parts: str) -> Markup:
    return element("svg", *parts, viewBox=f"0 0 {_WIDTH} {height:g}", role="img", aria_label=about)


def _text(x: float, y: float, text: str, class_: str = "") -> Markup:
    return element("text", text, x=f"{x:.1f}", y=f"{y:.1f}", class_=class_)


def _rect(x: float, y: float, width: float, height: float, title: str, shade: float = 1.0) -> Markup:
    faded = {} if shade == 1 else {"fill_opacity": f"{shade:.2f}"}
    return element("rect", element("title", title), x=f"{x:.1f}", y=f"{y:.1f}", width=f"{max(0.0, width):.1f}",
                   height=f"{height:.1f}", **faded)  # fmt: skip


def _columns(values: Sequence[float], label: Callable[[int], str]) -> Iterator[Markup]:
    """Yield bars that stand side by side, each with what *label* says of it."""
    most = max(*values, 1e-9, 0)
    step = min(_WIDTH / len(values), _WIDEST)
    for place, value in enumerate(values):
        height = _HIGH * value / most
        yield _rect(place * step, _TOP + _HIGH - height, max(1.0, step - _GAP), height, label(place))


def _scale(bars: int, most: str, first: str, last: str, foot: float = _FOOT) -> Iterator[Markup]:
    """Yield the labels of bars that stand: the highest, the first and the last."""
    base = _TOP + _HIGH
    yield _text(0, _TOP - 4, most, "faint")
    yield element("line", x1="0", y1=str(base), x2=str(_WIDTH), y2=str(base))
    yield _text(0, base + foot - 4, first, "faint")
    if last != first:
        yield _text(min(_WIDTH, bars * _WIDEST), base + foot - 4, last, "faint end")


def _standing(chart: Chart) -> Markup:
    values = [value for _, value in chart.bars]
    most = max(values)
    bars = _columns(values, lambda place: f"{_short(chart.bars[place][0])}: {values[place]:,} {chart.unit}")
    labels = _scale(len(values), f"{most:,} {chart.unit} at most", _short(chart.bars[0][0]), _short(chart.bars[-1][0]))
    about = f"{chart.title}: {len(values)} bars, the highest {most:,} {chart.unit}"
    return _svg(about, _TOP + _HIGH + _FOOT, *bars, *labels)


def _lying(ranking: Ranking) -> Markup:
    rows = [(name, float(value), f"{value:,}") for name, value in ranking.bars]
    about = f"{ranking.title}: {len(rows)} bars, the longest {max(value for _, value in ranking.bars):,} {ranking.unit}"
    return _svg(about, _LINE * len(rows), *_rows(rows, [1.0] * len(rows), 0))


def _rows(rows: Sequence[tuple[str, float, str]], shades: Sequence[float], top: float) -> Iterator[Markup]:
    """Yield a bar that lies for each name, value and text of the value, in its shade, below *top*."""
    most = max(value for _, value, _ in rows) or 1.0
    space = _WIDTH - _NAME - _NUMBER
    for place, ((name, value, number), shade) in enumerate(zip(rows, shades, strict=True)):
        y = top + place * _LINE
        width = max(1.0, space * value / most) if value else 0.0
        yield _text(0, y + 12, one_line(name, _LETTERS))
        yield _rect(_NAME, y + 3, width, _LINE - 6, f"{_short(name)}: {number}", shade)
        yield _text(_NAME + width + 4, y + 12, number)


def _cells(grid: Grid) -> Markup:
    """Draw the numbers themselves, the larger the darker."""
    width = (_WIDTH - _CORNER) / len(grid.across)
    most = max((value for _, values in grid.rows for value in values), default=0)
    parts = [_text(_CORNER + (place + 0.5) * width, 12, name, "faint middle") for place, name in enumerate(grid.across)]
    for line, (name, values) in enumerate(grid.rows, 1):
        parts.append(_text(0, line * _LINE + 12, one_line(name, _LETTERS), "faint"))
        for place, (column, value) in enumerate(zip(grid.across, values, strict=True)):
            x = _CORNER + place * width
            shade = _PALE + (_STRONG - _PALE) * log1p(value) / log1p(max(1, most)) if value else 0.0
            parts.append(_rect(x, line * _LINE, width - 1, _LINE - 1, f"{name}, {column}: {value:,}", shade))
            if value:
                parts.append(_text(x + width / 2, line * _LINE + 12, _brief(value), "middle"))
    about = f"{grid.title}: {grid.unit} by {', '.join(grid.across)}; the most in one cell {most:,}"
    return _svg(about, _LINE * (len(grid.rows) + 1), *parts)


def _pace(pace: Pace) -> Markup:
    """Draw the speed, in shades below the bars what limited it, and what they mean with their share of the time."""
    stretches = pace.stretches
    speeds = [stretch.pages / stretch.seconds for stretch in stretches]
    shades = {name: _SHADES[min(place, len(_SHADES) - 1)] for place, (name, _) in enumerate(pace.limits)}
    total = sum(seconds for _, seconds in pace.limits) or 1.0
    shares = [(name, seconds, f"{seconds / total:.0%}") for name, seconds in pace.limits]
    end = _duration(stretches[-1].begin + stretches[-1].seconds)
    top = _TOP + _HIGH + _FOOT + _STRIP
    about = f"{pace.title}: the most {max(speeds):,.1f} pages a second; limited mostly by {pace.limits[0][0]}"
    return _svg(
        about,
        top + _LINE * (len(shares) + 1),
        *_columns(speeds, lambda place: _said(stretches[place])),
        *_strip(stretches, shades),
        *_scale(len(speeds), f"{max(speeds):,.1f} pages/s at most", "0 s", f"{end} of work", _FOOT + _STRIP),
        _text(0, top + 12, "Limited by, of the time:", "faint"),
        *_rows(shares, [*shades.values()], top + _LINE),
    )


def _strip(stretches: Sequence[Stretch], shades: Mapping[str, float]) -> Iterator[Markup]:
    step = min(_WIDTH / len(stretches), _WIDEST)
    for place, stretch in enumerate(stretches):
        shade = shades.get(stretch.limit, _SHADES[-1])
        yield _rect(place * step, _TOP + _HIGH + 2, step, _STRIP, _said(stretch), shade)


def _numbers(bars: Sequence[tuple[str, int]]) -> Markup:
    return element("table", element("tbody", *(_row(name, [f"{value:,}"]) for name, value in bars)))


def _table_of(grid: Grid) -> Markup:
    body = (_row(name, [f"{value:,}" for value in values]) for name, values in grid.rows)
    return element("table", _head(["", *grid.across]), element("tbody", *body))


def _stretches(stretches: Sequence[Stretch]) -> Markup:
    names = ["from", "pages/s", "queue", "received", "memory", "limited by"]
    body = (
        _row(_duration(each.begin), [f"{each.pages / each.seconds:,.1f}", f"{each.pending:,}", size_of(each.bytes),
                                     size_of(each.peak_rss), one_line(each.limit, _TEXT)])
        for each in stretches
    )  # fmt: skip
    return element("table", _head(names), element("tbody", *body))


def _head(names: Sequence[str]) -> Markup:
    first = element("th", names[0], scope="col")
    return element("thead", element("tr", first, *(element("th", n, scope="col", class_="number") for n in names[1:])))


def _row(name: str, values: Sequence[str]) -> Markup:
    cells = join([element("td", value, class_="number") for value in values])
    return element("tr", element("th", foreign(one_line(name, _TEXT)), scope="row"), cells)


def _said(stretch: Stretch) -> str:
    speed = stretch.pages / stretch.seconds
    return f"from {_duration(stretch.begin)}: {speed:,.1f} pages/s, {stretch.limit}"


def _short(name: str) -> str:
    return one_line(name, _TEXT)


def _brief(value: int) -> str:
    """Return *value* in at most six characters.

    >>> _brief(9999), _brief(123456)
    ('9,999', '123k')
    """
    return f"{value:,}" if value < 10_000 else f"{value // 1000:,}k" if value < 10_000_000 else f"{value // 10**6:,}M"


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:,.0f} s"
    return f"{seconds / 60:,.0f} min" if seconds < 7200 else f"{seconds / 3600:,.1f} h"
