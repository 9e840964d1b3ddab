"""Text from outside made fit for a person's eyes: a line that moves neither cursor nor reading, a cell that is text."""

from __future__ import annotations

import unicodedata
from typing import Final

_REPLACED: Final = frozenset({"Cc", "Cn", "Cs", "Zl", "Zp"})
_DROPPED: Final = frozenset({"Cf", "Co"})
_JOINERS: Final = "\u200c\u200d"  # format characters that words of some scripts are written with
_LEARNT: Final = 10_000  # characters
_FORMULA: Final = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
"""What a spreadsheet takes for the beginning of a formula, full width too."""


class _Shown(dict[int, str | None]):
    """Maps a character's code to how it is shown; learns each once."""

    def __missing__(self, code: int) -> str | None:
        character = shown = chr(code)
        category = unicodedata.category(character)
        if category in _REPLACED:
            shown = "\ufffd"
        found = None if category in _DROPPED and character not in _JOINERS else shown
        if len(self) < _LEARNT:
            self[code] = found
        return found


_SHOWN: Final = _Shown()


def one_line(text: str, limit: int) -> str:
    r"""Return the beginning of *text* as one line of at most *limit* characters, "..." among them where it is cut.

    White space is folded; control characters and lone surrogates become U+FFFD; format characters, which can turn the
    direction of what follows, are dropped.

    >>> one_line("a\n b\x1b[31m\u202e", 80)
    'a b�[31m'
    """
    beginning = text[: 4 * limit]
    shown = " ".join(beginning.split()).translate(_SHOWN)
    line = " ".join(shown.split())  # what was dropped may have stood between two blanks
    if len(line) <= limit and len(beginning) == len(text):
        return line
    return f"{line[: limit - 3].rstrip()}..."


def inert_cell(text: str) -> str:
    """Return *text* as a cell that is text to a spreadsheet, too (OWASP, "CSV Injection"), without NUL.

    A formula is one with blanks and quotes before it, too.

    >>> inert_cell("=1+1"), inert_cell("a=b")
    ("'=1+1", 'a=b')
    """
    if text[:1].isalnum() and "\0" not in text:  # most are addresses
        return text
    text = text.replace("\0", "\ufffd")
    return f"'{text}" if text.lstrip(" \"'").startswith(_FORMULA) else text
