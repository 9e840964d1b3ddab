"""What the WARC files hold: a row a record that can be looked up, in the transaction that notes the files' lengths."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spiderproj.warc import Capture, Original, surt

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spiderproj.store.database import Database
    from spiderproj.warc import Exchanged, Place

_PREFIX = "warc."
_PAGES = """
SELECT u.url, coalesce(f.title, '') FROM urls AS u JOIN fetches AS f ON f.id = u.fetch
WHERE f.type = 'html' AND (f.status BETWEEN 200 AND 299 OR f.status = 304) ORDER BY u.id
"""


class Captures:
    """The rows of the records in a crawl's WARC files, and the files' sizes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, exchanged: Exchanged, place: Place, *, is_revisit: bool) -> None:
        """Note the record of an answer; a whole one can be the original of revisits."""
        mime = "warc/revisit" if is_revisit else exchanged.mime or "unk"
        row = (
            surt(exchanged.url), exchanged.stamp, exchanged.url, mime, exchanged.status, exchanged.digest,
            exchanged.is_chunked, not (is_revisit or exchanged.truncated), *place,
        )  # fmt: skip
        self._database.write("INSERT INTO captures VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)

    def original(self, digest: str, *, is_chunked: bool) -> Original | None:
        """Return the record that first had the payload of this *digest*, in the same transfer coding."""
        query = "SELECT url, stamp, digest FROM captures WHERE original AND digest = ? AND chunked = ? ORDER BY id"
        row = self._database.execute(query, (digest, is_chunked)).fetchone()
        return Original(*row) if row else None

    def latest(self, url: str) -> Original | None:
        """Return the record whose payload is that of the latest answer of *url*."""
        query = "SELECT digest, chunked FROM captures WHERE key = ? AND url = ? ORDER BY stamp DESC, id DESC"
        row = self._database.execute(query, (surt(url), url)).fetchone()
        return self.original(row[0], is_chunked=row[1]) if row else None

    def stamp(self, url: str) -> str | None:
        """Return when the latest record of *url* was made, None when it has none."""
        query = "SELECT max(stamp) FROM captures WHERE key = ? AND url = ?"
        stamp: str | None = self._database.scalar(query, (surt(url), url))
        return stamp

    def sorted(self) -> Iterator[Capture]:
        """Yield all rows in the order of an index."""
        columns = ", ".join(Capture._fields)
        for row in self._database.execute(f"SELECT {columns} FROM captures ORDER BY key, stamp, id"):  # noqa: S608 - ours
            yield Capture(*row)

    def pages(self) -> Iterator[tuple[str, str, str]]:
        """Yield URL, stamp of the latest record, and title of each page that has a record."""
        for url, title in self._database.execute(_PAGES):
            if (stamp := self.stamp(url)) is not None:
                yield url, stamp, title

    def note(self, sizes: dict[str, int]) -> None:
        """Note the *sizes* of files, with the next commit."""
        for name, size in sizes.items():
            self._database.set_meta(f"{_PREFIX}{name}", str(size))

    def noted(self) -> dict[str, int]:
        """Return the noted size of each file, by its name."""
        rows = self._database.execute("SELECT name, value FROM meta WHERE name >= 'warc.' AND name < 'warc/'")
        return {name.removeprefix(_PREFIX): int(value) for name, value in rows}

    def cut(self, name: str, size: int) -> None:
        """Forget the records of the file *name* that lie behind *size*; at 0 the file itself."""
        self._database.write("DELETE FROM captures WHERE file = ? AND offset + length > ?", (name, size))
        if size:
            self.note({name: size})
        else:
            self._database.write("DELETE FROM meta WHERE name = ?", (f"{_PREFIX}{name}",))
