"""Append-only files of JSON lines that a kill leaves without a torn line."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import orjson

from spiderproj.errors import OutputError
from spiderproj.failpoints import failpoint
from spiderproj.files.failures import failure

if TYPE_CHECKING:
    from pathlib import Path

_BUFFER: Final = 1 << 20  # bytes kept in memory between flushes
_BLOCK: Final = 1 << 16
_FLAGS: Final = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class LineFile:
    """The file of lines at *path*, for one writer.

    The writer stores the offset that ``flush`` returns in the transaction that the lines belong to, and gives it to
    ``truncate_to`` when it starts again: lines of a transaction that never came about are cut off. OutputError and
    DiskFullError are raised with the file whole, and the lines kept for another ``flush``.
    """

    def __init__(self, path: Path, *, fsync: bool = False) -> None:
        self._path = path
        self._fsync = fsync
        self._waiting = bytearray()
        try:
            self._descriptor = os.open(path, _FLAGS, 0o644)
        except OSError as error:
            raise failure(error, path) from error
        status = os.fstat(self._descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
            os.close(self._descriptor)
            raise OutputError(f"{path} is no plain file of its own, and is not written to: move it away")
        self._size = status.st_size

    @property
    def size(self) -> int:
        """Bytes of the file, without what waits to be written."""
        return self._size

    def append(self, lines: bytes) -> None:
        """Add whole *lines*, each with its newline; they are on disk after ``flush``, or sooner."""
        failpoint("lines.append")
        self._waiting += lines
        if len(self._waiting) >= _BUFFER:
            self._write()

    def flush(self) -> int:
        """Write what is waiting, and return the size of the file."""
        self._write()
        if self._fsync:
            try:
                os.fsync(self._descriptor)
            except OSError as error:
                raise failure(error, self._path) from error
        return self._size

    def truncate_to(self, offset: int | None) -> int:
        """Cut the file to *offset*, or, when that is not known, to its whole lines; return how many bytes are missing.

        What waits to be written is dropped. The caller makes up for missing bytes; until then the file ends with its
        last whole line.
        """
        self._waiting.clear()
        try:
            size = os.fstat(self._descriptor).st_size
            if offset is None or offset > size:
                self._cut(self._end_of_lines(size))
            else:
                self._cut(offset)
        except OSError as error:
            raise failure(error, self._path) from error
        return max(0, (offset or 0) - self._size)

    def close(self) -> None:
        """Write what is waiting and close the file."""
        try:
            self._write()
        finally:
            os.close(self._descriptor)

    def _write(self) -> None:
        """Write what is waiting, all of it or nothing."""
        try:
            written = 0
            failpoint("lines.write")
            with memoryview(self._waiting) as view:
                while written < len(view):
                    written += os.pwrite(self._descriptor, view[written:], self._size + written)
            failpoint("lines.written")
        except OSError as error:
            with suppress(OSError):  # where nothing can be cut, ``truncate_to`` does it next time
                os.ftruncate(self._descriptor, self._size)
            raise failure(error, self._path) from error
        self._size += written
        self._waiting.clear()

    def _cut(self, size: int) -> None:
        """Make the file *size* bytes long."""
        failpoint("lines.cut")
        os.ftruncate(self._descriptor, size)
        self._size = size

    def _end_of_lines(self, size: int) -> int:
        """Return the offset behind the last newline, found from the end backwards."""
        while size:
            start = max(0, size - _BLOCK)
            newline = os.pread(self._descriptor, size - start, start).rfind(b"\n")
            if newline >= 0:
                return start + newline + 1
            size = start
        return 0


def json_line(record: Mapping[str, object]) -> bytes:
    r"""Return *record* as one line of strict JSON in UTF-8 (RFC 8259), newline included.

    Lone surrogates, which UTF-8 cannot hold, become U+FFFD; a number that is not finite becomes null. Raises TypeError
    for what JSON cannot say.

    >>> json_line({"url": "http://h/", "depth": 0})
    b'{"url":"http://h/","depth":0}\n'
    """
    try:
        return orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:
        return orjson.dumps(_mended(record), option=orjson.OPT_APPEND_NEWLINE)


def _mended(value: object) -> object:
    """Return *value* with U+FFFD for every lone surrogate in its texts."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, Mapping):
        return {_mended(name): _mended(item) for name, item in value.items()}
    return [_mended(item) for item in value] if isinstance(value, list | tuple) else value
