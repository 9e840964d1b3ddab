"""The output folder: whether it may be written, made ready, and locked for one crawl."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import stat
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from spiderproj.errors import LockedError, OutputError, SpiderprojError, UnsafePathError
from spiderproj.failpoints import failpoint
from spiderproj.files.bodies import ENGINE, KEPT, TEMPORARY, FileStore
from spiderproj.files.failures import failure
from spiderproj.paths import MAX_NAME_BYTES

if TYPE_CHECKING:
    from types import TracebackType

FILES: Final = "files"
"""The folder of the bodies in an output folder."""

_PORT_ROOM: Final = 7  # what a host's folder may add to MAX_NAME_BYTES
_TRIES: Final = 50
_PAUSE: Final = 0.01  # seconds
_LOCK_FLAGS: Final = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


def prepare(out: Path) -> Lock:
    """Return the lock, held, of the output folder *out*, made or found ready to be written.

    ``.spiderproj`` in it is both the engine's folder and the mark that it is ours. What a killed crawl left half
    written is removed. Raises OutputError, DiskFullError or LockedError with a message that says what to do.
    """
    try:
        _check(out)
        out.mkdir(mode=0o755, parents=True, exist_ok=True)
        _make_engine_folder(out / ENGINE)
        (out / FILES).mkdir(mode=0o755, exist_ok=True)
        failpoint("out.lock")
        lock = Lock(out)
        failpoint("out.locked")
    except OSError as error:
        raise failure(error, out) from error
    try:
        _remove_leftovers(out / ENGINE / TEMPORARY)
        _probe(out)
    except OSError as error:
        lock.release()
        raise failure(error, out) from error
    except SpiderprojError:
        lock.release()
        raise
    return lock


def free_space(out: Path) -> int:
    """Return how many bytes can still be written in the output folder *out*."""
    try:
        status = os.statvfs(out)
    except OSError as error:
        raise failure(error, out) from error
    return status.f_bavail * status.f_frsize


class Lock:
    """The lock of the output folder *out*, held until ``release``; LockedError says who holds it.

    It is the kernel's (flock): it ends with its process, so the record of a dead one means nothing and is replaced.
    """

    def __init__(self, out: Path) -> None:
        self._descriptor = os.open(out / ENGINE / "lock", _LOCK_FLAGS, 0o600)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._record({"pid": os.getpid(), "host": socket.gethostname(), "started": datetime.now(UTC).isoformat()})
        except BlockingIOError as error:
            owner = self._owner()
            os.close(self._descriptor)
            raise LockedError(f"{out}: {owner} is crawling there; stop it, or give another folder") from error
        except BaseException:
            os.close(self._descriptor)
            raise

    def release(self) -> None:
        """Let others crawl in the folder."""
        with suppress(OSError):
            os.ftruncate(self._descriptor, 0)
        os.close(self._descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.release()

    def _record(self, owner: dict[str, object]) -> None:
        """Write down who holds the lock."""
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, json.dumps(owner).encode() + b"\n", 0)

    def _owner(self) -> str:
        """Return who holds the lock, for a person; one that has just taken it gets a moment to say so."""
        for _ in range(_TRIES):
            with suppress(OSError, ValueError, LookupError, TypeError, OverflowError):
                owner = json.loads(os.pread(self._descriptor, 4096, 0))
                if owner["host"] == socket.gethostname():
                    os.kill(owner["pid"], 0)  # a record that a dead process has left names nobody
                return f"process {owner['pid']:d} on {owner['host']!a} (since {owner['started']!a})"
            time.sleep(_PAUSE)
        return "another process"


def _check(out: Path) -> None:
    """Raise OutputError when *out* is something that a crawl should not be written into."""
    if out.is_symlink():
        raise OutputError(f"out={out} is a symlink: give the folder itself, {out.resolve()}")
    if out.exists() and not out.is_dir():
        raise OutputError(f"out={out} is not a folder: give the name of a folder")
    if out.resolve() in _too_precious():
        raise OutputError(f"out={out} is the root or your home folder: give a folder in it")
    if out.is_dir() and not (out / ENGINE).exists() and any(out.iterdir()):
        raise OutputError(f"out={out} holds files that are not of a crawl: give a new or an empty folder")


def _too_precious() -> set[Path]:
    """Return the folders that are never an output folder, even when they are empty."""
    folders = {Path("/")}
    with suppress(RuntimeError):  # no home
        folders.add(Path.home().resolve())
    return folders


def _make_engine_folder(engine: Path) -> None:
    """Make the *engine*'s folder, or refuse one that somebody else could have prepared (A80)."""
    engine.mkdir(mode=0o700, exist_ok=True)
    status = engine.lstat()
    if not stat.S_ISDIR(status.st_mode):
        raise OutputError(f"{engine} is not a folder: give another output folder")
    if status.st_uid != os.geteuid():
        raise OutputError(f"{engine} belongs to another user: give another output folder, or change its owner")
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise OutputError(f"{engine} can be written by others: make sure it is yours and run chmod go-w on it")
    for name in (TEMPORARY, KEPT):
        (engine / name).mkdir(mode=0o700, exist_ok=True)


def _remove_leftovers(temporary: Path) -> None:
    """Remove what a killed crawl left half written in the folder *temporary*."""
    for leftover in temporary.iterdir():
        leftover.unlink()


def _probe(out: Path) -> None:
    """Store and remove a body under the longest name there can be, and one that no URL has."""
    name = "~probe".ljust(MAX_NAME_BYTES + _PORT_ROOM, "~")
    store = FileStore(out / FILES)
    try:
        store.put(name, b"?")
        store.remove(name)
    except UnsafePathError as error:
        raise OutputError(
            f"out={out}: a name of {len(name)} bytes cannot be stored there: give another disk"
        ) from error
    finally:
        store.close()
