"""What a crawl keeps on disk - store, bodies, JSON lines, WARC - committed together, so that after a kill they agree.

The order at a commit: lines and records out, their lengths noted in the store, one transaction, then the journal of
bodies cleared and replaced bodies dropped. Whatever ends before that transaction is undone by the next ``recover``.
"""

from __future__ import annotations

import logging
from contextlib import ExitStack
from pathlib import Path

from spiderproj.errors import DiskFullError
from spiderproj.failpoints import failpoint
from spiderproj.files import FileStore, LineFile, Spool, free_space, prepare
from spiderproj.files.bodies import ENGINE
from spiderproj.files.originals import Originals
from spiderproj.files.output import FILES
from spiderproj.store.captures import Captures
from spiderproj.store.database import Database
from spiderproj.store.journal import Journal
from spiderproj.warc import Warcs

logger = logging.getLogger(__name__)

WARC = "warc"
"""The folder of the WARC files in an output folder."""

_LINES = ("links", "pages")


class Folder:
    """The output folder *out*, locked and open; ``recover`` comes before anything else. ``close`` lets go of it.

    *warcs* is what appends to WARC files; without it they are only kept in step with the store.
    """

    def __init__(self, out: Path, *, fsync: bool, reserve: int, warcs: Warcs | None = None) -> None:
        self.out = out
        self._reserve = reserve
        self._originals: Originals | None = None
        self._kept: list[str] = []  # bodies replaced since the last commit
        with ExitStack() as opened:  # an error of one leaves no other open
            opened.callback(prepare(out).release)
            self.database = Database(out / "crawl.db")
            opened.callback(self.database.close)
            self.files = FileStore(out / FILES, fsync=fsync)
            opened.callback(self.files.close)
            self.journal = Journal(out / ENGINE / "journal")
            opened.callback(self.journal.close)
            self.lines: dict[str, LineFile] = {}
            for name in _LINES:
                self.lines[name] = LineFile(out / f"{name}.jsonl")
                opened.callback(self.lines[name].close)
            self.warcs = warcs or Warcs(out / WARC)
            opened.callback(self.warcs.close)
            self.captures = Captures(self.database)
            self._opened = opened.pop_all()

    def recover(self) -> None:
        """Bring bodies and lines back to the last commit: after a kill, and after a write that failed."""
        self.database.rollback()
        if self.database.meta("state") is None and (
            any(lines.size for lines in self.lines.values()) or self.warcs.exist()
        ):
            raise self.database.damaged("it knows of no crawl, but there are lines or records of one")
        for name in self.files.kept():
            if (path := self._replaced(name)) is not None:
                self.files.bring_back(name, path)
            else:
                self.files.forget(name)  # the commit that replaced it came about
        for path in self.journal.paths():
            if not self.database.scalar("SELECT 1 FROM contents WHERE path = ?", (path,)):
                self.files.remove(path)
            self.database.write("INSERT OR REPLACE INTO rewrites VALUES (?, 0, x'', 0, 0, 0, 0, NULL)", (path,))
        with self.database.reading():
            for name, lines in self.lines.items():
                offset = self.database.meta(f"offset.{name}")
                lines.truncate_to(int(offset) if offset else None)
            noted = self.captures.noted()
        for name, size in self.warcs.recover(noted).items():
            logger.warning("%s is shorter than it was: what lay behind byte %d is lost", self.warcs.folder / name, size)
            self.captures.cut(name, size)

    def store(self, path: str, digest: bytes, body: bytes | Spool) -> None:
        """Put *body*, of this *digest*, at *path*; another one that is there comes back if no commit follows."""
        self.journal.note(path)
        self.database.write("DELETE FROM rewrites WHERE path = ?", (path,))
        held = self.database.execute("SELECT id, digest FROM contents WHERE path = ?", (path,)).fetchone()
        keep = f"{held[0]}-{held[1].hex()}" if held and held[1] != digest else ""
        if keep:
            self._kept.append(keep)
        if isinstance(body, Spool):
            body.commit(path, keep=keep)
        else:
            self.files.put(path, body, keep=keep)

    def body(self, path: str, digest: bytes) -> bytes | None:
        """Return the body of this *digest* that is stored at *path*, as it was received; None when it is gone."""
        if self._originals is None:
            self._originals = Originals(self.files, self.out)
            self._opened.callback(self._originals.close)
        found = self._originals.read(path, digest, kept_first=False)
        return None if found is None else found.body

    def commit(self) -> None:
        """Make everything so far last; OutputError, DiskFullError or StoreDamagedError when it does not."""
        for name, lines in self.lines.items():
            self.database.set_meta(f"offset.{name}", str(lines.flush()))
        self.captures.note(self.warcs.flush())
        failpoint("commit.noted")
        self.database.commit()
        self.journal.clear()
        while self._kept:
            self.files.forget(self._kept.pop())

    def check_room(self) -> None:
        """Raise DiskFullError while there is still room to end the crawl in order."""
        if (free := free_space(self.out)) < self._reserve:
            raise DiskFullError(
                f"{self.out}: {free:,} bytes are free, less than SPIDERPROJ_DISK_RESERVE={self._reserve}: "
                "free some and run the same command again"
            )

    def seal(self) -> None:
        """Commit, and give up the JSON lines to be replaced: from here on they are whole at any length."""
        self.commit()
        for name in self.lines:
            self.database.set_meta(f"offset.{name}", "")
        self.database.commit()
        failpoint("sealed")
        self.lines.clear()

    def close(self) -> None:
        """Let go of everything; what was not committed is undone by the next ``recover``."""
        failpoint("close")
        self._opened.close()

    def _replaced(self, name: str) -> str | None:
        """Return where the body kept under *name* belongs, None when nothing is to be brought back."""
        number, _, digest = name.partition("-")
        if not number.isdecimal():
            return None
        path: str | None = self.database.scalar(
            "SELECT path FROM contents WHERE id = ? AND lower(hex(digest)) = ?", (int(number), digest)
        )
        return path
