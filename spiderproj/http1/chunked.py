"""Undo the chunked transfer coding incrementally, within limits (RFC 9112, 7.1)."""

from __future__ import annotations

import re
from typing import Final

from spiderproj.http1.head import ResponseError

MAX_SIZE_LINE = 16 * 1024
MAX_TRAILERS = 64 * 1024
_SIZE = re.compile(rb"0*([0-9A-Fa-f]{1,15})[ \t]*(?:;|\Z)")
"""At most 15 digits after leading zeros: more bytes than anybody has."""


_WHOLE = re.compile(rb"([0-9A-Fa-f]{1,15})\r\n")

# What comes next; plain numbers, since an Enum's members cost a microsecond a look in a loop over tiny chunks.
_SIZE_LINE: Final = 0
_DATA: Final = 1
_DATA_END: Final = 2
_TRAILER: Final = 3
_NOTHING: Final = 4


class ChunkedBody:
    """The state of one chunked body: feed bytes in, body bytes come out.

    ``done``: the last chunk and the trailers were read; ``excess``: bytes came after them.
    """

    __slots__ = ("_expect", "_left", "_rest", "_trailers", "excess")

    def __init__(self) -> None:
        self.excess = False
        self._expect = _SIZE_LINE
        self._left = 0
        self._rest = b""
        self._trailers = 0

    @property
    def done(self) -> bool:
        """Tell whether the body has ended."""
        return self._expect == _NOTHING

    def feed(self, data: bytes) -> bytes:
        """Return the body bytes in *data*, joined: chunks of one byte must not become objects of forty.

        Raises ResponseError when the coding is broken or exceeds a limit.
        """
        if self._left > len(data):
            self._left -= len(data)
            return data
        if self._rest:
            data = self._rest + data
            self._rest = b""
        parts: list[bytes] = []
        position = 0
        while position < len(data):
            if self._expect == _SIZE_LINE:
                position = self._take_whole(data, position, parts)
            if self._expect == _DATA:
                piece = data[position : position + self._left]
                parts.append(piece)
                position += len(piece)
                self._count(len(piece))
            elif self._expect == _NOTHING:
                self.excess = True
                break
            else:
                end = data.find(b"\n", position)
                if end < 0:
                    self._keep(data[position:])
                    break
                self._line(data[position:end])
                position = end + 1
        return parts[0] if len(parts) == 1 else b"".join(parts)

    @staticmethod
    def _take_whole(data: bytes, position: int, parts: list[bytes]) -> int:
        """Append the chunks that lie whole in *data* from *position* on; return where they end.

        The usual form only; ``feed`` takes everything else line by line, at four times the cost.
        """
        while match := _WHOLE.match(data, position):
            start = match.end()
            end = start + int(match[1], 16)
            if end == start or data[end : end + 2] != b"\r\n":
                break
            parts.append(data[start:end])
            position = end + 2
        return position

    def _count(self, size: int) -> None:
        """Note that *size* bytes of the present chunk were read."""
        self._left -= size
        if not self._left:
            self._expect = _DATA_END

    def _keep(self, rest: bytes) -> None:
        """Keep a line that has not ended yet."""
        self._check(rest)
        self._rest = rest

    def _check(self, line: bytes) -> None:
        """Raise ResponseError when *line*, whole or not, is over its limit."""
        if self._expect == _TRAILER:
            if self._trailers + len(line) > MAX_TRAILERS:
                raise ResponseError("too-many-headers", f"trailers over {MAX_TRAILERS} bytes")
        elif len(line) > MAX_SIZE_LINE:
            raise ResponseError("bad-response", f"a chunk-size line over {MAX_SIZE_LINE} bytes")

    def _line(self, line: bytes) -> None:
        """Take a whole *line*, without its LF: a chunk's size, the end of a chunk, or a trailer, which is dropped."""
        self._check(line)
        text = line[:-1] if line.endswith(b"\r") else line
        if self._expect == _SIZE_LINE:
            self._size(text)
        elif self._expect == _DATA_END:
            if text:
                raise ResponseError("bad-response", f"a chunk is longer than its size says: {text[:40]!a}")
            self._expect = _SIZE_LINE
        elif text:
            self._trailers += len(line) + 1
        else:
            self._expect = _NOTHING

    def _size(self, text: bytes) -> None:
        """Begin the chunk whose size line is *text*."""
        match = _SIZE.match(text)
        if match is None:
            raise ResponseError("bad-response", f"chunk size {text[:40]!a}: expected hexadecimal digits")
        self._left = int(match[1], 16)
        self._expect = _DATA if self._left else _TRAILER
