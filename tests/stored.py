"""A command that looks at a stored crawl, run in the test's process."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, NamedTuple

from tests.crawling import project_settings

if TYPE_CHECKING:
    from pathlib import Path

    import pytest
    from scrapy.commands import ScrapyCommand


class Said(NamedTuple):
    """What a command printed, and its status."""

    status: int
    output: str
    complaints: list[str]


def run(
    command: type[ScrapyCommand],
    capture: pytest.CaptureFixture[bytes],
    *args: str | Path,
    settings: dict[str, object] | None = None,
    **options: object,
) -> Said:
    """Return what *command* says to *args* and *options*."""
    one = command()
    one.settings = project_settings(**(settings or {}))
    capture.readouterr()
    one.run([str(arg) for arg in args], Namespace(**options))
    printed = capture.readouterr()
    return Said(one.exitcode, printed.out.decode(), printed.err.decode().splitlines())
