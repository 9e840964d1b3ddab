"""Content codings: bombs, layers, false labels."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable
from functools import cache, partial
from typing import TYPE_CHECKING

import brotli
from backports import zstd

from tests.hostile.answers import HTML, Ask, Step, page, whole
from tests.hostile.cases import Case, Fate

if TYPE_CHECKING:
    from tests.hostile.answers import Answer

_MEGABYTE = (b"<p>" + b"a" * 1021) * 1024
_BOMB_MEGABYTES = 1024
_LAYERS = 300


@cache
def bomb(coding: str) -> bytes:
    """Return a gigabyte of page in *coding*; it is never read to its end, so that no sum at its end need be right."""
    if coding == "zstd":
        return zstd.compress(_MEGABYTE) * _BOMB_MEGABYTES
    if coding == "br":
        packer = brotli.Compressor(quality=1, lgwin=24)
        return b"".join([packer.process(_MEGABYTE) for _ in range(_BOMB_MEGABYTES // 4)] + [packer.finish()])
    return inflating(_MEGABYTE, _BOMB_MEGABYTES, wbits=31 if coding == "gzip" else 15)


def inflating(piece: bytes, times: int, *, wbits: int = 31) -> bytes:
    """Return a DEFLATE stream that gives *piece* so many *times*; made from one, which a full flush lets repeat."""
    packer = zlib.compressobj(9, zlib.DEFLATED, wbits)
    start = packer.compress(piece) + packer.flush(zlib.Z_FULL_FLUSH)
    again = packer.compress(piece) + packer.flush(zlib.Z_FULL_FLUSH)
    return start + again * (times - 1) + packer.flush()


@cache
def _bomb_in_gzip() -> bytes:
    return gzip.compress(bomb("gzip"), 9)


@cache
def _members() -> bytes:
    return gzip.compress(gzip.compress(b"", 9) * 2_000_000, 9)


@cache
def _many_layers() -> bytes:
    body = page("hundreds of layers").encode()
    for _ in range(_LAYERS):
        body = gzip.compress(body, 1)
    return body


_CUT = gzip.compress(page("cut short", *(f"mailto:{i}" for i in range(5000))).encode())[:-20]


def coded(body: bytes, *codings: str) -> list[Step]:
    """Return *body*, labelled with *codings*."""
    return whole(body, "200 OK", HTML, *(f"Content-Encoding: {coding}" for coding in codings))


def _late(make: Answer) -> Answer:
    """Return an answer whose body is made at the first step, where the server can do it beside other work."""

    def answer(ask: Ask) -> Iterable[Step]:
        yield from make(ask)

    return answer


def _deadly(name: str, attack: str, steps: Answer) -> Case:
    return Case(
        name=f"codings.{name}",
        attack=attack,
        fate=Fate.FAILED,
        error=("bomb", "too-large"),
        answer=_late(steps),
        slow=True,
    )


def _bomb_in(coding: str, _: Ask) -> Iterable[Step]:
    return coded(bomb(coding), coding)


def _layered(_: object) -> Iterable[Step]:
    return coded(_many_layers(), *(", ".join(["gzip"] * 100) for _ in range(_LAYERS // 100)))


CASES = [
    *(
        _deadly(coding, f"a gigabyte of page in {coding}", partial(_bomb_in, coding))
        for coding in ("gzip", "deflate", "br", "zstd")
    ),
    _deadly("gzip-in-gzip", "a gigabyte under two layers of gzip", lambda _: coded(_bomb_in_gzip(), "gzip, gzip")),
    _deadly(
        "members", "two million empty gzip members: all work, no output", lambda _: coded(_members(), "gzip, gzip")
    ),
    Case(
        name="codings.layers",
        attack="300 layers of gzip, over many fields",
        fate=Fate.FAILED,
        error="bomb",
        answer=_layered,
    ),
    Case(
        name="codings.false-label",
        attack="a plain page labelled gzip",
        fate=Fate.FAILED,
        error="encoding",
        answer=lambda _: coded(page("no gzip").encode(), "gzip"),
    ),
    Case(
        name="codings.cut",
        attack="gzip cut short, its length true",
        fate=Fate.FAILED,
        error="dataloss",
        answer=lambda _: coded(_CUT, "gzip"),
    ),
    Case(
        name="codings.unknown",
        attack="codings that nobody knows",
        fate=Fate.FAILED,
        error="encoding",
        answer=lambda _: coded(b"ok", "rot13, x-evil"),
    ),
]
