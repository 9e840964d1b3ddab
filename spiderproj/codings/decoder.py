"""Undo content codings incrementally, within limits of output, ratio, layers and work (RFC 9110, 8.4)."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from spiderproj.codings.decompressors import BROKEN, CODINGS, MAGIC

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from spiderproj.codings.decompressors import Decompressor

ACCEPT_ENCODING = "gzip, deflate, br, zstd"
"""The value of Accept-Encoding that asks for what can be undone here."""

MAX_LAYERS = 2
MAX_RATIO = 200
"""Decoded bytes a received byte may become ..."""
FREE_OUTPUT = 16 * 1024 * 1024
"""... beyond this many decoded bytes, as many as a page may have: what is kept in memory is bounded anyway."""

_PIECE = 1024 * 1024
_SLICE = 64 * 1024
_STEP = 512
_FREE_MEMBERS = 100
_BYTES_A_MEMBER = 4096


class CodingError(ValueError):
    """A body that must not be decoded further; ``kind`` is "bomb"."""

    kind = "bomb"


class Decoder:
    """Undoes the codings that a response's Content-Encoding *values* name, the last one first.

    ``flags`` says what was wrong: "encoding" (the label is wrong or unknown: the bytes are passed on as they came) and
    "dataloss" (the stream is cut short or broken: what could be read was). ``active`` is False when there is nothing
    to undo. Raises CodingError for more than MAX_LAYERS codings.
    """

    def __init__(self, values: list[str]) -> None:
        names = [name.strip(" \t").lower().removeprefix("x-") for value in values for name in value.split(",")]
        names = [name for name in names if name not in ("", "identity")]
        if len(names) > MAX_LAYERS:
            raise CodingError(f"{len(names)} content codings: expected at most {MAX_LAYERS}")
        self.flags: set[str] = set()
        self._received = 0
        self._layers: list[_Layer] = []
        if all(name in CODINGS for name in names):
            self._layers = [_Layer(name, self.flags) for name in reversed(names)]
        else:
            self.flags.add("encoding")

    @property
    def active(self) -> bool:
        """Tell whether there is a coding to undo."""
        return bool(self._layers)

    def decode(self, data: bytes) -> Iterator[bytes]:
        """Yield what *data* decodes to, in pieces of about 1 MiB at most; raises CodingError for a bomb."""
        for start in range(0, len(data), _SLICE):
            piece = data[start : start + _SLICE]
            self._received += len(piece)
            yield from _through(self._layers, iter((piece,)), max(FREE_OUTPUT, MAX_RATIO * self._received))

    def finish(self) -> Iterator[bytes]:
        """Yield what was held back; afterwards ``flags`` is complete."""
        allowed = max(FREE_OUTPUT, MAX_RATIO * self._received)
        for number, layer in enumerate(self._layers):
            yield from _through(self._layers[number + 1 :], layer.finish(allowed), allowed)


class _Layer:
    """One coding being undone; *flags* is shared by the layers of a Decoder.

    The first _SLICE bytes are read as one, so that the verdict on the label does not depend on how they came.
    """

    def __init__(self, name: str, flags: set[str]) -> None:
        self._magic = MAGIC.get(name, b"")
        self._readings = CODINGS[name]
        self._flags = flags
        self._begin(self._readings[0])
        self._first: bytearray | None = bytearray()
        self._plain = False
        self._over = False

    def decode(self, data: bytes, allowed: int) -> Iterator[bytes]:
        """Yield what *data* decodes to; *allowed*: how many bytes there may be in all."""
        if self._first is not None:
            missing = _SLICE - len(self._first)
            self._first += data[:missing]
            if len(self._first) < _SLICE:
                return
            data = data[missing:]
            yield from self._judge(allowed)
        for start in range(0, len(data), _SLICE):
            piece = data[start : start + _SLICE]
            if self._plain:
                yield piece
            elif not self._over:
                yield from self._run(piece, allowed)

    def finish(self, allowed: int) -> Iterator[bytes]:
        """Yield what a short body decodes to; flag a stream that has not ended."""
        if self._first is not None:
            if not self._first:
                return
            yield from self._judge(allowed)
        if not (self._plain or self._over or self._engine.eof):
            self._flags.add("dataloss")

    def _begin(self, reading: Callable[[], Decompressor]) -> None:
        """Begin to read with a new engine."""
        self._reading = reading
        self._engine = reading()
        self._produced = 0
        self._members = 0

    def _judge(self, allowed: int) -> Iterator[bytes]:
        """Yield the output of the first bytes by the first reading that fits, or the bytes as they are."""
        first = bytes(self._first or b"")
        self._first = None
        if self._magic.startswith(first[: len(self._magic)]):
            for reading in self._readings:
                self._begin(reading)
                try:
                    yield from self._inflate(first, allowed)
                except BROKEN:
                    if self._magic and not self._produced:
                        yield from self._rescue(reading, first, allowed)
                else:
                    return
                if self._produced:
                    self._break()
                    return
        self._flags.add("encoding")
        self._plain = True
        yield first

    def _rescue(self, reading: Callable[[], Decompressor], first: bytes, allowed: int) -> Iterator[bytes]:
        """Yield what *first* decodes to before it breaks: the call that fails gives nothing."""
        self._begin(reading)
        with suppress(*BROKEN):
            for start in range(0, len(first), _STEP):
                yield from self._inflate(first[start : start + _STEP], allowed)

    def _run(self, piece: bytes, allowed: int) -> Iterator[bytes]:
        """Yield the output of a later *piece*."""
        try:
            yield from self._inflate(piece, allowed)
        except BROKEN:
            self._break()

    def _break(self) -> None:
        """Give up a stream that was read in part."""
        self._flags.add("dataloss")
        self._over = True

    def _inflate(self, data: bytes, allowed: int) -> Iterator[bytes]:
        """Yield the output of *data*, over the ends of members."""
        while not self._engine.eof or self._next_member(data):
            output = self._engine.decompress(data, _PIECE)
            data = b""
            if output:
                self._produced += len(output)
                if self._produced > allowed:
                    raise CodingError(f"over {allowed} bytes decoded: expected at most {MAX_RATIO} a received byte")
                yield output
            if self._engine.eof:
                data = self._engine.unused_data
            if not data and (self._engine.eof or self._engine.needs_input):
                return

    def _next_member(self, data: bytes) -> bool:
        """Begin another member when *data* does (RFC 1952, 2.2); anything else after the end is padding.

        A member costs microseconds even when it is empty, so there may not be many more than the output explains.
        """
        self._members += 1
        if self._members > _FREE_MEMBERS + self._produced // _BYTES_A_MEMBER:
            raise CodingError(f"{self._members} compressed members for {self._produced} bytes")
        if not (self._magic and data.startswith(self._magic[: len(data)])):
            self._over = True
            return False
        self._engine = self._reading()
        return True


def _through(layers: list[_Layer], pieces: Iterator[bytes], allowed: int) -> Iterator[bytes]:
    """Return *pieces* decoded by all *layers*."""
    for layer in layers:
        pieces = _each(layer, pieces, allowed)
    return pieces


def _each(layer: _Layer, pieces: Iterator[bytes], allowed: int) -> Iterator[bytes]:
    """Yield *pieces* decoded by *layer*."""
    for piece in pieces:
        yield from layer.decode(piece, allowed)
