"""Seventy spellings of addresses inside, and eight ways for a site to name them: nothing is ever dialled.

The seed is a private address too, and allowed; the listener inside has the same address and another port, so only the
gate stands between. Every connect() of the process is watched, whichever library makes it.
"""

from __future__ import annotations

import asyncio
import socket
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
import pytest_twisted
from scrapy import Request, signals
from scrapy.http.request import NO_CALLBACK

from spiderproj import urls
from spiderproj.downloader import resolver
from spiderproj.middlewares import robots
from tests.crawling import Crawled, crawl
from tests.raw_server import client, fails
from tests.routes import link, page, redirect, text

if TYPE_CHECKING:
    from pathlib import Path

    from scrapy.crawler import Crawler

    from tests.answers import RouteSpec
    from tests.site import Site

    Factory = Callable[[Iterable[RouteSpec]], Site]

# {p} is the port of the listener inside. All name an address that is not public, or nothing at all.
SPELLINGS = [
    # 127.0.0.1 in decimal, octal, hexadecimal, short, with a final dot
    "http://127.0.0.1:{p}", "http://127.1:{p}", "http://127.0.1:{p}", "http://2130706433:{p}", "http://0x7f000001:{p}",
    "http://0x7f.0.0.1:{p}", "http://0X7F.0x0.0x0.0x1:{p}", "http://0177.0.0.1:{p}", "http://0177.0.0.01:{p}",
    "http://017700000001:{p}", "http://127.0x1:{p}", "http://127.0.0.1.:{p}", "http://0x7f.1:{p}",
    # its neighbours
    "http://127.0.0.2:{p}", "http://127.255.255.254:{p}", "http://0:{p}", "http://0.0.0.0:{p}", "http://0x0:{p}",
    "http://0.0.0.1:{p}",
    # with digits and dots of other scripts, and with escapes
    "http://①②⑦.⓪.⓪.①:{p}", "http://１２７.０.０.１:{p}", "http://127。0。0。1:{p}", "http://127．0．0．1:{p}",
    "http://127｡0｡0｡1:{p}", "http://127%2e0%2e0%2e1:{p}", "http://%31%32%37.0.0.1:{p}", "http://127.0.0.1%00:{p}",
    # names
    "http://localhost:{p}", "http://LocalHost:{p}", "http://localhost.:{p}", "http://ｌｏｃａｌｈｏｓｔ:{p}",
    "http://loc%61lhost:{p}", "http://a.localhost:{p}", "http://inside.test:{p}", "http://mixed.test:{p}",
    "http://mapped.test:{p}", "http://metadata.google.internal",
    # version 6
    "http://[::1]:{p}", "http://[0:0:0:0:0:0:0:1]:{p}", "http://[::ffff:127.0.0.1]:{p}", "http://[::FFFF:7f00:1]:{p}",
    "http://[0:0:0:0:0:ffff:7f00:0001]:{p}", "http://[::127.0.0.1]:{p}", "http://[64:ff9b::7f00:1]:{p}",
    "http://[64:ff9b::127.0.0.1]:{p}", "http://[2002:7f00:1::]:{p}", "http://[::]:{p}", "http://[fc00::1]:{p}",
    "http://[fe80::1]:{p}", "http://[fe80::1%25lo]:{p}", "http://[fd00:ec2::254]",
    # other networks that are not public
    "http://10.0.0.1:{p}", "http://10.1:{p}", "http://172.16.0.1:{p}", "http://192.168.0.1:{p}",
    "http://169.254.169.254", "http://0xa9fea9fe", "http://2852039166", "http://100.100.100.200", "http://168.63.129.16",
    "http://224.0.0.1:{p}",
    # where two parsers may see two hosts
    "http://user:pw@127.0.0.1:{p}", "http://public.test@127.0.0.1:{p}", "http://127.0.0.1:{p}\\@public.test",
    "http://127.0.0.1:{p}?@public.test", "http://127.0.0.1:{p}#@public.test", "http:\\\\127.0.0.1:{p}",
    "http:///127.0.0.1:{p}", "\thT\ntP://127.0.0.1:{p}", "https://127.0.0.1:{p}",
]  # fmt: skip

# What would be dialled is tried again for a long time: a gate that lets it through must fail the test soon.
SETTINGS: dict[str, object] = {"DOWNLOAD_DELAY": 0, "SPIDERPROJ_ROBOTS_WAIT": 0, "CLOSESPIDER_TIMEOUT": 15}

NAMES = {
    "localhost": ["127.0.0.1", "::1"],
    "a.localhost": ["127.0.0.1"],
    "inside.test": ["127.0.0.1"],
    "mixed.test": ["93.184.215.14", "127.0.0.1"],
    "mapped.test": ["::ffff:127.0.0.1"],
    "metadata.google.internal": ["169.254.169.254"],
}


