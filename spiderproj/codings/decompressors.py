"""The decompressors of the content codings, all behind one incremental interface."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Protocol

import brotli
from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Callable

BROKEN = (zlib.error, brotli.error, zstd.ZstdError, EOFError)
"""What they raise for input that is not theirs."""

_ZSTD_WINDOW_LOG = 23  # 8 MiB, the most that RFC 9659 lets a server use


class Decompressor(Protocol):
    """An incremental decompressor: the interface that PEP 784 gives zstd's."""

    @property
    def eof(self) -> bool:
        """Tell whether the stream, or its present member, has ended."""

    @property
    def needs_input(self) -> bool:
        """Tell whether there is no more output without more input."""

    @property
    def unused_data(self) -> bytes:
        """Return the input after the end."""

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Return about *max_length* bytes of output at most."""


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


def _unzstd() -> Decompressor:
    """Return a zstd decompressor that refuses windows no server may use."""
    return zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: _ZSTD_WINDOW_LOG})


CODINGS: dict[str, list[Callable[[], Decompressor]]] = {
    "gzip": [lambda: _Inflate(31)],
    "deflate": [lambda: _Inflate(15), lambda: _Inflate(-15)],  # zlib, as the standard says; raw, as some servers do
    "br": [_Unbrotli],
    "zstd": [_unzstd],
}
"""What each coding may mean, most likely first."""

MAGIC = {"gzip": b"\x1f\x8b", "zstd": b"\x28\xb5\x2f\xfd"}
"""How a coding begins; what begins otherwise is mislabelled, and no further member."""
