"""A second process for rewriting, so that two cores make a copy in little more than half the time.

Run as a program this is that process: it reads tasks and writes forms, and ends when its parent has.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from select import select
from typing import BinaryIO, Self, cast

from spiderproj.rewrite import Form, Rewriter, Task


class Assistant:
    """Takes some tasks at a time and gives back their forms later; ``fails`` for good when its process does."""

    def __init__(self) -> None:
        self.fails = len(os.sched_getaffinity(0)) < 2
        self._process: subprocess.Popen[bytes] | None = None

    def give(self, tasks: list[Task]) -> None:
        """Hand *tasks* over; those before must have been taken back."""
        if self._process is None:
            self._process = _start()
        try:
            _write(cast("BinaryIO", self._process.stdin), tasks)
        except OSError:
            self.close()

    def is_done(self) -> bool:
        """Say whether ``take`` need not wait."""
        return self._process is None or bool(select([cast("BinaryIO", self._process.stdout)], [], [], 0)[0])

    def take(self) -> list[Form] | None:
        """Return the forms of the tasks it has; None when it has failed at them."""
        if self._process is None:
            return None
        try:
            return cast("list[Form]", pickle.load(cast("BinaryIO", self._process.stdout)))  # noqa: S301 - our own
        except (OSError, EOFError, pickle.UnpicklingError):
            self.close()
            return None

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
        self._process, self.fails = None, True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _start() -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - this program
        [sys.executable, "-m", __name__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )


def _write(stream: BinaryIO, value: list[Task] | list[Form]) -> None:
    pickle.dump(value, stream, pickle.HIGHEST_PROTOCOL)
    stream.flush()


def main() -> None:
    """Rewrite what comes in, until nothing comes any more."""
    rewriter = Rewriter()
    while True:
        try:
            tasks: list[Task] = pickle.load(sys.stdin.buffer)  # noqa: S301 - from the process that started this one
        except EOFError:
            return
        _write(sys.stdout.buffer, list(map(rewriter, tasks)))


if __name__ == "__main__":
    main()
