"""Pages of a copy, opened from the disk, beside the same pages as served: how many pixels differ."""

from __future__ import annotations

import asyncio
import json
from base64 import b64encode
from typing import TYPE_CHECKING, NamedTuple

from playwright.async_api import async_playwright

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from playwright.async_api import Browser, Route

_CHROMIUM = "/usr/bin/chromium"
_WIDTH, _HEIGHT = 1280, 4000  # what is looked at of a page
_PATIENCE_MS = 60_000
_SETTLED = """async () => {
    await document.fonts.ready;
    await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
}"""
_COUNT = """async pictures => {
    const [one, other] = await Promise.all(pictures.map(async picture => {
        const bitmap = await createImageBitmap(await (await fetch(`data:image/png;base64,${picture}`)).blob());
        const canvas = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
        canvas.drawImage(bitmap, 0, 0);
        return new Uint32Array(canvas.getImageData(0, 0, bitmap.width, bitmap.height).data.buffer);
    }));
    return one.reduce((count, pixel, index) => count + (pixel !== other[index]), 0);
}"""


class Compared(NamedTuple):
    """A page of a copy beside the original."""

    url: str
    differing: int  # pixels
    all: int


def compare(out: Path, most: int, *, height: int = _HEIGHT) -> list[Compared]:
    """Return up to *most* pages of our copy in *out*, spread evenly, compared with what their server shows now."""
    with (out / "pages.jsonl").open("rb") as lines:
        rows = [row for row in map(json.loads, lines) if row["type"] == "html" and row["status"] == 200 and row["path"]]
    step = max(1, len(rows) // most)
    return asyncio.run(_compare([(row["url"], (out / row["path"]).as_uri()) for row in rows[::step][:most]], height))


async def _compare(pairs: Sequence[tuple[str, str]], height: int) -> list[Compared]:
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(executable_path=_CHROMIUM, args=["--no-sandbox"])
        counter = await browser.new_page()
        compared = []
        for served, stored in pairs:
            pictures = [await _picture(browser, address, height) for address in (served, stored)]
            differing = await counter.evaluate(_COUNT, [b64encode(picture).decode() for picture in pictures])
            compared.append(Compared(served, differing, _WIDTH * height))
        await browser.close()
    return compared


async def _picture(browser: Browser, address: str, height: int) -> bytes:
    """Return what the page at *address* looks like, in a context that has visited nothing and asks no other server."""
    own = "file:" if address.startswith("file:") else "/".join(address.split("/", 3)[:3]) + "/"

    async def keep_to_own(route: Route) -> None:
        await (route.continue_() if route.request.url.startswith((own, "data:", "blob:")) else route.abort())

    context = await browser.new_context(viewport={"width": _WIDTH, "height": height})
    tab = await context.new_page()
    await tab.route("**/*", keep_to_own)
    await tab.goto(address, wait_until="load", timeout=_PATIENCE_MS)
    await tab.evaluate(_SETTLED)
    picture = await tab.screenshot(animations="disabled", caret="hide")
    await context.close()
    return picture
