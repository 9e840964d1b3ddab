"""Bodies on disk: written under a private name beside the tree, renamed into it, whole or not at all."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from hashlib import file_digest, sha256
from itertools import count
from secrets import token_hex
from typing import TYPE_CHECKING, Final

from spiderproj.errors import UnsafePathError
from spiderproj.files.failures import body_failure, failure
from spiderproj.files.folders import FOLDER_FLAGS, Folders, check_name, kind_of

if TYPE_CHECKING:
    from io import BufferedReader
    from pathlib import Path

ENGINE: Final = ".spiderproj"
"""The folder of a crawl's own state, beside the tree of bodies."""
TEMPORARY: Final = "tmp"
"""The folder in it where bodies lie until they are whole: on the tree's file system, so that a rename is atomic."""

_WRITE_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_READ_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # a FIFO would wait for a writer


class FileStore:
    """The tree of bodies at *root*, a folder made by ``prepare``; paths are relative, with ``/`` between names.

    Whatever stands in a file's place, be it a symlink, a FIFO, a device or a hard link, is replaced, never opened for
    writing. UnsafePathError costs one file; OutputError and DiskFullError end a crawl. A store survives a kill as it
    is, and a power cut with *fsync*.
    """

    def __init__(self, root: Path, *, fsync: bool = False) -> None:
        self._fsync = fsync
        self._place = root
        try:
            self._folders = Folders(root, fsync=fsync)
            self._temporary = os.open(root.parent / ENGINE / TEMPORARY, FOLDER_FLAGS)
        except OSError as error:
            raise failure(error, root) from error
        self._prefix = token_hex(8)  # several processes may share the folder
        self._numbers = count()

    def put(self, path: str, body: bytes) -> None:
        """Store *body* at *path*, in place of what was there."""
        try:
            name, descriptor = self._new()
            try:
                self._fill(descriptor, body)
                self._publish(name, path)
            except BaseException:
                self._discard(name)
                raise
        except OSError as error:
            raise body_failure(error, self._place / path) from error

    def spool(self) -> Spool:
        """Return a new body to be written in pieces."""
        return Spool(self)

    def open_read(self, path: str) -> BufferedReader:
        """Return the file at *path*, open; OutputError when there is none, UnsafePathError when it is no plain file."""
        try:
            return self._open_read(path)
        except OSError as error:
            raise body_failure(error, self._place / path) from error

    def exists(self, path: str) -> bool:
        """Return whether a plain file is at *path*, reached through no symlink."""
        try:
            folder, name = self._find(path)
            return stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
        except (OSError, UnsafePathError):
            return False

    def verify(self, path: str, size: int, digest: bytes) -> bool:
        """Return whether the file at *path* is there with this *size* and SHA-256 *digest*."""
        try:
            with self._open_read(path) as file:
                return os.fstat(file.fileno()).st_size == size and file_digest(file, "sha256").digest() == digest
        except (OSError, UnsafePathError):
            return False

    def remove(self, path: str) -> None:
        """Remove the file at *path*, if there is one."""
        try:
            folder, name = self._find(path)
            os.unlink(name, dir_fd=folder)
        except FileNotFoundError:
            return
        except OSError as error:
            raise body_failure(error, self._place / path) from error

    def close(self) -> None:
        """Close the folders; what was not committed is left for the next ``prepare`` to remove."""
        self._folders.close()
        os.close(self._temporary)

    def _new(self) -> tuple[str, int]:
        """Return the name and descriptor of a new temporary file."""
        name = f"{self._prefix}-{next(self._numbers)}"
        return name, os.open(name, _WRITE_FLAGS, 0o644, dir_fd=self._temporary)

    def _fill(self, descriptor: int, body: bytes) -> None:
        """Write *body*, make it last if asked to, and close."""
        try:
            write_all(descriptor, body)
            self._make_last(descriptor)
        finally:
            os.close(descriptor)

    def _make_last(self, descriptor: int) -> None:
        """Let what was written survive a power cut, when this store promises that; an error is final (A75)."""
        if self._fsync:
            os.fsync(descriptor)

    def _publish(self, name: str, path: str) -> None:
        """Rename the temporary file *name* to *path*."""
        folder, _, leaf = path.rpartition("/")
        check_name(leaf, path)
        try:
            self._rename(name, folder, leaf)
        except FileNotFoundError:  # the folder was removed after it was looked up
            self._rename(name, folder, leaf)

    def _rename(self, name: str, folder: str, leaf: str) -> None:
        """Rename the temporary file *name* to *leaf* in *folder*, which is made if it is missing."""
        target = self._folders.descriptor(folder, create=True)
        os.rename(name, leaf, src_dir_fd=self._temporary, dst_dir_fd=target)
        self._make_last(target)

    def _discard(self, name: str) -> None:
        """Remove the temporary file *name*, if it is still there."""
        with suppress(OSError):
            os.unlink(name, dir_fd=self._temporary)

    def _find(self, path: str) -> tuple[int, str]:
        """Return the descriptor of the folder of *path*, which must exist, and the file's name in it."""
        folder, _, name = path.rpartition("/")
        check_name(name, path)
        return self._folders.descriptor(folder, create=False), name

    def _open_read(self, path: str) -> BufferedReader:
        """Open the plain file at *path*; raises OSError as the operating system does."""
        folder, name = self._find(path)
        descriptor = os.open(name, _READ_FLAGS, dir_fd=folder)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise UnsafePathError(f"{path}: {kind_of(name, folder)} is in the place of a file")
        return os.fdopen(descriptor, "rb")


class Spool:
    """A body that arrives in pieces: hashed on the way, in no one's sight until ``commit``; memory stays flat.

    After ``commit``, ``discard`` or an error nothing more can be written.
    """

    def __init__(self, store: FileStore) -> None:
        self._store = store
        self._hash = sha256()
        self.size = 0
        try:
            self._name, self._descriptor = store._new()
        except OSError as error:
            raise failure(error, store._place) from error

    def write(self, chunk: bytes) -> None:
        """Append *chunk*."""
        try:
            write_all(self._descriptor, chunk)
        except OSError as error:
            self.discard()
            raise failure(error, self._store._place) from error
        self._hash.update(chunk)
        self.size += len(chunk)

    def digest(self) -> bytes:
        """Return the SHA-256 of what was written so far."""
        return self._hash.digest()

    def commit(self, path: str) -> None:
        """Put the body at *path*, in place of what was there; on an error it is discarded."""
        try:
            self._store._make_last(self._descriptor)
            self._close()
            self._store._publish(self._name, path)
        except OSError as error:
            self.discard()
            raise body_failure(error, self._store._place / path) from error
        except UnsafePathError:
            self.discard()
            raise

    def discard(self) -> None:
        """Drop the body, unless it was committed."""
        self._close()
        self._store._discard(self._name)

    def _close(self) -> None:
        """Close the temporary file once."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of *data*; a system may take less than it is given (A75)."""
    written = os.write(descriptor, data)
    while written < len(data):
        written += os.write(descriptor, memoryview(data)[written:])
