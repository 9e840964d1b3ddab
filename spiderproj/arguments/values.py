"""Read the value of one argument: each reader returns the typed value or raises ArgumentError."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple, TypeVar

from spiderproj.errors import ArgumentError
from spiderproj.models import Level, ResourceType

LevelTypes = Mapping[Level, frozenset[ResourceType]]
"""The types wanted at each level; every level has an entry."""

EVERY_TYPE = frozenset(ResourceType)

_TEXT_LIMIT = 10_000
_PATH_LIMIT = 1_000  # PATH_MAX is 4096 on Linux, 1024 on macOS; the files below need their share
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_TYPE_WORDS = [*ResourceType, "all", "none"]
_WINDOW = re.compile(r"(?:([01]\d|2[0-3]):[0-5]\d-([01]\d|2[0-3]):[0-5]\d|\+[1-9]\d{0,3}h)", re.ASCII)

Choice = TypeVar("Choice", bound=StrEnum)


class Given(NamedTuple):
    """One argument as it was given; relative paths in it are seen from ``cwd``."""

    name: str
    text: str
    cwd: Path

    def wrong(self, expected: str, value: str | None = None) -> ArgumentError:
        """Return the error that says what was *expected* in place of *value* (default: the whole text)."""
        return ArgumentError(self.name, self.text if value is None else value, expected)


def nearest(word: str, names: Iterable[str]) -> str:
    """Return the one of *names* that is most like *word*.

    >>> nearest("Dept", ["mode", "depth"])
    'depth'
    """
    return difflib.get_close_matches(word[:40].lower(), list(names), 1, 0.0)[0]


def flag(given: Given) -> bool:
    """Return whether the argument is on."""
    if given.text not in ("0", "1"):
        raise given.wrong("1 (yes) or 0 (no)")
    return given.text == "1"


def whole_number(given: Given) -> int:
    """Return the number, 0 to 999,999,999."""
    if not re.fullmatch("[0-9]{1,9}", given.text):
        raise given.wrong("a whole number, e.g. 3")
    return int(given.text)


def one_of(kind: type[Choice]) -> Callable[[Given], Choice]:
    """Return the reader of an argument that takes one word of *kind*."""
    words = [member.value for member in kind]

    def read(given: Given) -> Choice:
        if given.text not in words:
            raise given.wrong(f"one of {', '.join(words)} (nearest: {nearest(given.text, words)})")
        return kind(given.text)

    return read


def prose(given: Given) -> str:
    """Return one line of text that is not blank, has no control characters and is not absurdly long."""
    if not given.text.strip():
        raise given.wrong("some text; leave the argument out for none")
    if len(given.text) > _TEXT_LIMIT:
        raise given.wrong(f"at most {_TEXT_LIMIT} characters, not {len(given.text)}")
    if _UNPRINTABLE.search(given.text):
        raise given.wrong("one line of text without control characters")
    return given.text


def path(given: Given) -> Path:
    """Return the absolute path that is meant; whether anything is there is not looked at."""
    if len(prose(given)) > _PATH_LIMIT:
        raise given.wrong(f"a path of at most {_PATH_LIMIT} characters")
    try:
        return given.cwd / Path(given.text).expanduser()
    except RuntimeError as error:  # ~nobody-of-that-name
        raise given.wrong("a path; no such user's home is known") from error


def existing_file(given: Given) -> Path:
    """Return the absolute path of a regular file that exists."""
    found = path(given)
    try:
        regular = found.is_file()
    except OSError as error:  # a name too long for the file system, a folder that may not be searched
        raise given.wrong(f"a file that can be read ({error.strerror})") from error
    if not regular:
        raise given.wrong("the path of an existing file")
    return found


def types(given: Given) -> frozenset[ResourceType]:
    """Return the types named, separated by commas or blanks."""
    return _types(given, re.split(r"[,\s]+", given.text.strip()))


def level_types(given: Given) -> LevelTypes:
    """Return the types wanted at each level; a level that is named twice gets both, one not named gets none."""
    wanted: dict[Level, frozenset[ResourceType]] = dict.fromkeys(Level, frozenset())
    for pair in filter(None, re.split(r"[;\s]+", given.text)):
        names, colon, words = pair.partition(":")
        if not colon:
            raise given.wrong("LEVEL:TYPES pairs, e.g. page:all child:html,document", pair)
        found = _types(given, words.split(","))
        for name in names.split(","):
            wanted[_level(given, name)] |= found
    if not any(wanted.values()):
        raise given.wrong("a type at one level at least, e.g. page:all child:html")
    return wanted


def window(given: Given) -> str:
    """Return the hours as given, known to be well formed."""
    if not _WINDOW.fullmatch(given.text):
        raise given.wrong("HH:MM-HH:MM in local time, e.g. 22:00-06:30, or +Nh, e.g. +8h")
    start, _, end = given.text.partition("-")
    if start == end:
        raise given.wrong("a window that begins and ends at different times")
    return given.text


def _level(given: Given, name: str) -> Level:
    if name not in list(Level):
        raise given.wrong(f"a level: {', '.join(Level)} (nearest: {nearest(name, Level)})", name)
    return Level(name)


def _types(given: Given, words: list[str]) -> frozenset[ResourceType]:
    for word in words:
        if word not in _TYPE_WORDS:
            raise given.wrong(f"types: {', '.join(_TYPE_WORDS)} (nearest: {nearest(word, _TYPE_WORDS)})", word)
    if "none" in words:
        if len(words) > 1:
            raise given.wrong("none alone, or the types without it", ",".join(words))
        return frozenset()
    return EVERY_TYPE if "all" in words else frozenset(map(ResourceType, words))
