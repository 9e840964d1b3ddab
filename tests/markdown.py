"""Read what tests need of a Markdown file: sections, tables, code, links. No more of the language than our docs use."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_HEADING = re.compile(r"(#{1,6}) (.+)")
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_SPAN = re.compile(r"`([^`]+)`")
_FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_NO_SLUG = re.compile(r"[^\w\- ]")


class Heading(NamedTuple):
    """A heading: its level, its text, and the number of its line."""

    level: int
    text: str
    line: int

    @property
    def slug(self) -> str:
        """The anchor that GitHub makes of it."""
        return _NO_SLUG.sub("", self.text.lower()).replace(" ", "-")


def headings(text: str) -> Iterator[Heading]:
    """Yield the headings of *text*, none out of a fenced block."""
    fenced = False
    for number, line in enumerate(text.splitlines()):
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced and (found := _HEADING.fullmatch(line)):
            yield Heading(len(found[1]), found[2], number)


def section(text: str, title: str) -> str:
    """Return what stands under the one heading *title*, with its subsections."""
    found = list(headings(text))
    (start,) = [heading for heading in found if heading.text == title]
    ends = [heading.line for heading in found if heading.line > start.line and heading.level <= start.level]
    return "\n".join(text.splitlines()[start.line + 1 : min(ends, default=None)])


def subsections(text: str, title: str) -> dict[str, str]:
    """Return the subsections right under the heading *title*, by their headings."""
    whole = section(text, title)
    top = min((heading.level for heading in headings(whole)), default=0)
    return {one.text: section(whole, one.text) for one in headings(whole) if one.level == top}


def tables(text: str) -> list[list[list[str]]]:
    """Return the tables of *text*: rows of cells, without the head."""
    found: list[list[list[str]]] = []
    rows: list[list[str]] = []
    for line in [*text.splitlines(), ""]:
        if line.startswith("| "):
            rows.append([cell.strip() for cell in line.strip("| ").split(" | ")])
        elif rows:
            found.append(rows[2:])
            rows = []
    return found


def table(text: str) -> dict[str, list[str]]:
    """Return the first table of *text*: the other cells of each row by the code in the first one."""
    rows = [(spans(row[0])[0] if spans(row[0]) else row[0], row[1:]) for row in tables(text)[0]]
    by_name = dict(rows)
    assert len(by_name) == len(rows), "a name stands twice"
    return by_name


def spans(text: str) -> list[str]:
    """Return the code spans of *text*, each on one line."""
    return [" ".join(code.split()) for code in _SPAN.findall(_FENCED.sub("", text))]


def fenced(text: str, language: str | None = None) -> list[str]:
    """Return the fenced blocks of *text*, those of *language* alone when it is given."""
    return [block for name, block in _FENCED.findall(text) if language in (None, name)]


def indented(text: str) -> list[str]:
    """Return the lines of the indented blocks of *text*."""
    return [line.strip() for line in text.splitlines() if line.startswith("    ")]


def links(text: str) -> list[str]:
    """Return the targets of the links of *text*, none out of code."""
    prose = "\n".join(line for line in _FENCED.sub("", text).splitlines() if not line.startswith("    "))
    return _LINK.findall(_SPAN.sub("", prose))
