"""The bytes of one answer as they come from the connection: in memory while they are few, else on disk."""

from __future__ import annotations

import time
from tempfile import SpooledTemporaryFile
from typing import TYPE_CHECKING, Final

from spiderproj.failpoints import failpoint
from spiderproj.files.failures import failure

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAX_IN_MEMORY: Final = 256 * 1024
"""Bytes of one answer that are kept in memory for its record."""

_PIECE: Final = 1024 * 1024


class Tape:
    """What a connection brought; a spool in *folder* that has no name, so that a kill leaves nothing.

    ``address``: the address that was dialled; ``began``: when the request went out (POSIX seconds).
    """

    def __init__(self, folder: Path) -> None:
        self.address = ""
        self.began = 0.0
        self.size = 0
        self._folder = folder
        self._spool: SpooledTemporaryFile[bytes] = SpooledTemporaryFile(  # noqa: SIM115 - closed by ``close``
            MAX_IN_MEMORY, dir=str(folder)
        )

    def begin(self, address: object) -> None:
        """Note that the request goes to *address* now."""
        self.address = str(address)
        self.began = time.time()

    def write(self, data: bytes) -> None:
        """Take *data* from the connection; OutputError or DiskFullError when the disk does not."""
        try:
            failpoint("warc.spool")
            self._spool.write(data)
        except OSError as error:
            raise failure(error, self._folder) from error
        self.size += len(data)

    def read(self, start: int, end: int) -> bytes:
        """Return the bytes from *start* to *end*, fewer when there are fewer."""
        try:
            self._spool.seek(start)
            data: bytes = self._spool.read(end - start)
        except OSError as error:
            raise failure(error, self._folder) from error
        return data

    def close(self) -> None:
        """Let go of the bytes."""
        self._spool.close()


class Stretch:
    """The bytes of *tape* from *start* to *end*; each iteration gives them anew, in pieces of at most 1 MiB."""

    def __init__(self, tape: Tape, start: int, end: int) -> None:
        self._tape = tape
        self._range = range(start, end, _PIECE)

    def __iter__(self) -> Iterator[bytes]:
        end = self._range.stop
        for position in self._range:
            yield self._tape.read(position, min(position + _PIECE, end))
