"""The key under which an index has a URL: host reversed, what rarely matters taken away (the Wayback Machine's rules).

A viewer looks a URL up by this key, so it must be the one that other tools make of it.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote_from_bytes, unquote_to_bytes

from spiderproj.urls import split

_SAFE: Final = "!\"$&'()*+,-./:;<=>?@[\\]^_`{|}~"
_WWW: Final = re.compile(r"www[0-9]*\.")
_SESSION_FOLDER: Final = (
    re.compile(r"(.*/)\((?:[a-z]\([0-9a-z]{24}\))+\)/([^?]+\.aspx.*)"),
    re.compile(r"(.*/)\([0-9a-z]{24}\)/([^?]+\.aspx.*)"),
)
_SESSION_ARGUMENT: Final = tuple(
    re.compile(rf"(.*){argument}(?:&(.*))?")
    for argument in (
        "jsessionid=[0-9a-z]{32}",
        "phpsessid=[0-9a-z]{32}",
        "sid=[0-9a-z]{32}",
        "aspsessionid[a-z]{8}=[a-z]{24}",
        "cfid=[^&]+&cftoken=[^&]+",
    )
)
_MAYBE_SESSION: Final = re.compile("sid=|session|cfid=")


def surt(url: str) -> str:
    """Return the key of a canonical *url*.

    >>> surt("https://www.example.org:8443/a//B/?d=2&c=1")
    'org,example:8443)/a/b?c=1&d=2'
    """
    parts = split(url)
    host = _WWW.sub("", _unescaped(parts.host).strip("[]").replace("..", ".").strip("."), count=1)
    host = ",".join(reversed(host.split(".")))
    port = f":{parts.port}" if parts.port else ""
    query = _query(_unescaped(parts.query)) if parts.query else ""
    return f"{host}{port}){_path(_unescaped(parts.path))}{f'?{query}' if query else ''}"


def _unescaped(text: str) -> str:
    """Return *text* unescaped until nothing changes, and escaped once, in lower case."""
    if "%" not in text and text.isascii() and text.isprintable() and " " not in text and "#" not in text:
        return text.lower()
    raw = text.encode()
    while (plain := unquote_to_bytes(raw)) != raw:
        raw = plain
    return quote_from_bytes(raw, _SAFE).lower()


def _path(path: str) -> str:
    """Return *path* without empty and dotted segments, session ids and the slash at its end."""
    if "//" in path or "/." in path:
        path = _plain(path)
    if ".aspx" in path:
        for pattern in _SESSION_FOLDER:
            if match := pattern.fullmatch(path):
                path = match[1] + match[2]
    return path[:-1] if path.endswith("/") and len(path) > 1 else path


def _plain(path: str) -> str:
    kept: list[str] = []
    for segment in path.split("/")[1:]:
        if segment == ".." and kept:
            kept.pop()
        elif segment != ".":
            kept.append(segment)
    *folders, name = kept or [""]
    return "/" + "".join(f"{folder}/" for folder in folders if folder) + name


def _query(query: str) -> str:
    """Return *query* without session ids, its arguments in order."""
    if _MAYBE_SESSION.search(query):
        for pattern in _SESSION_ARGUMENT:
            if match := pattern.fullmatch(query):
                query = match[1] + (match[2] or "")
    if "&" not in query:
        return query
    return "&".join(sorted(query.split("&"), key=lambda argument: tuple(argument.split("=", 1))))
