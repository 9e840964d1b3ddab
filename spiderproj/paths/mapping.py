"""Where the body of a URL lies on disk: a pure mapping, never read back (docs/security.md, 2.1).

The path is ``<host>[_port]/<folders>/<leaf>.<ending>``, all ASCII. Names stay as the URL spells them wherever that is
safe and unambiguous on every file system, also on one that does not tell upper from lower case. What differs is said
after a ``~``:

=====================  =================  ==========================================================================
``blog~.html``         ``/blog``          the ending was added
``String~1.html``      ``/String.html``   capitals and escaped characters: a bit each in a hexadecimal number, the
                                          first character's being the lowest
``index~0.html``       ``/index.html``    ``index.html`` is the page of ``/``
``a.html~/``           ``/a.html/``       a folder that could be taken for a file
``page.php~….html``    ``/page.php?id=7`` 80 bits of the SHA-256 of the segment and its query; also where a name would
                                          be over 120 bytes
=====================  =================  ==========================================================================

Two canonical URLs never share a path, whatever their types, and no path is a parent of another: files end in one of
a fixed list of endings, folders never do.
"""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, Final, NamedTuple

from spiderproj import urls
from spiderproj.paths.endings import ADDED_ENDINGS, ALL_ENDINGS, FileEndings, file_endings

if TYPE_CHECKING:
    from spiderproj.models import ResourceType

MAX_NAME_BYTES: Final = 120
"""Longest name made from a segment or a host; a port adds up to 7 bytes to a host's."""
MAX_PATH_BYTES: Final = 200
MAX_LEVELS: Final = 24

_HASH_DIGITS: Final = 20  # 80 bits. With 40, the queries of one page would collide at a million
_MASK_LIMIT: Final = 1 << 60  # at most 15 hexadecimal digits, so that no mask looks like a hash
_DEEP: Final = "_deep"
_DEFAULT_PORTS: Final = {"http": "80", "https": "443"}
_USUAL_SCHEMES: Final = {port: scheme for scheme, port in _DEFAULT_PORTS.items()}

# What an operating system, a shell or this module takes for something else; its first character is escaped.
_RESERVED: Final = rf"[.-]|(?i:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|\Z)|(?i:{_DEEP})\Z"
_PLAIN: Final = re.compile(rf"(?!{_RESERVED})~?(?:[a-z0-9._-]++|%[0-9A-F]{{2}})*+(?<!\.)")
_LETTERS: Final = re.compile(rf"(?!{_RESERVED})~?[A-Za-z0-9._-]*+(?<!\.)")
_ESCAPED: Final = rf"\A(?={_RESERVED}).|\.\Z|[^A-Za-z0-9._%~-]|(?!\A)~|%(?![0-9A-Fa-f]{{2}})"
_TO_ESCAPE: Final = re.compile(_ESCAPED, re.DOTALL)
_UNUSUAL: Final = re.compile(rf"({_ESCAPED})|%..", re.DOTALL)
_BITS: Final = bytes(b"01"[chr(code).isupper()] for code in range(128)) + bytes(128)
_LIKE_A_PORT: Final = re.compile(r"_[0-9]+\Z")
_CUT_ESCAPE: Final = re.compile(r"%[0-9A-Fa-f]?\Z")


class _Name(NamedTuple):
    """A segment spelled safely, and its unusual characters: bit n for the one at index n of the segment."""

    text: str
    mask: int


def relative_path(
    url: str,
    type: ResourceType,  # noqa: A002 -- the word of the contract
    media_type: str | None,
    home_scheme: str = "http",
) -> str:
    """Return the path below ``files/`` of the body of a canonical *url*, with ``/`` between its names.

    The host's folder is plain for URLs of *home_scheme* (the seed's; one value for the life of an output folder) and
    has ``_80`` or ``_443`` for those of the other scheme.

    >>> from spiderproj.models import ResourceType
    >>> relative_path("http://h:8080/a/", ResourceType.HTML, "text/html")
    'h_8080/a/index.html'
    """
    end = url.find("?")
    head = url if end < 0 else url[:end]
    cut = head.rindex("/") + 1
    folders = _folders(head[:cut], home_scheme)
    endings = file_endings(type, media_type)
    path = folders + _leaf(head[cut:], None if end < 0 else url[end + 1 :], endings)
    if len(path) <= MAX_PATH_BYTES and path.count("/") < MAX_LEVELS:
        return path
    return f"{path[: path.index('/')]}/{_DEEP}/{_hash(url)}.{endings.default}"


@lru_cache(maxsize=1024)
def _folders(directory: str, home_scheme: str) -> str:
    """Return the path of the folders of a URL up to its last slash, with a slash at the end."""
    parts = urls.split(directory)
    segments = parts.path.split("/")[1:-1]
    return "/".join([_host(parts, home_scheme), *map(_folder, segments), ""])


