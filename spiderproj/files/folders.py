"""Folders below a root, opened name by name so that no symlink is followed, and kept open while they are in use."""

from __future__ import annotations

import os
import stat
from collections import OrderedDict
from typing import TYPE_CHECKING, Final, NamedTuple

from spiderproj.errors import UnsafePathError
from spiderproj.failpoints import failpoint

if TYPE_CHECKING:
    from pathlib import Path

FOLDER_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_KEPT_OPEN: Final = 32  # descriptors: a breadth-first crawl goes round among few folders, and limits of 64 exist


class _Folder(NamedTuple):
    """An open folder, and what identifies it."""

    descriptor: int
    device: int
    inode: int


class Folders:
    """The folders below *root*, by their path with ``/`` between names; "" is the root itself.

    A folder that was moved or replaced by a symlink since it was opened is noticed and opened anew. All methods raise
    OSError as the operating system does, and UnsafePathError for what is not a folder or not a name.
    """

    def __init__(self, root: Path, *, fsync: bool = False) -> None:
        self._root = os.open(root, FOLDER_FLAGS)
        self._fsync = fsync
        self._kept: OrderedDict[str, _Folder] = OrderedDict()

    def descriptor(self, path: str, *, create: bool) -> int:
        """Return an open descriptor of the folder *path*, valid until the next call; FileNotFoundError when absent."""
        if not path:
            return self._root
        folder = self._kept.get(path)
        if folder is not None:
            if self._still_there(path, folder):
                self._kept.move_to_end(path)
                return folder.descriptor
            self._forget(path)
        return self._keep(path, self._walk(path, create=create))

    def close(self) -> None:
        """Close every folder and the root."""
        while self._kept:
            self._forget(next(iter(self._kept)))
        os.close(self._root)

    def _still_there(self, path: str, folder: _Folder) -> bool:
        """Return whether *path* still leads to *folder*. Symlinks are followed here: the answer is only compared."""
        try:
            found = os.stat(path, dir_fd=self._root)
        except OSError:
            return False
        return found.st_ino == folder.inode and found.st_dev == folder.device

    def _keep(self, path: str, descriptor: int) -> int:
        """Remember an open folder, and close the one used longest ago when there are too many."""
        status = os.fstat(descriptor)
        self._kept[path] = _Folder(descriptor, status.st_dev, status.st_ino)
        if len(self._kept) > _KEPT_OPEN:
            self._forget(next(iter(self._kept)))
        return descriptor

    def _forget(self, path: str) -> None:
        """Close the folder *path*."""
        os.close(self._kept.pop(path).descriptor)

    def _walk(self, path: str, *, create: bool) -> int:
        """Open the folder *path* from the root down."""
        descriptor = self._root
        try:
            for name in path.split("/"):
                above, descriptor = descriptor, self._open(name, descriptor, path, create=create)
                if above != self._root:
                    os.close(above)
        except BaseException:
            if descriptor != self._root:
                os.close(descriptor)
            raise
        return descriptor

    def _open(self, name: str, parent: int, path: str, *, create: bool) -> int:
        """Open the folder *name* in *parent*; make it first when it is missing and *create* asks for it."""
        check_name(name, path)
        try:
            return os.open(name, FOLDER_FLAGS, dir_fd=parent)
        except FileNotFoundError:
            if not create:
                raise
        except NotADirectoryError as error:
            raise UnsafePathError(f"{path}: {kind_of(name, parent)} is in the place of the folder {name!r}") from error
        self._make(name, parent)
        return os.open(name, FOLDER_FLAGS, dir_fd=parent)

    def _make(self, name: str, parent: int) -> None:
        """Make the folder *name* in *parent*; another worker may have been quicker."""
        try:
            failpoint("folder.make")
            os.mkdir(name, 0o755, dir_fd=parent)
        except FileExistsError:
            return
        if self._fsync:
            os.fsync(parent)


def check_name(name: str, path: str) -> None:
    """Raise UnsafePathError for a *name* that leads out of its folder, or is none."""
    if name in {"", ".", ".."} or "/" in name or "\0" in name:
        raise UnsafePathError(f"{path!a}: {name!a} is not the name of a file or folder")


def kind_of(name: str, parent: int) -> str:
    """Return what *name* in the folder *parent* is, for an error message."""
    try:
        mode = os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode
    except OSError:
        return "something"
    kinds = ((stat.S_ISLNK, "a symlink"), (stat.S_ISREG, "a file"), (stat.S_ISDIR, "a folder"))
    return next((kind for is_kind, kind in kinds if is_kind(mode)), "a special file")
