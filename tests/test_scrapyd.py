"""The documented path on a real Scrapyd: shipped configuration, ``make deploy``, jobs, cancel and resume, no way in."""

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
from collections import Counter
from configparser import ConfigParser
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self
from urllib.parse import urlencode

import pytest

from tests.routes import link, page
from tests.site import Site

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from tests.answers import RouteSpec

PROJECT = Path(__file__).resolve().parent.parent
DEPLOYED = (
    "spiderproj",
    "deploy",
    "Makefile",
    "README.md",
    "pyproject.toml",
    "requirements.txt",
    "scrapy.cfg",
    "setup.py",
)
AGENT = "deployed/1"  # the egg's user agent, which tells it from the package that the tests import
CONCURRENCY = 4
PAGES = 100
TIMEOUT_S = 30

needs_proc = pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="reads Linux's /proc")


class Answer(NamedTuple):
    """What Scrapyd answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Scrapyd:
    """Scrapyd in *folder*, started by deploy/start.py; a context manager that ends it and its jobs by process id."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder, self.port = folder, free_port()
        self._environment = {**os.environ, "HOME": str(home), "SCRAPYD_BIND_ADDRESS": "0.0.0.0"}
        self._news = threading.Condition()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        for pid in self._running():
            os.kill(pid, signal.SIGTERM)
        self._wait(lambda: not self._running())
        self.stop()

    def start(self) -> None:
        """Start, and return when it listens."""
        self.lines: list[str] = []
        command = [sys.executable, "deploy/start.py", "--folder", str(self.folder), "--port", str(self.port)]
        self.process = subprocess.Popen(
            command, cwd=PROJECT, env=self._environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
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
        found: list[str] = []
        self._wait(lambda: bool(found.extend(line for line in self.lines if re.search(pattern, line)) or found))
        assert found, f"no line with {pattern!r}:\n{''.join(self.lines)}"
        return found[0]

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

    @property
    def authorization(self) -> str:
        """The header that opens."""
        return "Basic " + base64.b64encode(f"{self.user}:{self.password}".encode()).decode()

    def api(self, method: str, service: str, **data: str) -> dict[str, Any]:
        """Return what a service of the API answers to whoever has the password."""
        query = "" if method == "POST" else "?" + urlencode(data)
        body = data if method == "POST" else None
        answer = self.ask(method, f"/{service}.json{query}", body, Authorization=self.authorization)
        result: dict[str, Any] = json.loads(answer.body)
        assert (answer.status, result["status"]) == (200, "ok"), result
        return result

    def schedule(self, **arguments: str) -> str:
        """Return the id of a new job of the spider "site"."""
        return str(self.api("POST", "schedule", project="spiderproj", spider="site", **arguments)["jobid"])

    def exit_status(self, job: str) -> int:
        """Wait for the end of *job* and return its exit status, which only Scrapyd's own log tells."""
        line = self.wait_for(rf"Process (finished|died): .*job='{job}'")
        status = re.search(r"exitstatus=(\d+)", line)
        return int(status[1]) if status else 0

    def _running(self) -> set[int]:
        pids = [(match[1], int(match[2])) for line in self.lines
                if (match := re.search(r"Process (started|finished|died): .*? pid=(\d+) ", line))]  # fmt: skip
        return {pid for what, pid in pids if what == "started"} - {pid for what, pid in pids if what != "started"}

    def _wait(self, condition: Callable[[], bool]) -> bool:
        with self._news:
            return self._news.wait_for(condition, TIMEOUT_S)

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._news:
                self.lines.append(line)
                self._news.notify_all()
        self.process.stdout.close()


@pytest.fixture(scope="module")
def scrapyd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scrapyd]:
    """Return a Scrapyd to which ``make deploy`` has deployed; the user's own Scrapyd settings would open it wide."""
    folder = tmp_path_factory.mktemp("scrapyd")
    home, source, proxied = folder / "home", folder / "source", []
    home.mkdir()
    (home / ".scrapyd.conf").write_text(
        "[scrapyd]\nbind_address = 0.0.0.0\nusername =\npassword =\nwebroot = scrapyd.website.Root\n"
        "[services]\ndelproject.json = scrapyd.webservice.DeleteProject\n"
    )
    copy_project(source)
    with ExitStack() as stack:
        server = stack.enter_context(Scrapyd(folder / "server", home))
        proxy = stack.enter_context(Site())
        deployed = make_deploy(source, server, proxy)
        proxied = proxy.log
        assert deployed.returncode == 0, deployed.stdout
        assert '"spiders": 1' in deployed.stdout
        assert server.password not in deployed.stdout
        assert not proxied
        shutil.rmtree(source)
        yield server


