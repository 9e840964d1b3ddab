"""Take over the decisions of a rehearsal into the store: what comes in is queued for the next run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

    from spiderproj.arguments import CrawlOptions
    from spiderproj.store import Folder

# Both stores number their URLs and hosts, each for itself: ``pairs`` says which row is which.
_PAIR: Final = (
    "INSERT OR IGNORE INTO hosts (key) SELECT key FROM rehearsed.hosts",
    """
    CREATE TEMP TABLE pairs AS SELECT r.id AS there, s.id AS here
    FROM rehearsed.urls AS r LEFT JOIN urls AS s ON s.key = r.key AND s.url = r.url
    """,
    """
    INSERT INTO urls SELECT NULL, r.key, r.url, h.id, r.depth, NULL, r.level, r.role, r.near, r.hops, r.type,
        r.answered, r.hint, r.text, r.verdict, r.reason, r.rule, NULL
    FROM temp.pairs AS p JOIN rehearsed.urls AS r ON r.id = p.there JOIN rehearsed.hosts AS o ON o.id = r.host
        JOIN hosts AS h ON h.key = o.key
    WHERE p.here IS NULL ORDER BY r.id
    """,
    """
    UPDATE temp.pairs SET here = (
        SELECT s.id FROM rehearsed.urls AS r JOIN urls AS s ON s.key = r.key AND s.url = r.url WHERE r.id = there
    ) WHERE here IS NULL
    """,
    "CREATE UNIQUE INDEX temp.pairs_here ON pairs (here)",
    "CREATE UNIQUE INDEX temp.pairs_there ON pairs (there)",
)
# What is fetched stays, whatever the arguments say of it now. Of the rest, a verdict by rules that no longer hold must
# not stand in the way of a link that is still to be found.
_DECIDE: Final = (
    """
    UPDATE urls SET depth = r.depth, via = (SELECT here FROM temp.pairs WHERE there = r.via), level = r.level,
        role = r.role, near = r.near, hops = r.hops, hint = r.hint, text = r.text, verdict = r.verdict,
        reason = r.reason, rule = r.rule
    FROM temp.pairs AS p JOIN rehearsed.urls AS r ON r.id = p.there
    WHERE urls.id = p.here AND NOT (urls.verdict = 'fetched' AND r.verdict = 'refused')
    """,
    """
    UPDATE urls SET verdict = 'refused', reason = 'scope', rule = 'nothing links to it that the arguments let in'
    WHERE verdict != 'fetched' AND id NOT IN (SELECT here FROM temp.pairs)
    """,
)
# What may be a page known already goes on waiting for it to be known; what is out for another reason is nobody's to let
# in again.
_QUEUE: Final = (
    "DELETE FROM members WHERE url IN (SELECT id FROM urls WHERE verdict = 'refused' AND reason != 'learned')",
    "DELETE FROM quarantine WHERE url IN (SELECT id FROM urls WHERE verdict != 'refused' OR reason != 'trap')",
    "DELETE FROM frontier WHERE url NOT IN (SELECT id FROM urls WHERE verdict = 'queued')",
    """
    INSERT OR REPLACE INTO frontier (url, host, first, second, third, worker)
    SELECT p.here, u.host, f.first, f.second, f.third,
        (SELECT worker FROM frontier AS w WHERE w.url = p.here AND w.worker = '~held')
    FROM rehearsed.frontier AS f JOIN temp.pairs AS p ON p.there = f.url JOIN urls AS u ON u.id = p.here
    """,
    "INSERT OR REPLACE INTO meta SELECT name, value FROM rehearsed.meta WHERE name = 'homes'",
    "DROP TABLE temp.pairs",
)


def apply(folder: Folder, rehearsed: Path, options: CrawlOptions) -> None:
    """Make the decisions in the store *rehearsed* those of *folder*, whose crawl goes on with *options*."""
    database = folder.database
    database.commit()  # what recovering wrote: no store is attached inside a transaction
    database.execute("ATTACH ? AS rehearsed", (f"{rehearsed.absolute().as_uri()}?mode=ro",))
    for step in (*_PAIR, *_DECIDE, *_QUEUE):
        database.write(step)
    database.set_meta("arguments", options.to_json())
    database.set_meta("state", "stopped")  # there is something to do: no revisit of what is there
    database.set_meta("judges_anew", "0")
    folder.commit()
