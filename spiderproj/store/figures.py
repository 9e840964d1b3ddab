"""What a crawl came to, counted from its store."""

from __future__ import annotations

from typing import NamedTuple

from spiderproj.revisit import What
from spiderproj.store.changed import Changed
from spiderproj.store.database import Database

_ERRORS = """
SELECT error, count(*) FROM urls JOIN fetches ON fetches.id = urls.fetch WHERE error IS NOT NULL GROUP BY error
UNION ALL SELECT rule, count(*) FROM urls WHERE reason = 'error' GROUP BY rule
"""


class Figures(NamedTuple):
    """Counts over the whole crawl, all runs together; every one is a query, so it cannot drift from the rows."""

    pages: int  # URLs whose last fetch brought a whole answer (2xx, or 304: unchanged)
    files: int  # bodies on disk
    bytes: int  # of these bodies
    duplicates: int  # pages whose body another URL had brought already
    links: int  # distinct URLs that pages link to, but for seeds
    links_total: int  # links on all pages
    refused: dict[str, int]  # by reason
    errors: dict[str, int]  # by kind
    pending: int
    traps: int  # families of URLs that are parked, since they brought next to nothing new
    script_pages: int  # pages that look drawn by script
    rendered: int  # pages drawn in a browser
    unrendered: dict[str, int]  # pages that were to be drawn, and stand as received, by what went wrong
    held_back: int  # answers of the last revisit that were not believed
    changes: dict[str, int]  # URLs by what the last revisit found


def figures(database: Database) -> Figures:
    """Return the figures of the crawl as it stands."""
    scalar = database.scalar
    changes = Changed(database).counts()
    good = "status BETWEEN 200 AND 299 OR status = 304"
    return Figures(
        pages=scalar(f"SELECT count(*) FROM urls JOIN fetches ON fetches.id = urls.fetch"  # noqa: S608 - constant
                     f" WHERE verdict = 'fetched' AND error IS NULL AND ({good})"),
        files=scalar("SELECT count(DISTINCT path) FROM contents"),
        bytes=scalar("SELECT coalesce(sum(size), 0) FROM contents"),
        duplicates=scalar("SELECT count(*) FROM urls JOIN fetches ON fetches.id = urls.fetch WHERE duplicate"),
        links=scalar("SELECT count(*) FROM urls WHERE via IS NOT NULL"),
        links_total=scalar("SELECT coalesce(sum(json_array_length(links)), 0) FROM page_links"),
        refused=dict(database.execute("SELECT reason, count(*) FROM urls WHERE verdict = 'refused'"
                                      " GROUP BY reason ORDER BY 2 DESC").fetchall()),
        errors=dict(database.execute(_ERRORS).fetchall()),
        pending=scalar("SELECT count(*) FROM frontier"),
        traps=scalar("SELECT count(*) FROM families WHERE state != 'open'"),
        script_pages=scalar("SELECT count(*) FROM renderings WHERE sign IS NOT NULL"),
        rendered=scalar("SELECT count(*) FROM renderings WHERE failure IS NULL"),
        unrendered=dict(database.execute("SELECT failure, count(*) FROM renderings WHERE failure IS NOT NULL"
                                         " GROUP BY failure").fetchall()),
        held_back=changes.get(What.HELD_BACK, 0),
        changes=changes,
    )  # fmt: skip