def test_cancelled_job_resumes(scrapyd: Scrapyd, site: Callable[[Iterable[RouteSpec]], Site], tmp_path: Path) -> None:
    """A cancelled job saves; scheduled again with the same folder it goes on, and no page is fetched twice for it."""
    server, out = site(many_pages()), tmp_path / "out"
    arguments = {"seed": f"{server.base}/", "out": str(out), "setting": f"CONCURRENT_REQUESTS_PER_DOMAIN={CONCURRENCY}"}

    first = scrapyd.schedule(**arguments)
    assert server.wait_for(lambda s: len(s.log) > PAGES // 4, TIMEOUT_S), "".join(scrapyd.lines)
    assert scrapyd.api("POST", "cancel", project="spiderproj", job=first)["prevstate"] == "running"
    assert scrapyd.exit_status(first) == 6
    before = len(server.log)
    stopped = json.loads((out / "summary.json").read_bytes())
    assert (stopped["state"], stopped["reason"]) == ("stopped", "shutdown")
    assert 0 < stopped["pages"] < PAGES
    assert stopped["pages"] + stopped["pending"] == PAGES + 1

    second = scrapyd.schedule(**arguments)
    assert scrapyd.exit_status(second) == 0
    assert scrapyd.api("GET", "status", job=second)["currstate"] == "finished"
    in_flight = {entry.target for entry in server.log[:before][-CONCURRENCY:]}
    hits = Counter(entry.target for entry in server.log if entry.target != "/robots.txt")
    assert {target for target, count in hits.items() if count > 1} <= in_flight
    assert {dict(entry.headers)["User-Agent"] for entry in server.log} == {AGENT}
    assert_complete(out, server.base)


def test_wrong_argument_and_restart(scrapyd: Scrapyd) -> None:
    """A job with a wrong argument ends with its one line and status 2; a new start keeps its record, not the password."""
    job = scrapyd.schedule(seed="http://127.0.0.1:1/", dept="3")
    assert scrapyd.exit_status(job) == 2
    said = [line for line in scrapyd.lines if "stderr" in line]
    assert len(said) == 1
    assert "spiderproj: dept='3': expected an argument that exists; the nearest is depth" in said[0]

    old = scrapyd.authorization
    scrapyd.stop()
    scrapyd.start()
    assert scrapyd.ask("GET", "/listjobs.json", Authorization=old).status == 401
    assert job in {finished["id"] for finished in scrapyd.api("GET", "listjobs")["finished"]}


def test_no_folder_given(scrapyd: Scrapyd, site: Callable[[Iterable[RouteSpec]], Site]) -> None:
    """Without ``out`` a job writes below Scrapyd's own private folder."""
    server = site([page("/")])
    assert scrapyd.exit_status(scrapyd.schedule(seed=f"{server.base}/")) == 0
    (line,) = (scrapyd.folder / f"crawls/127.0.0.1_{server.port}/pages.jsonl").read_text().splitlines()
    assert json.loads(line)["status"] == 200


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Basic " + base64.b64encode(b"spiderproj:").decode()},
        {"Authorization": "Basic " + base64.b64encode(b"spiderproj:guess").decode()},
        {"Host": "evil.example", "Origin": "https://evil.example"},
    ],
)
@pytest.mark.parametrize("path", ["/", "/jobs", "/logs/", "/schedule.json", "/addversion.json", "/delproject.json"])
def test_closed_without_password(scrapyd: Scrapyd, path: str, headers: dict[str, str]) -> None:
    """Without the password every path answers 401, whoever asks, and nothing tells other sites to read the answer."""
    for method, data in (("GET", None), ("POST", {"project": "spiderproj", "spider": "site"})):
        answer = scrapyd.ask(method, path, data, **headers)
        assert answer.status == 401
        assert "Access-Control-Allow-Origin" not in answer.headers


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "localhost:{port}"}, 200),
        ({"Origin": "http://127.0.0.1:{port}", "Sec_Fetch_Site": "same-origin"}, 200),
        ({"Sec_Fetch_Site": "none"}, 200),
        ({"Host": "evil.example:{port}"}, 403),
        ({"Host": "127.0.0.1.evil.example"}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Sec_Fetch_Site": "cross-site"}, 403),
        ({"Sec_Fetch_Site": "same-site"}, 403),
    ],
)
def test_foreign_pages_cannot_use_a_browsers_password(scrapyd: Scrapyd, headers: dict[str, str], status: int) -> None:
    """With the password, what a web page of another origin makes a browser send is refused all the same."""
    fields = {name: value.format(port=scrapyd.port) for name, value in headers.items()}
    for method, path in (("POST", "/cancel.json"), ("GET", "/"), ("GET", "/listjobs.json")):
        data = {"project": "spiderproj", "job": "none"} if method == "POST" else None
        assert scrapyd.ask(method, path, data, Authorization=scrapyd.authorization, **fields).status == status


@pytest.mark.parametrize("service", ["delproject", "delversion"])
def test_removed_services(scrapyd: Scrapyd, service: str) -> None:
    """What deletes is not there, whatever a user's own Scrapyd file says."""
    data = {"project": "spiderproj", "version": "1"}
    answer = scrapyd.ask("POST", f"/{service}.json", data, Authorization=scrapyd.authorization)
    assert answer.status == 404
    assert scrapyd.api("GET", "listprojects")["projects"] == ["spiderproj"]


