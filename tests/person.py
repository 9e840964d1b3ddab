"""Someone at a browser for tests of the page: goes from screen to screen, and notes what is wrong with each."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tests.browsing import CHROMIUM

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, ViewportSize

SHOTS = os.environ.get("SPIDERPROJ_UI_SHOTS", "")
"""The folder that pictures of all screens go to, "" for none."""
PATIENCE = 60_000  # ms
_FAULTS = "async () => (await axe.run(document, {resultTypes: ['violations'], preload: false})).violations"


@contextmanager
def browser() -> Iterator[Browser]:
    """Start a browser; to be used in a thread of its own, for its driver has a loop."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        started = driver.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--proxy-server=direct://", "--disable-gpu"]
        )
        yield started
        started.close()


class Person:
    """Someone at a browser; *width* and *scheme* are those of the window."""

    def __init__(self, browser: Browser, address: str, width: int, scheme: Literal["light", "dark"] = "light") -> None:
        size: ViewportSize = {"width": width, "height": 900}
        context = browser.new_context(viewport=size, color_scheme=scheme, reduced_motion="reduce")
        context.set_default_timeout(PATIENCE)
        self.page: Page = context.new_page()
        self.width, self.scheme = width, scheme
        self.faults: list[str] = []
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.goto(address)
        self.page.wait_for_selector("h1")
        self.base = address.partition("#")[0]

    def go(self, place: str) -> None:
        """Go to a screen, and wait until it shows what it is about."""
        self.page.evaluate("document.querySelector('h1').dataset.old = ''")
        self.page.goto(f"{self.base}#/{place}")
        self.page.wait_for_selector("h1:not([data-old])")
        self.page.wait_for_function("() => !document.querySelector('p.busy, [aria-busy]')")

    def shoot(self, name: str) -> None:
        """Take a picture of the screen, if that is wanted."""
        self.page.wait_for_timeout(200)
        self.page.wait_for_function("() => !document.querySelector('[aria-busy]')")  # which is paler
        self.page.evaluate("window.scrollTo(0, 0)")
        if SHOTS:
            target = Path(SHOTS) / f"{name}-{self.width}-{self.scheme}.png"
            has_dialog = self.page.locator("dialog").count() > 0  # which lies over the window, not over the page
            self.page.screenshot(path=target, full_page=not has_dialog)

    def look(self, name: str) -> None:
        """Note what is wrong with the screen: faults that axe calls serious, and what is wider than the window."""
        self.shoot(name)
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(_axe())
        found: list[Any] = self.page.evaluate(_FAULTS)
        self.faults += [
            f"{name} {self.width}: {one['id']} {one['nodes'][0]['html'][:200]}"
            for one in found
            if one["impact"] in ("serious", "critical")
        ]
        wider = self.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        if wider > 0:
            self.faults.append(f"{name}: {wider} px wider than {self.width}")


def _axe() -> str:
    return resources.files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
