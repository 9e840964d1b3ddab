"""What response headers say about links: Link: and X-Robots-Tag:."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_BLANK = r"[ \t\r\n]*+"
# RFC 8288 3: "<" URI-reference ">" and its parameters, up to the next "<" that begins a link.
_LINK = re.compile(r"<([^<>]*+)>([^\"<,]*+(?:\"(?:[^\"\\]|\\.)*+(?:\"|\Z)[^\"<,]*+)*+)", re.DOTALL)
_PARAMETER = re.compile(
    rf";{_BLANK}([^\s=;,\"]++){_BLANK}(?:={_BLANK}(?:\"((?:[^\"\\]|\\.)*+)\"?|([^\s;,\"]*+)))?+", re.DOTALL
)
_VALUED_DIRECTIVES = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})
_STOPS = frozenset({"nofollow", "none"})


class HeaderLink(NamedTuple):
    """One link of a Link: header: its URI reference as written, and its parameters, the first of each name."""

    reference: str
    parameters: dict[str, str]


def link_header(value: str) -> Iterator[HeaderLink]:
    """Yield the links of a Link: header.

    >>> list(link_header('</a>; rel="next prefetch"'))
    [HeaderLink(reference='/a', parameters={'rel': 'next prefetch'})]
    """
    for match in _LINK.finditer(value):
        parameters: dict[str, str] = {}
        for name, quoted, token in _PARAMETER.findall(match[2]):
            parameters.setdefault(name.lower(), re.sub(r"\\(.)", r"\1", quoted) if quoted else token)
        yield HeaderLink(match[1].strip(), parameters)


def says_nofollow(directives: str) -> bool:
    """Return whether the content of a robots <meta> says not to follow the page's links.

    >>> says_nofollow("NoIndex, NONE")
    True
    """
    return not _STOPS.isdisjoint(directives.lower().replace(",", " ").split())


def robots_tag_says_nofollow(values: Iterable[str], token: str) -> bool:
    """Return whether X-Robots-Tag headers say it to the agent *token*, by name or to all.

    "agent: a, b" addresses what follows in that header to one agent; "max-snippet: 5" and its like name none.

    >>> robots_tag_says_nofollow(["otherbot: nofollow", "noindex"], "spiderproj")
    False
    """
    return any(_names_us(value.lower(), token.lower()) for value in values)


def _names_us(value: str, token: str) -> bool:
    agent = token
    for part in value.split(","):
        name, colon, rest = part.partition(":")
        if colon and name.strip() not in _VALUED_DIRECTIVES:
            agent, part = name.strip(), rest
        if agent == token and part.strip() in _STOPS:
            return True
    return False


def as_sent(value: str) -> str:
    """Return a header value that was read as Latin-1 as the UTF-8 text it is, when it is."""
    if value.isascii():
        return value
    try:
        return value.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return value