class Watched:
    """What left the process, and what came in at the listener inside; ``answers`` are those of the name server."""

    def __init__(self) -> None:
        self.dialled: set[tuple[str, int]] = set()
        self.answers: dict[str, list[list[str]]] = {name: [found] for name, found in NAMES.items()}
        self._listeners = [socket.create_server(("127.0.0.1", 0))]
        self.port = int(self._listeners[0].getsockname()[1])
        with suppress(OSError):  # a machine without version 6
            self._listeners.append(socket.create_server(("::1", self.port), family=socket.AF_INET6))

    def resolve(self, host: str, *_: object, **__: object) -> list[Any]:
        """Answer as the system's resolver: with the name's next answer, the last one for ever."""
        if host not in self.answers and host.startswith("site-"):
            self.answers[host] = [["127.0.0.1"]]
        answers = self.answers.get(host.removesuffix("."))
        if answers is None:
            raise socket.gaierror(socket.EAI_NONAME, f"no such name: {host}")
        found = answers.pop(0) if len(answers) > 1 else answers[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0)) for address in found]

    def accepted(self) -> int:
        """Return how many connections the listener inside has got, and close it."""
        count = 0
        while self._listeners:
            with self._listeners.pop() as listener, suppress(BlockingIOError):
                listener.settimeout(0)
                while True:
                    listener.accept()[0].close()
                    count += 1
        return count


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    """Watch every connect(); what would leave this machine is turned away, as by a closed port."""
    watch = Watched()
    connect = socket.socket.connect

    def dial(self: socket.socket, address: Any) -> None:
        watch.dialled.add((str(address[0]), int(address[1])))
        if not str(address[0]).startswith("127."):
            raise ConnectionRefusedError
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", dial)
    monkeypatch.setattr(socket, "getaddrinfo", watch.resolve)
    yield watch
    watch.accepted()


def spelled(watch: Watched, way: str) -> list[str]:
    """Return a URL for each spelling, none like another."""
    return [_before(spelling.format(p=watch.port), f"/{way}{n}") for n, spelling in enumerate(SPELLINGS)]


def _before(authority: str, path: str) -> str:
    """Return *authority* with *path* after it, before anything that ends an authority."""
    cut = min((at for mark in ("\\@", "?@", "#@") if (at := authority.find(mark)) >= 0), default=len(authority))
    return authority[:cut] + path + authority[cut:]


def check(watch: Watched, served: Site, done: Crawled, names: Iterable[str] = ()) -> None:
    """Hold that nothing but the site was dialled, and that each of *names* was considered and refused."""
    assert watch.dialled == {("127.0.0.1", served.port)}
    assert watch.accepted() == 0
    reasons = done.reasons()
    for name in names:
        try:
            url = urls.canonical(name)
        except urls.RefusedURLError:
            continue  # it names nothing
        assert reasons[url] == "private-address", name


def test_there_are_seventy_spellings() -> None:
    """The spellings are as many as the table of tests says, and nearly all are URLs."""
    assert len(set(SPELLINGS)) == len(SPELLINGS) == 70
    valid = []
    for spelling in SPELLINGS:
        with suppress(urls.RefusedURLError):
            valid.append(urls.canonical(spelling.format(p=8000)))
    assert len(valid) >= 68


def routes_of(way: str, targets: list[str], base: str) -> list[RouteSpec]:
    """Return a site that names *targets* in one *way*."""
    steps = [f"/{way}-{n}" for n in range(len(targets))]
    if way == "link":
        return [page("/", link(*targets))]
    if way == "sitemap":
        listed = "".join(f"<url><loc>{name}</loc></url>" for name in targets)
        children = "".join(f"<sitemap><loc>{name}</loc></sitemap>" for name in targets)
        lines = "".join(f"Sitemap: {name}\n" for name in [f"{base}/index.xml", f"{base}/set.xml", *targets])
        return [
            page("/"),
            text("/robots.txt", lines),
            text("/set.xml", f"<urlset>{listed}</urlset>", "text/xml"),
            text("/index.xml", f"<sitemapindex>{children}</sitemapindex>", "text/xml"),
        ]
    return [page("/", link(*steps)), *(_step(way, step, target) for step, target in zip(steps, targets, strict=True))]


def in_header(target: str) -> str:
    """Return *target* as the site's routes put it into a header: in UTF-8, on one line."""
    return target.replace("\n", "").encode().decode("latin-1")


def _step(way: str, step: str, target: str) -> RouteSpec:
    """Return the route of one page that leads to *target*."""
    if way == "redirect":
        return redirect(step, in_header(target))
    if way == "refresh":
        html = page(step, "x")
        return {**html, "headers": {**html["headers"], "Refresh": f"0; url={in_header(target)}"}}
    if way == "meta":
        return page(step, f'<meta http-equiv="refresh" content="0; url={target}">')
    return page(step, f'<base href="{target}"><a href="">x</a>')


