"""A body as a text in which each character stands for as many bytes: places found there are places in the bytes.

Tokenizing only ever looks for ASCII characters, so all others may be anything that is not ASCII. An encoding in which
bytes below 0x80 are parts of other characters has those masked; UTF-16 has one character for each of its units.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from spiderproj import charset

_BOMS = {"utf-8": b"\xef\xbb\xbf", "utf-16be": b"\xfe\xff", "utf-16le": b"\xff\xfe"}
_CODECS = {"utf-16be": "utf-16-be", "utf-16le": "utf-16-le"}
_MASK = "\x80\x80"
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
_PAIRS = {
    "big5": re.compile("[\x81-\xfe][@-~\xa1-\xfe]"),
    "euc-kr": re.compile("[\x81-\xfe][A-Za-z\x81-\xfe]"),
    "gb18030": re.compile("[\x81-\xfe][0-9@-~\x80-\xfe]"),
    "gbk": re.compile("[\x81-\xfe][0-9@-~\x80-\xfe]"),
    "shift_jis": re.compile("[\x81-\x9f\xe0-\xfc][@-~\x80-\xfc]"),
}
"""Two bytes of which the second may look like ASCII (Encoding standard, the decoders of these)."""
_SHIFTED = re.compile("\x1b(?:\\$[@B]|\\(I)[^\x1b]*+(?:\x1b\\([BJ])?")
"""What stands between the escapes of ISO-2022-JP, and these."""


@dataclass(frozen=True, slots=True)
class View:
    """The text of a *body* in *encoding* after its first *start* bytes, its byte order mark."""

    body: bytes
    text: str
    encoding: str
    start: int

    @property
    def unit(self) -> int:
        """Bytes for each character of the text."""
        return 2 if self.encoding in _CODECS else 1

    def value(self, start: int, end: int) -> str:
        """Return what is really written from *start* to *end*."""
        value = self.text[start:end]
        if value.isascii():
            return value
        raw = self.body[self.start + start * self.unit : self.start + end * self.unit]
        return raw.decode("utf-8", "replace") if self.encoding == "utf-8" else charset.decode(raw, self.encoding)[0]

    def encode(self, text: str) -> bytes:
        """Return the bytes of *text*, which is ASCII unless the encoding is UTF-16."""
        return text.encode(_CODECS.get(self.encoding, "ascii"))


def view_of(body: bytes, encoding: str) -> View:
    """Return the view of a *body* that is read in *encoding*, a WHATWG name."""
    mark = _BOMS.get(encoding, b"")
    start = len(mark) if mark and body.startswith(mark) else 0
    if encoding in _CODECS:
        return View(body, _ASTRAL.sub(_MASK, charset.decode(body, encoding)[0]), encoding, start)
    text = body[start:].decode("latin-1")
    if not text.isascii() and (pairs := _PAIRS.get(encoding)):
        text = pairs.sub(_MASK, text)
    elif encoding == "iso-2022-jp":
        text = _SHIFTED.sub(lambda match: "\x80" * len(match[0]), text)
    return View(body, text, encoding, start)
