"""The start tags of HTML or XML text, in document order, read as the HTML standard's tokenizer reads them.

No tree is built, on purpose. What the links of a page are does not depend on it, and a standard tree is what hostile
pages attack: 25 kB of "<p><b x1>" make 2 million elements, 25,000 nested <div> take 20 billion steps, in every parser
that keeps to the standard (docs/decisions.md, "Markup"). Here each character is looked at a fixed number of times.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from spiderproj.links import windows
from spiderproj.links.budget import MAX_ATTRIBUTES, Budget, BudgetSpentError
from spiderproj.links.references import in_text

StartTag: TypeAlias = tuple[str, str, bool, int, int]
"""Name in lower case; attributes as written, and whether simply so (for attributes()); the index just past its ">"; the
index just past its content when that is raw text (<title>, <style>, <script> ...), else the former again.

A plain tuple: there are a hundred a page, and a named one costs as much as the rest of the loop.
"""


Place: TypeAlias = tuple[int, int, int, str | None]
"""Where an attribute is written: the index of its name, the indexes at which its value begins and ends inside the
quotes, and the quote: "" for a value without quotes, None for an attribute without a value."""

_QUOTES = (None, None, '"', "'", "")
_BLANK = r"\t\n\f\r "
_VALUE = rf"\"[^\"]*+\"?|'[^']*+'?|[^{_BLANK}>\"'][^{_BLANK}>]*+"
_ATTRIBUTES = rf"(?:[{_BLANK}/]++|[^{_BLANK}/>][^{_BLANK}/>=]*+(?:[{_BLANK}]*+=[{_BLANK}]*+(?:{_VALUE})?+)?+)*+"
_SIMPLE_ATTRIBUTES = rf"(?:[{_BLANK}]++[a-z][-a-z0-9_:]*+=\"[^\"]*+\")*+"
# A tag that ends at its first ">" outside plain quotes and holds no "<": nothing in it can be taken for a tag.
_SIMPLE_TAG = rf"[/a-zA-Z][^<>\"'=]*+(?:(?<![{_BLANK}/\"])=\"[^\"<]*+\"[^<>\"'=]*+)*+>"
_COMMENT = r"!--(?:-?>|[^-]*+(?:-(?!-!?>)[^-]*+)*+(?:--!?>|\Z))"
_CDATA = r"!\[CDATA\[[^\]]*+(?:\](?!\]>)[^\]]*+)*+(?:\]\]>|\Z)"
_OTHER = r"[!?/][^>]*+>?+"  # declarations, processing instructions and end tags without a name
_ANY_NAME = rf"[a-zA-Z][^{_BLANK}/>]*+"


def _tokens(names: str, skipped: str) -> re.Pattern[str]:
    """Return a pattern that finds each start tag of *names* and jumps over all else that could hold its likeness.

    It matches at every "<" it cannot rule out at once, to the end of the text if need be, so nothing is read twice.
    """
    start = rf"({names})(?=[{_BLANK}/>])(?:({_SIMPLE_ATTRIBUTES})[{_BLANK}/]*+>|({_ATTRIBUTES})(>)?+)"
    return re.compile(
        rf"<(?=[a-zA-Z/!?])(?:{start}|(?!{_SIMPLE_TAG})(?:/?{_ANY_NAME}{_ATTRIBUTES}>?+|{skipped}{_OTHER}))", re.ASCII
    )


def tags_named(names: Iterable[str]) -> re.Pattern[str]:
    """Return the pattern by which start_tags finds the tags of these lower case *names*, perhaps others too."""
    with_capitals = rf"[-a-z0-9]*+[A-Z][^{_BLANK}/>]*+"
    return _tokens("|".join(sorted({*names, *_RAW}, reverse=True)) + "|" + with_capitals, _COMMENT + "|")


_RAW = frozenset({"iframe", "plaintext", "script", "style", "textarea", "title", "xmp"})
"""Elements whose content is text. <noframes>, <noembed> and <noscript> are not among them: what they hold is there for
readers without frames, plug-ins or script, as we are."""
_RAW_END = {name: re.compile(rf"(?ai)</{name}(?=[{_BLANK}/>])") for name in _RAW - {"plaintext", "script"}}
_SCRIPT_STEP = re.compile(rf"(?ai)<!--|-->|<(/?)script(?=[{_BLANK}/>])")

ALL_TAGS = _tokens(_ANY_NAME, _COMMENT + "|")
XML_TAGS = _tokens(_ANY_NAME, _COMMENT + "|" + _CDATA + "|")
_NO_TEXT = re.compile(rf"<(?:/?{_ANY_NAME}{_ATTRIBUTES}>?+|{_COMMENT}|{_OTHER})", re.ASCII)
_UNREAD = re.compile(r"(?ai)<(script|style)\b[^<]*+(?:<(?!/\1)[^<]*+)*+")
_INLINE = re.compile(
    r"(?ai)</?(?:a|abbr|b|bdi|bdo|big|cite|code|del|dfn|em|font|i|ins|kbd|mark|q|s|samp|small|span|strike|strong|sub|"
    rf"sup|tt|u|var|wbr)(?=[{_BLANK}/>]){_ATTRIBUTES}>?+"
)
_SIMPLE_ATTRIBUTE = re.compile(r"([a-z][-a-z0-9_:]*+)=\"([^\"]*+)\"")
FIRST_HREF = re.compile(rf"(?:[{_BLANK}]++(?!href=)[a-z][^=]*+=\"[^\"]*+\")*+[{_BLANK}]++href=\"([^\"]*+)\"")
"""The first href of attributes that are simply written (StartTag)."""

_ATTRIBUTE = re.compile(
    rf"([^{_BLANK}/>][^{_BLANK}/>=]*+)"
    rf"(?:[{_BLANK}]*+=[{_BLANK}]*+(?:\"([^\"]*+)\"?|'([^']*+)'?|([^{_BLANK}>\"'][^{_BLANK}>]*+))?+)?+"
)


def start_tags(text: str, tags: re.Pattern[str], budget: Budget) -> Iterator[StartTag]:
    """Yield the start tags of *text* that *tags* finds; those in comments, raw text and CDATA sections are none.

    Raises BudgetSpentError when *budget* is spent.
    """
    raw = _XML_RAW if tags is XML_TAGS else _RAW
    drawing = _Drawing(text)
    position = 0
    while position >= 0:
        start, position = position, -1
        for match in windows.tokens(tags, text, start):
            budget.spend(1)
            name, simple, source, closed = match.groups()
            if simple is None and closed is None:  # no start tag, or one that the text ends in
                continue
            if not name.islower():
                name = name.lower()
            end = match.end()
            if name in raw:
                budget.spend(_RAW_STEPS)
                position = end if drawing.empties(name, match[0], end) else _content_end(text, name, end, budget)
                yield name, source or simple, simple is not None, end, position
                break
            yield name, source or simple, simple is not None, end, end


_XML_RAW = frozenset({"script", "style"})
_RAW_STEPS = 4  # looking for the end of raw text, and a new start after it


class _Drawing:
    """Knows where SVG is, in which <style/> is empty and a <title> holds markup; looks at each character once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._any = "<svg" in text
        self._depth = 0
        self._seen = 0

    def empties(self, name: str, tag: str, position: int) -> bool:
        """Return whether the raw text element whose start *tag* ends at *position* has no content for us."""
        if not self._any:
            return False
        self._depth += self._text.count("<svg", self._seen, position) - self._text.count("</svg", self._seen, position)
        self._depth, self._seen = max(self._depth, 0), position
        return self._depth > 0 and (name == "title" or tag.endswith("/>"))


