"""Pages that would harm: they are bounded in time, memory and reach, and none costs the crawl more than itself."""

from __future__ import annotations

import asyncio
import os
import re
import sqlite3
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any

import pytest
import pytest_twisted
from playwright.async_api import Error
from scrapy.utils.defer import deferred_from_coro

from spiderproj.browser import chromium, processes
from tests.browsing import CHROMIUM, Untouched, browsers, kill_browsers, needs_browser, script
from tests.crawling import Crawled, crawl
from tests.routes import link, page
from tests.site import Site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = needs_browser

# Each of these pages tries one thing; {{PORT}} is that of sockets that nobody may reach.
HARM = {
    "loop": "while (true);",
    "alerts": "while (true) alert('again');",
    "huge": "document.body.textContent = 'x'.repeat(3e6);",
    "flood": """setInterval(() => {
          for (let i = 0; i < 500; i++) document.body.append(document.createElement('p')) }, 50);
        document.body.insertAdjacentHTML('beforeend', '<a href=/after-flood>a</a>');""",
    "heap": "const all = []; while (true) all.push(new Array(1e6).fill(all.length));",
    "windows": "for (let i = 0; i < 5; i++) window.open('/elsewhere?' + i);",
    "many": """(async () => {
        const all = await Promise.allSettled(Array.from({length: 300}, (_, i) => fetch('/tiny?' + i)));
        document.title = 'got ' + all.filter(one => one.status === 'fulfilled').length })();""",
    "pictures": "for (let i = 0; i < 50; i++) new Image().src = '/picture?' + i;",
    "prototypes": """Document.prototype.createTreeWalker = () => { throw 1 };
        Object.defineProperty(Element.prototype, 'outerHTML', {get: () => '<html>forged</html>'});
        for (const name of ['documentElement', 'compatMode', 'createTreeWalker']) {
          const picture = new Image(); picture.name = name; document.body.append(picture) }
        const form = document.createElement('form'), field = document.createElement('input');
        field.name = 'shadowRoot'; form.append(field); document.body.append(form);
        document.body.insertAdjacentHTML('beforeend', '<a href=/after-prototypes>a</a>');""",
    "shadow": """const host = document.createElement('x-card'); document.body.append(host);
        const inner = document.createElement('div'); host.attachShadow({mode: 'open'}).append(inner);
        inner.attachShadow({mode: 'open'}).innerHTML = '<a href=/in-the-shadow>a</a>';""",
    "surrogates": """document.title = 'a\\ud800b';
        document.body.insertAdjacentHTML('beforeend', '<a href=/b>\\udc00</a>');""",
    "reach": """(async () => {
        const urls = ['http://169.254.169.254/latest/', 'http://127.0.0.1:{{PORT}}/', 'http://localhost:{{PORT}}/',
          'http://[::ffff:127.0.0.1]:{{PORT}}/', 'http://0x7f.1:{{PORT}}/', 'file:///etc/passwd', 'ftp://127.0.0.1/',
          'chrome://version', 'http://127.0.0.1:{{PORT}}@10.0.0.1/'];
        const got = [];
        for (const url of urls) {
          try { got.push((await (await fetch(url, {mode: 'no-cors'})).text()).length) } catch (e) { got.push('no') }
          for (const [tag, attribute] of [['img', 'src'], ['iframe', 'src'], ['script', 'src'], ['embed', 'src'],
              ['object', 'data'], ['video', 'src'], ['audio', 'src'], ['track', 'src']]) {
            const one = document.createElement(tag); one.setAttribute(attribute, url); document.body.append(one) }
          for (const rel of ['stylesheet', 'prefetch', 'preload', 'preconnect', 'dns-prefetch', 'modulepreload', 'icon',
              'manifest', 'prerender']) {
            const one = document.createElement('link'); one.rel = rel; one.as = 'font'; one.href = url;
            document.head.append(one) }
          try { navigator.sendBeacon(url, 'x') } catch (e) {}
          try { new EventSource(url) } catch (e) {}
          try { new XMLHttpRequest().open('GET', url, false) } catch (e) {}
        }
        for (const make of [() => new WebSocket('ws://127.0.0.1:{{PORT}}/'),
            () => new WebTransport('https://127.0.0.1:{{PORT}}/'), () => new SharedWorker('/worker.js'),
            () => new Worker('/worker.js'), () => navigator.serviceWorker.register('/worker.js'),
            () => { const peer = new RTCPeerConnection({iceServers: [{urls: 'stun:127.0.0.1:{{PORT}}'},
                {urls: 'turn:127.0.0.1:{{PORT}}?transport=tcp', username: 'a', credential: 'b'}]});
              peer.createDataChannel('x'); peer.createOffer().then(offer => peer.setLocalDescription(offer)) }])
          try { make() } catch (e) {}
        const style = document.createElement('style');
        style.textContent = '@import "http://127.0.0.1:{{PORT}}/a.css"; @font-face { font-family: f; ' +
          'src: url(http://127.0.0.1:{{PORT}}/f) } body { background: url(http://127.0.0.1:{{PORT}}/b) }';
        document.head.append(style);
        const form = document.createElement('form');
        form.method = 'post'; form.action = 'http://127.0.0.1:{{PORT}}/form';
        document.body.append(form); form.submit();
        document.title = 'reached ' + got.filter(one => one !== 'no').length;
      })();""",
}  # fmt: skip
WORKER = "fetch('http://127.0.0.1:{{PORT}}/'); importScripts('http://127.0.0.1:{{PORT}}/');"
NAMES = sorted(HARM)
MEMORY = {"SPIDERPROJ_RENDER_MEMORY": 500 * 2**20}


