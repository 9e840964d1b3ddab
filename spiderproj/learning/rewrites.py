"""Rewrites of URLs that may leave the content as it is: parameters dropped, and the usual spellings of one path.

A rewrite maps a URL to the name of its class: all URLs of one name are suspected to be one page. No rewritten URL is
ever requested unless somebody links to it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import NamedTuple

from spiderproj import templates
from spiderproj.urls import URLParts

MAX_NAMES = 16
"""Most parameter names of a URL that is learned from."""

_MAX_ENDING = 5
_FORMS = frozenset({"{n}", "{h}", "{d}"})
_INDEX = frozenset(
    f"{name}.{ending}" for name in ("index", "default") for ending in ("html", "htm", "php", "asp", "aspx", "jsp")
)
_INDEX_SIBLINGS = ("index.html", "index.htm", "index.php")
_SESSION = re.compile(r";(?:jsessionid|phpsessid|sid|sessionid)=[^/;]*|/\([SA]\([A-Za-z0-9]{8,64}\)\)", re.IGNORECASE)
_VIEW = re.compile(r"/(?:print|amp)(?=/|$)")
_SLASHES = re.compile(r"//+")
_ESCAPE_OR_UPPER = re.compile(r"(%[0-9A-Fa-f]{2})|([A-Z]+)")


class Kind(StrEnum):
    """What a rewrite does."""

    QUERY = "parameters"  # drops a group of parameters
    EMPTY = "empty"  # drops parameters without a value: ?a=1&b= is ?a=1
    ORDER = "order"  # ?b=1&a=2 is ?a=2&b=1
    SESSION = "session"  # drops ;jsessionid=... and /(S(...))
    INDEX = "index"  # /a/index.html is /a/
    SLASH = "slash"  # /a is /a/
    SLASHES = "slashes"  # /a//b is /a/b
    CASE = "case"  # /A is /a
    VIEW = "view"  # /print/a and /a/amp are /a
    WWW = "www"  # www.h is h
    SCHEME = "scheme"  # http is https


_ENUMERABLE = frozenset({Kind.SLASH, Kind.INDEX, Kind.SCHEME, Kind.WWW})


class Rewrite(NamedTuple):
    """One rewrite; ``group`` is the names of the parameters that QUERY drops, else empty."""

    kind: Kind
    group: tuple[str, ...] = ()

    @property
    def is_enumerable(self) -> bool:
        """Whether all URLs of a class can be told from one of them: see ``siblings``."""
        return self.kind in _ENUMERABLE

    def __str__(self) -> str:
        return f"{self.kind}:{','.join(self.group)}" if self.group else self.kind.value

    @classmethod
    def parse(cls, text: str) -> Rewrite:
        """Return the rewrite that ``str`` has written as *text*."""
        kind, _, names = text.partition(":")
        return cls(Kind(kind), tuple(names.split(",")) if names else ())


HOST_WIDE = tuple(Rewrite(kind) for kind in Kind if kind is not Kind.QUERY)
"""The rewrites whose rules hold for a whole host; those of QUERY hold for one path template."""


def scope_template(path: str) -> str:
    """Return where a rule on a URL's parameters holds: the template of its directory, and the form of its last segment.

    >>> scope_template("/2008/05/a-title.html"), scope_template("/news/17"), scope_template("/")
    ('/{n}/{n}/{s}.html', '/news/{n}', '/{s}')
    """
    directory, last = path[: path.rfind("/") + 1], path[path.rfind("/") + 1 :]
    stem, dot, ending = last.rpartition(".")
    name, ending = (stem, dot + ending) if dot and len(ending) <= _MAX_ENDING else (last, "")
    form = templates.template("/" + name)[1:]
    return templates.template(directory) + (form if form in _FORMS else "{s}") + ending.lower()


def parameter_names(query: str | None) -> frozenset[str]:
    """Return the names of the parameters in *query*, as written; none when they are too many to learn from.

    >>> sorted(parameter_names("b=1&a=&c&b=2"))
    ['a', 'b', 'c']
    """
    if not query:
        return frozenset()
    names = frozenset([part.partition("=")[0] for part in query.split("&")]) - {""}
    return names if len(names) <= MAX_NAMES and not any("," in name for name in names) else frozenset()


def apply(rewrite: Rewrite, parts: URLParts) -> str:
    """Return the name of the class that the URL of *parts* has under *rewrite*: a URL.

    >>> apply(Rewrite(Kind.QUERY, ("b",)), URLParts("http", "h", "", "/p", "a=1&b=2"))
    'http://h/p?a=1'
    """
    return _join(_REWRITERS[rewrite.kind](parts, rewrite.group))


def own_rewrites(parts: URLParts) -> list[Rewrite]:
    """Return the rewrites for a whole host that change the URL of *parts*.

    >>> own_rewrites(URLParts("https", "h", "", "/A//b/index.html", None))
    [Rewrite(kind=<Kind.INDEX: 'index'>, group=()), Rewrite(kind=<Kind.SLASHES: 'slashes'>, group=()), \
Rewrite(kind=<Kind.CASE: 'case'>, group=())]
    """
    return [rewrite for rewrite in HOST_WIDE if _REWRITERS[rewrite.kind](parts, ()) != parts]


def siblings(parts: URLParts) -> Iterator[tuple[Rewrite, str]]:
    """Yield the other usual spellings of the URL of *parts*, each with the rewrite that makes them one class."""
    for rewrite, sibling in _spellings(parts):
        if _REWRITERS[rewrite.kind](sibling, ()) == _REWRITERS[rewrite.kind](parts, ()):
            yield rewrite, _join(sibling)


def _spellings(parts: URLParts) -> Iterator[tuple[Rewrite, URLParts]]:
    path = parts.path
    start = path.rfind("/") + 1
    if start == len(path):
        for name in _INDEX_SIBLINGS:
            yield Rewrite(Kind.INDEX), parts._replace(path=path + name)
        if path != "/":
            yield Rewrite(Kind.SLASH), parts._replace(path=path[:-1])
    elif path[start:].lower() in _INDEX:
        yield Rewrite(Kind.INDEX), parts._replace(path=path[:start])
    elif "." not in path[start:]:
        yield Rewrite(Kind.SLASH), parts._replace(path=path + "/")
    if not parts.port:
        yield Rewrite(Kind.SCHEME), parts._replace(scheme="http" if parts.scheme == "https" else "https")
    bare = parts.host.removeprefix("www.")
    yield Rewrite(Kind.WWW), parts._replace(host=bare if bare != parts.host else f"www.{bare}")


def _join(parts: URLParts) -> str:
    return f"{parts.scheme}://{parts.authority}{parts.path}{'' if parts.query is None else '?' + parts.query}"


def _without(parts: URLParts, group: tuple[str, ...]) -> URLParts:
    if parts.query is None:
        return parts
    kept = [part for part in parts.query.split("&") if part.partition("=")[0] not in group]
    return parts._replace(query="&".join(kept) or None)


def _without_empty(parts: URLParts, _: tuple[str, ...]) -> URLParts:
    if parts.query is None or not f"{parts.query}&".count("=&"):
        return parts
    kept = [part for part in parts.query.split("&") if not part.endswith("=") or part.count("=") > 1]
    return parts._replace(query="&".join(kept) or None)


def _in_order(parts: URLParts, _: tuple[str, ...]) -> URLParts:
    return (
        parts._replace(query="&".join(sorted(parts.query.split("&")))) if parts.query and "&" in parts.query else parts
    )


def _without_session(parts: URLParts, _: tuple[str, ...]) -> URLParts:
    return parts._replace(path=_SESSION.sub("", parts.path) or "/") if _SESSION.search(parts.path) else parts


def _without_index(parts: URLParts, _: tuple[str, ...]) -> URLParts:
    start = parts.path.rfind("/") + 1
    return parts._replace(path=parts.path[:start]) if parts.path[start:].lower() in _INDEX else parts


def _with_slash(parts: URLParts, _: tuple[str, ...]) -> URLParts:
    last = parts.path[parts.path.rfind("/") + 1 :]
    return parts._replace(path=parts.path + "/") if last and "." not in last else parts


def _without_view(parts: URLParts, _: tuple[str, ...]) -> URLParts:
    return parts._replace(path=_VIEW.sub("", parts.path, count=1) or "/") if _VIEW.search(parts.path) else parts


def _with_single_slashes(parts: URLParts, _: tuple[str, ...]) -> URLParts:
    return parts._replace(path=_SLASHES.sub("/", parts.path)) if "//" in parts.path else parts


def _secure(parts: URLParts, _: tuple[str, ...]) -> URLParts:
    return parts._replace(scheme="https") if parts.scheme == "http" and not parts.port else parts


def _lower(parts: URLParts, _: tuple[str, ...]) -> URLParts:
    """Fold case, but for the digits of escapes, which stand for bytes."""
    folded = _ESCAPE_OR_UPPER.sub(lambda found: found[1] or found[2].lower(), parts.path)
    return parts._replace(path=folded) if folded != parts.path else parts


def _without_www(parts: URLParts, _: tuple[str, ...]) -> URLParts:
    bare = parts.host.removeprefix("www.")
    return parts._replace(host=bare) if bare != parts.host and "." in bare else parts


_REWRITERS: dict[Kind, Callable[[URLParts, tuple[str, ...]], URLParts]] = {
    Kind.QUERY: _without,
    Kind.EMPTY: _without_empty,
    Kind.ORDER: _in_order,
    Kind.SESSION: _without_session,
    Kind.INDEX: _without_index,
    Kind.SLASH: _with_slash,
    Kind.SLASHES: _with_single_slashes,
    Kind.CASE: _lower,
    Kind.VIEW: _without_view,
    Kind.WWW: _without_www,
    Kind.SCHEME: _secure,
}
