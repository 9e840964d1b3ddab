"""Reading a style sheet that was fetched by itself."""

from __future__ import annotations

from collections.abc import Sequence

from spiderproj import charset
from spiderproj.links.budget import MAX_BYTES, MAX_LINKS, BudgetSpentError
from spiderproj.links.collector import Collector
from spiderproj.models import Page


def read_css(
    body: bytes,
    url: str,
    *,
    header_charset: str | None = None,
    headers: Sequence[tuple[str, str]] = (),
    max_links: int = MAX_LINKS,
) -> Page:
    """Return what the style sheet *body* of the canonical *url* names: what it imports, images and fonts."""
    text, encoding = charset.decode_css(body[:MAX_BYTES], header_charset)
    collector = Collector(url, "utf-8", max_links=max_links)  # URLs in CSS are UTF-8 whatever the sheet is in
    partial = f"bytes over {MAX_BYTES}" if len(body) > MAX_BYTES else None
    try:
        collector.add_headers(headers)
        collector.add_css(text)
    except BudgetSpentError as spent:
        partial = str(spent)
    return collector.page(title=None, charset=encoding, partial=partial, nofollow=None)
