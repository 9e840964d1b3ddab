"""The landing page: a copy's figures in, one self-contained HTML page out.

Whatever a site has sent is text here: shortened, without control characters, escaped, its direction isolated (bdi).
The page has no script, and its policy allows none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from operator import attrgetter
from typing import Final
from urllib.parse import urlsplit

from spiderproj.display import one_line
from spiderproj.landing.markup import Markup, element, join
from spiderproj.landing.parts import document, foreign, moment, size_of
from spiderproj.landing.records import Copy, Entry, Start
from spiderproj.landing.style import CSS
from spiderproj.rewrite import Relative

_FILES: Final = "files/"
_TEXT: Final = 200  # characters of a title or a value
_KEYWORDS: Final = 2000  # characters of the user's own
_ROWS: Final = 40  # of a table whose rows a site could multiply
_NUMBER: Final = re.compile("[0-9]++")
_RESULTS: Final = {
    "report.html": "what came of the crawl: refusals, broken links, and more",
    "pages.jsonl": "every URL that was answered",
    "links.jsonl": "every link",
    "refused.jsonl": "what was not fetched, and why",
    "summary.json": "the counts",
    "__doc.txt": "the key words",
}
_reference: Final = Relative("")


def render(copy: Copy) -> bytes:
    """Return the page, to lie beside the folder ``files``."""
    name = one_line(copy.title, _TEXT) or _host(copy)
    main = element("main", *_start(copy), *_figures(copy), *_entries(copy), *_crawl(copy))
    return document(f"{name} (copy)", CSS, element("header", *_header(copy, name)), main)


def _host(copy: Copy) -> str:
    return one_line(urlsplit(copy.starts[0].url).netloc, _TEXT) if copy.starts else "Copy"


def _header(copy: Copy, name: str) -> Iterator[Markup]:
    yield element("h1", foreign(name))
    when = "nothing was answered yet"
    if copy.crawled is not None:
        first, last = map(moment, copy.crawled)
        when = f"fetched {first}" if first == last else f"fetched {first} to {last}"
    yield element("p", f"Offline copy, {when}", class_="faint")


def _start(copy: Copy) -> Iterator[Markup]:
    yield element("h2", "Begin here")
    yield element("ul", *map(_start_item, copy.starts), class_="start")
    if copy.more_starts:
        yield element("p", f"and {copy.more_starts:,} more", class_="faint")


def _start_item(start: Start) -> Markup:
    url = one_line(start.url, _TEXT)
    if start.path is None:
        return element("li", foreign(url), " (not in the copy)")
    href, title = _reference(_FILES + start.path), one_line(start.title, _TEXT)
    if not title:
        return element("li", element("a", foreign(url), href=href))
    return element("li", element("a", foreign(title), href=href), " ", element("span", foreign(url), class_="faint"))


def _figures(copy: Copy) -> Iterator[Markup]:
    yield element("h2", "What it holds")
    kinds = [(kind.type, f"{kind.files:,}", size_of(kind.bytes)) for kind in copy.holdings]
    yield element(
        "div",
        _table("In all", ("what", "count"), ((name, f"{count:,}") for name, count in copy.totals.items())),
        _table("Files by type", ("type", "files", "size"), kinds),
        _table("URLs by verdict", ("verdict", "URLs"), _counts(copy.verdicts)),
        _table("Refused by reason", ("reason", "URLs"), _counts(copy.refused)),
        _table("Errors", ("kind", "URLs"), _counts(copy.errors)),
        class_="tables",
    )


def _entries(copy: Copy) -> Iterator[Markup]:
    if not copy.entries:
        return
    shown = sorted(copy.entries, key=_place)
    yield element("h2", "Pages and files")
    groups = (
        join([element("h3", one_line(folder, _TEXT) or "/"), element("ul", *_entry_items(list(entries)))])
        for folder, entries in groupby(shown, key=attrgetter("folder"))
    )
    yield element("div", *groups, class_="pages")
    if copy.unlisted_total:
        yield element("p", f"{copy.unlisted_total:,} more are in these folders, and in pages.jsonl:")
        rows = [(folder or "/", f"{count:,}") for folder, count in copy.unlisted.items()]
        if rest := copy.unlisted_total - sum(copy.unlisted.values()):
            rows.append(("other folders", f"{rest:,}"))
        yield _table("Not listed by title", ("folder", "pages and files"), rows)


def _place(entry: Entry) -> tuple[str, str, str]:
    """Return what an entry is sorted by: "Part 2" comes before "Part 10"."""
    title = one_line(entry.title, _TEXT).casefold()
    return entry.folder, _NUMBER.sub(lambda match: match[0].zfill(9), title), entry.path


def _entry_items(entries: list[Entry]) -> Iterator[Markup]:
    """Yield the entries of one folder; those with one title are told apart by their files' names."""
    names = [entry.path.rpartition("/")[2] for entry in entries]
    titles = [one_line(entry.title, _TEXT) or name for entry, name in zip(entries, names, strict=True)]
    alike = Counter(titles)
    for entry, title, name in zip(entries, titles, names, strict=True):
        apart = [" ", element("span", one_line(name, _TEXT), class_="faint")] if alike[title] > 1 else []
        yield element("li", element("a", foreign(title), href=_reference(_FILES + entry.path)), *apart)


def _crawl(copy: Copy) -> Iterator[Markup]:
    yield element("h2", "How it was made")
    if copy.keywords:
        yield element("p", "Keywords: ", foreign(one_line(copy.keywords, _KEYWORDS)))
    if copy.words:
        yield element("p", "Words of its titles and headings: ", foreign(one_line(", ".join(copy.words), _KEYWORDS)))
    values = ((name, one_line(value, _TEXT)) for name, value in copy.arguments.items())
    results = (element("li", element("a", name, href=name), f": {what}") for name, what in _RESULTS.items())
    yield element("h3", "Lists of the crawl")
    yield element("ul", *results)
    yield _table("Arguments", ("argument", "value"), values, numbers=False)


def _table(caption: str, columns: tuple[str, ...], rows: Iterable[tuple[str, ...]], *, numbers: bool = True) -> Markup:
    """Return a table whose first column names the rows, "" when there are none."""
    cells = [
        element(
            "tr", element("th", foreign(one_line(first, _TEXT)), scope="row"), *(_cell(each, numbers) for each in rest)
        )
        for first, *rest in rows
    ]
    if not cells:
        return Markup()
    head = element("tr", element("th", columns[0], scope="col"), *(_column(name, numbers) for name in columns[1:]))
    return element("table", element("caption", caption), element("thead", head), element("tbody", *cells))


def _cell(text: str, is_number: bool) -> Markup:
    return element("td", text, class_="number") if is_number else element("td", foreign(text))


def _column(name: str, is_number: bool) -> Markup:
    return element("th", name, scope="col", class_="number") if is_number else element("th", name, scope="col")


def _counts(counts: Mapping[str, int]) -> list[tuple[str, str]]:
    """Return the rows for *counts*, of those that are too many only the greatest."""
    rows = sorted(counts.items(), key=lambda item: -item[1])
    shown = [(name, f"{count:,}") for name, count in rows[:_ROWS]]
    if len(rows) > _ROWS:
        shown.append((f"{len(rows) - _ROWS:,} others", f"{sum(count for _, count in rows[_ROWS:]):,}"))
    return shown
