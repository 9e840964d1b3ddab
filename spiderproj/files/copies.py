"""Finding copies on a disk, and reading the beginning of a file that may be anything."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from spiderproj.files.bodies import ENGINE

_DEPTH: Final = 8  # folders below the one that is given
_ENTRIES: Final = 500_000  # that are looked at: two seconds
_READ_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # a FIFO would wait for a writer


def folders_with(name: str, root: Path, complain: Callable[[str], None]) -> Iterator[Path]:
    """Yield *root* and the folders below it that have an entry *name*, sorted; *complain* is told what was left out.

    Nothing is looked for in a folder that has one, nor in an output folder: what lies there is a site's. No symbolic
    link is followed below *root*.
    """
    waiting, left = [(root, 0)], _ENTRIES
    while waiting:
        folder, depth = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                inside = {entry.name: entry.is_dir(follow_symlinks=False) for entry in islice(entries, left)}
        except OSError as error:
            complain(f"{folder} cannot be read: {os.strerror(error.errno or 0)}")
            continue
        left -= len(inside)
        if left <= 0:
            complain(f"{root} has more than {_ENTRIES:,} entries: give a folder nearer to the copies")
            return
        if name in inside:
            yield folder
        elif ENGINE not in inside and depth < _DEPTH:
            below = sorted((entry for entry, is_folder in inside.items() if is_folder), reverse=True)
            waiting += [(folder / entry, depth + 1) for entry in below]


def read_beginning(path: Path, limit: int) -> bytes:
    """Return the first *limit* bytes of the plain file at *path*; OSError when it is none or cannot be read."""
    descriptor = os.open(path, _READ_FLAGS)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(f"{path} is no plain file")
        return file.read(limit)
