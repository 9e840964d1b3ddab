"""Which files were written since the last commit, so that a kill leaves no file that the store does not know."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from spiderproj.failpoints import failpoint
from spiderproj.files.failures import failure


class Journal:
    """A list of paths on disk: noted before a file gets its name, cleared by the commit that records it.

    OutputError and DiskFullError are raised with the list whole.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            self._size = os.fstat(self._fd).st_size
        except OSError as error:
            raise failure(error, path) from error

    def note(self, path: str) -> None:
        """Note that *path* is about to be written."""
        line = path.encode() + b"\n"
        try:
            failpoint("journal.note")
            written = os.write(self._fd, line)
            while written < len(line):
                written += os.write(self._fd, line[written:])
            failpoint("journal.noted")
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._fd, self._size)  # no half line for the next one to go on
            raise failure(error, self._path) from error
        self._size += len(line)

    def paths(self) -> list[str]:
        """Return the paths noted and not cleared; a last line that a kill has cut is no path yet."""
        content = os.pread(self._fd, self._size, 0)
        return [line.decode("utf-8", "replace") for line in content.split(b"\n")[:-1]]

    def clear(self) -> None:
        """Forget them: the store knows them now."""
        if not self._size:
            return
        try:
            failpoint("journal.clear")
            os.ftruncate(self._fd, 0)
            failpoint("journal.cleared")
        except OSError as error:
            raise failure(error, self._path) from error
        self._size = 0

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._fd)
