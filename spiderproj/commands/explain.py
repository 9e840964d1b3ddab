"""``scrapy explain``: why a URL was, or was not, fetched."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from scrapy.commands import ScrapyCommand

from spiderproj import explanation
from spiderproj.configuration import build_scope
from spiderproj.files import json_line
from spiderproj.stored import completed, folder_of, opened, options_of, say, status_of

if TYPE_CHECKING:
    import argparse


class Command(ScrapyCommand):
    """Explain one URL of a stored crawl; nothing is changed and nothing is fetched."""

    requires_crawler_process = False
    default_settings: ClassVar = {"LOG_ENABLED": False}

    def syntax(self) -> str:
        """Return what follows the command's name."""
        return "[options] DIR URL"

    def short_desc(self) -> str:
        """Return what the command does, for the list of commands."""
        return "Why a URL was, or was not, fetched by a stored crawl"

    def long_desc(self) -> str:
        """Return what the command does."""
        return (
            "Say what became of URL in the crawl whose output folder is DIR: every rule in the order of asking, the "
            "one that decided, the pages that link to it, and its fetches."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Take ``--json`` beside Scrapy's own options."""
        super().add_options(parser)
        parser.add_argument("--json", action="store_true", help="print one line of JSON")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print the explanation; status 2 for a wrong folder, 8 for a damaged store, 0 otherwise."""
        self.exitcode = status_of(lambda: self._explain(args, as_json=opts.json))

    def _explain(self, args: list[str], *, as_json: bool) -> None:
        folder = folder_of(args, 2, "the output folder of a crawl and a URL")
        settings = completed(self.settings)
        with opened(folder) as database:
            options = options_of(database)
            token = settings.get("ROBOTSTXT_USER_AGENT") if settings.getbool("ROBOTSTXT_OBEY") else None
            inquiry = explanation.Inquiry(database, options, build_scope(options, settings), token)
            with database.reading():
                told = inquiry.explain(args[1])
        say(json_line(explanation.as_values(told)) if as_json else explanation.as_text(told))
