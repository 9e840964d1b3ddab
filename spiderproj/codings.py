"""Undo content codings incrementally, within limits of output, ratio, layers and work (RFC 9110, 8.4)."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Protocol

import brotli
from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ACCEPT_ENCODING = "gzip, deflate, br, zstd"
"""The value of Accept-Encoding that asks for what can be undone here."""

MAX_LAYERS = 2
MAX_RATIO = 200
"""Decoded bytes a received byte may become ..."""
FREE_OUTPUT = 1024 * 1024
"""... beyond this many decoded bytes, which always may."""

_PIECE = 1024 * 1024
_SLICE = 64 * 1024
_FREE_MEMBERS = 100
_BYTES_A_MEMBER = 4096
_ZSTD_WINDOW_LOG = 23  # 8 MiB, the most that RFC 9659 lets a server use
_BROKEN = (zlib.error, brotli.error, zstd.ZstdError, EOFError)


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
        if all(name in _ENGINES for name in names):
            self._layers = [_Layer(name, self.flags) for name in reversed(names)]
        else:
            self.flags.add("encoding")

    @property
    def active(self) -> bool:
        """Tell whether there is a coding to undo."""
        return bool(self._layers)

    def decode(self, data: bytes) -> Iterator[bytes]:
        """Yield what *data* decodes to, in pieces of about 1 MiB at most; raises CodingError for a bomb."""
        self._received += len(data)
        allowed = max(FREE_OUTPUT, MAX_RATIO * self._received)
        return _through(self._layers, iter((data,)), allowed)

    def finish(self) -> Iterator[bytes]:
        """Yield what was held back; afterwards ``flags`` is complete."""
        allowed = max(FREE_OUTPUT, MAX_RATIO * self._received)
        for number, layer in enumerate(self._layers):
            yield from _through(self._layers[number + 1 :], layer.finish(), allowed)


class _Engine(Protocol):
    """A decompressor with the interface of PEP 784."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int) -> bytes: ...


class _Inflate:
    """A zlib decompressor with the interface of PEP 784."""

    def __init__(self, wbits: int) -> None:
        self._inflate = zlib.decompressobj(wbits)
        self.needs_input = True

    @property
    def eof(self) -> bool:
        return self._inflate.eof

    @property
    def unused_data(self) -> bytes:
        return self._inflate.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        tail = self._inflate.unconsumed_tail
        output = self._inflate.decompress(tail + data if tail else data, max_length)
        self.needs_input = len(output) < max_length
        return output


class _Unbrotli:
    """A brotli decompressor with the interface of PEP 784; it takes nothing after the stream's end."""

    unused_data = b""

    def __init__(self) -> None:
        self._brotli = brotli.Decompressor()
        self.needs_input = True

    @property
    def eof(self) -> bool:
        return bool(self._brotli.is_finished())

    def decompress(self, data: bytes, max_length: int) -> bytes:
        output: bytes = self._brotli.process(data, output_buffer_limit=max_length)
        self.needs_input = len(output) < max_length
        return output


def _unzstd() -> _Engine:
    """Return a zstd decompressor that refuses windows no server may use."""
    return zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: _ZSTD_WINDOW_LOG})


_ENGINES: dict[str, list[Callable[[], _Engine]]] = {
    "gzip": [lambda: _Inflate(31)],
    "deflate": [lambda: _Inflate(15), lambda: _Inflate(-15)],  # zlib, as the standard says; raw, as some servers do
    "br": [_Unbrotli],
    "zstd": [_unzstd],
}
"""What each coding may mean, most likely first."""

_MAGIC = {"gzip": b"\x1f\x8b", "zstd": b"\x28\xb5\x2f\xfd"}
"""How a coding begins: what cannot begin so is mislabelled however short it is, and no further member."""


class _Layer:
    """One coding being undone; *flags* is shared by the layers of a Decoder."""

    def __init__(self, name: str, flags: set[str]) -> None:
        self._magic = _MAGIC.get(name, b"")
        self._readings = _ENGINES[name]
        self._reading = 0
        self._engine = self._readings[0]()
        self._flags = flags
        self._held: bytes | None = b""  # all input, until there is output: the label may be wrong
        self._produced = 0
        self._members = 0
        self._plain = False
        self._over = False

    def decode(self, data: bytes, allowed: int) -> Iterator[bytes]:
        """Yield what *data* decodes to; *allowed*: how many bytes there may be in all."""
        for start in range(0, len(data), _SLICE):
            piece = data[start : start + _SLICE]
            if self._plain:
                yield piece
            elif not self._over:
                self._hold(piece)
                yield from self._run(piece, allowed)

    def finish(self) -> Iterator[bytes]:
        """Yield the input when it turns out to be mislabelled; flag a stream that has not ended."""
        if self._plain or self._over or self._engine.eof or not (self._held or self._produced):
            return
        held = self._held
        if held and not self._magic.startswith(held[: len(self._magic)]):
            self._flags.add("encoding")
            yield held
        else:
            self._flags.add("dataloss")

    def _hold(self, piece: bytes) -> None:
        """Keep *piece* while there is no output, up to a limit."""
        if self._held is not None:
            self._held = None if self._produced or len(self._held) > _SLICE else self._held + piece

    def _run(self, piece: bytes, allowed: int) -> Iterator[bytes]:
        """Yield the output of *piece*; when it is none of this coding, try its next reading or pass it on."""
        try:
            yield from self._inflate(piece, allowed)
        except _BROKEN:
            if self._produced or self._held is None:
                self._flags.add("dataloss")
                self._over = True
                return
            piece, self._reading = self._held, self._reading + 1
            if self._reading < len(self._readings):
                self._engine = self._readings[self._reading]()
                yield from self._run(piece, allowed)
            else:
                self._flags.add("encoding")
                self._plain = True
                yield piece

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
        self._engine = self._readings[self._reading]()
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
