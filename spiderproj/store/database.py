"""The SQLite connection: opening, one long transaction that is committed in groups, and damage told plainly.

Writes go straight into an open transaction and are committed together every fraction of a second (group commit); the
same connection reads its own uncommitted rows, so the frontier's order stays strict between commits. A kill rolls back
to the last commit, and with it the leases of everything that was in flight.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from spiderproj.errors import DiskFullError, OutputError, SpiderprojError, StoreDamagedError
from spiderproj.failpoints import failpoint
from spiderproj.files.failures import is_full
from spiderproj.store import schema

_MAY_BE_FULL = frozenset({sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN})
"""What SQLite says when its shared memory or its log finds no space."""

_CACHE_KIB = 32 * 1024  # page cache: the indexes of a million URLs fit
_WAL_PAGES = 2000  # checkpoint about every 8 MiB


class Rows(sqlite3.Cursor):
    """The rows of a statement; SQLite may meet damage at each of them."""

    explain: Callable[[sqlite3.Error], SpiderprojError]

    def fetchone(self) -> Any:  # noqa: ANN401 - as sqlite3's
        """Return the next row, None after the last."""
        try:
            return super().fetchone()
        except sqlite3.Error as error:
            raise self.explain(error) from error

    def fetchall(self) -> list[Any]:
        """Return the rows that are left."""
        try:
            return super().fetchall()
        except sqlite3.Error as error:
            raise self.explain(error) from error

    def __next__(self) -> Any:  # noqa: ANN401 - as sqlite3's
        try:
            return super().__next__()
        except sqlite3.Error as error:
            raise self.explain(error) from error


class Database:
    """An open ``crawl.db``; use as a context manager or ``close()`` it.

    After a write that failed, nothing more is written or committed until ``rollback``: what the failed one was a part
    of is not whole.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        self._failure: SpiderprojError | None = None
        if _is_emptied(path):
            raise self.damaged("it is empty, but its log is not")
        try:
            self._connection = _connect(path, read_only=read_only)
        except sqlite3.Error as error:
            raise self.explain(error) from error
        try:
            self._prepare(read_only=read_only)
        except sqlite3.Error as error:
            self.close()
            raise self.explain(error) from error
        except SpiderprojError:
            self.close()
            raise

    def execute(self, statement: str, values: Sequence[object] = ()) -> sqlite3.Cursor:
        """Run a statement that only reads."""
        try:
            cursor = self._connection.cursor(Rows)
            cursor.explain = self.explain
            return cursor.execute(statement, values)
        except sqlite3.Error as error:
            raise self.explain(error) from error

    def write(self, statement: str, values: Sequence[object] = ()) -> sqlite3.Cursor:
        """Run a writing statement in the open transaction, opening one when there is none."""
        if self._failure is not None:
            raise self._failure
        try:
            if not self._connection.in_transaction:
                self._connection.execute("BEGIN IMMEDIATE")
            return self._connection.execute(statement, values)
        except sqlite3.Error as error:
            raise self._failed(error) from error

    def commit(self) -> None:
        """Make everything written so far durable against a kill of the process."""
        if self._failure is not None:
            raise self._failure
        if not self._connection.in_transaction:
            return
        try:
            failpoint("store.commit")
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise self._failed(error) from error
        failpoint("committed")

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
        self._failure = None
        try:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        except sqlite3.Error as error:
            raise self._failed(error) from error

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
        if code == sqlite3.SQLITE_FULL or (code in _MAY_BE_FULL and is_full(self.path.parent)):
            return DiskFullError(f"no space left for {self.path}: free some and run the same command again")
        if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_IOERR):
            return OutputError(f"{self.path} cannot be written ({error}): check the folder's permissions and disk")
        return self.damaged(str(error))

    def damaged(self, problem: str) -> StoreDamagedError:
        """Return the error that says what can be saved although the store has a *problem*."""
        return StoreDamagedError(
            f"{self.path} cannot be used ({problem}): the files under {self.path.parent / 'files'} are whole; "
            f"to save its rows run: sqlite3 {self.path} .recover | sqlite3 saved.db; to start over add -a fresh=1"
        )

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Take rows apart: a value that no version of ours has written is damage (StoreDamagedError)."""
        try:
            yield
        except SpiderprojError:
            raise
        except (ValueError, TypeError, LookupError) as error:
            raise self.damaged(f"a row of it is wrong: {error}") from error

    def _failed(self, error: sqlite3.Error) -> SpiderprojError:
        """Return our error for *error*, and write nothing more."""
        self._failure = self._failure or self.explain(error)
        return self._failure

    def _prepare(self, *, read_only: bool) -> None:
        version = self._connection.execute("PRAGMA user_version").fetchone()[0]
        if version == 0 and not read_only and not self._connection.execute("SELECT 1 FROM sqlite_master").fetchone():
            failpoint("store.schema")
            self._connection.executescript(f"BEGIN; {schema.TABLES} PRAGMA user_version = {schema.VERSION}; COMMIT;")
            return
        while version in schema.UPGRADES and not read_only:
            upgrade, version = schema.UPGRADES[version], version + 1
            self._connection.executescript(f"BEGIN; {upgrade} PRAGMA user_version = {version}; COMMIT;")
        if version != schema.VERSION:
            raise StoreDamagedError(
                f"{self.path} has schema version {version}, this program reads {schema.VERSION}: "
                "use the version of spiderproj that wrote it, or start over with -a fresh=1"
            )


def _is_emptied(path: Path) -> bool:
    """Return whether SQLite would take *path* for a new store, and throw away the log of an old one."""
    log = path.with_name(f"{path.name}-wal")
    return path.exists() and not path.stat().st_size and log.exists() and log.stat().st_size > 0


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
