"""What the elements of HTML are to a reader of blocks, and the few attributes that matter."""

from __future__ import annotations

import re
import zlib
from enum import IntEnum
from functools import lru_cache
from typing import Final

# fmt: off
INLINE: Final = frozenset({
    "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i", "ins", "kbd",
    "label", "mark", "nobr", "q", "rp", "rt", "ruby", "s", "samp", "small", "span", "strike", "strong", "sub", "sup",
    "time", "tt", "u", "var", "wbr",
})
"""Elements that do not end a block of text."""

CONTAINERS: Final = frozenset({
    "article", "aside", "blockquote", "body", "center", "details", "dialog", "div", "dl", "fieldset", "figure",
    "footer", "form", "header", "html", "main", "menu", "nav", "noscript", "ol", "section", "select", "svg", "table",
    "tbody", "template", "tfoot", "thead", "tr", "ul",
})
"""Elements that say where in a page a block stands."""
# fmt: on

RAW: Final = ("script", "style", "title", "textarea", "iframe", "xmp")
"""Elements whose content is no markup."""

MEDIA: Final = frozenset({"audio", "embed", "iframe", "img", "object", "source", "video"})
"""Elements that show another resource."""

BLANK: Final = r"\t\n\f\r "
ATTRIBUTES: Final = rf"(?:[^>=\"']++|=[{BLANK}]*+(?:\"[^\"]*+\"?|'[^']*+'?)?+|[\"'])*+"
"""Matches all up to the end of a tag, looking at each character once."""

SKIPPED: Final = rf"(?:s(?:pan|trong|mall|u[bp])|code|em|[biu]|tt|font|var|kbd|abbr|cite|time)(?=[{BLANK}/>])"
"""Matches the commonest of INLINE; they are taken for text until a block is ended."""

_FURNITURE: Final = frozenset({"aside", "footer", "menu", "nav", "select"})
_HIDDEN: Final = frozenset({"noscript", "svg", "template"})
_FURNITURE_NAMES: Final = re.compile(
    r"(?i)(?<![a-z])(?:navi|navi?bar|navigation|menu|side-?bar|bread-?crumbs?|pag(?:er|ination)|"
    r"foot(?:er)?|tag-?cloud|blog-?archive|widget[-_][a-z]+|complementary)(?![a-z])|(?<![a-z])nav(?![a-z])|Navigation"
)
_NAMING: Final = re.compile(r"(?i)(?<![-\w])(?:class|id|role)\s*+=\s*+(?:\"([^\"]*+)|'([^']*+)|([^\s\"'>]++))")
_CLASS: Final = re.compile(r"(?i)(?<![-\w])class\s*+=\s*+(?:\"([^\"]*+)|'([^']*+)|([^\s\"'>]++))")
_SOURCE: Final = re.compile(r"(?i)(?:(?<![-\w])|data-)(?:src|data)\s*+=\s*+(?:\"([^\"]*+)|'([^']*+)|([^\s\"'>]++))")
_HREF: Final = re.compile(r"(?i)(?<![-\w])href\s*+=\s*+(?:\"([^\"]*+)|'([^']*+)|([^\s\"'>]++))")
_PATH_END: Final = re.compile("[?#;]")
_FILE: Final = re.compile(r"(?i)\.(?:avif|gif|jpe?g|mp[34]|ogg|png|svg|webm|webp)$")
_NEVER_FURNITURE: Final = frozenset({"article", "body", "html", "main"})
_REACH: Final = 400  # characters of attributes that are looked at for names
_DIGITS: Final = str.maketrans("", "", "0123456789")


class Kind(IntEnum):
    """What an element holds; the greater one goes for all that is inside."""

    CONTENT = 0
    FURNITURE = 1  # navigation, side bars, footers
    HIDDEN = 2  # what is not shown


@lru_cache(maxsize=4096)
def named(name: str, source: str) -> tuple[bytes, Kind]:
    """Return what names an element for its place, and its kind.

    *source* is the beginning of its attributes (nameable). Digits in a class count for nothing ("post-123").
    """
    found = _CLASS.search(source)
    classes = found[found.lastindex or 0].translate(_DIGITS) if found else ""
    return f"{name} {' '.join(classes.split())}".encode(errors="replace"), _kind(name, source)


def _kind(name: str, source: str) -> Kind:
    if name in _HIDDEN:
        return Kind.HIDDEN
    if name in _FURNITURE:
        return Kind.FURNITURE
    names = () if name in _NEVER_FURNITURE else _NAMING.finditer(source)
    is_named = any(_FURNITURE_NAMES.search(match[match.lastindex or 0]) for match in names)
    return Kind.FURNITURE if is_named else Kind.CONTENT


def nameable(source: str) -> str:
    """Return as much of a tag's attributes as is looked at for its names."""
    return source if len(source) <= _REACH else source[:_REACH]


def place(seed: bytes, parent: int) -> int:
    """Return 32 bits for the place of an element named *seed* in the place *parent*."""
    return zlib.crc32(seed, parent)


def source_of(attributes: str) -> str:
    """Return the address of what an element of MEDIA shows, "" when it shows nothing.

    The query of a file is only there for caches: ``a.png?v=3`` is ``a.png``.
    """
    address = _value(_SOURCE, attributes)
    path, _, _ = address.partition("?")
    return path if _FILE.search(path) else address


def target_of(attributes: str) -> str | None:
    """Return the href of an anchor, None when it leads nowhere."""
    if attributes.startswith(' href="'):  # nearly all
        return attributes[7 : attributes.find('"', 7)]
    match = _HREF.search(attributes)
    return None if match is None else match[match.lastindex or 0]


def last_segment(target: str) -> str:
    """Return the last part of a link's path: what stays when sessions, sorting and the names of a host change.

    >>> last_segment("http://h/a/b.html;jsessionid=1?x=2#c"), last_segment("/a/b/"), last_segment("?page=2")
    ('b.html', 'b', '')
    """
    path = _PATH_END.split(target, 1)[0].rstrip("/")
    return path[path.rfind("/") + 1 :]


def _value(pattern: re.Pattern[str], attributes: str) -> str:
    match = pattern.search(attributes)
    return match[match.lastindex or 0] if match else ""
