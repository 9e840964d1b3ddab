"""The digest of a whole answer's body: what duplicates are recognised by."""

from __future__ import annotations

from hashlib import sha256

from spiderproj.extensions.watchdog import working_on
from spiderproj.items import Capture


class DigestPipeline:
    """Give every good capture the SHA-256 of its decoded body."""

    async def process_item(self, item: object) -> object:
        """Fill in ``digest``; a streamed body was hashed on the way."""
        if not isinstance(item, Capture):
            return item
        working_on(item.url.url)
        if item.is_good:
            item.digest = item.spool.digest() if item.spool is not None else sha256(item.body).digest()
        return item
