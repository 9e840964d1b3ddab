"""Character references of HTML: "&amp;", "&#xe9;", "&copy" and what the standard makes of broken ones."""

from __future__ import annotations

import re
from html.entities import html5

from spiderproj.links.offsets import Offsets, substituted

_REFERENCE = re.compile(r"&(?:#(?:([0-9]++)|[xX]([0-9a-fA-F]++));?|([a-zA-Z][a-zA-Z0-9]*+;?))")
_LONGEST_WITHOUT_SEMICOLON = max(len(name) for name in html5 if not name.endswith(";"))
_C1 = {byte: bytes((byte,)).decode("windows-1252", "replace") for byte in range(0x80, 0xA0)}
"""HTML 13.2.5.80: numbers in this range mean windows-1252; the five it lacks stay themselves."""


def in_text(text: str) -> str:
    r"""Return *text* with its character references replaced (HTML 13.2.5.72 to 80).

    >>> in_text("a &lt b &notit; &#128; &#xD800;") == "a < b ¬it; € \ufffd"
    True
    """
    return _REFERENCE.sub(_replaced, text) if "&" in text else text


def in_attribute(value: str) -> str:
    """Return an attribute's value with its references replaced; there "&copy=1" keeps its ampersand.

    >>> in_attribute("?a=1&copy=2&amp;b&reg")
    '?a=1&copy=2&b®'
    """
    return _REFERENCE.sub(_replaced_in_attribute, value) if "&" in value else value


def in_attribute_with_offsets(value: str) -> tuple[str, Offsets]:
    """Return what in_attribute returns, and the way back to places in *value*."""
    return substituted(_REFERENCE, _replaced_in_attribute, value)


def _replaced(match: re.Match[str]) -> str:
    name = match[3]
    if name is None:
        return _character(match)
    if name in html5:
        return html5[name]
    for length in range(min(len(name), _LONGEST_WITHOUT_SEMICOLON), 1, -1):
        if name[:length] in html5:
            return html5[name[:length]] + name[length:]
    return match[0]


def _replaced_in_attribute(match: re.Match[str]) -> str:
    name = match[3]
    if name is None:
        return _character(match)
    if name in html5 and (name[-1] == ";" or match.string[match.end() : match.end() + 1] != "="):
        return html5[name]
    # A name that goes on with a letter, a digit or "=" is no reference in an attribute; one that ends here is.
    return match[0]


def _character(match: re.Match[str]) -> str:
    digits, base = (match[1], 10) if match[1] else (match[2], 16)
    digits = digits.lstrip("0")
    code = int(digits, base) if 0 < len(digits) <= 7 else 0
    if code == 0 or 0xD800 <= code <= 0xDFFF or code > 0x10FFFF:
        return "\ufffd"
    if code in _C1:
        return _C1[code] if _C1[code] != "\ufffd" else chr(code)
    return chr(code)