def _host(parts: urls.URLParts, home_scheme: str) -> str:
    """Return the name of the folder of a host and port."""
    name = _host_name(parts.host)
    port = parts.port or ("" if parts.scheme == home_scheme else _DEFAULT_PORTS[parts.scheme])
    if not port:
        return name
    # A port may speak either scheme: 80 and 443 are taken to speak their own, all others the home's.
    usual = _USUAL_SCHEMES.get(port, home_scheme)
    return f"{name}_{port}" if parts.scheme == usual else f"{name}_{port}~"


def _host_name(host: str) -> str:
    """Return the name of a host; an address of version 6 has a prefix that no domain's name can have."""
    if host.startswith("["):
        return "ip6~" + host.strip("[]").replace(":", "-")
    return _marked(_spell(host), host, "~0" if _LIKE_A_PORT.search(host) else "")


def _folder(segment: str) -> str:
    """Return the name of the folder of one segment."""
    if not segment:
        return "~~"  # of no other segment: a second "~" is escaped
    name = _spell(segment)
    _, dot, ending = name.text.rpartition(".")
    return _marked(name, segment, "~" if dot and ending.lower() in ALL_ENDINGS else "")


def _marked(name: _Name, source: str, mark: str = "") -> str:
    """Return a folder's *name* with its mask, or else *mark*; with the hash of *source* when that gets too long."""
    text = f"{name.text}~{name.mask:x}" if name.mask else name.text + mark
    if name.mask < _MASK_LIMIT and len(text) <= MAX_NAME_BYTES:
        return text
    return _hashed(name.text, source, "")


def _leaf(segment: str, query: str | None, endings: FileEndings) -> str:
    """Return the name of the file of the last *segment* and the *query*."""
    name = _spell(segment) if segment else _Name(f"index.{endings.default}", 0)
    stem, _, ending = (segment or name.text).rpartition(".")
    own = bool(stem) and ending.lower() in endings.fitting
    stem, ending = (name.text.removesuffix(f".{ending}"), ending) if own else (name.text, endings.default)
    if query is None and name.mask < _MASK_LIMIT:
        text = f"{stem}{_leaf_mark(name, own=own, is_index=not segment)}.{ending}"
        if len(text) <= MAX_NAME_BYTES:
            return text
    return _hashed(stem, _target(segment, query), f".{ending}")


def _leaf_mark(name: _Name, *, own: bool, is_index: bool) -> str:
    """Return what tells a leaf from others of the same stem and ending."""
    mark = f"~{name.mask:x}" if name.mask else ""
    if not own:
        return f"{mark}~"
    if not is_index and name.text.startswith("index.") and name.text[6:] in ADDED_ENDINGS:
        return mark or "~0"
    return mark


def _target(path: str, query: str | None) -> str:
    """Return *path* with the *query*, as a request line has them."""
    return path if query is None else f"{path}?{query}"


def _hashed(stem: str, source: str, ending: str) -> str:
    """Return as much of *stem* as there is room for, the hash of *source*, and *ending*."""
    room = MAX_NAME_BYTES - 1 - _HASH_DIGITS - len(ending)
    if len(stem) > room:
        stem = _CUT_ESCAPE.sub("", stem[:room])
    return f"{stem}~{_hash(source)}{ending}"


def _hash(source: str) -> str:
    """Return the first 80 bits of the SHA-256 of *source* in hexadecimal."""
    return sha256(source.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_DIGITS]


def _spell(segment: str) -> _Name:
    """Return *segment* in ``[A-Za-z0-9._%-]``, with its ``~`` when it begins with one.

    Equal texts with equal masks come from equal segments, even when letters are folded to one case. Of what is too
    long for a name the beginning is enough: its mask is over the limit, and asks for a hash.
    """
    if len(segment) > MAX_NAME_BYTES:
        return _Name(_spell(segment[:MAX_NAME_BYTES]).text, _MASK_LIMIT)
    if _PLAIN.fullmatch(segment):
        return _Name(segment, 0)
    text = cases = segment
    if not _LETTERS.fullmatch(segment):
        text = _TO_ESCAPE.sub(_escape, segment)
        cases = _UNUSUAL.sub(_case, segment)
    return _Name(text, int(cases.encode().translate(_BITS)[::-1], 2))


def _escape(match: re.Match[str]) -> str:
    """Return the escape of a character."""
    return f"%{ord(match[0]):02X}"


def _case(match: re.Match[str]) -> str:
    """Return as many letters as the match of _UNUSUAL has, capitals for what is unusual."""
    return "A" if match.lastindex else match[0].swapcase()  # the usual escape has capitals