def scripted(name: str, body: str) -> Any:
    """Return the route of a page that runs *body*."""
    return page(f"/{name}", f"<script>addEventListener('load', () => {{{body}}})</script>")


@pytest.fixture(scope="module")
def untouched() -> Iterator[Untouched]:
    """Return sockets that no page may reach."""
    with Untouched() as sockets:
        yield sockets


@pytest_twisted.async_fixture(scope="module")
async def harmed(tmp_path_factory: pytest.TempPathFactory, untouched: Untouched) -> tuple[Site, Crawled]:
    """Return a crawl of all these pages and some ordinary ones, with less time and memory than usual."""
    port = str(untouched.port)
    routes = [
        page("/", link(*(f"/{name}" for name in NAMES), *(f"/plain{number}" for number in range(2)))),
        *(scripted(name, body.replace("{{PORT}}", port)) for name, body in HARM.items()),
        *(page(f"/plain{number}", f"<script>document.title = 'plain {number}'</script>") for number in range(2)),
        script("/worker.js", WORKER.replace("{{PORT}}", port)),
        {"path_re": r"/tiny\?[0-9]+", "body": "x"},
    ]
    with Site(routes) as site, ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setattr("spiderproj.browser.page.OWN_SECONDS", 6.0)
        patch.setattr("spiderproj.browser.page._READ_SECONDS", 3.0)
        patch.setattr("spiderproj.browser.page.MAX_DRAWN", 1_000_000)
        settings = {"SPIDERPROJ_RENDER_MEMORY": 2**31}
        return site, await crawl(f"{site.base}/", tmp_path_factory.mktemp("harm") / "out", settings, render="always")


Harmed = tuple[Site, Crawled]


def failures(done: Crawled) -> dict[str, str | None]:
    """Return what drawing each page came to, by its path."""
    with sqlite3.connect(done.out / "crawl.db") as connection:
        rows = connection.execute("SELECT u.url, r.failure FROM renderings AS r JOIN urls AS u ON u.id = r.url")
        return {url.rpartition("/")[2]: failure for url, failure in rows}


def test_every_page_is_there(harmed: Harmed) -> None:
    """The crawl ends well, with every page, drawn or as received."""
    _, done = harmed
    assert (done.status, done.summary["state"], done.summary["pending"]) == (0, "finished", 0)
    got = {row["url"].rpartition("/")[2] for row in done.pages}
    assert got >= {"", *NAMES, *(f"plain{number}" for number in range(2))}
    assert {row["title"] for row in done.pages} >= {f"plain {number}" for number in range(2)}


@pytest.mark.parametrize(
    ("name", "expected"),
    [("loop", {"timeout"}), ("alerts", {"timeout"}), ("huge", {"too-large"}), ("flood", {None}),
     ("heap", {"crash", "timeout"}), ("windows", {None}), ("many", {None}),
     ("prototypes", {None}), ("shadow", {None}), ("surrogates", {None}), ("reach", {None}), ("plain0", {None})],
)  # fmt: skip
def test_what_became_of_it(harmed: Harmed, name: str, expected: set[str | None]) -> None:
    """A page that goes on for ever, or takes too much, stands as received; the others are drawn."""
    assert failures(harmed[1])[name] in expected


def test_failures_are_counted(harmed: Harmed) -> None:
    """The summary counts what was drawn and what was not, by what went wrong."""
    came = failures(harmed[1])
    assert harmed[1].summary["rendered"] == sum(failure is None for failure in came.values())
    assert sum(harmed[1].summary["unrendered"].values()) == sum(failure is not None for failure in came.values())


@pytest.mark.parametrize("name", ["after-flood", "after-prototypes", "in-the-shadow", "b"])
def test_links_are_found_all_the_same(harmed: Harmed, name: str) -> None:
    """What a page has changed of its own world, or hidden in it, keeps no link from us."""
    assert any(row["target"].endswith(f"/{name}") for row in harmed[1].links)


def test_nothing_is_reached(harmed: Harmed, untouched: Untouched) -> None:
    """No socket is opened to where no page may reach, over any of the ways that browsers have."""
    site, done = harmed
    assert untouched.contacts() == []
    assert not re.match("reached [1-9]", done.page(f"{site.base}/reach")["title"])
    assert not [entry for entry in site.log if entry.method != "GET"]


