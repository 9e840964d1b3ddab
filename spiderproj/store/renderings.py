"""Pages as a browser drew them, one for each URL: the latest, with why it was drawn, or why that failed."""

from __future__ import annotations

import zlib
from typing import Final

import xxhash

from spiderproj.store.database import Database

_LEVEL: Final = 1  # a page of 100 KB takes 1 ms, and a sixth of its size


class Renderings:
    """The table ``renderings``."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._is_empty = database.scalar("SELECT 1 FROM renderings LIMIT 1") is None

    def keep(self, url: int, sign: str | None, failure: str | None, html: bytes) -> None:
        """Note what drawing the page with the id *url* came to; *html* is empty where nothing is to be kept of it."""
        self._is_empty = False
        body = zlib.compress(html, _LEVEL) if html else None
        self._db.write("INSERT OR REPLACE INTO renderings VALUES (?, ?, ?, ?, ?)",
                       (url, sign, failure, digest(html), body))  # fmt: skip

    def forget(self, url: int) -> None:
        """Note that the page stands as received."""
        if not self._is_empty:
            self._db.write("DELETE FROM renderings WHERE url = ?", (url,))

    def of(self, url: int) -> bytes | None:
        """Return the page as drawn, None when it was not."""
        if self._is_empty:
            return None
        body: bytes | None = self._db.scalar("SELECT body FROM renderings WHERE url = ?", (url,))
        return None if body is None else zlib.decompress(body)


def digest(html: bytes) -> int:
    """Return a signed 64-bit number for a page as drawn."""
    value = xxhash.xxh3_64_intdigest(html)
    return value - (1 << 64) if value >> 63 else value
