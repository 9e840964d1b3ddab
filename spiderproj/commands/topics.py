"""``scrapy topics``: the copies whose key words an expression means."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from spiderproj import topics
from spiderproj.display import one_line
from spiderproj.errors import ArgumentError
from spiderproj.files import json_line
from spiderproj.files.copies import folders_with, read_beginning

if TYPE_CHECKING:
    import argparse

_CRAWLS = "crawls"
_SHOWN_WORDS = 12  # of a copy, for a person
_LENGTH = 1000  # characters of a folder's name


class Command(ScrapyCommand):
    """Search the key words of many copies; nothing is changed and nothing is fetched."""

    requires_crawler_process = False
    default_settings: ClassVar = {"LOG_ENABLED": False}

    def syntax(self) -> str:
        """Return what follows the command's name."""
        return "[options] EXPR [DIR ...]"

    def short_desc(self) -> str:
        """Return what the command does, for the list of commands."""
        return "Find the copies that are about something, by their key words"

    def long_desc(self) -> str:
        """Return what the command does."""
        return (
            f"Search {topics.NAME} of the copies below each DIR (default: ./{_CRAWLS}). EXPR is words joined by and, "
            "or, not and ( ); instal* means every word that begins so. Prints score, folder, words found and title, "
            "the best first."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Take ``--json`` beside Scrapy's own options."""
        super().add_options(parser)
        parser.add_argument("--json", action="store_true", help="print a line of JSON for each copy")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print the matches; status 2 when an argument is wrong, 0 otherwise, found or not."""
        if not args:
            raise UsageError("give an expression, such as 'sqlite and (backup or copy)'", print_help=False)
        try:
            expression = topics.Expression.parse(args[0])
            roots = [_existing(name) for name in args[1:] or [_CRAWLS]]
        except ArgumentError as error:
            _complain(str(error))
            self.exitcode = error.exit_status
            return
        matches = topics.ranked(expression, _copies(roots))
        for match in matches:
            _print(_as_json(match) if opts.json else _as_text(match))
        if not matches:
            _complain(f"no copy below {', '.join(map(str, roots))} has these words")


def _existing(name: str) -> Path:
    if not os.path.isdir(name):  # noqa: PTH112 - takes what a path cannot be, such as one with a NUL
        expected = "a folder with copies in it; an expression of several words is one argument, in quotes"
        raise ArgumentError("DIR", name, expected)
    return Path(name)


def _copies(roots: list[Path]) -> Iterator[tuple[Path, topics.KeyWords]]:
    """Yield every copy below *roots* once, with its key words."""
    seen = set()
    for root in roots:
        for copy in folders_with(topics.NAME, root, _complain):
            real = os.path.realpath(copy)
            if real in seen:
                continue
            seen.add(real)
            try:
                yield copy, topics.read(read_beginning(copy / topics.NAME, topics.MAX_BYTES))
            except OSError as error:
                _complain(f"{copy / topics.NAME} cannot be read: {error.strerror or 'it is no plain file'}")


def _as_text(match: topics.Match) -> bytes:
    words = ", ".join(list(match.words)[:_SHOWN_WORDS])
    fields = (f"{match.score:.2f}", one_line(str(match.copy), _LENGTH), words, match.key_words.title)
    return ("  ".join(filter(None, fields)) + "\n").encode("utf-8", "replace")


def _as_json(match: topics.Match) -> bytes:
    known = match.key_words
    return json_line(
        {
            "copy": str(match.copy),
            "score": match.score,
            "words": match.words,
            "title": known.title or None,
            "keywords": known.keywords or None,
            "seeds": known.seeds,
            "crawled": known.crawled or None,
        }
    )


def _print(line: bytes) -> None:
    """Write *line* to standard output; nobody may be reading any more."""
    with suppress(OSError):
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()


def _complain(text: str) -> None:
    print(f"spiderproj: {one_line(text, 3 * _LENGTH)}", file=sys.stderr)  # noqa: T201 - the command's own output
