"""An archive of ours, replayed by pywb when the site is gone: pages, pictures and duplicates, byte for byte."""

from __future__ import annotations

import base64
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import pytest_twisted

from tests.crawling import crawl
from tests.routes import link, page, redirect
from tests.site import Site

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
PLACE = Path(sys.prefix) / "replay"
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)
NOT_MODIFIED = {"when": {"If-None-Match": ".+"}, "status": 304, "headers": {"ETag": '"1"'}}
IMAGE = {"path": "/i.png", "headers": {"Content-Type": "image/png", "ETag": '"1"'},
         "body_base64": base64.b64encode(PNG).decode()}  # fmt: skip
ROUTES = [
    page("/", link("/gzip", "/chunked", "/twin?b=2&a=1", "/moved") + '<img src="/i.png">'),
    page("/gzip", "packed " * 500, coding="gzip"),
    page("/chunked", "in chunks " * 500, fault="chunked"),
    page("/twin?b=2&a=1", "in chunks " * 500) | {"body": page("/gzip", "packed " * 500)["body"], "coding": "gzip"},
    redirect("/moved", "/gzip"),
    {**IMAGE, **NOT_MODIFIED},
    IMAGE,
]


@pytest.fixture(scope="module")
def tools() -> Path:
    """Return the folder of pywb's commands, installed there when they are not yet."""
    if not (PLACE / "bin" / "wayback").exists():
        subprocess.run([sys.executable, "-m", "venv", PLACE], check=True)
        wanted = ["install", "--quiet", "--disable-pip-version-check", "-r", str(ROOT / "requirements-replay.txt")]
        subprocess.run([str(PLACE / "bin" / "pip"), *wanted], check=True)
    return PLACE / "bin"


@pytest.fixture
def served(tools: Path, tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """Return the URL of a running pywb and the folder whose collections it serves."""
    folder = tmp_path / "pywb"
    folder.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    subprocess.run([tools / "wb-manager", "init", "ours"], cwd=folder, check=True, capture_output=True)
    with (tmp_path / "log").open("wb") as log:
        command = [str(tools / "wayback"), "-b", "127.0.0.1", "-p", str(port)]
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
    try:
        yield f"http://127.0.0.1:{port}/ours", folder
    finally:
        process.kill()
        process.wait()


def fetch(url: str) -> tuple[int, bytes]:
    """Return status and body of *url*, asked for until the server listens; redirects are not followed."""

    class Stay(urllib.request.HTTPErrorProcessor):
        def http_response(self, request: object, response: object) -> object:
            return response

    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), Stay)
    for _ in range(300):
        try:
            with opener.open(url, timeout=10) as response:
                return response.status, response.read()
        except ConnectionRefusedError:
            pass
        except urllib.error.URLError as error:
            if not isinstance(error.reason, ConnectionRefusedError):
                raise
        time.sleep(0.1)
    raise TimeoutError(url)


@pytest_twisted.async_fixture
async def archived(tmp_path: Path) -> tuple[Path, str]:
    """Return the archive of a crawl and a revisit, and the base of the site that is gone."""
    with Site(ROUTES) as site:
        for _ in range(2):
            arguments = {"warc": "1", "mode": "directory", "select": "page:all child:all"}
            crawled = await crawl(f"{site.base}/", tmp_path / "out", {}, **arguments)
            assert crawled.status == 0
        return crawled.out / "crawl.wacz", site.base


@pytest.mark.nightly
def test_replay(served: tuple[str, Path], tools: Path, archived: tuple[Path, str]) -> None:
    """Every page and the picture come out of the archive as the server sent them."""
    (url, folder), (archive, base) = served, archived
    add = ["add", "--unpack-wacz", "ours", str(archive)]
    subprocess.run([str(tools / "wb-manager"), *add], cwd=folder, check=True, capture_output=True)
    for route in ROUTES[:4]:
        assert fetch(f"{url}/2100id_/{base}{route['path']}") == (200, str(route["body"]).encode()), route["path"]
    assert fetch(f"{url}/2100id_/{base}/i.png") == (200, PNG)
    assert fetch(f"{url}/2100im_/{base}/i.png")[1] == PNG
    assert fetch(f"{url}/2100id_/{base}/moved")[0] == 302
    assert fetch(f"{url}/2100id_/{base}/not-there")[0] == 404
    status, shown = fetch(f"{url}/2100mp_/{base}/")
    assert status == 200
    assert b"ours/2100" in shown  # its links lead into the archive
