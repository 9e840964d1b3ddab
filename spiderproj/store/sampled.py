"""The URLs of a store as a survey looks at them: what each is, what came of it, and how many pages link to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

import orjson

from spiderproj.store.database import Database

_ROWS = """
SELECT u.id, u.url, u.level, coalesce(u.type, 'html'), u.verdict, u.reason, u.rule, u.via, u.fetch, f.status, f.size,
    f.error IS NOT NULL, f.final_url IS NOT NULL, f.duplicate, f.etag, f.last_modified, f.content_type, f.title, c.path
FROM urls AS u LEFT JOIN fetches AS f ON f.id = u.fetch LEFT JOIN contents AS c ON c.id = f.content ORDER BY u.id
"""


class SampledURL(NamedTuple):
    """A row of ``urls`` with its current fetch; what only a fetch can tell is None without one."""

    id: int
    url: str
    level: str
    type: str
    verdict: str
    reason: str | None
    rule: str
    via: int | None
    fetch: int | None
    status: int | None
    size: int | None
    has_error: bool
    is_redirect: bool
    is_duplicate: bool | None
    etag: str | None
    last_modified: str | None
    content_type: str | None
    title: str | None
    path: str | None

    @property
    def is_whole(self) -> bool:
        """Whether a whole body came."""
        return self.status is not None and 200 <= self.status < 300 and not self.has_error


def sampled(database: Database) -> list[SampledURL]:
    """Return the rows of ``urls`` in the order of their discovery."""
    return list(map(SampledURL._make, database.execute(_ROWS)))


def linked(database: Database) -> tuple[Counter[int], int]:
    """Return how many pages link to each URL, by its id and not counting itself, and how many pages there are."""
    counts: Counter[int] = Counter()
    pages = 0
    for source, stored in database.execute("SELECT source, links FROM page_links"):
        pages += 1
        with database.reading():
            counts.update({row[0] for row in orjson.loads(stored)} - {source})
    return counts, pages


def linking_pages(database: Database, groups: Mapping[int, str]) -> Counter[str]:
    """Return how many pages link to a URL of each group; *groups* names the group of a URL by its id."""
    pages: Counter[str] = Counter()
    for (stored,) in database.execute("SELECT links FROM page_links"):
        with database.reading():
            pages.update({groups[row[0]] for row in orjson.loads(stored) if row[0] in groups})
    return pages
