"""A real Scrapyd for the tests: started by deploy/start.py, deployed to by ``make deploy``, ended by process id."""

from __future__ import annotations

import base64
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from configparser import ConfigParser
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self
from urllib.parse import urlencode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PROJECT = Path(__file__).resolve().parent.parent
AGENT = "deployed/1"  # the egg's user agent, which tells it from the package that the tests import
TIMEOUT_S = 30
_SOURCES = ("spiderproj", "deploy", "Makefile", "README.md", "pyproject.toml", "requirements.txt", "scrapy.cfg",
            "setup.py")  # fmt: skip


class Answer(NamedTuple):
    """What Scrapyd answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Scrapyd:
    """Scrapyd in *folder* for a user whose home is *home*; a context manager that ends it and its jobs."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder, self.port, self.version = folder, free_port(), ""
        self._environment = {**os.environ, "HOME": str(home), "SCRAPYD_BIND_ADDRESS": "0.0.0.0"}
        self._news = threading.Condition()

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for pid in self._running():
            os.kill(pid, signal.SIGTERM)
        self._wait(lambda: not self._running())
        self.stop()

    def start(self) -> None:
        """Start, and return when it listens."""
        self.lines: list[str] = []
        self._silent = False
        self.process = subprocess.Popen(
            start_command(self.folder, self.port),
            cwd=PROJECT,
            env=self._environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.wait_for(r"Launcher\] Scrapyd .* started")
        config = ConfigParser(interpolation=None)
        config.read(self.folder / "scrapy.cfg")
        self.user, self.password = config["scrapyd"]["username"], config["scrapyd"]["password"]

    def stop(self) -> None:
        """End the server and wait for its end."""
        self.process.terminate()
        try:
            self.process.wait(TIMEOUT_S)
        finally:
            self.process.kill()
            self._reader.join()

    def wait_for(self, pattern: str) -> str:
        """Return the first line of its output in which *pattern* is found."""
        expression = re.compile(pattern)

        def find() -> str:
            return next((line for line in self.lines if expression.search(line)), "")

        self._wait(lambda: self._silent or bool(find()))
        assert find(), f"no line with {pattern!r}:\n{''.join(self.lines)}"
        return find()

    @property
    def authorization(self) -> str:
        """The header that opens."""
        return "Basic " + base64.b64encode(f"{self.user}:{self.password}".encode()).decode()

    def ask(self, method: str, path: str, data: Mapping[str, str] | None = None, **headers: str) -> Answer:
        """Return the answer to a request with *headers* alone: no password unless it is among them."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT_S)
        fields = {name.replace("_", "-"): value for name, value in headers.items()}
        if data is not None:
            fields["Content-Type"] = "application/x-www-form-urlencoded"
        connection.request(method, path, urlencode(data) if data else None, fields)
        response = connection.getresponse()
        answer = Answer(response.status, dict(response.headers), response.read())
        connection.close()
        return answer

    def api(self, method: str, service: str, **data: str) -> dict[str, Any]:
        """Return what a service of the API answers to whoever has the password."""
        query = "" if method == "POST" else "?" + urlencode(data)
        body = data if method == "POST" else None
        answer = self.ask(method, f"/{service}.json{query}", body, Authorization=self.authorization)
        result: dict[str, Any] = json.loads(answer.body)
        assert (answer.status, result["status"]) == (200, "ok"), result
        return result

    def schedule(self, **arguments: str) -> str:
        """Return the id of a new job of the spider "site" in the version that was deployed."""
        job = self.api("POST", "schedule", project="spiderproj", spider="site", _version=self.version, **arguments)
        return str(job["jobid"])

    def exit_status(self, job: str) -> int:
        """Wait for the end of *job* and return its exit status, which only Scrapyd's own log tells; -1: a signal."""
        line = self.wait_for(rf"Process (finished|died): .*job='{job}'")
        if "Process finished" in line:
            return 0
        status = re.search(r"exitstatus=(\d+)", line)
        return int(status[1]) if status else -1

    def _running(self) -> set[int]:
        found = [match for line in self.lines if (match := re.search(r"Process (\w+): .*? pid=(\d+) ", line))]
        ended = {match[2] for match in found if match[1] != "started"}
        return {int(match[2]) for match in found if match[2] not in ended}

    def _wait(self, condition: Callable[[], bool]) -> None:
        with self._news:
            self._news.wait_for(condition, TIMEOUT_S)

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._news:
                self.lines.append(line)
                self._news.notify_all()
        self.process.stdout.close()
        with self._news:
            self._silent = True
            self._news.notify_all()


def start_command(folder: Path, port: int) -> list[str]:
    """Return the command that starts Scrapyd in *folder*, to be run in the project's folder."""
    return [sys.executable, "deploy/start.py", "--folder", str(folder), "--port", str(port)]


def free_port() -> int:
    """Return a port of loopback that nothing uses now."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def copy_project(target: Path) -> None:
    """Copy what is deployed to *target*, with a user agent of its own."""
    target.mkdir()
    for name in _SOURCES:
        if (PROJECT / name).is_dir():
            shutil.copytree(PROJECT / name, target / name)
        else:
            shutil.copy2(PROJECT / name, target / name)
    settings = target / "spiderproj/default_settings.py"
    text, count = re.subn(r'(?m)^USER_AGENT = ".*"', f'USER_AGENT = "{AGENT}"', settings.read_text())
    assert count == 1
    settings.write_text(text)


def make_deploy(source: Path, folder: Path, proxy: str) -> subprocess.CompletedProcess[str]:
    """Run ``make deploy`` in *source* for the Scrapyd in *folder*, where the environment names a proxy."""
    tools = f"BIN={Path(sys.executable).parent}"
    return subprocess.run(
        ["make", "--old-file=.venv/dev", tools, f"SCRAPYD={folder}", "deploy"],
        cwd=source,
        env={**os.environ, "http_proxy": proxy, "HTTP_PROXY": proxy},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )


def listening(pid: int) -> set[tuple[str, str, int]]:
    """Return protocol, address (hexadecimal, as the kernel has it) and port of each socket where *pid* listens."""
    sockets = set()
    for path in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            sockets.add(str(path.readlink()))
    found = set()
    for protocol in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{protocol}").read_text().splitlines()[1:]:
            columns = line.split()
            if columns[3] == "0A" and f"socket:[{columns[9]}]" in sockets:
                address, _, port = columns[1].partition(":")
                found.add((protocol, address, int(port, 16)))
    return found
