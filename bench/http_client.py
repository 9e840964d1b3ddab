"""Measure the CPU a request costs in our download handler, beside Scrapy's two, against a server on this machine.

    python bench/http_client.py http://127.0.0.1:8801/page.html [--requests 2000] [--concurrency 8] [--rounds 7]

One process, one uvloop under Twisted's asyncio reactor; the handlers take turns, so that noise hits all of them.
Prints the median and the range of microseconds of CPU a request, and how many connections ours opened.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import statistics
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

from scrapy import Request
from scrapy.settings import Settings
from scrapy.signalmanager import SignalManager
from scrapy.statscollectors import MemoryStatsCollector
from scrapy.utils.defer import deferred_from_coro
from scrapy.utils.misc import build_from_crawler, load_object
from scrapy.utils.reactor import install_reactor

if TYPE_CHECKING:
    from scrapy.core.downloader.handlers import DownloadHandlerProtocol
    from scrapy.crawler import Crawler

HANDLERS = {
    "ours": "spiderproj.downloader.handler.HttpHandler",
    "aiohttp": "scrapy.core.downloader.handlers._aiohttp.AiohttpDownloadHandler",
    "twisted": "scrapy.core.downloader.handlers.http11.HTTP11DownloadHandler",
}
HEADERS = {
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "Accept-Language": "en",
    "User-Agent": "spiderproj",
    "Accept-Encoding": "identity",
}


def fake_crawler() -> Crawler:
    """Return what a handler needs of a crawler."""
    crawler = cast("Crawler", SimpleNamespace(spider=None))
    crawler.settings = Settings(
        {"SPIDERPROJ_ALLOWED_NETWORKS": "127.0.0.0/8", "CONCURRENT_REQUESTS_PER_DOMAIN": 32, "LOG_LEVEL": "ERROR"}
    )
    crawler.signals = SignalManager(crawler)
    crawler.stats = MemoryStatsCollector(crawler)
    return crawler


async def run(handler: DownloadHandlerProtocol, options: argparse.Namespace) -> float:
    """Return the microseconds of CPU a request of one round."""
    requests = [Request(options.url, headers=HEADERS) for _ in range(options.requests)]

    async def work() -> None:
        while requests:
            response = await handler.download_request(requests.pop())
            if response.status != 200 or not response.body:
                raise SystemExit(f"{response} has no body")

    gc.collect()
    start = time.process_time()
    await asyncio.gather(*(work() for _ in range(options.concurrency)))
    return (time.process_time() - start) / float(options.requests) * 1e6


async def measure(options: argparse.Namespace) -> None:
    """Run the rounds and print the table."""
    crawler = fake_crawler()
    handlers = {name: build_from_crawler(load_object(HANDLERS[name]), crawler) for name in options.handlers}
    times: dict[str, list[float]] = {name: [] for name in handlers}
    for number in range(options.rounds + 1):
        for name, handler in handlers.items():
            spent = await run(handler, options)
            if number:  # the first round warms up
                times[name].append(spent)
    for handler in handlers.values():
        await handler.close()
    for name, values in times.items():
        print(f"{name:8} {statistics.median(values):7.1f} us   [{min(values):.1f}-{max(values):.1f}]")
    print({name: count for name, count in crawler.stats.get_stats().items() if "connections" in name})


def main() -> None:
    """Read the options and run under the reactor."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--concurrency", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--handlers", nargs="+", choices=list(HANDLERS), default=list(HANDLERS))
    options = parser.parse_args()
    install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor", "uvloop.Loop")
    from twisted.internet.task import react  # noqa: PLC0415  # imports the reactor: only after it is installed

    react(lambda _: deferred_from_coro(measure(options)))


if __name__ == "__main__":
    main()
