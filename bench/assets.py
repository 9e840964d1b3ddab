"""The files of a generated site that are no pages: pictures, styles, scripts, documents and archives of chosen size."""

from __future__ import annotations

import math
import struct
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random

SHARES = {"png": 0.50, "css": 0.12, "js": 0.18, "pdf": 0.15, "zip": 0.05}
"""How a site's files are divided among the kinds."""

_MEAN_BYTES = {"png": 14_000, "css": 6_000, "js": 15_000, "pdf": 60_000, "zip": 100_000}


def asset(kind: str, rng: random.Random, pictures: list[str]) -> bytes:
    """Return a file of *kind*; a style sheet names *pictures*."""
    size = lognormal(rng, _MEAN_BYTES[kind])
    if kind == "png":
        return _png(rng, size)
    if kind == "css":
        rules = [f".b{n}{{background:url({name})}}" for n, name in enumerate(pictures)]
        rules += [f".c{n}{{margin:{rng.randrange(99)}px;color:#{n:06x}}}" for n in range(size // 32)]
        return "\n".join(rules).encode()
    if kind == "js":
        return "\n".join(f"function f{n}(a){{return a+{rng.randrange(9999)}}}" for n in range(size // 32)).encode()
    return (b"%PDF-1.4\n" if kind == "pdf" else b"PK\5\6") + rng.randbytes(size)


def lognormal(rng: random.Random, mean: int, sigma: float = 0.6) -> int:
    """Return a size about *mean*, between 0.15 and 8 times of it; sizes on the web are distributed like this."""
    value = rng.lognormvariate(math.log(mean) - sigma * sigma / 2, sigma)
    return int(min(max(value, mean * 0.15), mean * 8))


def _png(rng: random.Random, size: int) -> bytes:
    """Return a valid greyscale picture of about *size* bytes; noise does not compress."""
    width, height = 64, max(1, size // 65)
    rows = b"".join(b"\0" + rng.randbytes(width) for _ in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 1)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + tag + data + struct.pack(">I", zlib.crc32(tag + data)) for tag, data in chunks
    )
