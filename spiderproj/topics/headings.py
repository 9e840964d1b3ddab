"""The headings in the beginning of a stored page."""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

from spiderproj.charset import decode
from spiderproj.links.markup import plain_text

READ_BYTES: Final = 64 * 1024
"""How much of a page is looked at: what it is about stands above."""

# The tokenizer of links.markup takes ten times as long to be right about every tag; here a wrong one is a wrong word.
# Each alternative takes all that it begins, so that no character is looked at twice.
_COMMENT: Final = r"!--[^-]*+(?:-(?!->)[^-]*+)*+"
_RAW: Final = r"(script|style|textarea|title)\b[^<]*+(?:<(?!/\1)[^<]*+)*+"
_HEADING: Final = re.compile(rf"(?ai)<(?:{_COMMENT}|{_RAW}|(h[1-3])(?=[\s/>])[^<>]*+>)")
_END: Final = re.compile(r"(?ai)</h[1-6]")
_REACH: Final = 1000  # characters of markup from a start tag to its end tag
_LENGTH: Final = 200  # characters of a heading
_MOST: Final = 50  # headings of a page


def headings(body: bytes, header_charset: str | None) -> list[str]:
    """Return the texts of ``h1`` to ``h3``, at most 50 of them, in the first READ_BYTES of the HTML *body*.

    *header_charset* is the label in the page's Content-Type.
    """
    text, _ = decode(body[:READ_BYTES], header_charset)
    starts = (match.end() for match in _HEADING.finditer(text) if match[2])
    return [_heading(text, start) for start in islice(starts, _MOST)]


def _heading(text: str, start: int) -> str:
    """Return the text of the heading whose content begins at *start*; where it does not end, only its beginning."""
    end = _END.search(text, start, start + _REACH)
    return plain_text(text[start : end.start() if end else start + _LENGTH], _LENGTH)
