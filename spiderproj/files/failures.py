"""What an operating system's error means to a crawl: one file lost, the folder unusable, or the disk full."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, Final

from spiderproj.errors import DiskFullError, OutputError, UnsafePathError

if TYPE_CHECKING:
    from pathlib import Path

_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})  # ENOSPC also when no inodes are left
_THIS_NAME_ONLY: Final = frozenset({errno.EISDIR, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.ENOTEMPTY})


def failure(error: OSError, place: Path | str) -> DiskFullError | OutputError:
    """Return our exception for *error* at *place*, which ends the crawl."""
    said = os.strerror(error.errno) if error.errno else str(error)
    if error.errno in _FULL:
        return DiskFullError(f"{place}: {said}; what is there is whole: free some and run the same command again")
    return OutputError(f"{place} cannot be used: {said}")


def is_full(folder: Path) -> bool:
    """Return whether the file system of *folder* has no block or no inode left."""
    try:
        status = os.statvfs(folder)
    except OSError:
        return False
    return status.f_bavail == 0 or (status.f_favail == 0 and status.f_files > 0)


def body_failure(error: OSError, place: Path | str) -> DiskFullError | OutputError | UnsafePathError:
    """Return our exception for *error* with the body at *place*: UnsafePathError when it costs that one alone."""
    if error.errno in _THIS_NAME_ONLY:
        return UnsafePathError(f"{place}: {os.strerror(error.errno)}")
    return failure(error, place)
