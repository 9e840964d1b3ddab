"""The main content of stored pages: read when a page is first held against another, and kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from spiderproj import charset, content, mediatype
from spiderproj.content import Reading
from spiderproj.models import ResourceType

if TYPE_CHECKING:
    from spiderproj.store.database import Database
    from spiderproj.store.folder import Folder
    from spiderproj.store.renderings import Renderings

MAX_BYTES: Final = 1 << 20
"""Longest page whose content is read, which takes 0.2 s: a longer one is the same as another only by its bytes."""

_STORED = (
    "SELECT f.type, f.content_type, c.path, c.digest, c.size FROM urls AS u JOIN fetches AS f ON f.id = u.fetch"
    " JOIN contents AS c ON c.id = f.content WHERE u.id = ?"
)


class Readings:
    """The table ``readings``, and the bodies in a *folder* that it is made of."""

    def __init__(self, database: Database, folder: Folder, renderings: Renderings) -> None:
        self._db = database
        self._folder = folder
        self._renderings = renderings

    def of(self, row: int) -> Reading | None:
        """Return the reading of the stored page with the id *row*, None when it is no page, or too long."""
        packed = self._db.scalar("SELECT reading FROM readings WHERE url = ?", (row,))
        if packed is not None:
            with self._db.reading():
                return Reading.unpack(packed)
        reading = self.stored(row)
        if reading is not None:
            self.keep(row, reading)
        return reading

    def kept(self, row: int) -> Reading | None:
        """Return the reading that was kept of the page with the id *row*, before it was fetched again."""
        packed = self._db.scalar("SELECT reading FROM readings WHERE url = ?", (row,))
        with self._db.reading():
            return None if packed is None else Reading.unpack(packed)

    def keep(self, row: int, reading: Reading | None) -> None:
        """Keep the *reading* of a page; None forgets what was kept."""
        if reading is None:
            self._db.write("DELETE FROM readings WHERE url = ?", (row,))
        else:
            self._db.write("INSERT OR REPLACE INTO readings VALUES (?, ?)", (row, reading.pack()))

    def stored(self, row: int) -> Reading | None:
        """Return the reading of the stored page with the id *row*, and keep nothing of it."""
        found = self._db.execute(_STORED, (row,)).fetchone()
        if found is None or found[0] != ResourceType.HTML or found[4] > MAX_BYTES:
            return None
        if (drawn := self._renderings.of(row)) is not None:
            return read(drawn, "utf-8")
        body = self._folder.body(found[2], found[3])
        return None if body is None else read(body, mediatype.parse([found[1] or ""]).charset)


def read(body: bytes, label: str | None) -> Reading:
    """Return the main content of an HTML *body*; *label* is the charset that its header says."""
    return content.read_blocks(charset.decode(body, label)[0])
