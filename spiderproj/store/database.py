"""The SQLite connection: opening, one long transaction that is committed in groups, and damage told plainly.

Writes go straight into an open transaction and are committed together every fraction of a second (group commit); the
same connection reads its own uncommitted rows, so the frontier's order stays strict between commits. A kill rolls back
to the last commit, and with it the leases of everything that was in flight.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from spiderproj.errors import DiskFullError, OutputError, SpiderprojError, StoreDamagedError
from spiderproj.store import schema

_CACHE_KIB = 32 * 1024  # page cache: the indexes of a million URLs fit
_WAL_PAGES = 2000  # checkpoint about every 8 MiB


class Database:
    """An open ``crawl.db``; use as a context manager or ``close()`` it."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        try:
            self._connection = _connect(path, read_only=read_only)
            self._prepare(read_only=read_only)
        except sqlite3.Error as error:
            raise self.explain(error) from error

    def execute(self, statement: str, values: Sequence[object] = ()) -> sqlite3.Cursor:
        """Run a statement that only reads."""
        try:
            return self._connection.execute(statement, values)
        except sqlite3.Error as error:
            raise self.explain(error) from error

    def write(self, statement: str, values: Sequence[object] = ()) -> sqlite3.Cursor:
        """Run a writing statement in the open transaction, opening one when there is none."""
        try:
            if not self._connection.in_transaction:
                self._connection.execute("BEGIN IMMEDIATE")
            return self._connection.execute(statement, values)
        except sqlite3.Error as error:
            raise self.explain(error) from error

    def write_many(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        """Run a writing statement once for each of *rows*."""
        try:
            if not self._connection.in_transaction:
                self._connection.execute("BEGIN IMMEDIATE")
            self._connection.executemany(statement, rows)
        except sqlite3.Error as error:
            raise self.explain(error) from error

    def commit(self) -> None:
        """Make everything written so far durable against a kill of the process."""
        if not self._connection.in_transaction:
            return
        try:
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise self.explain(error) from error

    def scalar(self, statement: str, values: Sequence[object] = ()) -> Any:  # noqa: ANN401 - a column of any type
        """Return the first column of the first row, None when there is no row."""
        row = self.execute(statement, values).fetchone()
        return row[0] if row else None

    def meta(self, name: str) -> str | None:
        """Return the value kept under *name*, None when there is none."""
        value: str | None = self.scalar("SELECT value FROM meta WHERE name = ?", (name,))
        return value

    def set_meta(self, name: str, value: str) -> None:
        """Keep *value* under *name*, with the next commit."""
        self.write("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))

    def rollback(self) -> None:
        """Forget what was written since the last commit."""
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")

    def close(self) -> None:
        """Close without committing; call ``commit`` first."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def explain(self, error: sqlite3.Error) -> SpiderprojError:
        """Return our error for one of SQLite's: full disk, unwritable folder, or damage."""
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code == sqlite3.SQLITE_FULL:
            return DiskFullError(f"no space left for {self.path}: free some and run the same command again")
        if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_IOERR):
            return OutputError(f"{self.path} cannot be written ({error}): check the folder's permissions and disk")
        return StoreDamagedError(
            f"{self.path} cannot be used ({error}): the files under {self.path.parent / 'files'} are whole; "
            f"to save its rows run: sqlite3 {self.path} .recover | sqlite3 saved.db; to start over add -a fresh=1"
        )

    def _prepare(self, *, read_only: bool) -> None:
        version = self._connection.execute("PRAGMA user_version").fetchone()[0]
        if version == 0 and not read_only and not self._connection.execute("SELECT 1 FROM sqlite_master").fetchone():
            self._connection.executescript(f"BEGIN; {schema.TABLES} PRAGMA user_version = {schema.VERSION}; COMMIT;")
        elif version != schema.VERSION:
            raise StoreDamagedError(
                f"{self.path} has schema version {version}, this program reads {schema.VERSION}: "
                "use the version of spiderproj that wrote it, or start over with -a fresh=1"
            )


def _connect(path: Path, *, read_only: bool) -> sqlite3.Connection:
    target = f"{path.absolute().as_uri()}?mode={'ro' if read_only else 'rwc'}"
    connection = sqlite3.connect(target, uri=True, isolation_level=None, timeout=30, cached_statements=256)
    connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
    if not read_only:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(f"PRAGMA wal_autocheckpoint = {_WAL_PAGES}")
        connection.execute("PRAGMA temp_store = MEMORY")
    return connection
