"""Bring WARC files back to the last commit: what was appended since then was never noted, and is fetched again."""

from __future__ import annotations

import os
import re
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Final

from spiderproj.errors import OutputError
from spiderproj.failpoints import failpoint
from spiderproj.files.failures import failure

if TYPE_CHECKING:
    from collections.abc import Mapping

OURS: Final = re.compile(r"spiderproj-[0-9]{14}-[0-9]{5,}-[0-9A-Za-z]+\.warc\.gz")
"""Names that the writer gives; no other file is touched."""

_FLAGS: Final = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_READ: Final = 64 * 1024
_UNPACKED: Final = 1024 * 1024


def files(folder: Path) -> list[Path]:
    """Return the WARC files of ours in *folder*, by name; OutputError when it is no folder of its own."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise OutputError(f"{folder} is no plain folder, and is not written to: move it away")
    return sorted(path for path in folder.iterdir() if OURS.fullmatch(path.name)) if folder.exists() else []


def cut_back(folder: Path, noted: Mapping[str, int]) -> dict[str, int]:
    """Cut each file in *folder* to its *noted* size, and remove those that no commit has noted.

    Returns the size of each file that is shorter than noted: it ends with its last whole record, and is 0 when the
    file is gone. Raises OutputError or DiskFullError.
    """
    short, found = {}, files(folder)
    for path in found:
        try:
            if path.name not in noted:
                failpoint("warc.remove")
                path.unlink()
            elif (size := _cut(path, noted[path.name])) < noted[path.name]:
                short[path.name] = size
        except OSError as error:
            raise failure(error, path) from error
    return short | dict.fromkeys(noted.keys() - {path.name for path in found}, 0)


def _cut(path: Path, size: int) -> int:
    """Cut the file at *path* to *size*, or to its whole records when it is shorter; return the size it has then."""
    descriptor = os.open(path, _FLAGS)
    try:
        found = os.fstat(descriptor).st_size
        if found != size:
            failpoint("warc.cut")
            size = size if found > size else end_of_members(descriptor)
            os.ftruncate(descriptor, size)
        return size
    finally:
        os.close(descriptor)


def end_of_members(descriptor: int) -> int:
    """Return where the last whole gzip member of an open file ends; read from the start, in bounded memory."""
    end = position = 0
    unpacker = zlib.decompressobj(16 + zlib.MAX_WBITS)
    while data := os.pread(descriptor, _READ, position):
        position += len(data)
        while data:
            try:
                unpacker.decompress(data, _UNPACKED)
            except zlib.error:
                return end
            data = unpacker.unconsumed_tail
            if unpacker.eof:
                data = unpacker.unused_data
                end = position - len(data)
                unpacker = zlib.decompressobj(16 + zlib.MAX_WBITS)
    return end
