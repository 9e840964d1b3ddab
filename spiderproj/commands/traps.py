"""``scrapy traps``: families of URLs that a crawl has set aside, and the user's word on them."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, ClassVar

from scrapy.commands import ScrapyCommand

from spiderproj.display import one_line
from spiderproj.errors import ArgumentError
from spiderproj.files import Lock, json_line
from spiderproj.files.failures import failure
from spiderproj.store import Database
from spiderproj.store.families import read, samples, save, set_aside
from spiderproj.stored import folder_of, opened, say, status_of
from spiderproj.traps import State

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from spiderproj.traps import Family

ALL = "all"
_SAMPLES = 3
_LENGTH = 300  # characters of a URL
_STATES = {State.OPEN: "open", State.PARKED: "parked", State.WOKEN: "on trial"}


class Command(ScrapyCommand):
    """List the parked families of a stored crawl, or release one."""

    requires_crawler_process = False
    default_settings: ClassVar = {"LOG_ENABLED": False}

    def syntax(self) -> str:
        """Return what follows the command's name."""
        return "[options] DIR"

    def short_desc(self) -> str:
        """Return what the command does, for the list of commands."""
        return "List and release the families of URLs that brought nothing new to a crawl"

    def long_desc(self) -> str:
        """Return what the command does."""
        return (
            "List the families of URLs that were set aside in DIR, the output folder of a crawl, because their pages "
            "brought next to nothing new, with samples; or release one by its number, or all. What is released is "
            "fetched when the crawl is run again, and never set aside any more."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Take the change beside Scrapy's own options."""
        super().add_options(parser)
        parser.add_argument("--release", metavar="N", help="let in what is set aside of family N, or of 'all'")
        parser.add_argument("--json", action="store_true", help="print a line of JSON for each family")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print the families; status 2 for a wrong argument, 3 when it cannot write, 4 while a crawl runs in DIR."""
        folder = "the output folder of a crawl"
        self.exitcode = status_of(lambda: _run(folder_of(args, 1, folder), opts.release, as_json=opts.json))


def _run(folder: Path, released: str | None, *, as_json: bool) -> None:
    if released is not None:
        _release(folder, released)
    with opened(folder) as database:
        rows = [_as_json(database, family) for family in read(database)]
    say(b"".join(map(json_line, rows)) if as_json else _as_text(rows))


def _release(folder: Path, named: str) -> None:
    """Let in what is set aside; the next run queues it."""
    opened(folder).close()  # says what is wrong with it
    with ExitStack() as stack:
        try:
            stack.enter_context(Lock(folder))
        except OSError as error:
            raise failure(error, folder) from error
        database = stack.enter_context(Database(folder / "crawl.db"))
        chosen = [family for family in read(database) if named in (ALL, str(family.id))]
        if not chosen and named != ALL:
            raise ArgumentError("--release", named, f"'all', or a number that `scrapy traps {folder}` lists")
        for family in chosen:
            family.keep()
            save(database, family)
        database.commit()


def _as_text(rows: list[dict[str, object]]) -> str:
    if not rows:
        return "no traps: every family of URLs goes on bringing something new\n"
    return "".join(map(_lines, rows))


def _lines(row: dict[str, object]) -> str:
    state = "released" if row["released"] else _STATES[State(str(row["state"]))]
    counts = f"{row['new']} of {row['fetched']} pages new; {row['set_aside']} set aside"
    first = f"{row['id']}  {row['family']}  {state}: {counts}"
    urls = row["samples"] if isinstance(row["samples"], list) else []
    return "\n    ".join([first, *(one_line(url, _LENGTH) for url in urls)]) + "\n"


def _as_json(database: Database, family: Family) -> dict[str, object]:
    return {
        "id": family.id,
        "family": family.name,
        "state": family.state,
        "released": family.is_kept,
        "fetched": family.fetched,
        "new": family.new,
        "novelty": round(family.novelty, 3),
        "set_aside": set_aside(database, family.id),
        "samples": samples(database, family.id, _SAMPLES),
    }
