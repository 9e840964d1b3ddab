"""Parse one HTTP/1.x response from bytes, without any I/O: tolerant where browsers are, bounded everywhere.

The shape is h11's, bytes in and parts out, less the event objects: ``feed`` returns body bytes, and the parser's
attributes say what is known. However the bytes are split, the outcome is the same.
"""

from __future__ import annotations

import re

from spiderproj.http1.chunked import ChunkedBody
from spiderproj.http1.head import Head, HeadLimits, ResponseError, parse_head

_HEAD_END = re.compile(rb"\n\r?\n")
_KEEP_ALIVE = re.compile(r"\b(timeout|max)[ \t]?=[ \t]?([0-9]{1,6})(?![0-9])", re.IGNORECASE)
_MAX_LENGTH_DIGITS = 15
_LIMITS = HeadLimits()


class ResponseParser:
    """The state of one response to a request of *method*.

    ``head``: the final head, None until it is complete. ``length``: size of the body on the wire when the head tells
    it, else None. ``done``: the answer has ended. Every error is a ResponseError; after one the parser is of no use.
    """

    # Defaults live in the class: a parser is made for every answer, and few of these ever change.
    head: Head | None = None
    length: int | None = None
    done = False
    _buffer: bytearray | None = None  # of a head that has not ended
    _used = 0
    _interim = 0
    _left: int | None = None
    _chunks: ChunkedBody | None = None
    _excess = False

    def __init__(self, method: str, limits: HeadLimits = _LIMITS) -> None:
        self._method = method
        self._limits = limits

    def feed(self, data: bytes) -> bytes:
        """Return the body bytes in *data*, after transfer decoding; b"" while the head is incomplete."""
        if self.head is None:
            data = self._feed_head(data)
        if not data or self.head is None:
            return b""
        if self.done:
            self._excess = True
            return b""
        if self._left is not None:
            return self._feed_sized(data, self._left)
        return data if self._chunks is None else self._feed_chunked(data, self._chunks)

    def eof(self) -> bool:
        """Take the end of the connection; return whether the answer is whole."""
        if self.head is not None and self._left is None and self._chunks is None:
            self.done = True  # RFC 9112, 6.3, 8: the body ends with the connection
            self._excess = True
        return self.done

    @property
    def reusable(self) -> bool:
        """Tell whether the connection can carry another request: the answer is whole, and nothing came after it."""
        return self.done and not self._excess and self.head is not None and _persists(self.head)

    def _feed_head(self, data: bytes) -> bytes:
        """Take heads until the final one; return what follows it."""
        while data and self.head is None:
            block, data = self._take_block(data)
            if block:
                head = parse_head(block, self._limits)
                if head.status >= 200:
                    self.head = head
                    self._frame(head)
                else:
                    self._count_interim(head.status)
        return data

    def _take_block(self, data: bytes) -> tuple[bytes, bytes]:
        """Return the head that ends in *data* and what follows it; (b"", b"") when none ends there."""
        if self._buffer is None:
            stripped = data.lstrip(b"\r\n")  # RFC 9112, 2.2: blank lines before the status line
            self._used += len(data) - len(stripped)
            data = stripped
            match = _HEAD_END.search(data)
        else:
            start = max(0, len(self._buffer) - 2)
            self._buffer += data
            match = _HEAD_END.search(self._buffer, start)
            data = bytes(self._buffer) if match else b""
        if match is None:
            self._wait(data)
            return b"", b""
        size = match.end()
        self._check_size(size, data)
        self._used += size
        self._buffer = None
        return data[: match.start() + 1], data[size:]

    def _wait(self, data: bytes) -> None:
        """Keep *data*, with what was kept before, until the head's end comes."""
        if self._buffer is None:
            if not data:
                self._check_size(0, b"")
                return
            self._buffer = bytearray(data)
        _refuse_garbage(bytes(self._buffer[:40]))
        self._check_size(len(self._buffer), bytes(self._buffer[:40]))

    def _check_size(self, size: int, begin: bytes) -> None:
        """Raise ResponseError when a head of *size* bytes is too much; what is no head at all is called that."""
        if self._used + size > self._limits.size:
            _refuse_garbage(begin[:40])
            raise ResponseError("too-many-headers", f"headers over {self._limits.size} bytes")

    def _count_interim(self, status: int) -> None:
        """Pass over an interim answer; an upgrade was never asked for."""
        self._interim += 1
        if status == 101 or self._interim > self._limits.interim:
            raise ResponseError("bad-response", f"status {status}: expected a final answer")

    def _frame(self, head: Head) -> None:
        """Find where the body ends (RFC 9112, 6.3)."""
        codings = head.fields.get("transfer-encoding")
        lengths = head.fields.get("content-length")
        if self._method == "HEAD" or head.status in (204, 304):
            self.done = True
            # A 204 that announces a body will send one: it must not answer the next request.
            self._excess = head.status == 204 and (codings is not None or lengths not in (None, ["0"]))
        elif codings and _is_chunked(codings):
            self._chunks = ChunkedBody()
            # Two framings, or one that HTTP/1.0 does not have: an intermediary may have read it otherwise (6.1).
            self._excess = lengths is not None or head.version == "HTTP/1.0"
        elif lengths:
            self._left = self.length = _content_length(lengths)
            self.done = not self._left

    def _feed_sized(self, data: bytes, left: int) -> bytes:
        """Return what of *data* belongs to a body of which *left* bytes are to come."""
        size = len(data)
        if size < left:
            self._left = left - size
            return data
        self._left = 0
        self.done = True
        if size > left:
            self._excess = True
            return data[:left]
        return data

    def _feed_chunked(self, data: bytes, chunks: ChunkedBody) -> bytes:
        """Return what of *data* belongs to a chunked body."""
        body = chunks.feed(data)
        self.done = chunks.done
        self._excess |= chunks.excess
        return body


