"""Named places at which a test makes the process die, or a system call fail, to prove that nothing is lost.

``SPIDERPROJ_FAILPOINT=place:k`` ends the process at the k-th time it comes to *place*, as SIGKILL would: no clean-up,
no flush. ``place:k:ENOSPC`` (or EIO, EROFS) raises that error there instead, as the operating system or SQLite would.
Without the variable a place is the cheapest call there is, of a built-in function: 15 ns.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from collections import Counter
from collections.abc import Callable
from typing import Final, NamedTuple

KILLED: Final = 137  # what a shell reports of SIGKILL

_SQLITE: Final = {
    errno.ENOSPC: ("database or disk is full", sqlite3.SQLITE_FULL),
    errno.EIO: ("disk I/O error", sqlite3.SQLITE_IOERR),
    errno.EROFS: ("attempt to write a readonly database", sqlite3.SQLITE_READONLY),
}


class _Wanted(NamedTuple):
    place: str
    hit: int
    error: int  # errno to be raised; 0: the process dies


hits: Counter[str] = Counter()
"""How often each place was come to, while the variable is set."""

_wanted = _Wanted("", 0, 0)


def arm(text: str) -> None:
    """Set what is to happen, as the variable would: ``place:k`` or ``place:k:ERRNO``; an empty text only counts."""
    global _wanted  # noqa: PLW0603 - one process, one failpoint
    place, _, rest = text.partition(":")
    hit, _, error = rest.partition(":")
    _wanted = _Wanted(place, int(hit or 0), getattr(errno, error) if error else 0)
    hits.clear()


def _come_to(place: str) -> None:
    hits[place] += 1
    if place != _wanted.place or hits[place] != _wanted.hit:
        return
    if not _wanted.error:
        os._exit(KILLED)
    if place.startswith("store."):
        message, code = _SQLITE[_wanted.error]
        error = sqlite3.OperationalError(message)
        error.sqlite_errorcode = code
        raise error
    raise OSError(_wanted.error, os.strerror(_wanted.error))


failpoint: Callable[[str], object] = len  # half the cost of an empty function
"""Come to a place; the names of those of the store begin with ``store.``"""

if "SPIDERPROJ_FAILPOINT" in os.environ:
    failpoint = _come_to
    arm(os.environ["SPIDERPROJ_FAILPOINT"])