@pytest.mark.parametrize("way", ["link", "redirect", "meta", "refresh", "base", "sitemap"])
@pytest_twisted.ensureDeferred
async def test_what_a_site_names(way: str, site: Factory, watched: Watched, tmp_path: Path) -> None:
    """Links, redirects, refreshes of both kinds, bases and sitemaps lead to no address inside."""
    served = site([])
    targets = [name.strip() for name in spelled(watched, way)]
    served.set_routes(routes_of(way, targets, served.base))
    reads = "on" if way == "sitemap" else "off"
    done = await crawl(f"{served.base}/", tmp_path / "out", SETTINGS, mode="all", sitemap=reads)

    check(watched, served, done, targets)


class Foreign:
    """A component that asks the engine for URLs that no page named: past the scheduler, and through it."""

    targets: list[str] = []  # noqa: RUF012 - set by the test, as Scrapy makes the instance
    answers: list[object] = []  # noqa: RUF012 - as above

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        crawler.signals.connect(self.ask, signals.spider_opened)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Foreign:
        """Return the component; there is nothing to set."""
        return cls(crawler)

    async def ask(self) -> None:
        """Ask for every target in both ways."""
        engine = self._crawler.engine
        assert engine is not None
        requests = []
        for target in self.targets:
            with suppress(ValueError):  # Scrapy itself refuses it
                engine.crawl(Request(target, dont_filter=True))
                requests.append(Request(target, NO_CALLBACK, meta={"verbatim_url": True}))
        asked = await asyncio.gather(*map(engine.download_async, requests), return_exceptions=True)
        self.answers.extend(asked)


@pytest_twisted.ensureDeferred
async def test_what_a_foreign_component_asks(
    site: Factory, watched: Watched, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Requests that no page led to are judged as all others, those that carry NO_CALLBACK at the dial."""
    served = site([page("/")])
    targets = spelled(watched, "foreign")
    monkeypatch.setattr(Foreign, "targets", targets)
    monkeypatch.setattr(Foreign, "answers", [])
    done = await crawl(f"{served.base}/", tmp_path / "out", {**SETTINGS, "EXTENSIONS": {Foreign: 0}}, mode="all")

    check(watched, served, done)
    assert len(Foreign.answers) >= 68
    assert all(isinstance(answer, Exception) for answer in Foreign.answers)


REBOUND = [
    ([["93.184.215.14"], ["127.0.0.1"]], 1),  # public when it is first asked for
    ([["93.184.215.14"], ["::ffff:127.0.0.1"]], 1),
    ([["93.184.215.14"], ["93.184.215.14", "169.254.169.254"]], 1),
    ([["93.184.215.14", "127.0.0.1"]], 0),  # both at once, in any order
    ([["127.0.0.1", "93.184.215.14"]], 0),
    ([["::1", "93.184.215.14"]], 0),
    ([["93.184.215.14"] * 9 + ["10.0.0.1"]], 0),  # behind more than are ever tried
    ([["fe80::1%lo"]], 0),
]


@pytest.mark.parametrize(("answers", "public"), REBOUND)
def test_rebound_names(
    answers: list[list[str]], public: int, watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name is judged at each dial, by all of its addresses; the dial itself asks no name server again."""
    monkeypatch.setattr(resolver, "TTL_SECONDS", -1.0)
    watched.answers["rebound.test"] = [list(answer) for answer in answers]
    url = f"http://rebound.test:{watched.port}/"

    async def ask() -> None:
        async with client(SPIDERPROJ_ALLOWED_NETWORKS="") as asked:
            for kind in ("refused",) * public + ("private-address",) * 3:
                assert await fails(asked, url) == kind

    with ThreadPoolExecutor(1) as executor:  # a loop of its own: the reactor's runs already
        executor.submit(asyncio.run, ask()).result()
    assert watched.dialled == ({("93.184.215.14", watched.port)} if public else set())
    assert watched.accepted() == 0


@pytest.mark.nightly
@pytest_twisted.ensureDeferred
async def test_where_robots_txt_redirects(
    site: Factory, watched: Watched, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The robots.txt of seventy sites redirects inside; it counts as out of reach, and nothing is fetched."""
    monkeypatch.setattr(robots, "_PUT_OFF", 0.1)
    served = site([])
    targets = [name.strip() for name in spelled(watched, "robots")]
    names = [f"site-{n}.test" for n in range(len(targets))]
    served.set_routes(
        redirect("/robots.txt", in_header(target), host=name) for name, target in zip(names, targets, strict=True)
    )
    seeds = " ".join(f"http://{name}:{served.port}/" for name in names)
    done = await crawl(seeds, tmp_path / "out", SETTINGS, mode="all")

    check(watched, served, done)
    asked = Counter(request.target for request in served.log)
    assert asked.pop("/robots.txt") == len(targets)
    # What is no URL redirects nowhere: then there is no robots.txt. Other scripts are none in a field read as Latin-1.
    assert asked["/"] == asked.total() <= 8
