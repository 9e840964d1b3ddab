"""The page in a real browser, on a real manual served by nginx: survey, choose, run, watch, open, why, fetch it."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bench.nginx import Nginx
from tests.browsing import needs_browser
from tests.page import Page as Served
from tests.person import Person, browser

MANUAL = Path("/usr/share/doc/debian-handbook/html/en-US")
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
PAGES = 60  # at most of the manual's hundred; enough that there is something to watch

needs_manual = pytest.mark.skipif(
    not (NGINX and MANUAL.is_dir()), reason="there are not both: apt-get install nginx-light debian-handbook"
)


def visit(root: Path, base: str) -> list[str]:
    """Do what a person does who wants the manual; return what is wrong with the screens."""
    with Served(root) as served, browser() as started:
        person = Person(started, served.address, 1280)
        name = survey(person, base)
        choose_and_watch(person)
        open_one(person, name)
        ask_and_fetch(person, name)
        person.go("")
        person.shoot("manual-home")
        narrow = Person(started, served.address, 390, "dark")
        narrow.go(f"{name}/look")
        narrow.look("manual-look")
    return person.faults + narrow.faults


def survey(person: Person, base: str) -> str:
    """Look first: what each choice would take, and the links that are known."""
    page = person.page
    page.get_by_label("Where to begin").fill(f"{base}/index.html")
    page.get_by_role("button", name="Look first").click()
    page.get_by_role("heading", name="What each choice would take").wait_for()
    assert page.get_by_text("The Debian Administrator's Handbook").first.is_visible()
    page.get_by_label("Type").select_option("image")
    page.wait_for_function("() => document.querySelector('.urls tbody')?.textContent.includes('.png')")
    page.get_by_label("Type").select_option("")
    person.shoot("manual-look")
    return page.url.partition("#/")[2].partition("/")[0]


def choose_and_watch(person: Person) -> None:
    """Choose pages and what they are shown with, but no images, see what that takes, and watch it until it ends."""
    page = person.page
    page.get_by_role("link", name="Choose", exact=True).click()
    page.wait_for_selector(".outcome .big strong")
    page.get_by_role("button", name="style at level child").click()
    page.get_by_text("More", exact=True).click()
    page.get_by_label("End after so many pages").fill(str(PAGES))
    page.get_by_label("Seconds between requests").fill("0.05")
    page.wait_for_function(
        "pages => document.querySelector('.command code').textContent.includes(`CLOSESPIDER_PAGECOUNT=${pages}`)",
        arg=PAGES,
    )
    person.shoot("manual-choose")
    page.get_by_role("button", name="Crawl", exact=True).click()
    page.get_by_role("heading", name="Running").wait_for()
    page.get_by_text("delay 0.05 s").wait_for()  # what limits it, in the crawl's own words
    page.wait_for_function("() => Number(document.querySelector('.figures dd').textContent) >= 15")
    person.shoot("manual-run")
    page.get_by_role("heading", name="Paused").wait_for()


def open_one(person: Person, name: str) -> None:
    """Open a chapter of the copy."""
    page = person.page
    person.go(f"{name}/result")
    page.get_by_label("Find").fill("foreword")
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Foreword").first.click()
    opened.value.wait_for_load_state()
    assert "Foreword" in opened.value.title()
    opened.value.close()
    page.get_by_label("Find").fill("")
    page.wait_for_function("() => document.querySelectorAll('.urls tbody tr').length > 10")
    person.shoot("manual-result")


def ask_and_fetch(person: Person, name: str) -> None:
    """Ask why an image was refused, and fetch it after all."""
    page = person.page
    person.go(f"{name}/result/refused")
    page.get_by_label("Type").select_option("image")
    image = page.locator(".urls tbody .link", has_text=".png").first
    image.wait_for()
    shown = image.inner_text()
    person.shoot("manual-refused")
    image.click()
    page.get_by_role("heading", name="The rules, in the order of asking").wait_for()
    assert "Refused" in page.locator(".verdict").inner_text()
    person.shoot("manual-why")
    page.get_by_role("button", name="Fetch it after all").click()
    page.get_by_role("heading", name="Finished").wait_for()  # the rest of the manual has come with it
    person.go(f"{name}/look")
    page.get_by_label("Find").fill(shown.rpartition("/")[2])
    page.locator(".urls tbody tr", has_text=shown).filter(has_text="fetched").wait_for()


@needs_browser
@needs_manual
@pytest.mark.slow
def test_a_manual_from_survey_to_a_refused_image(tmp_path: Path) -> None:
    """A person surveys a real manual, crawls a part of it, reads it, and gets an image that the rules left out."""
    crawls = tmp_path / "crawls"
    crawls.mkdir()
    with Nginx(MANUAL, tmp_path / "nginx") as server, ThreadPoolExecutor(1) as beside:
        assert beside.submit(visit, crawls, server.base).result() == []
