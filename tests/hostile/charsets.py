"""Labels of encodings: Python's own codecs, false ones, none. The link on each page must be found all the same."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from tests.hostile.answers import Ask, Step, packed, whole
from tests.hostile.cases import Case, Fate


def _link(name: str) -> str:
    return f"<a href='/fine/charsets.{name}'>l</a>"


def _bytes(name: str, before: bytes = b"<title>x</title>", after: bytes = b"") -> bytes:
    return before + _link(name).encode() + after


_PAGES: dict[str, tuple[str, str, bytes]] = {
    # name: attack, label, body; the link is found in each
    "idna": ("a Python codec that raises", "idna", _bytes("idna")),
    "zlib": ("a Python codec that is none for text", "zlib", _bytes("zlib")),
    "undefined": ("a Python codec that always raises", "undefined", _bytes("undefined")),
    "escape": (
        "a Python codec that makes lone surrogates",
        "unicode_escape",
        _bytes("escape", rb"<title>\ud800</title>"),
    ),
    "utf7": ("markup hidden in UTF-7", "utf-7", _bytes("utf7", b"+ADw-a href+AD0-/shut/utf7+AD4-")),
    "utf16": ("UTF-16 without a mark", "utf-16", _link("utf16").encode("utf-16-le")),
    "utf16-odd": ("half a surrogate at an odd end", "utf-16le", _link("utf16-odd").encode("utf-16-le") + b"\xd8"),
    "utf32": ("ASCII as UTF-32", "utf-32", _bytes("utf32", after=b"xyz")),
    "nonsense": ("a label that nobody knows", "no-such-charset-\x7f", _bytes("nonsense", after=b"caf\xc3\xa9")),
    "long": ("a label of 8 kB", "a" * 8000, _bytes("long")),
    "liar": (
        "field and page disagree, and the bytes are neither",
        "utf-8",
        _bytes("liar", b"<meta charset=iso-8859-1>", b"caf\xc3\xa9 \xff\xfe\x80"),
    ),
    "mark": ("a byte order mark against the field", "iso-8859-1", _bytes("mark", b"\xef\xbb\xbf")),
    "iso2022": ("escape sequences around the markup", "iso-2022-jp", _bytes("iso2022", b"\x1b$B!!\x1b(B")),
}


def _labelled(body: bytes, label: str, _: Ask) -> Iterable[Step]:
    return whole(body, "200 OK", f"text/html; charset={label}")


def _costly(ask: Ask) -> Iterable[Step]:
    """Return a body whose decoding by Python's punycode codec takes the cube of its length."""
    return packed(ask, b"ab9" * (ask.number("kb", 200) * 1000 // 3), "text/html; charset=punycode")


CASES = [
    Case(name="charsets.punycode", attack="a Python codec of cubic cost", fate=Fate.STORED, answer=_costly, seconds=10),
    *(
        Case(
            name=f"charsets.{name}",
            attack=attack,
            fate=Fate.STORED,
            answer=partial(_labelled, body, label),
            asks=(f"/fine/charsets.{name}",),
            spares=("/shut/utf7",),
            seconds=10,
        )
        for name, (attack, label, body) in _PAGES.items()
    ),
]
