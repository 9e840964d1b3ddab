"""The URLs that CSS names: url(), @import and the strings of image-set().

Read with one pattern and no tree (CSS Syntax 3, section 4): a full tokenizer in Python takes a second for a megabyte,
and nearly every page carries style. tests/test_links_css.py holds it against tinycss2.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from spiderproj.links.budget import Budget
from spiderproj.links.offsets import Offsets, substituted
from spiderproj.models import ResourceType


class Reference(NamedTuple):
    """One URL text in CSS, how it is named, "@import" or "url()", what for, and where it is written."""

    url: str
    attribute: str
    hint: ResourceType
    start: int  # inside its quotes, when it has some
    end: int


_BLANK = r"[ \t\r\n\f]"
_HEX = rf"[0-9a-fA-F]{{1,6}}(?:\r\n|{_BLANK})?+"
_COMMENT = r"\*[^*]*+(?:\*(?!/)[^*]*+)*+(?:\*/|\Z)"
_DOUBLE = rf"[^\"\\\n\r\f]*+(?:\\(?:{_HEX}|\r\n|[\s\S]|\Z)[^\"\\\n\r\f]*+)*+"
_SINGLE = _DOUBLE.replace('"', "'")
_BARE = rf"(?:[^\"'()\\\s\x00-\x08\x0e-\x1f\x7f]++|\\(?:{_HEX}|[^\n\r\f]))*+"
_BAD_URL = r"[^)\\]*+(?:\\(?:[\s\S]|\Z)[^)\\]*+)*+\)?+"
# A word goes on to the left with these: "curl(" is not "url(".
_IN_WORD = r"[-#@\w\\\x80-\U0010ffff]"
_URL = (
    rf"(?<=[uU][rR][lL]\()(?<!{_IN_WORD}[uU][rR][lL]\(){_BLANK}*+(?:(?:\"(?P<url_double>{_DOUBLE})(?:\"|\Z)"
    rf"|'(?P<url_single>{_SINGLE})(?:'|\Z)|(?P<url_bare>{_BARE})(?={_BLANK}*+(?:\)|\Z))){_BLANK}*+\)?+"
    rf"|\"{_DOUBLE}|'{_SINGLE}|{_BAD_URL})"
)
_MEDIA_TYPE = rf"(?<=[tT][yY][pP][eE]\(){_BLANK}*+(?:\"{_DOUBLE}\"|'{_SINGLE}')"
_IMAGES = r"(?P<images>(?<=[iI][mM][aA][gG][eE]-[sS][eE][tT]\())"
_CALL = rf"(?:{_URL}|{_IMAGES}|{_MEDIA_TYPE}|(?P<open>))"
# A string that a line break ends is none: its second form keeps nothing.
_STRING = rf"(?<=\")(?:(?P<double>{_DOUBLE})(?:\"|\Z)|{_DOUBLE})|(?<=')(?:(?P<single>{_SINGLE})(?:'|\Z)|{_SINGLE})"
_RULE = r"(?:(?P<rule>(?i:import)(?![-\w]))|(?i:namespace|(?:-moz-)?document)(?![-\w])[^;{]*+)"
# An escape makes a word of what follows it too: \"url( is no url(.
_ESCAPED_WORD = rf"(?:{_HEX}|[^\n\r\f])(?:[-\w\x80-\U0010ffff]|\\(?:{_HEX}|[^\n\r\f]))*+\(?+"
# The pattern begins with one set of characters, so that the engine skips all others quickly.
_TOKEN = re.compile(
    rf"(?a)[/\"'()@\\](?:(?<=/){_COMMENT}|(?<=\(){_CALL}|(?P<close>(?<=\)))|{_STRING}|(?<=@){_RULE}|(?<=\\){_ESCAPED_WORD})?+"
)
_URL_VALUES = frozenset({"url_double", "url_single", "url_bare"})
_VALUES = _URL_VALUES | {"double", "single"}
_GAP = re.compile(rf"(?:{_BLANK}++|/{_COMMENT})*+(?:[uU][rR][lL](?=\())?+")
_ESCAPE = re.compile(rf"\\(?:([0-9a-fA-F]{{1,6}})(?:\r\n|{_BLANK})?+|(\r\n|[\n\r\f])|([\s\S])|\Z)")
_LETTER = re.compile(
    rf"\\(?:0{{0,4}}([46][1-9a-fA-F]|[57][0-9aA])(?:\r\n|{_BLANK})?+(?![0-9a-fA-F])|([g-zG-Z])|[\s\S])"
)
_FORMAT = re.compile(rf"{_BLANK}*+\)?+{_BLANK}*+(?:format|tech)\(", re.IGNORECASE)
_LOOK_BACK = 300


def references(css: str, budget: Budget) -> Iterator[Reference]:
    """Yield the URL texts of *css* in order; a lone "#fragment" names nothing to fetch and is left out.

    >>> [r.url for r in references('@import "a.css"; b { background: url( b.png ) }', Budget())]
    ['a.css', 'b.png']
    """
    if "(" not in css and "@" not in css:
        return
    place: Offsets | type[int] = int
    if "\\" in css:
        css, place = substituted(_LETTER, _plain_letter, css)
    rule_end, depth = -1, 0
    for match in _TOKEN.finditer(css):
        budget.spend(1)
        kind = match.lastgroup
        if kind is None:
            continue
        if kind in _VALUES:
            url = unescape(match[kind])
            start, end = map(place, match.span(kind))
            if rule_end >= 0 and _gap_end(css, rule_end) == match.start():
                yield Reference(url, "@import", ResourceType.STYLE, start, end)
            elif (depth or kind in _URL_VALUES) and url and not url.startswith("#"):
                yield Reference(url, "url()", ResourceType.IMAGE if depth else _use(css, match), start, end)
            rule_end = -1
        elif kind == "rule":
            rule_end = match.end()
        else:
            depth = _nesting(depth, kind)


def _nesting(depth: int, kind: str) -> int:
    """Return how many brackets of an image-set() are open after one more "images", "open" or "close"."""
    if kind == "images":
        return depth + 1
    return max(depth + (1 if kind == "open" else -1), 0) if depth else 0


def _plain_letter(match: re.Match[str]) -> str:
    r"""Return the letter that an escape stands for, so that "\75 rl(" is found as "url("; other escapes stay."""
    return chr(int(match[1], 16)) if match[1] else match[2] or match[0]


def unescape(text: str) -> str:
    r"""Return *text* with its escapes replaced.

    >>> unescape(r"a\28 b\)")
    'a(b)'
    """
    return _ESCAPE.sub(_unescaped, text) if "\\" in text else text


def _unescaped(match: re.Match[str]) -> str:
    if match[1]:
        code = int(match[1], 16)
        return "\ufffd" if code == 0 or 0xD800 <= code <= 0xDFFF or code > 0x10FFFF else chr(code)
    return match[3] or ""


def _gap_end(css: str, position: int) -> int:
    match = _GAP.match(css, position)
    return match.end() if match else position


def _use(css: str, match: re.Match[str]) -> ResourceType:
    """Return FONT for a url() in a font's src descriptor, else IMAGE: nothing else in CSS is fetched by url()."""
    before = css[max(0, match.start() - _LOOK_BACK) : match.start()]
    declaration = before[max(map(before.rfind, ";{}")) + 1 :].lstrip()
    is_font = declaration[:3].lower() == "src" or _FORMAT.match(css, match.end())
    return ResourceType.FONT if is_font else ResourceType.IMAGE
