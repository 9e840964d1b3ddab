"""The front of a copy, made from its store: ``__doc.txt``, ``index.html`` and ``report.html``."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from spiderproj import landing, mediatype, report, topics
from spiderproj.errors import OutputError, UnsafePathError
from spiderproj.exports import write_whole
from spiderproj.files.failures import failure
from spiderproj.models import ResourceType
from spiderproj.store.destinations import Destinations
from spiderproj.store.inventory import Inventory, StoredPage
from spiderproj.store.review import Review
from spiderproj.urls import split

if TYPE_CHECKING:
    from pathlib import Path

    from spiderproj.arguments import CrawlOptions
    from spiderproj.files import FileStore
    from spiderproj.store import Database, Folder
    from spiderproj.store.figures import Figures

LANDING: Final = "index.html"
"""The landing page, at the root of the output folder: bodies lie below ``files/``."""
REPORT: Final = "report.html"
"""What came of the crawl, beside the landing page."""

_PAGES: Final = 10_000  # whose titles are read
_SAMPLE: Final = 200  # of them, evenly, whose headings are
_SECONDS: Final = 0.5  # for the headings, on a disk however slow
_TITLE, _HEADINGS, _LINK = 3, 2, 1  # points
_SHOWN_WORDS: Final = 30


def write_front(folder: Folder, options: CrawlOptions, figures: Figures) -> None:
    """Write ``__doc.txt``, ``index.html`` and ``report.html``; each replaces the old one when it is whole."""
    database = folder.database
    with database.reading():
        inventory = Inventory(database)
        starts = _starts(folder, options, inventory)
        title = next((start.title for start in starts if start.path is not None), "")
        crawled = inventory.times()
        key_words = topics.KeyWords(
            keywords=options.keywords or "",
            seeds=options.seeds,
            title=title,
            crawled=datetime.fromtimestamp(crawled[1], UTC).date().isoformat() if crawled else "",
            words=dict(_words(inventory.pages(_PAGES), folder.files)),
        )
        write_whole(folder.out / topics.NAME, [topics.render(key_words)])
        copy = _copy(inventory, options, figures, key_words, starts, crawled)
        write_whole(folder.out / LANDING, [landing.render(copy)])
    write_report(database, folder.out, options, figures, name=title)


def write_report(database: Database, out: Path, options: CrawlOptions, figures: Figures, *, name: str) -> None:
    """Write ``report.html`` and its tables beside it; *name* is what the copy is called, "" for its host."""
    with database.reading():
        review = Review(database)
        seeds = (*options.seeds, *options.seed_fallbacks.values())
        told = report.Report(
            name=name or split(options.seeds[0]).authority,
            crawled=Inventory(database).times(),
            figures={key.replace("_", " "): f"{value:,}" for key, value in figures._asdict().items()
                     if isinstance(value, int)},
            charts=review.charts(),
            tables=list(review.tables(seeds)),
        )  # fmt: skip
        _write_sheets(out / report.FOLDER, told.tables)
        write_whole(out / REPORT, [report.render(told)])


def _write_sheets(folder: Path, tables: Sequence[report.Table]) -> None:
    """Write the sheet of each table that has rows, and remove those that an earlier report had beside them."""
    sheets = {table.sheet: table for table in tables if table.sheet}
    try:
        folder.mkdir(exist_ok=True)
        for path in folder.glob("*.csv"):
            if path.name not in sheets:
                path.unlink()
    except OSError as error:
        raise failure(error, folder) from error
    for name, table in sheets.items():
        write_whole(folder / name, report.sheet(table))


def _starts(folder: Folder, options: CrawlOptions, inventory: Inventory) -> list[landing.Start]:
    """Return the seeds with what came of them; of very many the first."""
    destinations = Destinations(folder.database, folder.files.exists)
    starts = []
    for seed in options.seeds[: landing.MAX_SEEDS]:
        path = destinations.of_url(seed).path
        if path is None and seed in options.seed_fallbacks:
            path = destinations.of_url(options.seed_fallbacks[seed]).path
        starts.append(landing.Start(seed, path, inventory.title_of(path) if path is not None else ""))
    return starts


def _words(pages: list[StoredPage], files: FileStore) -> Iterator[tuple[str, float]]:
    """Yield the key words of *pages* with their points in a hundred pages, the heaviest first."""
    tally = topics.Tally()
    for page in pages:
        tally.add(page.title or "", _TITLE)
        tally.add(page.link_text, _LINK)
    end = time.monotonic() + _SECONDS
    for page in pages[:: max(1, len(pages) // _SAMPLE)]:
        tally.add(" ".join(_headings(page, files)), _HEADINGS)
        if time.monotonic() > end:
            break
    for word, points in tally.heaviest(topics.MAX_WORDS):
        yield word, points * 100 / len(pages)


def _headings(page: StoredPage, files: FileStore) -> list[str]:
    """Return the headings in the file of *page*; a file that cannot be read has none."""
    charset = mediatype.parse([page.content_type]).charset if page.content_type else None
    with suppress(OSError, OutputError, UnsafePathError), files.open_read(page.path) as file:
        return topics.headings(file.read(topics.READ_BYTES), charset)
    return []


def _copy(
    inventory: Inventory,
    options: CrawlOptions,
    figures: Figures,
    key_words: topics.KeyWords,
    starts: list[landing.Start],
    crawled: tuple[float, float] | None,
) -> landing.Copy:
    entries = [landing.Entry(*row) for row in inventory.visited(landing.MAX_ENTRIES + 1)]
    unlisted: Counter[str] = Counter()
    if len(entries) > landing.MAX_ENTRIES:
        unlisted.update(inventory.visited_by_folder())
        unlisted -= Counter(entry.folder for entry in entries[: landing.MAX_ENTRIES])
    return landing.Copy(
        title=key_words.title,
        starts=starts,
        more_starts=len(options.seeds) - len(starts),
        crawled=crawled,
        keywords=key_words.keywords,
        words=list(key_words.words)[:_SHOWN_WORDS],
        totals={
            "pages and files answered": figures.pages,
            "files stored": figures.files,
            "links found": figures.links_total,
            "still queued": figures.pending,
        },
        holdings=[landing.Holding(*row) for row in inventory.by_type()],
        verdicts=inventory.by_verdict(),
        refused=figures.refused,
        errors=figures.errors,
        arguments=dict(_arguments(options)),
        entries=entries[: landing.MAX_ENTRIES],
        unlisted=dict(unlisted.most_common(landing.MAX_FOLDERS)),
        unlisted_total=unlisted.total(),
    )


def _arguments(options: CrawlOptions) -> Iterator[tuple[str, str]]:
    """Yield the arguments that say what belongs to the copy, as a user would write them; no path of this machine."""
    yield "mode", options.mode
    yield "select", " ".join(f"{level}:{_types(types)}" for level, types in options.select.items() if types)
    for name in (
        "near",
        "requisites",
        "depth",
        "filter",
        "order",
        "gate",
        "sitemap",
        "unique",
        "mirror",
        "render",
        "warc",
    ):
        value = getattr(options, name)
        if value is not None:
            yield name, str(int(value)) if isinstance(value, bool) else str(value)
    for name in ("allow", "deny"):
        for pattern in getattr(options, name):
            yield name, pattern.text
    if options.deny_types:
        yield "deny_types", ",".join(sorted(options.deny_types))


def _types(types: frozenset[ResourceType]) -> str:
    return "all" if len(types) == len(ResourceType) else ",".join(sorted(types))
