"""Scrapy's CLOSESPIDER limits, counting pages as users do: robots.txt, HEADs and sitemaps are no pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.extensions.closespider import CloseSpider

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.http import Response


class Limits(CloseSpider):
    """CLOSESPIDER_PAGECOUNT and its sisters."""

    def page_count(self, response: Response, request: Request, spider: Spider) -> None:
        """Count an answer to a URL of the frontier."""
        if "auxiliary" not in request.meta:
            super().page_count(response, request, spider)
