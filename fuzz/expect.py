"""What a target says of its input: that something holds, and how bytes become what the parser takes."""

from __future__ import annotations

LONGEST = 32 * 1024
"""How long a repeated input gets, in bytes: what costs the square of a length shows there."""

_REPEAT = b"\xff\xff"


class BrokenPromiseError(Exception):
    """Something that the parser promises does not hold for this input."""


def expect(holds: object, promise: str, *shown: object) -> None:
    """Raise BrokenPromiseError with the *promise* and the values *shown* unless it *holds*."""
    if not holds:
        raise BrokenPromiseError(f"{promise}: {', '.join(map(ascii, shown))}")


def text(data: bytes) -> str:
    """Return *data* as UTF-8; bytes that are none become lone surrogates, which no parser may stumble over."""
    return data.decode("utf-8", "surrogateescape")


def clean_text(data: bytes) -> str:
    """Return *data* as text that UTF-8 can hold, for what only ever sees decoded bodies."""
    return data.decode("utf-8", "replace")


def body(data: bytes) -> bytes:
    r"""Return *data*; after FF FF it is a head, FF, and a unit that is repeated until the whole is LONGEST.

    >>> len(body(b"\xff\xff<p>\xff<b>")) > 30_000
    True
    """
    if not data.startswith(_REPEAT):
        return data
    head, _, unit = data.removeprefix(_REPEAT).partition(b"\xff")
    return head + unit * (LONGEST // max(len(unit), 1))


def parts(data: bytes, count: int) -> list[bytes]:
    """Return *count* parts of *data*, which NULs divide; the last keeps any further ones, missing ones are empty."""
    found = data.split(b"\0", count - 1)
    return found + [b""] * (count - len(found))
