"""Whole crawls inside the test's reactor, and what they leave: 0.1 s each, where a subprocess takes two."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from scrapy.crawler import Crawler
from scrapy.settings import Settings

from spiderproj import settings as project
from spiderproj.spiders.site import SiteSpider

Rows = list[dict[str, Any]]


class Crawled(NamedTuple):
    """A crawl that has ended."""

    spider: SiteSpider
    crawler: Crawler
    out: Path
    status: int
    summary: dict[str, Any]
    pages: Rows
    links: Rows
    refused: Rows

    def page(self, url: str) -> dict[str, Any]:
        """Return the one row of ``pages.jsonl`` for *url*."""
        (row,) = [row for row in self.pages if row["url"] == url]
        return row

    def reasons(self) -> dict[str, str]:
        """Return the reason of each refused URL."""
        return {row["url"]: row["reason"] for row in self.refused}

    def body(self, url: str) -> bytes:
        """Return what is stored of *url*."""
        return Path(self.out, self.page(url)["path"]).read_bytes()


def project_settings(**changes: object) -> Settings:
    """Return the project's settings for a test: the reactor's own loop, no log."""
    settings = Settings()
    settings.setmodule(project, priority="project")
    settings.set("ASYNCIO_EVENT_LOOP", None, priority="cmdline")
    settings.set("LOG_ENABLED", value=False, priority="cmdline")
    for name, value in changes.items():
        settings.set(name, value, priority="cmdline")
    return settings


async def crawl(seed: str, out: Path, settings: Mapping[str, object] | None = None, **arguments: str) -> Crawled:
    """Crawl *seed* with the spider's *arguments*; SpiderprojError when the crawl cannot begin."""
    crawler = Crawler(SiteSpider, project_settings(**(settings or {})))
    await crawler.crawl(seed=seed, out=str(out), **arguments)
    spider = crawler.spider
    assert isinstance(spider, SiteSpider)
    summary = json.loads((out / "summary.json").read_bytes()) if (out / "summary.json").exists() else {}
    rows = [_rows(out / f"{name}.jsonl") for name in ("pages", "links", "refused")]
    return Crawled(spider, crawler, out, spider.exit_status, summary, *rows)


def _rows(path: Path) -> Rows:
    return [json.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []
