"""What goes into feeds (``-O FILE``): links, and the items of other spiders, but no captures."""

from __future__ import annotations

from scrapy.extensions.feedexport import ItemFilter

from spiderproj.items import Capture


class WithoutCaptures(ItemFilter):
    """Scrapy's filter of items, less our captures: these are for the store, whole bodies with them."""

    def accepts(self, item: object) -> bool:
        """Say whether *item* is a row of a feed."""
        return not isinstance(item, Capture) and super().accepts(item)
