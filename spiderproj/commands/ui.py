"""``scrapy ui``: the local web page to survey, choose, run, watch and look."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from spiderproj.errors import ArgumentError, OutputError
from spiderproj.stored import completed, say, status_of

if TYPE_CHECKING:
    import argparse

_CRAWLS: Final = "crawls"
_PORT: Final = 8020
_SHORTEST: Final = 12  # characters of a password


class Command(ScrapyCommand):
    """Serve the page until Ctrl-C; crawls that were started on it go on."""

    requires_crawler_process = False
    default_settings: ClassVar = {"LOG_ENABLED": False}

    def syntax(self) -> str:
        """Return what follows the command's name."""
        return "[options] [DIR]"

    def short_desc(self) -> str:
        """Return what the command does, for the list of commands."""
        return "Serve a local page to survey, choose, run and watch crawls, and to look at what they brought"

    def long_desc(self) -> str:
        """Return what the command does."""
        return (
            f"Serve a page about the crawl in DIR, or about those below it (default: ./{_CRAWLS}), on this machine "
            "only, and print its address. Docs: docs/ui.md."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Take where to listen, who may come in and which Scrapyds there are beside Scrapy's own options."""
        super().add_options(parser)
        add = parser.add_argument
        many: dict[str, Any] = {"action": "append", "default": []}
        add("--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1)")
        ports = f"port (default: {_PORT}); the next one serves the pages of the copies; 0: any two"
        add("--port", type=int, default=_PORT, help=ports)
        add("--name", **many, help="a name that browsers reach it by, with another --host (may be repeated)")
        add("--password-file", metavar="FILE", help="password, needed with another --host")
        add("--scrapyd", **many, metavar="URL", help="a Scrapyd to run crawls on (may be repeated)")
        add("--netrc", metavar="FILE", help="accounts of the Scrapyds (default: .scrapyd/netrc, ~/.netrc)")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Serve; status 2 for a wrong argument, 3 when the port is taken."""
        if len(args) > 1:
            raise UsageError("give one folder, of a crawl or with crawls in it", print_help=False)
        self.exitcode = status_of(lambda: self._serve(args[0] if args else None, opts))

    def _serve(self, folder: str | None, opts: argparse.Namespace) -> None:
        from spiderproj.ui.copies import Copies  # noqa: PLC0415 - other commands need no server
        from spiderproj.ui.scrapyd import Scrapyd, default_accounts  # noqa: PLC0415
        from spiderproj.ui.service import Place, Service  # noqa: PLC0415

        place = Place(_address(opts.host), _port(opts.port), tuple(opts.name), _password(opts.password_file))
        place.check()
        accounts = Path(opts.netrc) if opts.netrc else default_accounts()
        scrapyds = [Scrapyd.at(url, accounts) for url in opts.scrapyd]
        service = Service(Copies.at(_root(folder)), completed(self.settings), scrapyds, place)
        try:
            address = service.listen()
        except OSError as error:
            raise OutputError(f"port {opts.port} of {opts.host}: {error}; give another --port") from error
        say(f"Open {address}\nCtrl-C ends the page; crawls go on.\n")
        service.run()


def _root(name: str | None) -> Path:
    path = Path(name if name is not None else _CRAWLS)
    if name is None or path.is_dir():
        return path
    raise ArgumentError("DIR", name, "the folder of a crawl, or one with crawls in it")


def _address(text: str) -> str:
    try:
        return str(ipaddress.ip_address(text))
    except ValueError as error:
        raise ArgumentError("--host", text, "an IP address to listen on, such as 127.0.0.1") from error


def _port(number: int) -> int:
    if not 0 <= number < 65_535:
        raise ArgumentError("--port", number, "a port below 65535, since the next one is used too; 0: any two")
    return number


def _password(name: str | None) -> str:
    """Return the password in the file *name*, "" without one."""
    if name is None:
        return ""
    try:
        text = Path(name).read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        raise ArgumentError("--password-file", name, f"a file with a password, but: {error}") from error
    if len(text) < _SHORTEST or len(text) > 200:
        raise ArgumentError("--password-file", name, f"a password of {_SHORTEST} to 200 characters in it")
    return text