@needs_proc
def test_only_loopback_listens(scrapyd: Scrapyd) -> None:
    """The server listens on 127.0.0.1 and its port, and nowhere else, whatever file or environment says."""
    assert listening(scrapyd.process.pid) == {("tcp", "0100007F", scrapyd.port)}


@needs_proc
def test_password_is_secret(scrapyd: Scrapyd) -> None:
    """The password is long, on no command line, in no environment and no log, and only its owner can read it."""
    process = Path(f"/proc/{scrapyd.process.pid}")
    assert len(scrapyd.password) >= 32
    for told in (process / "cmdline", process / "environ"):
        assert scrapyd.password.encode() not in told.read_bytes()
    assert scrapyd.password not in "".join(scrapyd.lines)
    modes = {path.name: path.stat().st_mode & 0o777 for path in (scrapyd.folder, *scrapyd.folder.iterdir())}
    assert (modes["server"], modes["scrapy.cfg"], modes["netrc"]) == (0o700, 0o600, 0o600)


def test_second_start(scrapyd: Scrapyd, tmp_path: Path) -> None:
    """A second start in the folder, on a port in use, or in a folder of other things, ends and changes nothing."""
    (tmp_path / "precious").touch()
    before = (scrapyd.folder / "scrapy.cfg").read_bytes()
    for folder, port, status in (
        (scrapyd.folder, free_port(), 4),
        (tmp_path / "new", scrapyd.port, 3),
        (tmp_path, 1, 3),
    ):
        command = [sys.executable, "deploy/start.py", "--folder", str(folder), "--port", str(port)]
        ended = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
        assert ended.returncode == status
        assert ended.stderr.startswith("spiderproj: ")
        assert ended.stderr.count("\n") == 1
    assert (scrapyd.folder / "scrapy.cfg").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir() if path.name != "new"] == ["precious"]


def many_pages() -> list[RouteSpec]:
    """Return routes of a start page and PAGES others, each slow enough that a cancel comes in the middle."""
    others = [f"/p{number}.html" for number in range(PAGES)]
    return [page("/", link(*others)), *(page(path, link("/"), delay_s=0.1) for path in others)]


def assert_complete(out: Path, base: str) -> None:
    """The folder holds every page, link and count of ``many_pages``, once."""
    others = {f"{base}/p{number}.html" for number in range(PAGES)}
    pages, links = ([json.loads(line) for line in (out / f"{name}.jsonl").read_bytes().splitlines()]
                    for name in ("pages", "links"))  # fmt: skip
    assert sorted(row["url"] for row in pages) == sorted({f"{base}/", *others})
    assert {row["status"] for row in pages} == {200}
    pairs = sorted((row["source"], row["target"]) for row in links)
    assert pairs == sorted([(f"{base}/", url) for url in others] + [(url, f"{base}/") for url in others])
    assert {row["decision"] for row in links} == {"fetched"}
    summary = json.loads((out / "summary.json").read_bytes())
    assert summary["state"] == summary["reason"] == "finished"
    assert (summary["pages"], summary["links_total"], summary["pending"]) == (PAGES + 1, 2 * PAGES, 0)


def copy_project(target: Path) -> None:
    """Copy what is deployed to *target*, with a user agent of its own."""
    target.mkdir()
    for name in DEPLOYED:
        copy = shutil.copytree if (PROJECT / name).is_dir() else shutil.copy2
        copy(PROJECT / name, target / name)
    settings = target / "spiderproj/default_settings.py"
    text = settings.read_text()
    changed = re.sub(r'(?m)^USER_AGENT = ".*"', f'USER_AGENT = "{AGENT}"', text)
    assert changed != text
    settings.write_text(changed)


def make_deploy(source: Path, server: Scrapyd, proxy: Site) -> subprocess.CompletedProcess[str]:
    """Run ``make deploy`` in *source* for *server*, where the environment names a proxy for everything."""
    command = [
        "make",
        "--old-file=.venv/dev",
        f"BIN={Path(sys.executable).parent}",
        f"SCRAPYD={server.folder}",
        "deploy",
    ]
    return subprocess.run(
        command,
        cwd=source,
        env={**os.environ, "http_proxy": proxy.base, "HTTP_PROXY": proxy.base},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )


def free_port() -> int:
    """Return a port of loopback that nothing uses now."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def listening(pid: int) -> set[tuple[str, str, int]]:
    """Return protocol, address (hexadecimal, as the kernel has it) and port of each listening socket of a process."""
    sockets = {os.readlink(path) for path in Path(f"/proc/{pid}/fd").iterdir()}
    found = set()
    for protocol in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{protocol}").read_text().splitlines()[1:]:
            columns = line.split()
            if columns[3] == "0A" and f"socket:[{columns[9]}]" in sockets:
                address, _, port = columns[1].partition(":")
                found.add((protocol, address, int(port, 16)))
    return found
