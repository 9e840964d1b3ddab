"""The crawls below one folder: which there are, and whether one runs now."""

from __future__ import annotations

import json
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from spiderproj.arguments import CrawlOptions
from spiderproj.errors import ArgumentError, SpiderprojError
from spiderproj.files.bodies import ENGINE
from spiderproj.store.visits import current_visit
from spiderproj.stored import opened
from spiderproj.ui import choices

if TYPE_CHECKING:
    from spiderproj.store import Database

STORE: Final = "crawl.db"
SURVEY: Final = "survey.json"
SURVEYED: Final = ".survey"
"""What the folder of a survey adds to the name of the crawl that it looks ahead to."""

_MOST: Final = 500  # crawls that are listed
_TRAPS: Final = "SELECT EXISTS (SELECT 1 FROM families WHERE state != 'open' OR is_kept)"
_LENGTH: Final = 255  # bytes of a name
_MAX_SURVEY: Final = 4 << 20


class Owner(NamedTuple):
    """The process that crawls in a folder."""

    pid: int
    started: str


class Copies:
    """The folder *root* and the crawls in it, or only the one called *name*."""

    def __init__(self, root: Path, name: str | None = None) -> None:
        self.root = root.absolute()
        self._only = name

    @classmethod
    def at(cls, folder: Path) -> Copies:
        """Return the crawl in *folder*, or those below it."""
        folder = folder.absolute()
        return cls(folder.parent, folder.name) if (folder / STORE).is_file() else cls(folder)

    def names(self) -> list[str]:
        """Return the names of the crawls, the latest first."""
        if self._only is not None:
            return [self._only]
        with suppress(OSError), os.scandir(self.root) as entries:
            found = [(entry.stat().st_mtime, entry.name) for entry in entries if self._is_one(entry)]
            names = [name.removesuffix(SURVEYED) for _, name in sorted(found, reverse=True)]
            return list(dict.fromkeys(names))[:_MOST]
        return []

    def folder(self, name: str) -> Path:
        """Return the folder of the crawl called *name*, there or not; ArgumentError when that is no name."""
        is_plain = name == Path(name).name and name not in ("", ".", "..") and "\0" not in name
        if not is_plain or len(name.encode("utf-8", "replace")) > _LENGTH or (self._only not in (None, name)):
            raise ArgumentError("name", name, "the name of a crawl in the folder of this page")
        folder = self.root / name
        if folder.is_symlink():
            raise ArgumentError("name", name, "a folder that is no symlink")
        return folder

    def known(self, name: str) -> Path:
        """Return the folder of a crawl that is there; ArgumentError when there is none of that name."""
        folder = self.folder(name)
        if not _is_crawl(folder):
            raise ArgumentError("name", name, "the name of a crawl in the folder of this page")
        return folder

    def surveyed(self, name: str) -> Path:
        """Return the folder of the survey of a crawl, there or not."""
        self.folder(name)  # is it a name?
        return self.root / (name + SURVEYED)

    def readable(self, name: str) -> Path:
        """Return the folder of a crawl, or of its survey where nothing was crawled yet; ArgumentError without both."""
        if not _is_crawl(self.folder(name)) and _is_crawl(folder := self.surveyed(name)):
            return folder
        return self.known(name)

    def listed(self) -> Iterator[dict[str, Any]]:
        """Yield what the list of crawls shows of each."""
        for name in self.names():
            yield self.overview(name)

    def overview(self, name: str) -> dict[str, Any]:
        """Return state, seeds and counts of a crawl; ``problem`` says why there are none."""
        folder = self.folder(name)
        shown: dict[str, Any] = {
            "name": name,
            "state": "survey",
            "seeds": [],
            "has_survey": has_survey(self.surveyed(name)),
        }
        if not (folder / STORE).is_file():
            found = (survey_of(self.surveyed(name)) or {}).get("seeds")
            return {**shown, "seeds": [str(seed) for seed in found[:5]] if isinstance(found, list) else []}
        try:
            with closing(opened(folder)) as database:
                shown |= _overview(database)
        except SpiderprojError as error:
            if owner(folder) is not None:
                return {**shown, "state": "running"}  # its store is being made
            return {**shown, "state": "unusable", "problem": str(error)}
        if owner(folder) is not None:
            shown["state"] = "running"
        elif shown["state"] == "running":
            shown["state"] = "interrupted"
        return shown

    def _is_one(self, entry: os.DirEntry[str]) -> bool:
        if entry.name.startswith(".") or not entry.is_dir(follow_symlinks=False):
            return False
        return os.path.isfile(os.path.join(entry.path, STORE)) or has_survey(Path(entry.path))  # noqa: PTH113, PTH118 - names, not paths


def _is_crawl(folder: Path) -> bool:
    return (folder / ENGINE).is_dir() and (folder / STORE).is_file() and not folder.is_symlink()


def has_survey(folder: Path) -> bool:
    """Return whether a survey has left its results in *folder*."""
    return (folder / SURVEY).is_file() and not (folder / SURVEY).is_symlink()


def survey_of(folder: Path) -> dict[str, Any] | None:
    """Return the results of the survey in *folder*, None when there are none that can be read."""
    if not has_survey(folder):
        return None
    with suppress(OSError, ValueError, RecursionError), (folder / SURVEY).open("rb") as file:
        found = json.loads(file.read(_MAX_SURVEY))
        return found if isinstance(found, dict) else None
    return None


def owner(folder: Path) -> Owner | None:
    """Return the process that holds the lock of a crawl's *folder*, None when none does.

    The lock's record alone means nothing: its process may be dead, and its number another's. Whoever holds the lock has
    the file open; trying the lock instead could stand in the way of a crawl that begins.
    """
    lock = folder / ENGINE / "lock"
    with suppress(OSError, ValueError, LookupError, TypeError):
        record = json.loads(lock.read_bytes()[:4096])
        pid, here = int(record["pid"]), lock.stat()
        if record["host"] != socket.gethostname():
            return None
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                open_file = descriptor.stat()
                if (open_file.st_dev, open_file.st_ino) == (here.st_dev, here.st_ino):
                    return Owner(pid, str(record["started"])[:40])
    return None


def interrupt(folder: Path) -> bool:
    """Ask the crawl in *folder* to end, saved; return whether there was one. The second time it ends at once."""
    found = owner(folder)
    if found is None or found.pid == os.getpid():
        return False
    with suppress(OSError):
        process = os.pidfd_open(found.pid)  # from here on it is this process, or none
        try:
            if owner(folder) != found:
                return False
            signal.pidfd_send_signal(process, signal.SIGINT)
            return True
        finally:
            os.close(process)
    return False


def _overview(database: Database) -> dict[str, Any]:
    with database.reading():
        options = CrawlOptions.from_json(database.meta("arguments") or "{}")
        return {
            "state": database.meta("state"),
            "seeds": options.seeds[:5],
            "arguments": choices.texts_of(options),
            "more_seeds": max(0, len(options.seeds) - 200),
            "answers": database.scalar("SELECT max(id) FROM fetches") or 0,
            "known": database.scalar("SELECT max(id) FROM urls") or 0,
            "pending": database.scalar("SELECT count(*) FROM frontier"),
            "latest": database.scalar("SELECT fetched_at FROM fetches ORDER BY id DESC LIMIT 1"),
            "has_traps": bool(database.scalar(_TRAPS)),
            "is_revisited": current_visit(database) is not None,
        }
