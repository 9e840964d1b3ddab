"""Templates: what the URLs of one kind of page have in common.

``template`` looks at one path; ``Slugs`` learns from many which parts are names ("my-first-post") and not sections.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import orjson
import xxhash

MAX_VALUES: Final = 20
"""Values of a path segment that are sections; with more behind one prefix they are names."""

MAX_PREFIXES: Final = 4096
"""Prefixes that are counted; beyond it those that came first and are no more than sections are forgotten."""

MAX_SEGMENTS: Final = 40
"""Segments that are looked at; a path with more is a trap (traps.MAX_SEGMENTS)."""

_SLUG: Final = "{s}"
_PLACEHOLDERS: Final = re.compile(r"\{[ndhs]\}")
_TOKEN_LENGTH: Final = 16
# Whole words are matched, so that a match always begins where a word does, and no character is looked at often.
_VARIABLE: Final = re.compile(
    r"%[0-9A-Fa-f]{2}|"
    r"(?:(?P<date>(?:19|20)\d\d([-_.])[01]\d\2[0-3]\d)|"
    r"(?P<uuid>[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}))(?![0-9A-Za-z])|"
    r"(?P<word>[0-9A-Za-z]++)",
    re.ASCII,
)
_ANY_DIGIT: Final = re.compile("[0-9]")
_NUMBER: Final = re.compile("[0-9]+")
_ENDING: Final = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,4}$")
_HEXADECIMAL: Final = re.compile("[0-9A-Fa-f]+")


def template(path: str) -> str:
    """Return the template of the *path* of a canonical URL: ``{n}`` for numbers, ``{h}`` for tokens, ``{d}`` for dates.

    Endings ("mp3") and percent-escapes keep their digits. The template of a template is itself.

    >>> template("/forum/12/post-345.html"), template("/2008-05-31/a%20b.mp3"), template("/s/0123456789abcdef/")
    ('/forum/{n}/post-{n}.html', '/{d}/a%20b.mp3', '/s/{h}/')
    """
    if not _ANY_DIGIT.search(path):
        return path
    ending = _ENDING.search(path)
    if ending is None:
        return _VARIABLE.sub(_generalised, path)
    return _VARIABLE.sub(_generalised, path[: ending.start()]) + ending[0]


def _generalised(match: re.Match[str]) -> str:
    kind, word = match.lastgroup, match[0]
    if kind is None:  # a percent-escape
        return word
    if kind != "word":
        return "{d}" if kind == "date" else "{h}"
    if len(word) >= _TOKEN_LENGTH and not word.isdigit() and _is_token(word):
        return "{h}"
    return _NUMBER.sub("{n}", word)


def _is_token(word: str) -> bool:
    """Return whether a long word with digits is a token: hexadecimal, or with digits in several places."""
    return _HEXADECIMAL.fullmatch(word) is not None or len(_NUMBER.findall(word)) > 2


class Slugs:
    """Which path segments are names, learned from the templates of one host.

    It only ever generalises more: what it has called a name stays one. When learn() says that a prefix has become
    general, whatever is kept by templates is to be kept by what generalise() makes of them now.
    """

    def __init__(self) -> None:
        self._values: dict[str, set[int]] = {}
        self._general: dict[str, None] = {}

    def learn(self, path_template: str) -> bool:
        """Note the template of one URL; return whether this has made names of what were sections."""
        for prefix, segment in self._walk(path_template):
            if prefix not in self._general and self._is_one_too_many(prefix, segment):
                del self._values[prefix]
                self._general[prefix] = None
                return True
        return False

    def generalise(self, path_template: str) -> str:
        """Return the template with ``{s}`` for names; the ending of the last segment stays.

        >>> slugs = Slugs()
        >>> any([slugs.learn(f"/blog/about-{chr(code)}.html") for code in range(97, 123)])
        True
        >>> slugs.generalise("/blog/something-else.html"), slugs.generalise("/shop/")
        ('/blog/{s}.html', '/shop/')
        """
        if not self._general:
            return path_template
        made = path_template
        for prefix, segment in self._walk(path_template):
            made = f"{prefix}/{self._named(prefix, segment)}"
        return made

    def dump(self) -> bytes:
        """Return what was learned, as JSON."""
        values = [(prefix, *found) for prefix, found in self._values.items()]
        return orjson.dumps({"general": list(self._general), "values": values})

    @classmethod
    def load(cls, dumped: bytes) -> Slugs:
        """Return what was dumped; raises ValueError for bytes that are no dump."""
        slugs = cls()
        try:
            state = orjson.loads(dumped)
            slugs._general = {str(prefix): None for prefix in state["general"]}
            slugs._values = {str(prefix): {int(value) for value in found} for prefix, *found in state["values"]}
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{dumped[:40]!r}... is no dump of names: {error}; delete it to learn anew") from error
        return slugs

    def _walk(self, path_template: str) -> Iterator[tuple[str, str]]:
        """Yield each segment with the generalised template of what stands before it."""
        prefix = ""
        for segment in path_template.split("/", MAX_SEGMENTS)[1:]:
            yield prefix, segment
            prefix = f"{prefix}/{self._named(prefix, segment)}"

    def _named(self, prefix: str, segment: str) -> str:
        if prefix not in self._general or not _is_name(segment):
            return segment
        ending = _ENDING.search(segment)
        return _SLUG + ending[0] if ending else _SLUG

    def _is_one_too_many(self, prefix: str, segment: str) -> bool:
        if not _is_name(segment) or len(self._general) >= MAX_PREFIXES:
            return False
        values = self._values.get(prefix)
        if values is None:
            if len(self._values) >= MAX_PREFIXES:
                del self._values[next(iter(self._values))]
            values = self._values[prefix] = set()
        values.add(xxhash.xxh32_intdigest(segment.encode(errors="replace")))
        return len(values) > MAX_VALUES


def _is_name(segment: str) -> bool:
    """Return whether a segment of a template can be a name: it holds more than what template() puts in."""
    return _PLACEHOLDERS.sub("", segment).strip("-_.~") != ""
