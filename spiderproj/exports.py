"""The JSON lines of a crawl, written whole from its store: what was appended while it ran, with the final verdicts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import orjson

from spiderproj.failpoints import failpoint
from spiderproj.files import json_line
from spiderproj.files.failures import failure
from spiderproj.models import Reason
from spiderproj.store import Database
from spiderproj.store.changed import Changed
from spiderproj.store.lines import stored_lines
from spiderproj.store.targets import Targets
from spiderproj.store.visits import current_visit

_STORED = "SELECT u.url, p.links FROM page_links AS p JOIN urls AS u ON u.id = p.source ORDER BY p.source"
_PAGES = """
SELECT u.url, coalesce(f.final_url, u.url) AS final_url, f.status, f.type, f.content_type, f.size,
    CASE WHEN c.id THEN 'sha256:' || lower(hex(c.digest)) END AS digest,
    CASE WHEN f.duplicate THEN d.url END AS duplicate_of,
    'files/' || c.path AS path, u.depth, u.level, v.url AS via, f.fetched_at, f.etag, f.last_modified, f.title, f.error
FROM fetches AS f JOIN urls AS u ON u.fetch = f.id LEFT JOIN contents AS c ON c.id = f.content
    LEFT JOIN urls AS d ON d.id = c.url LEFT JOIN urls AS v ON v.id = u.via
ORDER BY f.id
"""
_REFUSED = "SELECT url, reason, rule, via, depth, level, type FROM decisions WHERE verdict = 'refused' ORDER BY id"
_UNREACHED = """
SELECT d.url, ? AS reason, ? AS rule, d.via, d.depth, d.level, d.type
FROM decisions AS d JOIN urls AS u ON u.id = d.id WHERE d.verdict = 'queued' AND u.fetch IS NULL
"""


class Limit(NamedTuple):
    """A limit that ended a crawl: BUDGET or WINDOW, and the setting or argument."""

    reason: Reason
    rule: str


def write_all(database: Database, out: Path, *, limit: Limit | None = None) -> int:
    """Write ``links.jsonl``, ``pages.jsonl`` and ``refused.jsonl``; each replaces the old one when it is whole.

    After a revisit ``changes.jsonl`` too.

    *limit* is what ended the crawl, when it was a limit of the user's: what is still queued and was never fetched is
    then refused by it for this run. Returns how many seeds pages link to.
    """
    with database.reading():
        seeds = {number for (number,) in database.execute("SELECT id FROM urls WHERE via IS NULL")}
        unlinked = set(seeds)
        write_whole(out / "links.jsonl", _links(database, unlinked))
        write_whole(out / "pages.jsonl", map(json_line, _rows(database, _PAGES)))
        write_whole(out / "refused.jsonl", map(json_line, _refused(database, limit)))
        if current_visit(database) is not None:
            write_whole(out / "changes.jsonl", map(json_line, Changed(database).lines()))
    return len(seeds) - len(unlinked)


def _links(database: Database, unlinked: set[int]) -> Iterator[bytes]:
    """Yield the lines of the links of each page, pages in the order of their discovery; cross off who is linked."""
    targets = Targets(database)
    for source, stored in database.execute(_STORED):
        rows = orjson.loads(stored)
        ids = [row[0] for row in rows]
        if unlinked:
            unlinked.difference_update(ids)
        yield stored_lines(source, rows, targets.of(ids))


def _refused(database: Database, limit: Limit | None) -> Iterator[Mapping[str, object]]:
    yield from _rows(database, _REFUSED)
    if limit is not None:
        yield from _rows(database, _UNREACHED, (limit.reason.value, limit.rule))


def _rows(database: Database, statement: str, values: tuple[object, ...] = ()) -> Iterator[Mapping[str, object]]:
    cursor = database.execute(statement, values)
    names = [column[0] for column in cursor.description]
    for row in cursor:
        yield dict(zip(names, row, strict=True))


def write_whole(path: Path, pieces: Iterable[bytes]) -> None:
    """Make *pieces* the content of the file *path*; on an error, such as DiskFullError, it stays as it was."""
    temporary = path.with_name(f".{path.name}.new")
    try:
        failpoint("export.write")
        with temporary.open("wb", buffering=1 << 20) as lines:
            lines.writelines(pieces)
        failpoint("export.rename")
        os.replace(temporary, path)  # noqa: PTH105 - the plain name of the call that makes it whole or nothing
        failpoint("export.renamed")
    except OSError as error:
        with suppress(OSError):
            temporary.unlink()
        raise failure(error, path) from error
