"""What pages about a copy have in common: foreign text, moments and sizes."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from spiderproj.landing.markup import Markup, element

_UNITS: Final = ("KiB", "MiB", "GiB", "TiB")


def foreign(text: str) -> Markup:
    """Return *text* that may be in any language, read in its own direction."""
    return element("bdi", text, lang="")


def moment(seconds: float) -> str:
    """Return POSIX *seconds* for people."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"


def size_of(size: int) -> str:
    """Return a number of bytes for people."""
    if size < 1024:
        return f"{size} bytes"
    power = min((size.bit_length() - 1) // 10, len(_UNITS))
    return f"{size / 1024**power:,.1f} {_UNITS[power - 1]}"
