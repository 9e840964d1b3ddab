"""Who links to a URL: answered by a scan of the packed links, 5 µs a page, which nobody needs often."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from typing import NamedTuple

import orjson

from spiderproj.models import Link, LinkRole
from spiderproj.scope import Source
from spiderproj.store.database import Database
from spiderproj.store.page_links import unpacked

_PAGE = """
SELECT u.id, u.url, u.depth, u.role, u.near, u.hops, p.links FROM page_links AS p JOIN urls AS u ON u.id = p.source
"""
_TO = f"{_PAGE} WHERE instr(p.links, ?) ORDER BY p.source"
_ON = f"{_PAGE} WHERE p.source = ?"


class Linker(NamedTuple):
    """A page with a link to the URL that was asked about."""

    source: Source
    link: Link


class Linkers:
    """The links of a store by what they lead to."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def of(self, target: int, url: str) -> Iterator[Linker]:
        """Yield each link to the URL *target*, pages in the order of their discovery; *url* is its text."""
        yield from self._found(_TO, f'[{target},"', target, url)

    def on(self, page: int, target: int, url: str) -> list[Linker]:
        """Return the links of a *page* to the URL *target*, in document order."""
        return list(self._found(_ON, page, target, url))

    def _found(self, statement: str, value: object, target: int, url: str) -> Iterator[Linker]:
        for number, page, depth, role, near, hops, stored in self._db.execute(statement, (value,)):
            with self._db.reading():
                source = Source(number, page, depth, LinkRole(role), bool(near), hops)
                found = [unpacked(row, url) for row in orjson.loads(stored) if row[0] == target]
            for link in found:
                yield Linker(source, link)

    def of_many(self, targets: Collection[int], most: int) -> tuple[Counter[int], dict[int, list[int]]]:
        """Return how many pages link to each of *targets*, and the first of these pages, at most *most* for each."""
        wanted = frozenset(targets)
        counts: Counter[int] = Counter()
        first: defaultdict[int, list[int]] = defaultdict(list)
        for source, stored in self._db.execute("SELECT source, links FROM page_links ORDER BY source"):
            with self._db.reading():
                found = wanted.intersection([row[0] for row in orjson.loads(stored)])
            counts.update(found)
            for target in found:
                if len(first[target]) < most:
                    first[target].append(source)
        return counts, first
