"""What tests that draw pages share: whether there is a browser, scripts as routes, sockets that nobody may reach."""

from __future__ import annotations

import os
import signal
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pytest

from spiderproj.browser import processes
from spiderproj.rendering import missing

if TYPE_CHECKING:
    from tests.answers import RouteSpec

CHROMIUM = "/usr/bin/chromium"
LACKS = missing(CHROMIUM)
needs_browser = pytest.mark.skipif(LACKS is not None, reason=f"there is not {LACKS}: make render-deps")


def script(path: str, body: str, **keys: Any) -> RouteSpec:
    """Return the route of a script."""
    return {"path": path, "headers": {"Content-Type": "text/javascript"}, "body": body, **keys}


def data(path: str, body: str, **keys: Any) -> RouteSpec:
    """Return the route of JSON data."""
    return {"path": path, "headers": {"Content-Type": "application/json"}, "body": body, **keys}


class Untouched:
    """A TCP and a UDP socket on one port of 127.0.0.1, and whether anything came to them."""

    def __init__(self) -> None:
        self._tcp = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._tcp.getsockname()[1]
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind(("127.0.0.1", self.port))
        self._tcp.settimeout(0)
        self._udp.settimeout(0)

    def contacts(self) -> list[object]:
        """Return what came so far."""
        found: list[object] = []
        for receive in (self._tcp.accept, lambda: self._udp.recvfrom(100)):
            try:
                found.append(receive())
            except BlockingIOError:
                continue
        return found

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._tcp.close()
        self._udp.close()


def browsers() -> list[int]:
    """Return the browsers that this process drives."""
    drivers = processes.children(b"run-driver")
    return [pid for driver in drivers for pid in processes.tree(driver)[1:2]]


def kill_browsers() -> None:
    """End every browser that this process drives, as a crash would."""
    for pid in browsers():
        os.kill(pid, signal.SIGKILL)


def command_line(pid: int) -> bytes:
    """Return the command line of a process, empty when it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