def _content_end(text: str, name: str, start: int, budget: Budget) -> int:
    """Return where the raw text that begins at *start* ends: before its end tag, or with the text."""
    if name == "script":
        return _script_end(text, start, budget)
    match = _RAW_END[name].search(text, start) if name in _RAW_END else None
    return match.start() if match else len(text)


def _script_end(text: str, start: int, budget: Budget) -> int:
    """Return where a script ends: inside "<!--" an inner <script> takes one end tag for itself (HTML 13.2.5.27)."""
    escaped = doubly = False
    while match := windows.search(_SCRIPT_STEP, text, start):
        budget.spend(1)
        start = match.end()
        if match[0] == "<!--":
            escaped, start = True, match.start() + 2  # "<!-->" closes what it opens
        elif match[0] == "-->":
            escaped = doubly = False
        elif match[1] and not doubly:
            return match.start()
        elif escaped:
            doubly = not match[1]
    return len(text)


def attributes(source: str, *, simple: bool = False) -> dict[str, str]:
    """Return a tag's attributes in their order, the first of each name; names in lower case, values as written.

    Raises BudgetSpentError when there are more than MAX_ATTRIBUTES.

    >>> attributes(' HREF="a" href=b hidden')
    {'href': 'a', 'hidden': ''}
    """
    if simple:
        pairs: list[tuple[str, str]] = _SIMPLE_ATTRIBUTE.findall(source)
        found = dict(pairs)
        if len(found) == len(pairs):
            return found
    found = {}
    for count, match in enumerate(_ATTRIBUTE.finditer(source)):
        if count == MAX_ATTRIBUTES:
            raise BudgetSpentError(f"attributes on one tag over {MAX_ATTRIBUTES}")
        name, double, single, bare = match.groups("")
        name = name.lower()
        if name not in found:
            found[name] = double or single or bare
    return found


def attribute_places(source: str, offset: int, *, simple: bool = False) -> dict[str, Place]:
    """Return where a tag's attributes are: the first of each name, in a text that has *source* at *offset*.

    Raises BudgetSpentError as attributes() does.
    """
    found: dict[str, Place] = {}
    if simple:
        for match in _SIMPLE_ATTRIBUTE.finditer(source):
            name = match[1]
            if name not in found:
                start, end = match.span(2)
                found[name] = (offset + match.start(), offset + start, offset + end, '"')
        return found
    for count, match in enumerate(_ATTRIBUTE.finditer(source)):
        if count == MAX_ATTRIBUTES:
            raise BudgetSpentError(f"attributes on one tag over {MAX_ATTRIBUTES}")
        name, quoting = match[1].lower(), match.lastindex or 1
        if name not in found:
            start, end = match.span(quoting if quoting > 1 else 0)
            found[name] = (offset + match.start(), offset + start, offset + end, _QUOTES[quoting])
    return found


def plain_text(markup: str, limit: int) -> str:
    """Return what a person reads of *markup*: no tags, white space folded, at most *limit* characters."""
    if "<" in markup:
        markup = _NO_TEXT.sub(" ", _INLINE.sub("", _UNREAD.sub(" ", markup)))
    return fold(in_text(markup), limit)


def fold(text: str, limit: int) -> str:
    """Return *text* with runs of white space as one blank, cut at *limit* characters."""
    return " ".join(text.split())[:limit].rstrip()
