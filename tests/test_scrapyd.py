"""The documented path on a real Scrapyd: shipped configuration, ``make deploy``, jobs, cancel and resume, no way in."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import zipfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.routes import link, page, text
from tests.scrapyd_server import (
    AGENT,
    PROJECT,
    TIMEOUT_S,
    Scrapyd,
    copy_project,
    free_port,
    listening,
    make_deploy,
    start_command,
)
from tests.site import Site

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tests.answers import RouteSpec

CONCURRENCY = 4
PAGES = 80
OPEN_TO_ALL = """
[scrapyd]
bind_address = 0.0.0.0
username =
password =
webroot = scrapyd.website.Root
[services]
delproject.json = scrapyd.webservice.DeleteProject
"""

needs_proc = pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="reads Linux's /proc")


@pytest.fixture(scope="module")
def scrapyd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scrapyd]:
    """Return a Scrapyd to which ``make deploy`` has deployed; the user's own Scrapyd file would open it to all."""
    folder = tmp_path_factory.mktemp("scrapyd")
    home, source = folder / "home", folder / "source"
    home.mkdir()
    (home / ".scrapyd.conf").write_text(OPEN_TO_ALL)
    copy_project(source)
    with Scrapyd(folder / "server", home) as server, Site() as proxy:
        deployed = make_deploy(source, server.folder, proxy.base)
        assert deployed.returncode == 0, deployed.stdout
        server.version = json.loads(deployed.stdout[deployed.stdout.index('{"') :].splitlines()[0])["version"]
        assert server.password not in deployed.stdout
        assert not proxy.log  # the password went straight to Scrapyd
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
    hits = Counter((entry.method, entry.target) for entry in server.log)
    assert {target for (_, target), count in hits.items() if count > 1} <= in_flight
    assert {dict(entry.headers)["User-Agent"] for entry in server.log} == {AGENT}
    assert_complete(out, server.base)


def test_no_folder_given(scrapyd: Scrapyd, site: Callable[[Iterable[RouteSpec]], Site]) -> None:
    """Without ``out`` a job writes below Scrapyd's own private folder."""
    server = site([page("/")])
    assert scrapyd.exit_status(scrapyd.schedule(seed=f"{server.base}/")) == 0
    (line,) = (scrapyd.folder / f"crawls/127.0.0.1_{server.port}/pages.jsonl").read_text().splitlines()
    assert json.loads(line)["status"] == 200


def test_egg(scrapyd: Scrapyd) -> None:
    """The egg holds the package, the name of its settings, and nothing else."""
    with zipfile.ZipFile(scrapyd.folder / f"eggs/spiderproj/{scrapyd.version}.egg") as egg:
        assert {name.partition("/")[0] for name in egg.namelist()} == {"spiderproj", "EGG-INFO"}
        assert egg.read("EGG-INFO/entry_points.txt").split() == b"[scrapy] settings = spiderproj.settings".split()


def test_refused_deploy(site: Callable[[Iterable[RouteSpec]], Site], tmp_path: Path) -> None:
    """``make deploy`` fails, and shows why, when Scrapyd refuses the egg with status 200."""
    server = site([text("/addversion.json", '{"status": "error", "message": "no such thing"}', method="POST")])
    copy_project(tmp_path / "source")
    (tmp_path / "scrapy.cfg").write_text(f"[deploy:local]\nurl = {server.base}/\nusername = u\npassword = p\n")
    deployed = make_deploy(tmp_path / "source", tmp_path, "http://127.0.0.1:1")
    assert server.hits("POST /addversion.json") == 1
    assert deployed.returncode != 0
    assert "no such thing" in deployed.stdout


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


def test_start_refused(scrapyd: Scrapyd, tmp_path: Path) -> None:
    """A start in the same folder, on a port in use, or in a folder of other things says so and changes nothing."""
    (tmp_path / "precious").touch()
    before = (scrapyd.folder / "scrapy.cfg").read_bytes()
    cases = {(scrapyd.folder, free_port()): 4, (tmp_path / "new", scrapyd.port): 3, (tmp_path, free_port()): 3}
    started = [subprocess.Popen(start_command(*case), cwd=PROJECT, stderr=subprocess.PIPE, text=True) for case in cases]
    said = [process.communicate(timeout=TIMEOUT_S)[1] for process in started]
    assert [process.returncode for process in started] == list(cases.values())
    assert [(line[:12], line.count("\n")) for line in said] == [("spiderproj: ", 1)] * 3
    assert (scrapyd.folder / "scrapy.cfg").read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {"precious", "new"}


def test_wrong_argument_and_restart(scrapyd: Scrapyd) -> None:
    """A wrong argument ends a job in one line and status 2; a new start keeps the record, not the password."""
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


def many_pages() -> list[RouteSpec]:
    """Return routes of a start page and PAGES others, each slow enough that a cancel comes in the middle."""
    others = [f"/p{number}.html" for number in range(PAGES)]
    return [page("/", link(*others)), *(page(path, link("/"), delay_s=0.1) for path in others)]


def assert_complete(out: Path, base: str) -> None:
    """Assert that the folder holds every page, link and count of ``many_pages``, once."""
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
