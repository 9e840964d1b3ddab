"""From the bytes of a body to text: which encoding, and a decode that always ends.

Only the encodings of the WHATWG Encoding standard exist here, found by its labels. Python's codecs are never looked up
by a name that a page chose: "punycode" in a header costs the cube of the length of a body.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain

import webencodings

from spiderproj.charset.prescan import css_label, declared_labels

_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xfe\xff", "utf-16be"), (b"\xff\xfe", "utf-16le"))
_UTF16_XML = ((b"<\0?\0x\0", "utf-16le"), (b"\0<\0?\0x", "utf-16be"))
_LOOKED_AT, _ENOUGH = 64, 8  # bytes at the start that tell UTF-16 without a mark, and how many characters must
_UTF16 = frozenset({"utf-16be", "utf-16le"})
_MULTI_BYTE = {
    "big5": "big5hkscs",
    "euc-jp": "euc_jp",
    "euc-kr": "cp949",
    "gb18030": "gb18030",
    "gbk": "gb18030",  # the standard decodes both alike
    "iso-2022-jp": "iso2022_jp",
    "shift_jis": "cp932",
    "utf-8": "utf-8",
}
"""The Python codec of each encoding that is neither single-byte nor UTF-16; these replace errors at C speed."""


def decode(body: bytes, header_charset: str | None, *, html: bool = True) -> tuple[str, str]:
    r"""Return the text of *body* and the WHATWG name of the encoding it was read with.

    The first that is known wins: byte order mark, the header's charset, for *html* what the first bytes declare, and
    last the bytes themselves: UTF-16 where every other byte is NUL, UTF-8 where they are valid, else windows-1252.
    Errors become U+FFFD; the text never holds a lone surrogate.

    >>> decode(b"caf\xe9", "latin1")
    ('café', 'windows-1252')
    """
    return _decode(body, chain((header_charset,), _declared(body) if html else ()))


def decode_css(body: bytes, header_charset: str | None) -> tuple[str, str]:
    """Return the text and encoding of a style sheet: as decode, with @charset in the place of <meta>."""
    return _decode(body, (header_charset, css_charset(body)))


def codec_for(label: str) -> str | None:
    """Return the WHATWG name of the encoding that *label* stands for, None when the standard has no such label.

    The standard's "replacement" (for hz-gb-2312, iso-2022-kr ...) counts as unknown: it exists to refuse to run a
    page, and would hide every link of it.

    >>> codec_for(" Latin1 "), codec_for("utf-7")
    ('windows-1252', None)
    """
    if len(label) > 40:
        return None
    encoding = webencodings.lookup(label)
    return None if encoding is None or encoding.name == "replacement" else encoding.name


def css_charset(body: bytes) -> str | None:
    """Return the encoding that a style sheet's own @charset rule declares (CSS Syntax 3.2)."""
    return _in_page(css_label(body))


def encode_query(text: str, encoding: str) -> str:
    """Return the query *text* with its non-ASCII characters as percent-encoded bytes of *encoding*.

    URL standard, "percent-encode after encoding"; UTF-16 has UTF-8 as its output encoding, and what *encoding* lacks
    becomes a character reference.
    """
    return text.translate(_query_escapes(encoding))


def _decode(body: bytes, labels: Iterable[str | None]) -> tuple[str, str]:
    for mark, name in _BOMS:
        if body.startswith(mark):
            return _text(body[len(mark) :], name), name
    known = (codec_for(label) for label in labels if label)
    chosen = next(filter(None, known), None) or _sniffed(body)
    return _text(body, chosen), chosen


def _sniffed(body: bytes) -> str:
    even, odd = body[:_LOOKED_AT:2], body[1:_LOOKED_AT:2]
    if len(odd) >= _ENOUGH and any(even) != any(odd):  # markup is ASCII: no other text has such NULs
        name, letters = ("utf-16le", even) if any(even) else ("utf-16be", odd)
        if all(letters):
            return name
    try:
        body.decode("utf-8")
    except UnicodeDecodeError as error:
        # A body that was cut inside its last character is still UTF-8 when it has shown another such character.
        cut = error.end == len(body) and error.reason == "unexpected end of data"
        return "utf-8" if cut and not body[: error.start].isascii() else "windows-1252"
    return "utf-8"


