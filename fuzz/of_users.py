"""Targets: what a person writes. Wrong input is an ArgumentError that names it, and nothing else."""

from __future__ import annotations

import os
import tempfile
from functools import cache
from pathlib import Path

from fuzz.expect import clean_text, expect, parts
from spiderproj.arguments import CrawlOptions, parse_arguments
from spiderproj.errors import ArgumentError
from spiderproj.filters import NAMES, Filter
from spiderproj.login import read_login
from spiderproj.patterns import Patterns

_TEXTS = dict.fromkeys(NAMES, "a/b.pdf") | {"depth": "3", "size": "10"}


def filter_expression(data: bytes) -> None:
    """Expect that an expression that is accepted can be asked about any values."""
    try:
        condition = Filter.parse(clean_text(data))
    except ArgumentError:
        return
    known: dict[str, object] = {name: kind(_TEXTS[name]) for name, kind in NAMES.items()}
    for values in (known, known | {"type": None, "size": None}, known | {"text": "\ud800", "url": "", "size": -1}):
        expect(condition.decide(values) in {True, False, None}, "an answer", condition.text)


def patterns(data: bytes) -> None:
    """Expect that patterns that are accepted can be asked about any URL."""
    allow, deny = map(clean_text, parts(data, 2))
    try:
        accepted = Patterns.parse(allow.split("\n"), deny.split("\n") if deny else [])
    except ArgumentError:
        return
    accepted.decide("http://example.org/" + "a" * 2000)


def login(data: bytes) -> None:
    """Expect a login file to be read, or refused in one line."""
    path = _folder() / "login.toml"
    path.write_bytes(data)
    try:
        read_login(path, {"SECRET": "s"})
    except ArgumentError as error:
        expect("\n" not in str(error), "one line", str(error))


def arguments(data: bytes) -> None:
    """Expect arguments to be read, or the wrong one to be named; what was read can be noted and read again."""
    pairs = (part.partition("=") for part in clean_text(data).split("\0"))
    given = {"seed": "http://example.org/"} | {name: value for name, equals, value in pairs if equals}
    try:
        options = parse_arguments(given, _folder())
    except ArgumentError as error:
        expect("\n" not in str(error), "one line", str(error))
    else:
        expect(CrawlOptions.from_json(options.to_json()) == options, "the same options again", given)


@cache
def _folder() -> Path:
    """Return an empty folder that goes with the process."""
    keeper = tempfile.TemporaryDirectory(prefix=f"fuzz-{os.getpid()}-")
    _kept.append(keeper)
    return Path(keeper.name)


_kept: list[tempfile.TemporaryDirectory[str]] = []
