"""Parts that answers are made of. An answer is pure: it says step by step what the server does, and does nothing."""

from __future__ import annotations

import gzip
import html
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from itertools import count
from typing import NamedTuple, TypeAlias

HTML = "text/html; charset=utf-8"
OK = b"HTTP/1.1 200 OK\r\n"


class Ask(NamedTuple):
    """A request, and where the server's places are."""

    method: str
    target: str
    path: str
    query: Mapping[str, str]
    fields: Mapping[str, str]  # lower-case names
    here: str  # origin asked: "http://127.0.0.1:1234"
    at: Mapping[str, str]  # origin of each case and place: "framing.drip", "inside" ...

    def port(self, place: str) -> str:
        """Return the port of *place*."""
        return self.at[place].rpartition(":")[2]

    def number(self, name: str, default: int = 0) -> int:
        """Return a number of the query."""
        value = self.query.get(name, "")
        return int(value) if value.isdigit() else default


class Move(Enum):
    """What the server does beside sending and pausing."""

    CLOSE = "close"
    RESET = "reset"
    HOLD = "hold"  # say nothing until the client has gone


Step: TypeAlias = "bytes | float | Move"
"""Bytes to send, seconds to wait, or a move."""

Answer: TypeAlias = "Callable[[Ask], Iterable[Step]]"


def fixed(raw: bytes, end: Move | None = Move.CLOSE) -> Answer:
    """Return the answer that is always *raw*; without *end* the connection stays open for the next request."""
    steps: list[Step] = [raw] if end is None else [raw, end]
    return lambda _: steps


def whole(body: bytes | str, status: str = "200 OK", kind: str | None = HTML, *fields: str) -> list[Step]:
    """Return the steps of a plain answer."""
    data = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(data)}", *fields]
    if kind is not None:
        lines.append(f"Content-Type: {kind}")
    return ["\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + data]


def page(title: str, *targets: str) -> str:
    """Return a small page that links to *targets*."""
    links = "".join(f'<li><a href="{html.escape(target)}">{html.escape(target[:40])}</a>' for target in targets)
    return f"<!doctype html><meta charset=utf-8><title>{html.escape(title)}</title><h1>{html.escape(title)}</h1>{links}"


def packed(ask: Ask, body: bytes, kind: str = HTML) -> list[Step]:
    """Return a page, in gzip when the client takes it: a large attack is small on the wire."""
    if "gzip" not in ask.fields.get("accept-encoding", ""):
        return whole(body, "200 OK", kind)
    return whole(gzip.compress(body, 6), "200 OK", kind, "Content-Encoding: gzip")


def moved(location: str | bytes, *fields: str, status: str = "302 Found") -> list[Step]:
    """Return a redirect; *location* is sent as it is."""
    raw = location.encode("latin-1") if isinstance(location, str) else location
    lines = [f"HTTP/1.1 {status}", "Content-Length: 0", *fields]
    return ["\r\n".join(lines).encode("latin-1") + b"\r\nLocation: " + raw + b"\r\n\r\n"]


def endless(start: bytes, piece: Callable[[int], bytes]) -> Iterable[Step]:
    """Yield *start*, then ``piece(0)``, ``piece(1)`` ... at full speed."""
    yield start
    for number in count():
        yield piece(number)


def dripping(start: bytes, drop: bytes, seconds: float) -> Iterable[Step]:
    """Yield *start*, then a *drop* every so many *seconds*, for ever."""
    yield start
    while True:
        yield seconds
        yield drop
