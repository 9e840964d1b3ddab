"""``scrapy crawl survey``: what it asks for, counted at the server, and whether what it says is true."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
import pytest_twisted
from scrapy.crawler import Crawler

from spiderproj.errors import ArgumentError
from spiderproj.spiders.survey import SurveySpider
from tests.crawling import crawl, project_settings
from tests.requests_seen import LOOPBACK
from tests.routes import link, page, text
from tests.survey_sites import ARTICLES, PLAIN, PLAIN_PAGES, PLAIN_URLS, TRAPS, TRAPS_PAGES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.answers import RouteSpec
    from tests.site import Site

    Factory = Callable[[Iterable[RouteSpec]], Site]


class Looked(NamedTuple):
    """A survey that has ended."""

    status: int
    survey: dict[str, Any]
    text: str

    def choice(self, name: str) -> dict[str, Any]:
        """Return what one choice comes to."""
        (found,) = [choice for choice in self.survey["choices"] if choice["name"] == name]
        return dict(found)


async def look(seed: str, out: Path, settings: dict[str, object] | None = None, **arguments: str) -> Looked:
    """Survey *seed*."""
    crawler = Crawler(SurveySpider, project_settings(**(settings or {})))
    await crawler.crawl(seed=seed, out=str(out), **arguments)
    spider = crawler.spider
    assert isinstance(spider, SurveySpider)
    path = out / "survey.json"
    return Looked(spider.exit_status, json.loads(path.read_bytes()) if path.exists() else {}, spider.text or "")


def holds(found: dict[str, Any], truth: float) -> bool:
    """Say whether a range contains the *truth*."""
    return found["low"] <= truth and (found["high"] is None or truth <= found["high"])


@pytest_twisted.ensureDeferred
async def test_a_small_site_is_told_of_exactly(site: Factory, tmp_path: Path) -> None:
    """Where all can be read, URLs, pages, files and bytes are what a crawl with the same arguments then finds."""
    served = site(PLAIN)
    looked = await look(f"{served.base}/docs/", tmp_path / "s")
    done = await crawl(f"{served.base}/docs/", tmp_path / "c")

    local = looked.choice("local")
    fetched = [row for row in done.pages if row["status"]]
    assert (len(fetched), done.summary["pages"]) == (PLAIN_URLS, PLAIN_PAGES)
    for name, truth in {"urls": len(fetched), "pages": PLAIN_PAGES, "files": done.summary["files"],
                        "bytes": done.summary["bytes"]}.items():  # fmt: skip
        assert (local[name]["low"], local[name]["high"]) == (truth, truth), name
    assert looked.status == 0


@pytest_twisted.ensureDeferred
async def test_a_part_is_enough_for_ranges_that_hold(site: Factory, tmp_path: Path) -> None:
    """With a third of the requests the ranges contain what a crawl finds."""
    served = site(PLAIN)
    looked = await look(f"{served.base}/docs/", tmp_path / "s", fetches="40")
    assert len(served.log) <= 40
    done = await crawl(f"{served.base}/docs/", tmp_path / "c")

    local = looked.choice("local")
    truths = {"urls": PLAIN_URLS, "pages": PLAIN_PAGES, "files": PLAIN_PAGES, "bytes": done.summary["bytes"]}
    assert {name for name, truth in truths.items() if not holds(local[name], truth)} == set()
    assert local["read"] < local["known"]


@pytest_twisted.ensureDeferred
async def test_requests_are_counted_as_the_server_sees_them(site: Factory, tmp_path: Path) -> None:
    """The figures are the log's: GETs, HEADs, conditional requests, robots.txt and sitemaps together."""
    served = site(TRAPS)
    looked = await look(f"{served.base}/", tmp_path / "s", fetches="100")
    methods = [entry.method for entry in served.log]
    assert looked.survey["rate"]["requests"] == {method: methods.count(method) for method in sorted(set(methods))}
    assert 80 <= len(methods) <= 100


