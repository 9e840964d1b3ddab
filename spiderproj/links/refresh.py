"""The URL in a declarative refresh: <meta http-equiv=refresh content=...> and the Refresh: header."""

from __future__ import annotations

import re

_BLANK = r"[\t\n\f\r ]"
_TIME = re.compile(rf"{_BLANK}*+(?:[0-9]++|(?=\.))[0-9.]*+(?=[\t\n\f\r ;,]){_BLANK}*+[;,]?+{_BLANK}*+")
_LABEL = re.compile(rf"[uU][rR][lL]{_BLANK}*+={_BLANK}*+")


def parse_refresh(content: str) -> str | None:
    """Return the URL text of a refresh, None when there is none: then the page only reloads itself.

    HTML standard, "shared declarative refresh steps".

    >>> parse_refresh("5; URL='next.html' "), parse_refresh("0 next"), parse_refresh("30")
    ('next.html', 'next', None)
    """
    time = _TIME.match(content)
    if time is None:
        return None
    label = _LABEL.match(content, time.end())
    url = content[label.end() if label else time.end() :]
    if url[:1] in {"'", '"'}:
        url = url[1:].partition(url[0])[0]
    return url.strip("\t\n\f\r ") or None