def test_requests_are_bounded(harmed: Harmed) -> None:
    """Two hundred requests of a page go through; pictures and other windows make none."""
    site, _ = harmed
    assert sum(entry.target.startswith("/tiny") for entry in site.log) in {200, 400}  # it may be drawn twice
    assert not [entry for entry in site.log if re.match(r"/(picture|elsewhere)\?", entry.target)]


@pytest_twisted.ensureDeferred
async def test_memory_is_bounded(tmp_path: Path) -> None:
    """A page that takes more memory than all may have together ends the browser, not the crawl."""
    body = """const all = []; const more = () => { const part = new Uint8Array(1 << 25); part.fill(1); all.push(part) };
        setInterval(more, 20);"""
    with Site([scripted("", body), page("/calm")]) as site:
        done = await crawl(f"{site.base}/ {site.base}/calm", tmp_path / "out", MEMORY, render="always")
    assert (done.status, failures(done)) == (0, {"": "memory", "calm": None})
    assert done.crawler.stats is not None
    assert 500 < done.crawler.stats.get_value("spiderproj/render/peak_rss_mb") < 1500


@pytest_twisted.ensureDeferred
async def test_memory_of_a_process_is_bounded() -> None:
    """The kernel gives no process more than its limit, however quickly it asks."""
    await deferred_from_coro(_hoard())
    assert browsers() == []


async def _hoard() -> None:
    browser = await chromium.Chromium.start(CHROMIUM, 2**33)
    async with browser.context() as context:
        tab = await context.new_page()
        hoard = (
            "() => { const all = []; for (;;) { const part = new Uint8Array(1 << 27); part.fill(1); all.push(part) } }"
        )
        with pytest.raises(Error, match="allocation failed"):
            await asyncio.wait_for(tab.evaluate(hoard), 30)
    await browser.close()


def test_nothing_is_left_running(harmed: Harmed) -> None:
    """With the crawl its browsers end."""
    assert harmed[1].status == 0
    assert browsers() == []


@pytest_twisted.ensureDeferred
async def test_a_browser_killed_again_and_again(tmp_path: Path) -> None:
    """A browser that dies under a page is replaced, the page tried once more, and then kept as received."""
    asks = f"{link('/calm')}<script>fetch('/slow')</script>"
    routes = [page("/", asks), script("/slow", "", delay_s=2), page("/calm")]
    with Site(routes) as site:
        killing = asyncio.ensure_future(_kill(site))
        done = await crawl(f"{site.base}/", tmp_path / "out", render="always")
        killing.cancel()
    assert done.status == 0
    assert failures(done) == {"": "crash", "calm": None}


async def _kill(site: Site) -> None:
    """Kill the browser each time that it waits for the script."""
    killed = 0
    while True:
        await asyncio.sleep(0.05)
        if site.hits("GET /slow") > killed:
            killed = site.hits("GET /slow")
            kill_browsers()


@pytest_twisted.ensureDeferred
async def test_a_browser_is_replaced_after_so_many_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A browser draws so many pages and is followed by another; no page is lost between them."""
    monkeypatch.setattr(chromium, "MAX_PAGES", 2)
    monkeypatch.setattr("spiderproj.browser.page.QUIET_SECONDS", 0.1)
    with Site([page("/", link("/a", "/b", "/c")), page("/a"), page("/b"), page("/c")]) as site:
        done = await crawl(f"{site.base}/", tmp_path / "out", render="always")
    assert (done.summary["pages"], done.summary["rendered"]) == (4, 4)
    assert done.crawler.stats is not None
    assert done.crawler.stats.get_value("spiderproj/render/browsers") == 2
    assert browsers() == []


@pytest_twisted.ensureDeferred
async def test_the_second_wall(untouched: Untouched) -> None:
    """A browser whose requests nobody answers opens no socket by itself, to names or addresses, loopback or not."""
    await deferred_from_coro(_knock(untouched.port))
    assert untouched.contacts() == []


async def _knock(port: int) -> None:
    browser = await chromium.Chromium.start(CHROMIUM, 2**33)
    async with browser.context() as context:
        tab = await context.new_page()
        for host in ("127.0.0.1", "localhost", "[::ffff:7f00:1]", "0.0.0.0"):
            with pytest.raises(Error):
                await tab.goto(f"http://{host}:{port}/", timeout=10_000)
        reach = HARM["reach"].replace("{{PORT}}", str(port))
        with suppress(Error):  # it goes away
            await tab.set_content(f"<body><script>{reach}</script>")
        await asyncio.sleep(1)
    await browser.close()


def test_only_processes_of_ours_are_ended() -> None:
    """A process that is no child of this one is left alone, whatever its number."""
    processes.end(os.getppid())
    processes.end(1)
    os.kill(os.getppid(), 0)
