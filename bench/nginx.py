"""Start and stop one nginx for a folder, with a log that has what a crawl is judged by.

    python -m bench.nginx start /tmp/site5k/www --port 8801 --dir /dev/shm/nginx
    python -m bench.nginx stop --dir /dev/shm/nginx

The access log has one tab-separated line a request, written when its answer is finished: the fields of ``Line``.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

if TYPE_CHECKING:
    from collections.abc import Iterator

_CONFIGURATION = """\
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log error;
worker_rlimit_nofile {files};
events {{ worker_connections 4096; multi_accept on; }}
http {{
  types {{ text/html html; text/css css; text/javascript js; image/png png; application/pdf pdf; application/zip zip;
           text/plain txt; application/xml xml; }}
  default_type application/octet-stream;
  charset utf-8;
  log_format bench '$msec\\t$connection\\t$request_method\\t$request_uri\\t$status\\t$body_bytes_sent\\t$bytes_sent\\t'
                   '$request_time';
  access_log {folder}/access.log bench buffer=256k flush=1s;
  sendfile on; tcp_nopush on; tcp_nodelay on;
  keepalive_timeout 75s; keepalive_requests 1000;
  open_file_cache max=4000 inactive=600s; open_file_cache_valid 600s;
  client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
  uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
  etag on;
  server {{ listen 127.0.0.1:{port} backlog=4096; root {root}; index index.html; }}
}}
"""


class Line(NamedTuple):
    """One request in the access log."""

    time: float  # POSIX seconds at its end
    connection: int
    method: str
    uri: str
    status: int
    body_bytes: int
    bytes: int  # with the head
    seconds: float  # from the first byte of the request to the last of the answer


class Nginx:
    """A running nginx; a context manager that stops it."""

    def __init__(self, root: Path, folder: Path, port: int = 0) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        self.folder, self.port = folder.resolve(), port or _free_port()
        self.base = f"http://127.0.0.1:{self.port}"
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        text = _CONFIGURATION.format(folder=self.folder, root=root.resolve(), port=self.port, files=files)
        user = "user root;\n" if os.geteuid() == 0 else ""  # the worker must be able to read the folder
        configuration = self.folder / "nginx.conf"
        configuration.write_text(user + text)
        program = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin") or "nginx"
        self._process = subprocess.Popen([program, "-p", str(self.folder), "-c", str(configuration), "-e", "error.log"])
        self._wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Stop it and wait until its log is whole."""
        self._process.send_signal(signal.SIGQUIT)
        self._process.wait()

    def wait(self) -> None:
        """Return when it has ended."""
        self._process.wait()

    def cpu_s(self) -> float:
        """Return the CPU seconds that master and worker have used."""
        return sum(_cpu_s(pid) for pid in (self._process.pid, *_children(self._process.pid)))

    def _wait(self) -> None:
        for _ in range(200):
            if self._process.poll() is not None:
                raise SystemExit(f"nginx did not start: see {self.folder}/error.log")
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.02)
        raise SystemExit(f"nginx does not answer on port {self.port}")


def read_log(path: Path) -> Iterator[Line]:
    """Yield the requests of an access log."""
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            at, connection, method, uri, status, body, sent, seconds = line.rstrip("\n").split("\t")
            yield Line(float(at), int(connection), method, uri, int(status), int(body), int(sent), float(seconds))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _children(pid: int) -> list[int]:
    path = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in path.read_text().split()] if path.exists() else []


def _cpu_s(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except FileNotFoundError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Start an nginx and stay until it is stopped, or stop one."""
    parser = argparse.ArgumentParser(description="Start and stop one nginx for a folder.")
    parser.add_argument("--dir", type=Path, default=Path("/dev/shm/nginx"), help="where its configuration and logs go")
    actions = parser.add_subparsers(dest="action", required=True)
    start = actions.add_parser("start")
    start.add_argument("root", type=Path)
    start.add_argument("--port", type=int, default=8801)
    actions.add_parser("stop")
    options = parser.parse_args()
    if options.action == "stop":
        os.kill(int((options.dir / "nginx.pid").read_text()), signal.SIGQUIT)
        return
    with Nginx(options.root, options.dir, options.port) as server:
        print(server.base, flush=True)
        server.wait()


if __name__ == "__main__":
    main()
