"""URL families: URLs of one host that differ only in a name, in numbers and in the values of their parameters."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from spiderproj.mediatype import extension
from spiderproj.templates import template
from spiderproj.urls import split

_NAMES = 20  # parameters that are told apart


class Family(NamedTuple):
    """Host key, template of the path with ``*`` for its last name, and the sorted names of the parameters."""

    host: str
    path: str
    parameters: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.host}{self.path}{'?' if self.parameters else ''}{'&'.join(self.parameters)}"


def family_of(url: str) -> Family:
    """Return the family of a canonical *url*.

    >>> str(family_of("http://h/2024/05/post.html?b=1&a=2"))
    'h/{n}/{n}/*.html?a&b'
    """
    parts = split(url)
    path, _, matrix = parts.path.partition(";")
    names = {pair.partition("=")[0] for text in (parts.query or "", matrix) for pair in text.split("&", _NAMES)}
    return Family(parts.authority, _shape(path), tuple(sorted(names - {""})[:_NAMES]))


def variant(url: str) -> str:
    """Return what is left of a canonical *url* without its numbers and parameter values: traps have few of these.

    >>> variant("http://h/calendar/2024/5?page=7&sort=up")
    '/calendar/{n}/{n}?page&sort'
    """
    parts = split(url)
    names = [pair.partition("=")[0] for pair in (parts.query or "").split("&", _NAMES)]
    return template(parts.path) + ("?" + "&".join(names) if parts.query else "")


@lru_cache(10_000)
def _shape(path: str) -> str:
    """Return the template of *path* with its last name replaced by ``*``, but for the ending."""
    whole = path.rstrip("/")
    slash = path[len(whole) :]
    folder, _, name = whole.rpartition("/")
    if not name:
        return path
    ending = extension(name)
    return f"{template(folder)}/*{'.' + ending if ending else ''}{slash}"
