"""The WARC files of one worker: records appended whole, files begun anew by size, lengths told for the commit."""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from spiderproj.errors import OutputError
from spiderproj.failpoints import failpoint
from spiderproj.files import LineFile
from spiderproj.files.failures import failure
from spiderproj.warc.record import Record, capture_stamp, member, new_id, warc_date
from spiderproj.warc.recovery import cut_back, files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

SOFTWARE: Final = "spiderproj/0.1"
MAX_SIZE: Final = 1_000_000_000

T = TypeVar("T")


class Place(NamedTuple):
    """Where a record lies."""

    file: str  # name of the file in the folder
    offset: int
    length: int  # bytes of its gzip member


class Warcs:
    """The files in *folder*, which is made with the first record; ``recover`` comes before anything else.

    A file that has *max_size* bytes is followed by another. Each begins with a warcinfo record of *info*, lines of
    ``name: value``. Records of large bodies have files of their own and are written by a thread: there is one such
    record at a time. OutputError and DiskFullError end a crawl; ``recover`` then brings back the last commit.
    """

    def __init__(
        self, folder: Path, *, worker: str = "0", max_size: int = MAX_SIZE, info: str = "", fsync: bool = False
    ) -> None:
        self.folder = folder
        self._fsync = fsync
        self._max_size = max_size
        self._info = info
        self._names = self._new_names(worker)
        self._thread: ThreadPoolExecutor | None = None
        self._begin()

    def append(self, records: Sequence[Record]) -> list[Place]:
        """Add *records* side by side; they are on disk after ``flush``, or sooner."""
        return self._small.append(records)

    def append_large(self, records: Sequence[Record]) -> Future[list[Place]]:
        """Write *records* side by side in a thread; they are on disk when it is done."""
        return self.beside(partial(self._large.append_at_once, records))

    def beside(self, work: Callable[[], T]) -> Future[T]:
        """Do *work* in the thread that writes large records, after those that wait for it."""
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="warc")
        return self._thread.submit(work)

    def flush(self) -> dict[str, int]:
        """Write what is waiting; return the size of each file that has grown since the last call, by its name."""
        self._small.flush()
        sizes = {**self._small.sizes, **self._large.sizes}
        grown = {name: size for name, size in sizes.items() if self._noted.get(name) != size}
        self._noted |= grown
        return grown

    def recover(self, noted: Mapping[str, int]) -> dict[str, int]:
        """Bring the files back to their *noted* sizes; return the size of each that is shorter (see ``cut_back``)."""
        self._wait()
        for lane in (self._small, self._large):
            lane.drop(noted)
        self._begin()
        return cut_back(self.folder, noted)

    def exist(self) -> bool:
        """Return whether there are files."""
        return bool(files(self.folder))

    def close(self) -> None:
        """Write what is waiting and close the files."""
        self._wait()
        self._large.close()
        self._small.close()

    def _begin(self) -> None:
        """Begin with no file open."""
        self._noted: dict[str, int] = {}
        self._small = _Lane(self._open, self._max_size)
        self._large = _Lane(self._open, self._max_size)

    def _wait(self) -> None:
        """Let the thread end its work."""
        if self._thread is not None:
            self._thread.shutdown()
            self._thread = None

    def _new_names(self, worker: str) -> Iterator[str]:
        for serial in count():
            yield f"spiderproj-{capture_stamp(int(time.time()))}-{serial:05d}-{worker}.warc.gz"

    def _open(self) -> tuple[LineFile, str, Record]:
        """Return a new file, its name, and the record it begins with."""
        name = next(self._names)
        try:
            failpoint("warc.make")
            self.folder.mkdir(mode=0o755, exist_ok=True)
        except FileExistsError as error:
            raise OutputError(f"{self.folder} is no folder: move it away") from error
        except OSError as error:
            raise failure(error, self.folder) from error
        fields = f"WARC-Date: {warc_date(capture_stamp(int(time.time())))}\r\nWARC-Filename: {name}\r\n"
        block = f"software: {SOFTWARE}\r\nformat: WARC File Format 1.1\r\n{self._info}".encode()
        first = Record("warcinfo", new_id(), f"{fields}Content-Type: application/warc-fields\r\n", block)
        return LineFile(self.folder / name, fsync=self._fsync), name, first


class _Lane:
    """The file that is appended to, and the next one when it has *max_size* bytes.

    ``sizes``: of all files so far, up to their last whole record that is on disk.
    """

    def __init__(self, begin: Callable[[], tuple[LineFile, str, Record]], max_size: int) -> None:
        self._begin = begin
        self._max_size = max_size
        self._file: LineFile | None = None
        self._name = self._warcinfo = ""
        self._end = 0
        self.sizes: dict[str, int] = {}

    def append(self, records: Sequence[Record]) -> list[Place]:
        """Add *records*, all in one file."""
        file = self._file
        if file is None or self._end >= self._max_size:
            file = self._next()
        return [self._put(file, record, self._warcinfo) for record in records]

    def append_at_once(self, records: Sequence[Record]) -> list[Place]:
        """Add *records* and write them out, all or nothing."""
        try:
            places = self.append(records)
            self.flush()
        except BaseException:
            self._undo()
            raise
        return places

    def flush(self) -> None:
        """Write what is waiting."""
        if self._file is not None and self.sizes.get(self._name) != self._end:
            failpoint("warc.flush")
            self.sizes[self._name] = self._file.flush()

    def drop(self, noted: Mapping[str, int]) -> None:
        """Close the file and forget what was appended since it was *noted*."""
        if self._file is not None:
            self._file.truncate_to(noted.get(self._name, 0))
            self._file.close()

    def close(self) -> None:
        """Write what is waiting and close the file."""
        if self._file is not None:
            self._file.close()

    def _undo(self) -> None:
        """Cut off what is not whole; the next record begins another file."""
        file, self._file = self._file, None
        if file is not None:
            file.truncate_to(self.sizes.get(self._name, 0))
            file.close()

    def _next(self) -> LineFile:
        """Close the file and begin another."""
        if (full := self._file) is not None:
            failpoint("warc.rotate")
            self.flush()
            self._file = None
            full.close()
        self._file, self._name, first = self._begin()
        self._end, self._warcinfo = self._file.size, first.id
        self._put(self._file, first, "")
        return self._file

    def _put(self, file: LineFile, record: Record, warcinfo: str) -> Place:
        start = self._end
        for piece in member(record, warcinfo):
            file.append(piece)
            self._end += len(piece)
        failpoint("warc.appended")
        return Place(self._name, start, self._end - start)
