"""Bodies as they were received, of files that stand in the tree in another form: kept once, by their digest."""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from spiderproj.errors import OutputError, UnsafePathError
from spiderproj.files.bodies import ENGINE
from spiderproj.files.failures import failure
from spiderproj.files.folders import Folders

if TYPE_CHECKING:
    from collections.abc import Callable

    from spiderproj.files.bodies import FileStore

ORIGINALS: Final = "originals"
"""The folder in the engine's own where originals lie, as ``ab/<digest>``."""


class Original(NamedTuple):
    """A body as received, and whether it was kept apart: then the file in the tree may be in another form."""

    body: bytes
    is_kept: bool


class Originals:
    """The originals beside the bodies of *files*, in the output folder *out*.

    An original is the very file that was received, by a second name: the tree's files are replaced, never written to.
    """

    def __init__(self, files: FileStore, out: Path, *, fsync: bool = False) -> None:
        self._files = files
        self._place = out / ENGINE / ORIGINALS
        self._fsync = fsync
        try:
            self._place.mkdir(exist_ok=True)
            self._tree = Folders(out / "files")
            self._folders = Folders(self._place, fsync=fsync)
        except OSError as error:
            raise failure(error, self._place) from error

    def read(self, path: str, digest: bytes) -> Original | None:
        """Return the body of this *digest* that belongs at *path*, None when neither place has it."""
        kept = self._read_kept(digest)
        body = self._read_tree(path) if kept is None else kept
        if body is None or sha256(body).digest() != digest:
            return None
        return Original(body, is_kept=kept is not None)

    def keep(self, path: str, digest: bytes, body: bytes) -> None:
        """Keep *body*, which is at *path* or kept already, before the file there is replaced."""
        folder, name = _place(digest)
        try:
            target = self._folders.descriptor(folder, create=True)
            if self._read_kept(digest) is None:
                with suppress(FileNotFoundError):
                    os.unlink(name, dir_fd=target)
                self._link(path, name, target, body)
            if self._fsync:
                os.fsync(target)
        except OSError as error:
            raise failure(error, self._place / folder / name) from error

    def prune(self, is_wanted: Callable[[str], bool]) -> None:
        """Remove the originals of whose digest, in hexadecimal, *is_wanted* says no."""
        try:
            for folder in os.listdir(self._folders.descriptor("", create=False)):  # noqa: PTH208 - no path is followed
                descriptor = self._folders.descriptor(folder, create=False)
                for name in os.listdir(descriptor):  # noqa: PTH208 - a descriptor
                    if not is_wanted(name):
                        os.unlink(name, dir_fd=descriptor)
        except OSError as error:
            raise failure(error, self._place) from error

    def close(self) -> None:
        """Let go of the folders."""
        self._tree.close()
        self._folders.close()

    def _link(self, path: str, name: str, target: int, body: bytes) -> None:
        """Give the file at *path* the *name* in the folder *target*; where a file has one name only, write another."""
        folder, _, leaf = path.rpartition("/")
        try:
            source = self._tree.descriptor(folder, create=False)
            os.link(leaf, name, src_dir_fd=source, dst_dir_fd=target, follow_symlinks=False)
        except (OSError, UnsafePathError):
            temporary = f".{name}"
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
            with os.fdopen(os.open(temporary, flags, 0o644, dir_fd=target), "wb") as file:
                file.write(body)
            os.rename(temporary, name, src_dir_fd=target, dst_dir_fd=target)

    def _read_kept(self, digest: bytes) -> bytes | None:
        folder, name = _place(digest)
        with suppress(OSError, UnsafePathError):
            descriptor = self._folders.descriptor(folder, create=False)
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            with os.fdopen(os.open(name, flags, dir_fd=descriptor), "rb") as file:
                return file.read()
        return None

    def _read_tree(self, path: str) -> bytes | None:
        with suppress(OutputError, UnsafePathError), self._files.open_read(path) as file:
            return file.read()
        return None


def _place(digest: bytes) -> tuple[str, str]:
    """Return the folder and the name of an original."""
    name = digest.hex()
    return name[:2], name
