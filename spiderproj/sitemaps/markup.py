"""Sitemap markup made harmless and whole, so that libxml2 can neither be misled by it nor stop in its middle.

What a lenient parser does to a URL with a bare "&" is to drop part of it, so markup is mended before it is parsed.
The same step takes all power from it: no document type declaration and no reference but to a character or one of the
five predefined entities is left, hence nothing can be expanded, read or fetched (billion laughs, XXE).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_ROOT = re.compile(r"<[A-Za-z_]")
_SURROGATE = r"0{0,4}[Dd][89A-Fa-f][0-9A-Fa-f]{2};"  # U+D800 to U+DFFF: libxml2 takes them, and lxml breaks on them
_SURROGATE_DECIMAL = r"0{0,2}(?:5529[6-9]|55[3-9][0-9]{2}|56[0-9]{3}|57[0-2][0-9]{2}|573[0-3][0-9]|5734[0-3]);"
_BARE_AMPERSAND = re.compile(
    rf"&(?!(?:amp|lt|gt|quot|apos|#(?!{_SURROGATE_DECIMAL})[0-9]{{1,7}}|#x(?!{_SURROGATE})[0-9A-Fa-f]{{1,6}});)"
)
_BARE_LESS_THAN = re.compile(r"<(?![A-Za-z_/?]|!--|!\[CDATA\[)")
_LONGEST_TOKEN = 12  # "&#x10FFFF;", "<![CDATA[": what must not be cut in two
_PASSED_OVER = (("<!--", "-->"), ("<?", "?>"))  # before the root; anything else there ends at the next ">"
_CONTROLS = bytes.maketrans(bytes([*range(9), 11, 12, *range(14, 32)]), b" " * 29)  # not allowed in XML 1.0


def mended(pieces: Iterable[str]) -> Iterator[bytes]:
    """Yield *pieces* of a document as UTF-8, from the root element on, for a parser fed piece by piece.

    Yields nothing when no root element begins in the first piece.
    """
    pieces = iter(pieces)
    rest = _from_root(next(pieces, ""))
    if not rest:
        return
    for piece in pieces:
        text = rest + piece
        end = max(text.rfind("<", -_LONGEST_TOKEN), text.rfind("&", -_LONGEST_TOKEN))
        rest = text[end:] if end > 0 else ""
        yield _mend(text[: len(text) - len(rest)])
    yield _mend(rest)


def _mend(text: str) -> bytes:
    """Return *text* with stray "&" and "<", and references to surrogates, escaped and control characters blanked."""
    if "&" in text:
        text = _BARE_AMPERSAND.sub("&amp;", text)
    text = _BARE_LESS_THAN.sub("&lt;", text)
    return text.encode().translate(_CONTROLS)


def _from_root(text: str) -> str:
    """Return *text* from its first element on; XML declaration, comments, document type and junk are dropped."""
    position = text.find("<")
    while position >= 0 and not _ROOT.match(text, position):
        close = next((end for begin, end in _PASSED_OVER if text.startswith(begin, position)), ">")
        position = text.find(close, position)
        position = text.find("<", position) if position >= 0 else -1
    return text[position:] if position >= 0 else ""