@pytest_twisted.ensureDeferred
async def test_what_is_told_of_a_site(site: Factory, tmp_path: Path) -> None:
    """Robots effects, hosts, levels and types, HEAD, validators, lastmod and sitemaps are those of the site."""
    served = site(PLAIN)
    survey = (await look(f"{served.base}/docs/", tmp_path / "s")).survey

    (robots,) = survey["robots"]
    assert (robots["status"], robots["refused"], robots["crawl_delay"]) == (200, 2, 0.01)
    assert robots["sitemaps"] == [f"{served.base}/sitemap.xml"]
    assert [(host["host"], host["urls"]) for host in survey["hosts"]] == [("other.example", 1)]
    assert survey["hosts"][0]["pages"] == ARTICLES
    cells = {(cell["level"], cell["type"]): cell for cell in survey["matrix"]}
    assert cells["page", "image"]["known"] == 9
    assert cells["page", "image"]["bytes"] == {"low": 900.0, "likely": 900.0, "high": 900.0}
    assert cells["page", "document"]["bytes"]["likely"] == 1000
    head, validators, sitemaps = survey["head"], survey["validators"], survey["sitemaps"]
    assert (head["asked"], head["same"], head["failed"], head["differences"]) == (8, 8, 0, [])
    assert (validators["etag"], validators["asked"], validators["unchanged"]) == (ARTICLES, 6, 6)
    assert (sitemaps["urls"], sitemaps["linked"]) == (4, 3)
    assert sitemaps["lastmod"] == {"listed": 4, "times": 1, "compared": 2, "same": 2, "later": 0, "earlier": 0}
    assert survey["suspects"] == []


@pytest_twisted.ensureDeferred
async def test_each_choice_is_what_the_crawl_does(site: Factory, tmp_path: Path) -> None:
    """The command of every choice, run, fetches as many whole answers as the survey has said."""
    served = site(PLAIN)
    looked = await look(f"{served.base}/docs/", tmp_path / "s", settings=dict(LOOPBACK))
    assert [choice["name"] for choice in looked.survey["choices"]] == ["local", "directory", "files", "all", "sitemap"]
    for choice in looked.survey["choices"]:
        words = shlex.split(choice["command"])
        arguments = dict(word.split("=", 1) for word in words if "=" in word)
        assert words[:3] == ["scrapy", "crawl", "site"]
        seed = arguments.pop("seed")
        done = await crawl(seed, tmp_path / choice["name"], dict(LOOPBACK), **arguments)
        if choice["name"] == "all":
            assert choice["urls"]["high"] is None
        else:
            assert holds(choice["pages"], done.summary["pages"]), choice["name"]
            assert holds(choice["bytes"], done.summary["bytes"]), choice["name"]


@pytest_twisted.ensureDeferred
async def test_traps_are_suspected_and_left_out(site: Factory, tmp_path: Path) -> None:
    """A calendar, session ids and repeated pages are named, with what keeps a crawl out; the rest is counted right."""
    served = site(TRAPS)
    looked = await look(f"{served.base}/", tmp_path / "s")
    assert len(served.log) <= 300

    kinds = {one["kind"]: one for one in looked.survey["suspects"]}
    assert set(kinds) == {"calendar", "session", "repeats"}
    local = looked.choice("local")
    assert holds(local["urls"], TRAPS_PAGES)
    assert local["urls"]["high"] is not None
    assert "suspected traps" in local["note"]
    assert "Suspected traps: 3" in looked.text

    denied = {f"deny.{number}": one["deny"] for number, one in enumerate(looked.survey["suspects"], 1)}
    done = await crawl(f"{served.base}/", tmp_path / "c", **denied)
    assert done.summary["pages"] == TRAPS_PAGES
    assert holds(local["bytes"], done.summary["bytes"])


@pytest_twisted.ensureDeferred
async def test_a_site_that_robots_txt_closes(site: Factory, tmp_path: Path) -> None:
    """Nothing but robots.txt and sitemaps is asked for; the survey says so, and ends as a crawl without a page."""
    served = site([page("/", link("/a")), text("/robots.txt", "User-agent: *\nDisallow: /")])
    looked = await look(f"{served.base}/", tmp_path / "s")
    assert {entry.target for entry in served.log} == {"/robots.txt", "/sitemap.xml"}
    assert looked.status == 10
    assert looked.survey["robots"][0]["refused_by"] == {"robots.txt: Disallow: /": 1}
    assert "refuses 1 of the known URLs" in looked.text


