"""The WACZ of a crawl: made from its WARC files and its store when a run ends."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from spiderproj.errors import DiskFullError
from spiderproj.files import free_space
from spiderproj.store import Database
from spiderproj.store.captures import Captures
from spiderproj.store.folder import WARC
from spiderproj.warc import Contents, Page, write_wacz

if TYPE_CHECKING:
    from pathlib import Path

logger = logging.getLogger(__name__)

NAME: Final = "crawl.wacz"
"""The archive's name in an output folder."""


def write_archive(out: Path, seed: str, *, reserve: int) -> None:
    """Write the archive of the crawl in *out*, which begins with the *seed*, from what is committed.

    It is as large as the WARC files together; DiskFullError when it would leave less than *reserve* bytes free.
    """
    with Database(out / "crawl.db", read_only=True) as database, database.reading():
        captures = Captures(database)
        warcs = [(out / WARC / name, size) for name, size in sorted(captures.noted().items())]
        if not warcs:
            return
        size, free = sum(size for _, size in warcs), free_space(out)
        if size > free - reserve:
            raise DiskFullError(
                f"{out / NAME}: {size:,} bytes are needed for it, and {free:,} are free: the WARC files are whole; "
                "free some and run the same command again"
            )
        stamp = captures.stamp(seed)
        pages = (Page(*row) for row in captures.pages())
        main = Page(seed, stamp, "") if stamp is not None else None
        write_wacz(out / NAME, Contents(out.name, main, warcs, captures.sorted(), pages))
    logger.info("%s holds %d WARC files, %d bytes", out / NAME, len(warcs), size)
