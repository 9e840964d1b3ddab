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
from spiderproj.failpoints import failpoint
from spiderproj.files.failures import body_failure, failure
from spiderproj.files.folders import FOLDER_FLAGS, Folders, check_name, kind_of

if TYPE_CHECKING:
    from io import BufferedReader
    from pathlib import Path

ENGINE: Final = ".spiderproj"
"""The folder of a crawl's own state, beside the tree of bodies."""
TEMPORARY: Final = "tmp"
"""The folder in it where bodies lie until they are whole: on the tree's file system, so that a rename is atomic."""
KEPT: Final = "kept"
"""The folder in it where a replaced body lies until the commit: a kill before that brings it back."""

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
            self._kept = os.open(root.parent / ENGINE / KEPT, FOLDER_FLAGS)
        except OSError as error:
            raise failure(error, root) from error
        self._prefix = token_hex(8)  # several processes may share the folder
        self._numbers = count()

    def put(self, path: str, body: bytes, *, keep: str = "") -> None:
        """Store *body* at *path*, in place of what was there, which is kept under the name *keep*, if that is given."""
        try:
            name, descriptor = self._new()
            try:
                self._fill(descriptor, body)
                self._publish(name, path, keep)
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

    def kept(self) -> list[str]:
        """Return the names under which replaced bodies are kept."""
        try:
            return os.listdir(self._kept)  # noqa: PTH208 - a path could lead elsewhere by now
        except OSError as error:
            raise failure(error, self._place) from error

    def bring_back(self, keep: str, path: str) -> None:
        """Put the body kept under the name *keep* back to *path*, in place of what is there."""
        folder, _, name = path.rpartition("/")
        check_name(name, path)
        try:
            target = self._folders.descriptor(folder, create=True)
            failpoint("body.bring_back")
            os.rename(keep, name, src_dir_fd=self._kept, dst_dir_fd=target)
        except OSError as error:
            raise body_failure(error, self._place / path) from error

    def forget(self, keep: str) -> None:
        """Remove the body kept under the name *keep*; one that stays is removed by the next run."""
        with suppress(OSError):
            os.unlink(keep, dir_fd=self._kept)

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
            failpoint("body.remove")
            os.unlink(name, dir_fd=folder)
        except FileNotFoundError:
            return
        except OSError as error:
            raise body_failure(error, self._place / path) from error

    def close(self) -> None:
        """Close the folders; what was not committed is left for the next ``prepare`` to remove."""
        self._folders.close()
        os.close(self._temporary)
        os.close(self._kept)

    def _new(self) -> tuple[str, int]:
        """Return the name and descriptor of a new temporary file."""
        name = f"{self._prefix}-{next(self._numbers)}"
        failpoint("body.make")
        return name, os.open(name, _WRITE_FLAGS, 0o644, dir_fd=self._temporary)

    def _fill(self, descriptor: int, body: bytes) -> None:
        """Write *body*, make it last if asked to, and close."""
        try:
            failpoint("body.write")
            write_all(descriptor, body)
            failpoint("body.written")
            self._make_last(descriptor)
        finally:
            os.close(descriptor)

    def _make_last(self, descriptor: int) -> None:
        """Let what was written survive a power cut, when this store promises that; an error is final (A75)."""
        if self._fsync:
            failpoint("body.fsync")
            os.fsync(descriptor)

    def _publish(self, name: str, path: str, keep: str) -> None:
        """Rename the temporary file *name* to *path*, and what is there to *keep* if that is given."""
        folder, _, leaf = path.rpartition("/")
        check_name(leaf, path)
        try:
            self._rename(name, folder, leaf, keep)
        except FileNotFoundError:  # the folder was removed after it was looked up
            self._rename(name, folder, leaf, keep)

    def _rename(self, name: str, folder: str, leaf: str, keep: str) -> None:
        """Rename the temporary file *name* to *leaf* in *folder*, which is made if it is missing."""
        target = self._folders.descriptor(folder, create=True)
        if keep:
            self._keep(leaf, target, keep)
        failpoint("body.rename")
        os.rename(name, leaf, src_dir_fd=self._temporary, dst_dir_fd=target)
        failpoint("body.renamed")
        self._make_last(target)

    def _keep(self, leaf: str, folder: int, keep: str) -> None:
        """Rename the plain file *leaf* in *folder* to *keep*; a person may have removed it."""
        with suppress(FileNotFoundError):
            if stat.S_ISREG(os.stat(leaf, dir_fd=folder, follow_symlinks=False).st_mode):
                failpoint("body.keep")
                os.rename(leaf, keep, src_dir_fd=folder, dst_dir_fd=self._kept)
                failpoint("body.kept")

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
            failpoint("spool.write")
            write_all(self._descriptor, chunk)
        except OSError as error:
            self.discard()
            raise failure(error, self._store._place) from error
        self._hash.update(chunk)
        self.size += len(chunk)

    def digest(self) -> bytes:
        """Return the SHA-256 of what was written so far."""
        return self._hash.digest()

    def commit(self, path: str, *, keep: str = "") -> None:
        """Put the body at *path* as ``FileStore.put`` does; on an error it is discarded."""
        try:
            self._store._make_last(self._descriptor)
            self._close()
            failpoint("spool.commit")
            self._store._publish(self._name, path, keep)
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
