"""Content decoding: every coding in every split, wrong labels, cut streams, and bombs that cost little."""

from __future__ import annotations

import gzip
import struct
import time
import tracemalloc
import zlib

import brotli
import pytest
from backports import zstd
from hypothesis import given, settings
from hypothesis import strategies as st

from spiderproj.codings import CodingError, Decoder

TEXT = b"<html>" + bytes(range(256)) * 20 + b"hello world " * 3000


def raw_deflate(data: bytes) -> bytes:
    """Return *data* deflated without zlib's frame, as some servers send it."""
    return zlib.compress(data)[2:-4]


def big_window(data: bytes) -> bytes:
    """Return *data* as zstd with a window that no browser takes."""
    compressor = zstd.ZstdCompressor(options={zstd.CompressionParameter.window_log: 27})
    return compressor.compress(data) + compressor.flush()


def decode(values: list[str], data: bytes, step: int = 1 << 30) -> tuple[bytes, set[str]]:
    """Return the decoded bytes and the flags."""
    decoder = Decoder(values)
    pieces = [piece for start in range(0, len(data), step) for piece in decoder.decode(data[start : start + step])]
    pieces += decoder.finish()
    return b"".join(pieces), decoder.flags


GOOD = [
    (["gzip"], gzip.compress(TEXT), TEXT),
    (["x-gzip"], gzip.compress(TEXT), TEXT),
    ([" GZip , identity"], gzip.compress(TEXT), TEXT),
    (["gzip"], gzip.compress(TEXT) + gzip.compress(b"") + gzip.compress(b"more") + b"\0" * 100, TEXT + b"more"),
    (["deflate"], zlib.compress(TEXT), TEXT),
    (["deflate"], raw_deflate(TEXT), TEXT),
    (["br"], brotli.compress(TEXT), TEXT),
    (["zstd"], zstd.compress(TEXT), TEXT),
    (["zstd"], zstd.compress(TEXT) + zstd.compress(b"more"), TEXT + b"more"),
    (["gzip, br"], brotli.compress(gzip.compress(TEXT)), TEXT),
    (["gzip", "gzip"], gzip.compress(gzip.compress(TEXT)), TEXT),
    (["gzip"], gzip.compress(b""), b""),
    (["gzip"], b"", b""),
    (["", "identity"], TEXT, TEXT),
]


@pytest.mark.parametrize("step", [1 << 30, 1000, 7, 1])
@pytest.mark.parametrize(("values", "data", "expected"), GOOD)
def test_codings_are_undone(values: list[str], data: bytes, expected: bytes, step: int) -> None:
    """Every coding is undone without a flag, however it is split."""
    decoder = Decoder(values)
    if not decoder.active:
        assert not decoder.flags
        return
    assert decode(values, data, step) == (expected, set())


@pytest.mark.parametrize("step", [1 << 30, 1000, 1])
@pytest.mark.parametrize("values", [["gzip"], ["deflate"], ["br"], ["zstd"], ["gzip, gzip"], ["br, zstd"]])
def test_a_wrong_label_passes_the_bytes_on(values: list[str], step: int) -> None:
    """A plain body with a coding's label comes out as it is, flagged."""
    assert decode(values, TEXT, step) == (TEXT, {"encoding"})


def test_a_single_byte_is_judged() -> None:
    """A body too short to hold a coding's mark is flagged as what it can be."""
    assert decode(["gzip"], b"a") == (b"a", {"encoding"})
    assert decode(["gzip"], b"\x1f") == (b"", {"dataloss"})
    assert decode(["zstd"], b"\x28\xb5") == (b"", {"dataloss"})


@pytest.mark.parametrize("values", [["rot13"], ["gzip, x-evil"], ["utf-8"]])
def test_an_unknown_coding_is_not_active(values: list[str]) -> None:
    """With a coding that nobody knows nothing is undone."""
    decoder = Decoder(values)
    assert (decoder.active, decoder.flags) == (False, {"encoding"})


CUT = [
    ("gzip", gzip.compress(TEXT)),
    ("deflate", zlib.compress(TEXT)),
    ("br", brotli.compress(TEXT)),
    ("zstd", zstd.compress(TEXT)),
]


