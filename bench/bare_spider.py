"""A plain Scrapy CrawlSpider that follows everything on its host and writes each body: what Scrapy does as it comes.

python bench/bare_spider.py URL FOLDER
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

if TYPE_CHECKING:
    from scrapy.http import Response

_EVERYTHING = LinkExtractor(tags=("a", "area", "img", "link", "script"), attrs=("href", "src"), deny_extensions=())


class BareSpider(CrawlSpider):
    """Crawl *seed* and save below *out*, the project's settings left out."""

    name = "bare"

    def __init__(self, seed: str, out: str) -> None:
        self.rules = (Rule(_EVERYTHING, callback="save", follow=True),)
        super().__init__()
        self.start_urls = [seed]
        self.allowed_domains = [urlsplit(seed).hostname]
        self._out = Path(out)

    def parse_start_url(self, response: Response, **_: object) -> None:
        """Save the seed too."""
        self.save(response)

    def save(self, response: Response) -> None:
        """Write the body under the URL's path."""
        path = unquote(urlsplit(response.url).path).lstrip("/")
        file = self._out / (path + "index.html" if path.endswith("/") or not path else path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(response.body)


if __name__ == "__main__":
    process = CrawlerProcess({"CONCURRENT_REQUESTS_PER_DOMAIN": 8, "DOWNLOAD_DELAY": 0, "LOG_LEVEL": "WARNING"})
    process.crawl(BareSpider, *sys.argv[1:3])
    process.start()
