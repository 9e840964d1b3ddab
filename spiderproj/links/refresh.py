"""The URL in a declarative refresh: <meta http-equiv=refresh content=...> and the Refresh: header."""

from __future__ import annotations

import re

_BLANKS = "\t\n\f\r "
_BLANK = r"[\t\n\f\r ]"
_TIME = re.compile(rf"{_BLANK}*+(?:[0-9]++|(?=\.))[0-9.]*+(?=[\t\n\f\r ;,]){_BLANK}*+[;,]?+{_BLANK}*+")
_LABEL = re.compile(rf"[uU][rR][lL]{_BLANK}*+={_BLANK}*+")


def parse_refresh(content: str) -> str | None:
    """Return the URL text of a refresh, None when there is none: then the page only reloads itself.

    HTML standard, "shared declarative refresh steps".

    >>> parse_refresh("5; URL='next.html' "), parse_refresh("0 next"), parse_refresh("30")
    ('next.html', 'next', None)
    """
    start, end = refresh_place(content)
    return content[start:end] or None


def refresh_place(content: str) -> tuple[int, int]:
    """Return where the URL text of a refresh begins and ends; the same place twice when there is none."""
    time = _TIME.match(content)
    if time is None:
        return 0, 0
    label = _LABEL.match(content, time.end())
    start, end = label.end() if label else time.end(), len(content)
    if (quote := content[start : start + 1]) in {"'", '"'}:
        start += 1
        closing = content.find(quote, start)
        end = closing if closing >= 0 else end
    url = content[start:end]
    start += len(url) - len(url.lstrip(_BLANKS))
    return start, start + len(url.strip(_BLANKS))
