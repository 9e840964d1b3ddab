"""The page in a real browser: choose, run, watch, open a page, ask why, fetch it after all; no serious fault of axe."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from html import escape
from typing import TYPE_CHECKING

import pytest

from tests.browsing import needs_browser
from tests.page import Page as Served
from tests.person import Person, browser
from tests.routes import link, text
from tests.site import Site

if TYPE_CHECKING:
    from pathlib import Path

    from tests.answers import RouteSpec

HOSTILE = "<img id=mark src=x onerror=\"document.title = 'it ran'\">"
NAMES = [
    "Install",
    "Configure",
    "Upgrade",
    "Backups",
    "Restore",
    "Replication",
    "Security",
    "Roles",
    "Logging",
    "Indexes",
]
SCREENS = ("", "look", "choose", "run", "result", "result/refused", "result/broken", "result/duplicates")
_ASKED_AGAIN = """() => document.querySelector('.urls tbody')?.textContent.includes('fetched')
    || document.querySelector('[type=search]').dispatchEvent(new Event('input')) && false"""


def document(path: str, title: str, body: str) -> RouteSpec:
    """Return the route of a page of a manual."""
    markup = f"<!doctype html><html lang=en><title>{title}</title><h1>{title}</h1><p>About {title.lower()}.</p>{body}"
    return {"path": path, "headers": {"Content-Type": "text/html; charset=utf-8"}, "body": markup, "delay_s": 0.1}


CHAPTERS = [f"/docs/{name.lower()}.html" for name in NAMES]
CLASSES = [f"/docs/api/class{number}.html" for number in range(24)]
SCRIPT = (
    "<script>document.title = 'it ran'</script><img src=/docs/logo.png alt=Logo onload=\"document.title='it ran'\">"
)
ROUTES = [
    document("/docs/", "Manual", link(*CHAPTERS, "/docs/api/", "/docs/manual.pdf", "/gone", "/closed/a") + SCRIPT),
    *(document(path, path[6:-5].title(), link("/docs/", f"{path}.pdf", "/gone") + SCRIPT) for path in CHAPTERS),
    document("/docs/api/", "API reference", link(*CLASSES, "/docs/hostile.html")),
    document("/docs/hostile.html", escape(HOSTILE), ""),
    *(document(path, f"Class {number}", link("/docs/api/")) for number, path in enumerate(CLASSES)),
    text("/docs/manual.pdf", "%PDF-1.4", "application/pdf"),
    text("/robots.txt", "User-agent: *\nDisallow: /closed/\n"),
]  # fmt: skip


def visit(root: Path, site: Site) -> list[str]:
    """Do what a person does, at both widths; return what is wrong."""
    with Served(root) as served, browser() as started:
        person = Person(started, served.address, 1280)
        name = choose_and_run(person, site)
        open_and_ask(person, name)
        faults = person.faults
        dark, narrow = Person(started, served.address, 1280, "dark"), Person(started, served.address, 390)
        for other, screens in ((dark, SCREENS[2::3]), (narrow, SCREENS)):
            for screen in screens:
                other.go(f"{name}/{screen}" if screen else "")
                other.look(screen.replace("/", "-") or "home")
            faults += other.faults
        keyboard(Person(started, served.address, 1280), name)
    return faults


def choose_and_run(person: Person, site: Site) -> str:
    """Give a seed, choose types with the matrix and the builder, see the command line, crawl, watch it to its end."""
    page = person.page
    person.look("home")
    page.get_by_label("Where to begin").fill(f"{site.base}/docs/")
    page.get_by_role("button", name="Choose and crawl").click()
    cell = page.get_by_role("button", name="image at level page")
    cell.click()
    assert cell.get_attribute("aria-pressed") == "true"
    assert page.get_by_label("As text").first.input_value() == "page:html,image child,parent,host:html"
    page.get_by_role("button", name="Add a condition").click()
    page.get_by_label("Condition 1: name").select_option("depth")
    page.get_by_label("Condition 1: test").select_option("at most")
    page.get_by_label("Condition 1: value").fill("9")
    page.wait_for_function("() => document.querySelector('#filter').value === 'depth <= 9'")
    page.locator("#filter").fill('depth <= 8 and "x" not in query')
    page.wait_for_function("() => document.querySelectorAll('.part').length === 2")
    page.wait_for_function("() => document.querySelector('.command code').textContent.includes('depth <= 8')")
    page.get_by_label("Depth, in links").fill("many")
    page.wait_for_selector("#depth[aria-invalid]")
    page.get_by_label("Depth, in links").fill("")
    page.get_by_text("More", exact=True).click()
    page.get_by_label("Seconds between requests").fill("0.05")
    page.wait_for_function("() => document.querySelector('.command code').textContent.includes('DELAY=0.05')")
    person.look("choose-new")
    page.get_by_role("button", name="Crawl", exact=True).click()
    page.get_by_role("heading", name="Running").wait_for()
    page.wait_for_selector(".chart svg")
    person.look("run-running")
    page.get_by_role("heading", name="Finished").wait_for()
    return page.url.partition("#/")[2].partition("/")[0]


def open_and_ask(person: Person, name: str) -> None:
    """Open a stored page, whose script does not run; ask why a file was refused; fetch it after all."""
    page = person.page
    person.go(f"{name}/result")
    assert page.get_by_role("link", name=HOSTILE).is_visible()  # as text
    assert page.locator("#mark").count() == 0
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Install", exact=True).click()
    stored = opened.value
    stored.wait_for_load_state()
    assert stored.get_by_role("heading", name="Install").is_visible()
    assert stored.title() == "Install"
    stored.close()
    person.go(f"{name}/result/refused")
    page.get_by_label("Find").fill("manual.pdf")
    page.get_by_role("button", name="docs/manual.pdf").click()
    page.get_by_role("heading", name="The rules, in the order of asking").wait_for()
    assert page.locator("tr.decided").count() == 1
    person.look("why")
    page.get_by_role("button", name="Fetch it after all").click()
    page.get_by_role("heading", name="Finished").wait_for()
    person.go(f"{name}/look")
    page.get_by_label("Find").fill("manual.pdf")
    page.wait_for_function(_ASKED_AGAIN, polling=500)


def keyboard(person: Person, name: str) -> None:
    """Reach the content and a cell of the matrix by keys alone."""
    page = person.page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    person.go(f"{name}/choose")
    assert page.evaluate("document.activeElement.id") == "main"  # a reader is told of the new screen
    page.get_by_role("button", name="style at level page").focus()
    page.keyboard.press("Space")
    page.wait_for_function("() => document.activeElement.getAttribute('aria-pressed') === 'true'")


@needs_browser
@pytest.mark.slow
def test_from_a_seed_to_a_file_that_was_refused(tmp_path: Path) -> None:
    """A person gets from a seed to a file that the rules had left out, on screens without a serious fault."""
    with Site(ROUTES) as site, ThreadPoolExecutor(1) as beside:  # the browser's driver has a loop of its own
        assert beside.submit(visit, tmp_path, site).result() == []