@pytest_twisted.ensureDeferred
async def test_a_site_that_is_down(site: Factory, tmp_path: Path) -> None:
    """Status 10 and no result; the next survey of it begins again in the same folder."""
    served = site([])
    served.close()
    settings: dict[str, object] = {"SPIDERPROJ_ROBOTS_WAIT": 0, "RETRY_TIMES": 0}
    looked = await look(f"{served.base}/", tmp_path / "s", settings)
    assert (looked.status, looked.survey) == (10, {})
    assert (await look(f"{served.base}/", tmp_path / "s", settings)).status == 10
    assert os.listdir(tmp_path) == ["s"]  # noqa: PTH208 - no pathlib in a coroutine


def _results(folder: Path) -> list[Path]:
    return list(folder.glob("s*/survey.json"))


@pytest_twisted.ensureDeferred
async def test_a_second_survey_sets_the_first_aside(site: Factory, tmp_path: Path) -> None:
    """Looking again begins anew, and keeps what was found before."""
    served = site(PLAIN)
    for _ in range(2):
        await look(f"{served.base}/docs/", tmp_path / "s", fetches="20")
    assert len(_results(tmp_path)) == 2


@pytest_twisted.ensureDeferred
async def test_a_crawl_is_not_gone_on_with(site: Factory, tmp_path: Path) -> None:
    """The folder of a crawl is refused, and the crawl is left as it was."""
    served = site(PLAIN)
    done = await crawl(f"{served.base}/docs/", tmp_path / "c")
    requests = len(served.log)
    with pytest.raises(ArgumentError, match="holds a crawl"):
        await look(f"{served.base}/docs/", tmp_path / "c")
    assert len(served.log) == requests
    assert json.loads((tmp_path / "c/summary.json").read_bytes()) == done.summary


@pytest_twisted.ensureDeferred
async def test_an_interrupted_survey_goes_on(site: Factory, tmp_path: Path) -> None:
    """Stopped by a limit and started again, a survey makes no more requests in all, and ends with its result."""
    served = site(PLAIN)
    first = await look(f"{served.base}/docs/", tmp_path / "s", {"CLOSESPIDER_PAGECOUNT": 5}, fetches="60")
    assert first.survey == {}
    again = await look(f"{served.base}/docs/", tmp_path / "s", fetches="60")
    assert len(served.log) <= 60
    assert again.survey["rate"]["requests"]["GET"] > 30


@pytest_twisted.ensureDeferred
async def test_a_site_of_liars(site: Factory, tmp_path: Path) -> None:
    """HEADs that fail or say something else, ETags that change each time and useless lastmods are found out."""
    routes: list[RouteSpec] = [
        {"path_re": "/[ab]?", "method": "HEAD", "status": 405, "headers": {}},
        {"path_re": "/[c]", "method": "HEAD", "headers": {"Content-Type": "image/png"}},
        *({**page(path, link("/a", "/b", "/c")), "headers": {"Content-Type": "text/html", "ETag": '"{{HIT}}"'}}
          for path in ("/", "/a", "/b", "/c")),
    ]  # fmt: skip
    survey = (await look(f"{site(routes).base}/", tmp_path / "s")).survey
    assert (survey["head"]["failed"], survey["head"]["same"]) == (3, 0)
    assert any("image/png" in text for text in survey["head"]["differences"])
    assert survey["validators"]["etags_changed"] == survey["validators"]["asked"] == 4


def test_a_wrong_argument_is_one_line(tmp_path: Path) -> None:
    """An unknown argument ends the command with status 2 and one line, and nothing is made."""
    command = [sys.executable, "-m", "scrapy", "crawl", "survey", "-a", "seed=http://127.0.0.1:1/", "-a", "dept=3"]
    root = Path(__file__).parent.parent
    ran = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 2
    assert ran.stderr.splitlines() == [
        "spiderproj: dept='3': expected an argument of survey; the nearest is seed"
    ] or ran.stderr.startswith("spiderproj: dept='3': expected an argument of survey; the nearest is ")
    assert len(ran.stderr.splitlines()) == 1
