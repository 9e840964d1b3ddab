"""``scrapy crawl site`` as a person or a script meets it: exit statuses, what is printed, and what never is."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

import spiderproj
from spiderproj.files.output import Lock
from tests.routes import link, page, text
from tests.warm import Starter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tests.answers import RouteSpec
    from tests.site import Site

    Factory = Callable[[Iterable[RouteSpec]], Site]

SECONDS = 60
ROUTES = [page("/", link("/a", "/x.pdf", "/gone")), page("/a", link("/")), text("/x.pdf", "x", "application/pdf")]


class Ran(NamedTuple):
    """A command that has ended."""

    status: int
    output: str

    @property
    def lines(self) -> list[str]:
        """The lines of its output."""
        return self.output.splitlines()


@pytest.fixture(scope="module")
def starter() -> Iterator[Starter]:
    """Return what starts commands quickly."""
    with Starter() as started:
        yield started


@pytest.fixture
def scrapy(starter: Starter, tmp_path: Path) -> Callable[..., Ran]:
    """Return a function that runs ``scrapy`` with the arguments given; both its outputs are one text."""

    def run(*argv: str) -> Ran:
        output = tmp_path / "output.txt"
        output.unlink(missing_ok=True)
        status = starter.start(list(argv), output).wait(SECONDS)
        return Ran(status, output.read_text())

    return run


def crawl(seed: str, out: Path, *more: str) -> list[str]:
    """Return scrapy's arguments for a crawl; *more* are arguments, and settings in upper case."""
    flags = [part for each in more for part in ("-s" if each.partition("=")[0].isupper() else "-a", each)]
    return ["crawl", "site", "-a", f"seed={seed}", "-a", f"out={out}", *flags]


def test_a_crawl_that_ends_well(site: Factory, scrapy: Callable[..., Ran], tmp_path: Path) -> None:
    """Status 0, the summary in words, no traceback, no error, no control characters where there is no terminal."""
    served = site(ROUTES)
    ran = scrapy(*crawl(f"{served.base}/", tmp_path / "out"))

    assert ran.status == 0
    assert any(line.startswith("finished (finished): 2 pages, 2 files, ") for line in ran.lines)
    for line in ("Total number of links: 4", "refused: 1 type", "errors: 1 HTTP 404", "still pending: 0"):
        assert line in ran.lines
    assert re.search("Traceback|ERROR|CRITICAL|\x1b", ran.output) is None


def test_progress_lines(site: Factory, scrapy: Callable[..., Ran], tmp_path: Path) -> None:
    """Every LOGSTATS_INTERVAL two lines tell how many URLs are pending and how many are done."""
    served = site([page("/", link("/a")), page("/a", delay_s=0.6)])
    ran = scrapy(*crawl(f"{served.base}/", tmp_path / "out", "LOGSTATS_INTERVAL=0.2"))

    assert "1 Pending URLs are in the queue." in ran.output
    assert "1 URLs have been fully processed." in ran.output


def test_debug_log_shows_no_error(site: Factory, scrapy: Callable[..., Ran], tmp_path: Path) -> None:
    """With everything logged, and a feed written, nothing goes wrong unseen."""
    served = site(ROUTES)
    feed = tmp_path / "links.jsonl"
    ran = scrapy(*crawl(f"{served.base}/", tmp_path / "out", "LOG_LEVEL=DEBUG"), "-O", str(feed))

    assert ran.status == 0
    assert re.search("Traceback|ERROR|CRITICAL", ran.output) is None
    assert len(feed.read_text().splitlines()) == 4
    assert all(json.loads(line)["source"] for line in feed.read_text().splitlines())


WRONG = ["mode=everything", "colour=red", "depth=two", "allow=(", "filter=depth <", "select=page:cats", "order=random",
         "login=/nowhere.toml", "gate=open", "fresh=yes", "warc=yes", "seed=ftp://h/", "seed=",
         "seed=http://u:pw@h/"]  # fmt: skip


def test_wrong_arguments(site: Factory, scrapy: Callable[..., Ran], tmp_path: Path) -> None:
    """A wrong argument is exactly one line that names it, and status 2; nothing is asked for and nothing is made."""
    served = site(ROUTES)
    for wrong in WRONG:
        ran = scrapy(*crawl(f"{served.base}/", tmp_path / "out", wrong))
        name = wrong.partition("=")[0]

        assert ran.status == 2, wrong
        assert len(ran.lines) == 1, ran.output
        assert ran.lines[0].startswith(f"spiderproj: {name}=")
        assert "pw" not in ran.output
    assert served.log == []
    assert [path.name for path in tmp_path.iterdir()] == ["output.txt"]


