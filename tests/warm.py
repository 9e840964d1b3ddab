"""Start ``scrapy`` as a process of its own in a fifth of the time: forked from one that has imported everything.

A ``Starter`` owns the warm process. It is asked by lines of JSON and answers by lines of JSON: {"id", "argv", "output"}
starts a command with both its outputs appended to a file ("failpoint": what is to happen to it, as
``spiderproj.failpoints`` says), {"id", "pid"} tells its process id, {"id", "code"} its end
(negative: the signal). The children are plain processes: they can be stopped by signals, and they end with an exit
status. The warm process holds no threads and no reactor, so a fork of it is as good as new.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from queue import Empty, Queue
from typing import Any, Self

from spiderproj import failpoints

ROOT = Path(__file__).parent.parent


class Started:
    """A command that was started."""

    def __init__(self, pid: int, ended: Queue[int]) -> None:
        self.pid = pid
        self._ended = ended
        self._code: int | None = None

    def send_signal(self, number: int) -> None:
        """Send a signal to the command, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    def poll(self) -> int | None:
        """Return the exit status if it has ended, None while it runs."""
        if self._code is None:
            try:
                self._code = self._ended.get_nowait()
            except Empty:
                return None
        return self._code

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit status; subprocess.TimeoutExpired when it has not ended after *timeout* seconds."""
        if self._code is None:
            try:
                self._code = self._ended.get(timeout=timeout)
            except Empty:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0.0) from None
        return self._code


class Starter:
    """The warm process; a context manager that ends it."""

    def __init__(self, *, failpoints: bool = False) -> None:
        command = [sys.executable, "-m", "tests.warm"]
        environment = {**os.environ, "SSL_CERT_FILE": os.devnull}  # the system's takes 0.15 s to read
        if failpoints:
            environment["SPIDERPROJ_FAILPOINT"] = ""
        self._process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._lock = threading.Lock()
        self._pids: dict[int, Queue[int]] = {}
        self._ends: dict[int, Queue[int]] = {}
        threading.Thread(target=self._read, daemon=True).start()

    def start(self, argv: list[str], output: Path, failpoint: str = "") -> Started:
        """Start ``scrapy`` with the arguments *argv* (without its own name); *output* gets what it prints."""
        pid: Queue[int] = Queue()
        with self._lock:
            number = len(self._pids)
            self._pids[number], self._ends[number] = pid, Queue()
            assert self._process.stdin is not None
            order = {"id": number, "argv": argv, "output": str(output), "failpoint": failpoint}
            print(json.dumps(order), file=self._process.stdin, flush=True)
        return Started(pid.get(timeout=60), self._ends[number])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stdin.close()  # type: ignore[union-attr]  # it is a pipe
        self._process.wait(60)

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            said: dict[str, Any] = json.loads(line)
            if "pid" in said:
                self._pids[said["id"]].put(said["pid"])
            else:
                self._ends[said["id"]].put(said["code"])


def serve() -> None:
    """Be the warm process: start what standard input asks for until it ends."""
    _warm_up()
    running: dict[int, int] = {}
    pending = b""
    while (chunk := _read_input()) != b"":
        pending += chunk or b""
        *whole, pending = pending.split(b"\n")
        for line in whole:
            order = json.loads(line)
            running[_fork(order)] = order["id"]
        _reap(running)
    for pid in running:
        os.kill(pid, signal.SIGKILL)


def _warm_up() -> None:
    """Import what every crawl imports, but no reactor."""
    import warnings

    from scrapy.utils.misc import walk_modules_iter

    with warnings.catch_warnings(action="ignore"):  # of modules that Scrapy is about to drop
        for package in ("commands", "downloadermiddlewares", "extensions", "spidermiddlewares"):
            list(walk_modules_iter(f"scrapy.{package}"))
    import uvloop  # noqa: F401 - only to be imported, once

    import spiderproj.commands.crawl
    import spiderproj.downloader.handler
    import spiderproj.downloader.turns
    import spiderproj.extensions.progress
    import spiderproj.extensions.summary
    import spiderproj.middlewares.gate
    import spiderproj.middlewares.identity
    import spiderproj.middlewares.robots
    import spiderproj.pipelines.ledger  # noqa: F401 - all of these are here to be imported once

    assert "twisted.internet.reactor" not in sys.modules
    gc.collect()
    gc.freeze()


def _read_input() -> bytes | None:
    """Return what came, b"" at the end, None when nothing came for a moment (children may have ended meanwhile)."""
    import select

    readable, _, _ = select.select([0], [], [], 0.02)
    return os.read(0, 1 << 16) if readable else None


def _fork(order: dict[str, Any]) -> int:
    pid = os.fork()
    if pid:
        _say({"id": order["id"], "pid": pid})
        return pid
    output = os.open(order["output"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    null = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((null, 0), (output, 1), (output, 2)):
        os.dup2(source, target)
    failpoints.arm(order["failpoint"])
    sys.argv = ["scrapy", *order["argv"]]
    _run()
    return 0


def _run() -> None:
    from scrapy.cmdline import execute

    code: object = 0
    try:
        execute()
    except SystemExit as end:
        code = end.code
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 1)


def _reap(running: dict[int, int]) -> None:
    while running:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            return
        _say({"id": running.pop(pid), "code": os.waitstatus_to_exitcode(status)})


def _say(answer: dict[str, int]) -> None:
    os.write(1, json.dumps(answer).encode() + b"\n")


if __name__ == "__main__":
    serve()