def keep_alive_seconds(head: Head) -> int | None:
    """Return how long the server keeps the idle connection, as its Keep-Alive field says; None when it does not say."""
    seconds = None
    for value in head.fields.get("keep-alive", ()):
        for name, number in _KEEP_ALIVE.findall(value):
            if name.lower() == "timeout":
                seconds = int(number)
            elif int(number) == 0:
                return 0
    return seconds


def _refuse_garbage(begin: bytes) -> None:
    """Raise ResponseError when *begin* can begin no status line: HTTP/0.9, or another protocol."""
    if not b"HTTP/".startswith(begin[:5].upper()):
        raise ResponseError("bad-response", f"not an HTTP/1.x status line: {begin!a}")


def _persists(head: Head) -> bool:
    """Tell whether the server keeps the connection after this answer (RFC 9112, 9.3)."""
    values = head.fields.get("connection")
    if values is None or values == ["keep-alive"]:
        return head.version == "HTTP/1.1" or (head.version == "HTTP/1.0" and values is not None)
    options = _tokens(values)
    if "close" in options:
        return False
    return head.version == "HTTP/1.1" or (head.version == "HTTP/1.0" and "keep-alive" in options)


def _is_chunked(values: list[str]) -> bool:
    """Tell whether the body is chunked, and not left as it is; other transfer codings were not asked for."""
    codings = [coding for coding in _tokens(values) if coding != "identity"]
    if any(coding != "chunked" for coding in codings):
        raise ResponseError("bad-response", f"transfer coding {','.join(values)[:80]!a}: expected chunked")
    return bool(codings)


def _content_length(values: list[str]) -> int:
    """Return the one length that all *values* give (RFC 9110, 8.6)."""
    texts = set(_tokens(values)) if len(values) > 1 or "," in values[0] else {values[0]}
    text = texts.pop() if texts else ""
    if texts or not (text.isascii() and text.isdecimal()):
        raise ResponseError("bad-response", f"Content-Length {','.join(values)[:80]!a}: expected one number")
    digits = text.lstrip("0") or "0"
    if len(digits) > _MAX_LENGTH_DIGITS:
        raise ResponseError("too-large", f"Content-Length {digits[:40]} is over any limit")
    return int(digits)


def _tokens(values: list[str]) -> list[str]:
    """Return the lower-case members of a comma-separated field."""
    return [token.strip(" \t").lower() for value in values for token in value.split(",") if token.strip(" \t")]
