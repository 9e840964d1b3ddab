"""Commands of ours as child processes: crawls that outlive the page's server, and replays that do not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from spiderproj.errors import LockedError

if TYPE_CHECKING:
    from collections.abc import Sequence

REPLAY: Final = "replay "
"""What the names of replays begin with."""

_TAIL: Final = 4000  # bytes of output that are shown
_MAX_ANSWER: Final = 8 << 20
_MOST: Final = 100  # ended commands that are remembered


@dataclass(frozen=True)
class Child:
    """A command that was started, and the files that its outputs go to."""

    process: subprocess.Popen[bytes]
    output: Path
    errors: Path

    @property
    def status(self) -> int | None:
        """The exit status, None while it runs; negative: the signal that ended it."""
        return self.process.poll()

    def answer(self) -> bytes:
        """Return what it printed."""
        with self.output.open("rb") as file:
            return file.read(_MAX_ANSWER)

    def complaints(self) -> str:
        """Return the last lines of what it said beside."""
        with self.errors.open("rb") as file:
            file.seek(max(0, self.errors.stat().st_size - _TAIL))
            return file.read(_TAIL).decode("utf-8", "replace").strip()


class Children:
    """The commands that this server has started, by a name of ours; their outputs lie in the folder *place*.

    Each is the leader of a session of its own: neither Ctrl-C at the server's terminal nor its end reaches a crawl.
    """

    def __init__(self, place: Path) -> None:
        self._place = place
        self._lock = threading.Lock()
        self._children: dict[str, Child] = {}

    def start(self, key: str, argv: Sequence[str]) -> Child:
        """Start ``scrapy`` with the arguments *argv*; LockedError while the command called *key* still runs."""
        with self._lock:
            before = self._children.get(key)
            if before is not None and before.status is None:
                raise LockedError(f"{key} runs already: wait for its end, or stop it")
            child = self._spawn(argv)
            self._children.pop(key, None)
            self._children[key] = child
            self._forget()
            return child

    def get(self, key: str) -> Child | None:
        """Return the last command called *key*, None when there was none."""
        with self._lock:
            return self._children.get(key)

    def end(self, key: str) -> None:
        """End the command called *key* and what it has started, at once."""
        child = self.get(key)
        if child is not None and child.status is None:
            with suppress(OSError):
                os.killpg(child.process.pid, signal.SIGTERM)

    def end_all(self, prefix: str) -> None:
        """End the commands whose keys begin with *prefix*."""
        for key in list(self._children):
            if key.startswith(prefix):
                self.end(key)

    def end_replays(self) -> None:
        """End the replays; crawls go on."""
        self.end_all(REPLAY)

    def _spawn(self, argv: Sequence[str]) -> Child:
        names = [tempfile.mkstemp(dir=self._place) for _ in range(2)]
        try:
            process = subprocess.Popen(  # noqa: S603 - no shell, our own program, arguments from an allow-list
                [sys.executable, "-m", "scrapy", *argv],
                stdin=subprocess.DEVNULL,
                stdout=names[0][0],
                stderr=names[1][0],
                start_new_session=True,
            )
        finally:
            for descriptor, _ in names:
                os.close(descriptor)
        return Child(process, Path(names[0][1]), Path(names[1][1]))

    def _forget(self) -> None:
        """Drop the oldest that have ended."""
        ended = [key for key, child in self._children.items() if child.status is not None]
        for key in ended[: max(0, len(self._children) - _MOST)]:
            child = self._children.pop(key)
            for path in (child.output, child.errors):
                path.unlink(missing_ok=True)
