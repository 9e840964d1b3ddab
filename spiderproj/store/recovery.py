"""Files and lines brought back to what the last commit says: after a kill, and after a write that failed."""

from __future__ import annotations

from collections.abc import Mapping

from spiderproj.files import FileStore, LineFile
from spiderproj.store.database import Database
from spiderproj.store.journal import Journal
from spiderproj.store.ledger import Held


def kept_name(held: Held) -> str:
    """Return the name under which a body is kept that is about to be replaced, until the commit."""
    return f"{held.id}-{held.digest.hex()}"


def recover(database: Database, files: FileStore, journal: Journal, lines: Mapping[str, LineFile]) -> None:
    """Bring back bodies that were replaced, remove files that the store does not know, cut lines that it does not."""
    for name in files.kept():
        if (path := _path_of(database, name)) is not None:
            files.bring_back(name, path)
        else:
            files.forget(name)  # the commit that replaced it came about
    for path in journal.paths():
        if not database.scalar("SELECT 1 FROM contents WHERE path = ?", (path,)):
            files.remove(path)
    with database.reading():
        for name, file in lines.items():
            offset = database.meta(f"offset.{name}")
            file.truncate_to(int(offset) if offset else None)


def _path_of(database: Database, name: str) -> str | None:
    """Return where the body kept under *name* belongs, None when nothing is to be brought back."""
    number, _, digest = name.partition("-")
    if not number.isdecimal():
        return None
    path: str | None = database.scalar(
        "SELECT path FROM contents WHERE id = ? AND lower(hex(digest)) = ?", (int(number), digest)
    )
    return path
