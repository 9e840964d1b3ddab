"""Bodies as they were received, of files that stand in the tree in another form: kept once, by their digest."""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from spiderproj.errors import OutputError, UnsafePathError
from spiderproj.failpoints import failpoint
from spiderproj.files.bodies import ENGINE
from spiderproj.files.failures import failure
from spiderproj.files.folders import Folders
from spiderproj.files.output import FILES

if TYPE_CHECKING:
    from collections.abc import Callable

    from spiderproj.files.bodies import FileStore

ORIGINALS: Final = "originals"
"""The folder in the engine's own where originals lie, as ``ab/<digest>``."""

_READ_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Original(NamedTuple):
    """A body as received, and whether it is kept apart: then the file in the tree may be missing or in another form."""

    body: bytes
    is_kept: bool


class Originals:
    """The originals beside the bodies of *files*, in the output folder *out*."""

    def __init__(self, files: FileStore, out: Path, *, fsync: bool = False) -> None:
        self._files = files
        self._place = out / ENGINE / ORIGINALS
        try:
            self._place.mkdir(exist_ok=True)
            self._tree = Folders(out / FILES, fsync=fsync)
            self._folders = Folders(self._place, fsync=fsync)
        except OSError as error:
            raise failure(error, self._place) from error
        self._fsync = fsync

    def read(self, path: str, digest: bytes, *, kept_first: bool) -> Original | None:
        """Return the body of this *digest* that belongs at *path*, None when neither place has it."""
        for is_kept in (kept_first, not kept_first):
            body = self._read_kept(digest) if is_kept else self._read_tree(path)
            if body is not None and sha256(body).digest() == digest:
                return Original(body, is_kept)
        return None

    def take(self, path: str, digest: bytes) -> None:
        """Move the file at *path*, which is as received, out of the tree.

        For a moment nothing is at *path*. To put another file over it would not do: ext4 then writes that file's data
        out at once, which costs 4 ms where this costs 0.02.
        """
        folder, _, leaf = path.rpartition("/")
        kept_folder, name = _place(digest)
        try:
            target = self._folders.descriptor(kept_folder, create=True)
            source = self._tree.descriptor(folder, create=False)
            failpoint("original.take")
            os.rename(leaf, name, src_dir_fd=source, dst_dir_fd=target)
            failpoint("original.taken")
            if self._fsync:
                os.fsync(target)
        except OSError as error:
            raise failure(error, self._place / kept_folder / name) from error

    def prune(self, is_wanted: Callable[[str], bool]) -> None:
        """Remove the originals of whose digest, in hexadecimal, *is_wanted* says no."""
        try:
            for folder in os.listdir(self._folders.descriptor("", create=False)):  # noqa: PTH208 - no path is followed
                descriptor = self._folders.descriptor(folder, create=False)
                for name in os.listdir(descriptor):  # noqa: PTH208 - a descriptor
                    if not is_wanted(name):
                        failpoint("original.prune")
                        os.unlink(name, dir_fd=descriptor)
        except OSError as error:
            raise failure(error, self._place) from error

    def close(self) -> None:
        """Let go of the folders."""
        self._tree.close()
        self._folders.close()

    def _read_kept(self, digest: bytes) -> bytes | None:
        folder, name = _place(digest)
        with suppress(OSError, UnsafePathError):
            descriptor = self._folders.descriptor(folder, create=False)
            with os.fdopen(os.open(name, _READ_FLAGS, dir_fd=descriptor), "rb") as file:
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
