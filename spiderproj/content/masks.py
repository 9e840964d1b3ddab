"""What in a text is of the moment and not of the page: tokens, dates and times."""

from __future__ import annotations

import re
from typing import Final

# English, German, French, Spanish, Portuguese, Italian; in full or the three or four letters they are cut to.
_MONTH: Final = (
    r"(?:jan(?:uary|uar|vier|eiro)?|ene(?:ro)?|gen(?:naio)?|feb(?:ruary|ruar|rero|braio)?|fév(?:rier)?|fev(?:ereiro)?|"
    r"mar(?:ch|s|zo|ço)?|märz|apr(?:il|ile)?|avr(?:il)?|abr(?:il)?|ma[iy]|mayo|maio|mag(?:gio)?|june?|juni|juin|junio|"
    r"junho|giu(?:gno)?|july?|juli|juil(?:let)?|julio|julho|lug(?:lio)?|aug(?:ust)?|août|ago(?:sto)?|"
    r"sept?(?:ember|embre|iembre)?|set(?:embro|tembre)?|o[ck]t(?:ober|obre|ubre)?|out(?:ubro)?|ott(?:obre)?|"
    r"nov(?:ember|embre|iembre|embro)?|de[cz](?:ember|embro)?|déc(?:embre)?|dic(?:iembre|embre)?)\.?"
)
_YEAR: Final = r"(?:19|20)\d\d"
_TIME: Final = r"\d{1,2}:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:\s?[ap]\.?m\b\.?)?(?:Z|\s?[+-]\d\d:?\d\d)?"
_MOST: Final = 10_000  # masks of one text
# Looked for first, at a fifth of the cost; every other alternative holds one of these.
_LIKELY: Final = re.compile(r"\d:\d|(?:19|20)\d\d|[0-9a-fA-F]{12}")
_DAY: Final = r"\d{1,2}(?:st|nd|rd|th|\.)?"
# Each alternative begins with a digit or a month and is short, so that every place is looked at once or twice.
_MASKED: Final = re.compile(
    rf"(?i)(?<![^\W_])(?:"
    rf"(?P<token>[0-9a-f]{{16,}}+|[0-9a-f]{{8}}(?:-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}})|"
    rf"{_YEAR}(?P<sign>[-/.])\d\d(?P=sign)\d\d(?:[T\s]{_TIME})?|"
    rf"\d{{1,2}}(?P<mark>[/.])\d{{1,2}}(?P=mark){_YEAR}|"
    rf"{_DAY}(?:\sde)?[\s-]{_MONTH}(?:\sde)?[\s,-]{{1,2}}{_YEAR}|"
    rf"{_MONTH}\s(?:{_DAY},?\s)?{_YEAR}|"
    rf"{_TIME})(?![^\W_])"
)


def masked(text: str) -> tuple[str, str]:
    r"""Return *text* with ``#h`` for long hexadecimal tokens and ``#d`` for dates and times; and those, one a line.

    The name of a month counts only as part of a date.

    >>> masked("5 May 2008, 14:05: a 9.99 may do, 0123456789abcdef")
    ('#d, #d: a 9.99 may do, #h', '5 May 2008\n14:05')
    """
    if not _LIKELY.search(text):
        return text, ""
    dates: list[str] = []

    def replace(match: re.Match[str]) -> str:
        if match["token"]:
            return "#h"
        dates.append(match[0])
        return "#d"

    return _MASKED.sub(replace, text, _MOST), "\n".join(dates)