def _declared(body: bytes) -> Iterator[str | None]:
    for start, name in _UTF16_XML:
        if body.startswith(start):
            yield name
    yield from map(_in_page, declared_labels(body))


def _in_page(label: str | None) -> str | None:
    """Return the encoding that *label* means when it stands inside the page: it was readable, so not in UTF-16."""
    name = codec_for(label) if label else None
    if name == "x-user-defined":
        return "windows-1252"
    return "utf-8" if name in _UTF16 else name


def _text(body: bytes, name: str) -> str:
    if name in _UTF16:
        return _utf16(body, name)
    codec = _MULTI_BYTE.get(name)
    if codec is not None:
        return body.decode(codec, "replace")
    return codecs.charmap_decode(body, "strict", _table(name))[0]


@cache
def _table(name: str) -> str:
    """Return the 256 characters of a single-byte encoding.

    Python calls an error handler for each byte its tables lack: 16 MiB of 0x81 in windows-1252 took 8 s. The
    standard's tables lack nothing in the C1 range; elsewhere a missing byte is an error.
    """
    decoder = webencodings.lookup(name).codec_info.decode
    characters = []
    for byte in range(256):
        character = decoder(bytes((byte,)), "replace")[0]
        characters.append(chr(byte) if character == "\ufffd" and 0x80 <= byte < 0xA0 else character)
    return "".join(characters)


class _QueryEscapes(dict[int, str]):
    """Maps a character's code to how it is written in a query; learns each character once."""

    def __init__(self, encoding: str) -> None:
        super().__init__({code: chr(code) for code in range(0x80)})
        self._codec = "utf-8" if encoding in _UTF16 else _MULTI_BYTE.get(encoding)
        if self._codec is None:
            table = enumerate(_table(encoding))
            self.update(
                (ord(character), f"%{byte:02X}") for byte, character in table if byte >= 0x80 and character != "\ufffd"
            )

    def __missing__(self, code: int) -> str:
        character = chr(code)
        try:
            raw = character.encode(self._codec) if self._codec else b""
        except UnicodeEncodeError:
            raw = b""
        if not raw:
            return f"%26%23{code}%3B"
        escape = self[code] = "".join(
            chr(byte) if 0x21 <= byte <= 0x7E and byte not in b"\"#<>'" else f"%{byte:02X}" for byte in raw
        )
        return escape


@cache
def _query_escapes(encoding: str) -> _QueryEscapes:
    return _QueryEscapes(encoding)


def _utf16(body: bytes, name: str) -> str:
    """Return UTF-16 text in linear time: a Python error handler for each lone surrogate would take seconds."""
    codec = "utf-16-be" if name == "utf-16be" else "utf-16-le"
    tail = "\ufffd" if len(body) % 2 else ""
    body = body[: len(body) & ~1]
    try:
        return body.decode(codec) + tail
    except UnicodeDecodeError:
        return _without_lone_surrogates(body, codec).decode(codec) + tail


_SURROGATE_CLASS = bytes(1 if 0xD8 <= byte < 0xDC else 2 if 0xDC <= byte < 0xE0 else 0 for byte in range(256))
_LONE = bytes((0, 0xFF, 0xFF, 0)).ljust(256, b"\0")


def _without_lone_surrogates(body: bytes, codec: str) -> bytes:
    """Return UTF-16 with U+FFFD for each lone surrogate, by arithmetic on all units at once."""
    high_at = 0 if codec.endswith("be") else 1
    high, low = body[high_at::2], body[1 - high_at :: 2]
    lone = high.translate(_SURROGATE_CLASS).replace(b"\1\2", b"\3\3").translate(_LONE)
    mask = int.from_bytes(lone, "big")
    replaced = int.from_bytes(lone.replace(b"\xff", b"\xfd"), "big")
    units = bytearray(len(body))
    units[high_at::2] = (int.from_bytes(high, "big") | mask).to_bytes(len(high), "big")
    units[1 - high_at :: 2] = (int.from_bytes(low, "big") & ~mask | replaced).to_bytes(len(low), "big")
    return bytes(units)
