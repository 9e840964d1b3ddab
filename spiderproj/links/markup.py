"""The start tags of HTML or XML text, in document order, read as the HTML standard's tokenizer reads them.

No tree is built, on purpose. What the links of a page are does not depend on it, and a standard tree is what hostile
pages attack: 25 kB of "<p><b x1>" make 2 million elements, 25,000 nested <div> take 20 billion steps, in every parser
that keeps to the standard (docs/decisions.md, "Markup"). Here each character is looked at a fixed number of times.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from spiderproj.links.references import in_text

_BLANK = r"\t\n\f\r "
_VALUE = rf"\"[^\"]*+\"?|'[^']*+'?|[^{_BLANK}>\"'][^{_BLANK}>]*+"
_ATTRIBUTES = rf"(?:[{_BLANK}/]++|[^{_BLANK}/>][^{_BLANK}/>=]*+(?:[{_BLANK}]*+=[{_BLANK}]*+(?:{_VALUE})?+)?+)*+"
# Most tags look like ' class="x" href="y"'; this reads just those, in half the time, and stops before the ">".
_PLAIN_ATTRIBUTES = rf"[^<>\"'=]*+(?:(?<![{_BLANK}/\"])=\"[^\"]*+\"[^<>\"'=]*+)*+(?=>)"
_COMMENT = r"!--(?:-?>|[^-]*+(?:-(?!-!?>)[^-]*+)*+(?:--!?>|\Z))"
_OTHER = r"[!?/][^>]*+(?:>|\Z)"  # declarations, processing instructions and end tags without a name
_CDATA = r"!\[CDATA\[[^\]]*+(?:\](?!\]>)[^\]]*+)*+(?:\]\]>|\Z)"


def _token(cdata: str) -> re.Pattern[str]:
    """Return the pattern of one token that is not text; it matches at every "<" that begins one, so never rescans."""
    start = rf"([a-zA-Z][^{_BLANK}/>]*+)({_PLAIN_ATTRIBUTES}|{_ATTRIBUTES})(>)?+"
    end = rf"/[a-zA-Z](?:[^<>\"'=]*+>|{_ATTRIBUTES}>?+)"
    return re.compile(rf"<(?:{start}|{end}|{_COMMENT}|{cdata}{_OTHER})")


_HTML_TOKEN = _token("")
_XML_TOKEN = _token(_CDATA + "|")
_ATTRIBUTE = re.compile(
    rf"([^{_BLANK}/>][^{_BLANK}/>=]*+)"
    rf"(?:[{_BLANK}]*+=[{_BLANK}]*+(?:\"([^\"]*+)\"?|'([^']*+)'?|([^{_BLANK}>\"'][^{_BLANK}>]*+))?+)?+"
)
_RAW = frozenset({"iframe", "plaintext", "script", "style", "textarea", "title", "xmp"})
"""Elements whose content is text. <noframes>, <noembed> and <noscript> are not among them: what they hold is there for
readers without frames, plug-ins or script, as we are."""
_XML_RAW = frozenset({"script", "style"})
_RAW_END = {name: re.compile(rf"(?ai)</{name}(?=[{_BLANK}/>])") for name in _RAW - {"plaintext", "script"}}
_SCRIPT_STEP = re.compile(rf"(?ai)<!--|-->|<(/?)script(?=[{_BLANK}/>])")
_UNREAD = re.compile(r"(?ai)<(script|style)\b[^<]*+(?:<(?!/\1)[^<]*+)*+")
_INLINE = re.compile(
    r"(?ai)</?(?:a|abbr|b|bdi|bdo|big|cite|code|del|dfn|em|font|i|ins|kbd|mark|q|s|samp|small|span|strike|strong|sub|"
    rf"sup|tt|u|var|wbr)(?:[{_BLANK}/][^<>]*+)?+>"
)


class StartTag(NamedTuple):
    """One start tag: its name in lower case, its attributes as written, and where things are in the text."""

    name: str
    source: str
    start: int  # of its "<"
    end: int  # just past its ">"
    content_end: int  # just past its content when that is raw text (<title>, <style>, <script> ...), else ``end``


def start_tags(text: str, *, xml: bool = False) -> Iterator[StartTag]:
    """Yield the start tags of *text*; those in comments, raw text and CDATA sections are none."""
    token, raw = (_XML_TOKEN, _XML_RAW) if xml else (_HTML_TOKEN, _RAW)
    drawing = _Drawing(text)
    position = 0
    while position >= 0:
        start, position = position, -1
        for match in token.finditer(text, start):
            name, source, closed = match.groups()
            if closed is None:  # no start tag, or one that the text ends in
                continue
            if not name.islower():
                name = name.lower()
            end = match.end()
            if name not in raw:
                yield StartTag(name, source, match.start(), end, end)
                continue
            content_end = end if drawing.empties(name, source, end) else _content_end(text, name, end)
            yield StartTag(name, source, match.start(), end, content_end)
            position = content_end
            break


class _Drawing:
    """Knows where SVG is, in which <style/> is empty and a <title> holds markup; looks at each character once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._any = "<svg" in text
        self._depth = 0
        self._seen = 0

    def empties(self, name: str, source: str, position: int) -> bool:
        """Return whether the raw text element whose start tag ends at *position* has no content for us."""
        if not self._any:
            return False
        self._depth += self._text.count("<svg", self._seen, position) - self._text.count("</svg", self._seen, position)
        self._depth, self._seen = max(self._depth, 0), position
        return self._depth > 0 and (name == "title" or source.endswith("/"))


def _content_end(text: str, name: str, start: int) -> int:
    """Return where the raw text that begins at *start* ends: before its end tag, or with the text."""
    if name == "script":
        return _script_end(text, start)
    match = _RAW_END[name].search(text, start) if name in _RAW_END else None
    return match.start() if match else len(text)


def _script_end(text: str, start: int) -> int:
    """Return where a script ends: inside "<!--" an inner <script> takes one end tag for itself (HTML 13.2.5.27)."""
    escaped = doubly = False
    while match := _SCRIPT_STEP.search(text, start):
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


def attributes(source: str) -> dict[str, str]:
    """Return a tag's attributes in their order, the first of each name; names in lower case, values as written.

    >>> attributes(' HREF="a" href=b hidden')
    {'href': 'a', 'hidden': ''}
    """
    found: dict[str, str] = {}
    for name, double, single, bare in _ATTRIBUTE.findall(source):
        name = name.lower()
        if name not in found:
            found[name] = double or single or bare
    return found


def plain_text(markup: str, limit: int) -> str:
    """Return what a person reads of *markup*: no tags, white space folded, at most *limit* characters."""
    if "<" in markup:
        markup = _HTML_TOKEN.sub(" ", _INLINE.sub("", _UNREAD.sub(" ", markup)))
    return fold(in_text(markup), limit)


def fold(text: str, limit: int) -> str:
    """Return *text* with runs of white space as one blank, cut at *limit* characters."""
    return " ".join(text.split())[:limit].rstrip()
