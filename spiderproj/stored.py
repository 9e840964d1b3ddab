"""What the commands that look at a stored crawl have in common: finding it, its settings, saying what went wrong."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from spiderproj.addon import Addon
from spiderproj.arguments import CrawlOptions
from spiderproj.display import one_line
from spiderproj.errors import ArgumentError, SpiderprojError
from spiderproj.files.bodies import ENGINE
from spiderproj.store import Database

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.settings import BaseSettings

_LENGTH = 4000  # characters of a complaint
_EXPECTED = "the output folder of a crawl (it has a crawl.db), such as crawls/example.org"


def folder_of(args: list[str], count: int, usage: str) -> Path:
    """Return the crawl's folder that the first of *args* names; UsageError when they are not *count*."""
    if len(args) != count:
        raise UsageError(f"give {usage}", print_help=False)
    name = args[0]
    if "\0" in name or not os.path.isfile(os.path.join(name, "crawl.db")):  # noqa: PTH113,PTH118 - any text is taken
        raise ArgumentError("DIR", name, _EXPECTED)
    return Path(name)


def opened(folder: Path) -> Database:
    """Return the store in *folder*, to be read only; ArgumentError when no crawl of ours has written it."""
    if not (folder / ENGINE).is_dir():
        raise ArgumentError("DIR", str(folder), _EXPECTED)
    return Database(folder / "crawl.db", read_only=True)


def options_of(database: Database) -> CrawlOptions:
    """Return the arguments that the stored crawl was last run with."""
    stored = database.meta("arguments")
    if stored is None:
        raise database.damaged("it does not say with which arguments it was crawled")
    return CrawlOptions.from_json(stored)


def completed(settings: BaseSettings | None) -> BaseSettings:
    """Return the *settings* of a command as a crawl would have them."""
    if settings is None:
        raise RuntimeError("scrapy.cmdline sets them before it calls run()")
    ours = settings.copy()
    Addon().update_settings(ours)
    return ours


def status_of(action: Callable[[], None]) -> int:
    """Return the exit status that *action* comes to; an error of ours is one line on standard error."""
    try:
        action()
    except SpiderprojError as error:
        complain(str(error))
        return error.exit_status
    return 0


def say(text: str | bytes) -> None:
    """Write *text* to standard output; nobody may be reading any more."""
    with suppress(OSError):
        sys.stdout.buffer.write(text if isinstance(text, bytes) else text.encode("utf-8", "replace"))
        sys.stdout.buffer.flush()


def complain(text: str) -> None:
    """Write *text* as one line to standard error."""
    print(f"spiderproj: {one_line(text, _LENGTH)}", file=sys.stderr)  # noqa: T201 - the command's own output
