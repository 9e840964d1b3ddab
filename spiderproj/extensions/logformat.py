"""Log lines built only where somebody reads them."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from scrapy.logformatter import LogFormatter, LogFormatterResult

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.http import Response
    from twisted.python.failure import Failure

_engine = logging.getLogger("scrapy.core.engine")


class LeanLogFormatter(LogFormatter):
    """Scrapy's log lines for pages and items, without the cost of those that DEBUG alone would show."""

    def crawled(self, request: Request, response: Response, spider: Spider) -> LogFormatterResult | None:  # type: ignore[override]  # Scrapy allows None
        """Return the line for a response, None below DEBUG."""
        return super().crawled(request, response, spider) if _engine.isEnabledFor(logging.DEBUG) else None

    def scraped(  # type: ignore[override]  # Scrapy allows None
        self,
        item: Any,  # noqa: ANN401, ARG002 - Scrapy's signature
        response: Response | Failure | None,  # noqa: ARG002
        spider: Spider,  # noqa: ARG002
    ) -> None:
        """Say nothing: a capture is too large to print, and every URL has its row in the store."""
        return
