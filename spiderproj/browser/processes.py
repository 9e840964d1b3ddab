"""The processes that were started: which there are, what memory they take, and their end. Reads Linux's /proc."""

from __future__ import annotations

import os
import re
import resource
import signal
from contextlib import suppress
from itertools import chain, repeat
from pathlib import Path
from typing import Final

_PROC: Final = Path("/proc")
_HELD: Final = re.compile(rb"Rss(?:Anon|Shmem):\s+(\d+) kB")
_MAX: Final = 1000  # processes of one tree


def tree(root: int) -> list[int]:
    """Return *root* and all its descendants, parents first; those that end meanwhile may be missing.

    A driver and its browser start processes from any of their threads, what these start only from the first: to look
    at every thread of all would take three times as long.
    """
    found, level = [root], [root]
    for look in chain((_children, _children), repeat(_children_of_first)):
        level = [child for pid in level for child in look(pid)]
        found += level
        if not level or len(found) >= _MAX:
            return found
    return found


def resident_bytes(pids: list[int]) -> int:
    """Return the memory that *pids* hold: their own, and what they share but for mapped files."""
    total = 0
    for pid in pids:
        with suppress(OSError):
            total += sum(map(int, _HELD.findall((_PROC / str(pid) / "status").read_bytes())))
    return total * 1024


def end(root: int, *, but_root: bool = False) -> None:
    """End *root*, a child of this process, and all its descendants at once; nothing when it is no child of ours."""
    pids = tree(root)[but_root:]
    if root not in _children(os.getpid()):
        return
    for pid in pids:
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def children(word: bytes) -> list[int]:
    """Return the children of this process that have *word* on their command line."""
    found = []
    for pid in _children(os.getpid()):
        with suppress(OSError):
            if word in (_PROC / str(pid) / "cmdline").read_bytes().split(b"\0"):
                found.append(pid)
    return found


def _children(pid: int) -> list[int]:
    """Return the children that any thread of *pid* has started."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 - a tenth of the time
    except OSError:
        return []
    return [child for thread in threads for child in _started_by(pid, thread)]


def _children_of_first(pid: int) -> list[int]:
    """Return the children that the first thread of *pid* has started."""
    return _started_by(pid, str(pid))


def _started_by(pid: int, thread: str) -> list[int]:
    try:
        return list(map(int, (_PROC / str(pid) / "task" / thread / "children").read_bytes().split()))
    except OSError:
        return []


def limit_memory(pid: int, size: int) -> None:
    """Let *pid*, and each process that it starts from now on, have *size* bytes of its own, and no more."""
    with suppress(OSError, ValueError):  # a lower limit holds already
        resource.prlimit(pid, resource.RLIMIT_DATA, (size, size))