def test_wrong_settings(site: Factory, scrapy: Callable[..., Ran], tmp_path: Path) -> None:
    """A wrong setting of ours is one line too, without traceback, and status 2."""
    served = site(ROUTES)
    for wrong in ("SPIDERPROJ_FILTER=no.such", "SPIDERPROJ_ORDER=os.sep", "SPIDERPROJ_ALLOWED_NETWORKS=10.0.0.0/99"):
        ran = scrapy(*crawl(f"{served.base}/", tmp_path / "out", wrong))

        assert ran.status == 2, wrong
        assert [line for line in ran.lines if line.startswith(f"spiderproj: {wrong.partition('=')[0]}=")] != []
        assert "Traceback" not in ran.output
        assert not (tmp_path / "out").exists()
    assert served.log == []


def test_statuses_of_what_cannot_begin(site: Factory, scrapy: Callable[..., Ran], tmp_path: Path) -> None:
    """3: a file is in the way; 4: another crawl is there; 8: the store is damaged; 10: no seed; each in one line."""
    served = site(ROUTES)
    file = tmp_path / "file"
    file.write_text("")
    good = tmp_path / "good"
    assert scrapy(*crawl(f"{served.base}/", good)).status == 0
    damaged = tmp_path / "damaged"
    assert scrapy(*crawl(f"{served.base}/", damaged)).status == 0
    for path in damaged.glob("crawl.db*"):
        path.write_bytes(b"no database, whatever the name says " * 200)
    with Lock(good):
        expected = {file: 3, file / "in": 3, good: 4, damaged: 8}
        for out, status in expected.items():
            ran = scrapy(*crawl(f"{served.base}/", out))

            assert ran.status == status, ran.output
            assert len([line for line in ran.lines if line.startswith("spiderproj: ")]) == 1
            assert "Traceback" not in ran.output
    ran = scrapy(*crawl("http://127.0.0.1:9/", tmp_path / "none", "ROBOTSTXT_OBEY=0", "RETRY_TIMES=0"))
    assert (ran.status, "Traceback" in ran.output) == (10, False)


def test_wrong_password(site: Factory, scrapy: Callable[..., Ran], tmp_path: Path) -> None:
    """A site that does not let us in is status 2 and a line that shows no secret."""
    served = site([*ROUTES, {"path": "/login", "method": "POST", "status": 403}])
    file = tmp_path / "login.toml"
    file.write_text(f'[form]\nurl = "{served.base}/login"\n[form.fields]\nword = "s3cret-word"\n')
    file.chmod(0o600)
    ran = scrapy(*crawl(f"{served.base}/", tmp_path / "out", f"login={file}", "LOG_LEVEL=DEBUG"))

    assert ran.status == 2
    assert "status 403" in ran.output
    assert "s3cret" not in ran.output
    assert "Traceback" not in ran.output
    assert [entry.method for entry in served.log] == ["POST"]


def test_interrupts(site: Factory, starter: Starter, scrapy: Callable[..., Ran], tmp_path: Path) -> None:
    """Ctrl-C once: what is in flight comes in, 6, saved. Twice: 6 at once. The same command then goes on to the end."""
    names = [f"/{number}" for number in range(40)]
    for times, delay_s in ((1, 0.1), (2, 30)):
        served = site([page("/", link(*names)), *(page(name, delay_s=delay_s) for name in names)])
        out = tmp_path / f"out{times}"
        process = starter.start(crawl(f"{served.base}/", out), tmp_path / "interrupted.txt")
        assert served.wait_for(lambda served: len(served.log) > 8)
        for sent in range(times):
            process.send_signal(signal.SIGINT)
            if sent + 1 < times:
                with pytest.raises(subprocess.TimeoutExpired):
                    process.wait(0.5)
        assert process.wait(10) == 6
        served.set_routes([page("/", link(*names)), *map(page, names)])
        ran = scrapy(*crawl(f"{served.base}/", out))

        assert (ran.status, served.hits("GET /")) == (0, 1)
        assert json.loads((out / "summary.json").read_bytes())["pages"] == 41
    assert "Traceback" not in (tmp_path / "interrupted.txt").read_text()


def test_other_spiders_and_names(scrapy: Callable[..., Ran]) -> None:
    """The spiders are listed, and a name that is none is Scrapy's own usage error."""
    assert scrapy("list").lines == ["site", "survey"]
    assert scrapy("crawl").status == 2
    assert scrapy("crawl", "sites").lines[-1] == "scrapy: error: no spider is called 'sites'; there is site, survey"


def test_cold_start_and_default_folder(site: Factory, tmp_path: Path) -> None:
    """As a user starts it: a process of its own, the folder by the seed's host below the current one."""
    served = site(ROUTES)
    environment = {
        **os.environ,
        "SCRAPY_SETTINGS_MODULE": "spiderproj.settings",
        "PYTHONPATH": str(Path(spiderproj.__file__).parents[1]),
    }
    command = [sys.executable, "-m", "scrapy", "crawl", "site", "-a", f"seed={served.base}/"]
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    assert ran.returncode == 0
    assert "Total number of links: 4" in ran.stdout
    assert (tmp_path / "crawls" / f"127.0.0.1_{served.port}" / "summary.json").is_file()