@pytest.mark.parametrize(("name", "data"), CUT)
def test_a_cut_stream_is_never_whole(name: str, data: bytes) -> None:
    """A stream cut anywhere gives a beginning of the text, and the flag."""
    for end in range(1, len(data), 13):
        text, flags = decode([name], data[:end])
        assert flags == {"dataloss"}
        assert TEXT.startswith(text)


@pytest.mark.parametrize(("name", "data"), CUT)
def test_a_broken_stream_is_flagged(name: str, data: bytes) -> None:
    """A stream that breaks in its middle, or in its check sum, is flagged and raises nothing."""
    for start in range(len(data) - 8, 20, -17):
        text, flags = decode([name], data[:start] + bytes(byte ^ 0xFF for byte in data[start:]))
        if name in ("gzip", "deflate"):  # the others have no check sum
            assert flags
        if name == "gzip" and start > 600:
            assert flags == {"dataloss"}
            assert text.startswith(TEXT[:1000])


def test_a_window_over_8_mib_is_refused() -> None:
    """RFC 9659: a zstd window that would take 128 MiB of memory is not allocated."""
    assert decode(["zstd"], big_window(TEXT))[1] == {"encoding"}


def layered(count: int) -> bytes:
    """Return a text under *count* layers of gzip."""
    data = b"x"
    for _ in range(count):
        data = gzip.compress(data, 1)
    return data


BOMBS = {
    "gzip": (["gzip"], gzip.compress(bytes(100_000_000))),
    "deflate": (["deflate"], zlib.compress(bytes(100_000_000))),
    "br": (["br"], brotli.compress(bytes(100_000_000), quality=5)),
    "zstd": (["zstd"], zstd.compress(bytes(100_000_000))),
    "nested": (["gzip", "gzip"], gzip.compress(gzip.compress(bytes(100_000_000)))),
    "mixed": (["gzip, br"], brotli.compress(gzip.compress(bytes(100_000_000)), quality=5)),
    "empty members": (["gzip, gzip"], gzip.compress(gzip.compress(b"") * 500_000)),
    "tiny members": (["gzip"], gzip.compress(b"a") * 100_000),
    "empty frames": (["zstd"], zstd.compress(b"") * 100_000),
    "small members": (["gzip, gzip"], gzip.compress(gzip.compress(bytes(4500)) * 100_000)),
}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_cost_little(name: str) -> None:
    """A bomb raises CodingError with little memory, and no read holds the loop for long."""
    values, data = BOMBS[name]
    tracemalloc.start()
    start = time.process_time()
    with pytest.raises(CodingError) as caught:
        decode(values, data, 1 << 18)
    spent, peak = time.process_time() - start, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert caught.value.kind == "bomb"
    assert spent < 1.5
    assert peak < 30_000_000


def test_too_many_layers_are_refused() -> None:
    """More than two codings over all headers are refused before any is undone."""
    with pytest.raises(CodingError):
        Decoder(["gzip, gzip"] * 100)
    with pytest.raises(CodingError):
        Decoder(["gzip", "br", "gzip"])


def test_what_is_only_compressible_is_no_bomb() -> None:
    """1 MiB may come from anything, and more at up to 200 to 1."""
    assert len(decode(["gzip"], gzip.compress(bytes(1 << 20)))[0]) == 1 << 20
    text = b"".join(struct.pack(">I", number) + bytes(120) for number in range(40_000))
    assert decode(["gzip"], gzip.compress(text, 9))[0] == text


@settings(deadline=None, max_examples=150)
@given(
    st.lists(st.sampled_from(["gzip", "deflate", "br", "zstd"]), min_size=1, max_size=2),
    st.binary(max_size=80) | st.sampled_from([data for _, data in CUT]),
    st.integers(1, 5000),
)
def test_arbitrary_bytes(values: list[str], data: bytes, step: int) -> None:
    """Arbitrary bytes raise nothing but CodingError, and splitting them does not change what is lost."""
    text, flags = decode(values, data, step)
    assert decode(values, data) == (text, flags)
