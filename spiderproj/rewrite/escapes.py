"""How a URL is written inside attributes and inside CSS so that nothing of it is taken for an end."""

from __future__ import annotations

import re

_AMPERSAND = {"&": "&amp;"}
_IN_ATTRIBUTE = {
    '"': str.maketrans(_AMPERSAND | {'"': "&quot;", "<": "&lt;"}),
    "'": str.maketrans(_AMPERSAND | {"'": "&#39;", "<": "&lt;"}),
    "": str.maketrans(_AMPERSAND | {mark: f"&#{ord(mark)};" for mark in "\"'<=>` "}),
}
_SPECIAL = re.compile("[&\"'<]")
_IN_URL = re.compile(r"[\"'()\\ ]")


def in_attribute(text: str, quote: str) -> str:
    """Return *text* as an attribute's value between *quote*s, none when that is "".

    >>> in_attribute("a?b='c'&d", "'")
    'a?b=&#39;c&#39;&amp;d'
    """
    return text.translate(_IN_ATTRIBUTE[quote]) if not quote or _SPECIAL.search(text) else text


def in_css(text: str, before: str) -> str:
    r"""Return *text* as a URL in CSS after the character *before*, which may be the quote of a string.

    >>> in_css("a(1)", "("), in_css("it's", '"')
    ('a\\(1\\)', "it's")
    """
    if before in {'"', "'"}:
        return text.replace("\\", "\\\\").replace(before, "\\" + before)
    return _IN_URL.sub(r"\\\g<0>", text)
