"""Which files were written since the last commit, so that a kill leaves no file that the store does not know."""

from __future__ import annotations

import os
from pathlib import Path


class Journal:
    """A list of paths on disk: noted before a file gets its name, cleared by the commit that records it."""

    def __init__(self, path: Path) -> None:
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        self._is_clear = os.fstat(self._fd).st_size == 0

    def note(self, path: str) -> None:
        """Note that *path* is about to be written."""
        os.write(self._fd, path.encode() + b"\n")
        self._is_clear = False

    def paths(self) -> list[str]:
        """Return the paths noted and not cleared; a last line that a kill has cut is no path yet."""
        content = os.pread(self._fd, os.fstat(self._fd).st_size, 0)
        return [line.decode("utf-8", "replace") for line in content.split(b"\n")[:-1]]

    def clear(self) -> None:
        """Forget them: the store knows them now."""
        if not self._is_clear:
            os.ftruncate(self._fd, 0)
            self._is_clear = True

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._fd)
