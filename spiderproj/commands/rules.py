"""``scrapy rules``: what a crawl has learned about its URLs, and the user's word on it."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from spiderproj.display import one_line
from spiderproj.errors import ArgumentError
from spiderproj.files import Lock, json_line
from spiderproj.files.failures import failure
from spiderproj.learning import Pin, Rule
from spiderproj.store import Database
from spiderproj.store.rulebook import Rulebook
from spiderproj.stored import folder_of, opened, say, status_of

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

_ACTIONS = ("pin", "forbid", "drop", "release")
_LENGTH = 300  # characters of a template or host


class Command(ScrapyCommand):
    """List the rules of a stored crawl, or change one."""

    requires_crawler_process = False
    default_settings: ClassVar = {"LOG_ENABLED": False}

    def syntax(self) -> str:
        """Return what follows the command's name."""
        return "[options] DIR"

    def short_desc(self) -> str:
        """Return what the command does, for the list of commands."""
        return "List and change what a crawl has learned about URLs that are the same page"

    def long_desc(self) -> str:
        """Return what the command does."""
        return (
            "List the rules that unique=strict or unique=learn has learned in DIR, the output folder of a crawl, with "
            "their evidence; or change one by its number. A URL that was skipped by a rule which is forbidden or "
            "dropped is fetched when the crawl is run again."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Take the changes beside Scrapy's own options."""
        super().add_options(parser)
        parser.add_argument("--pin", type=int, metavar="N", help="rule N holds, whatever the evidence")
        parser.add_argument("--forbid", type=int, metavar="N", help="rule N never holds; fetch what it skipped")
        parser.add_argument("--release", type=int, metavar="N", help="end the pin or the ban of rule N")
        parser.add_argument("--drop", type=int, metavar="N", help="forget rule N's evidence; fetch what it skipped")
        parser.add_argument("--json", action="store_true", help="print a line of JSON for each rule")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print the rules; status 2 for a wrong argument, 3 when it cannot be written, 4 while a crawl runs in DIR."""
        changes = [(name, getattr(opts, name)) for name in _ACTIONS if getattr(opts, name) is not None]
        if len(changes) > 1:
            raise UsageError("one change at a time", print_help=False)
        self.exitcode = status_of(lambda: self._run(folder_of(args, 1, "the output folder of a crawl"), changes, opts))

    def _run(self, folder: Path, changes: list[tuple[str, int]], opts: argparse.Namespace) -> None:
        for name, number in changes:
            _change(folder, name, number)
        with opened(folder) as database:
            rules = Rulebook(database, strict=False).rules()
            hosts = dict(database.execute("SELECT id, key FROM hosts").fetchall())
        say(b"".join(json_line(_as_json(rule, hosts)) for rule in rules) if opts.json else _as_text(rules, hosts))


def _change(folder: Path, action: str, number: int) -> None:
    """Change one rule; what it has skipped is queued by the next run."""
    opened(folder).close()  # says what is wrong with it
    with ExitStack() as stack:
        try:
            stack.enter_context(Lock(folder))
        except OSError as error:
            raise failure(error, folder) from error
        database = stack.enter_context(Database(folder / "crawl.db"))
        book = Rulebook(database, strict=False)
        if database.scalar("SELECT 1 FROM rules WHERE id = ?", (number,)) is None:
            raise ArgumentError(f"--{action}", number, f"the number of a rule, as `scrapy rules {folder}` lists them")
        rule = book.rule(number)
        if action == "drop":
            book.forget(rule)
        else:
            rule.pin = {"pin": Pin.KEEP, "forbid": Pin.FORBID, "release": None}[action]
            if rule.is_off:
                rule.skipped -= book.recall(rule.id)
            book.save(rule)
        database.commit()


def _as_text(rules: list[Rule], hosts: dict[int, str]) -> str:
    if not rules:
        return "no rules: the crawl had unique=off or unique=exact, or no URL that differs in what may not matter\n"
    return "".join(_line(rule, hosts) for rule in rules if rule.has_evidence)


def _line(rule: Rule, hosts: dict[int, str]) -> str:
    where = one_line(f"{hosts.get(rule.host, '')}{rule.where}", _LENGTH)
    said = f"{rule.trials - rule.failures} of {rule.trials} trials on {rule.bases} pages the same"
    wrong = f"{rule.audits} audits, {rule.audit_failures} wrong"
    what = one_line(str(rule.rewrite), _LENGTH)
    return f"{rule.id}  {where}  {what}  {rule.standing}: {said}; {rule.skipped} skipped, {wrong}\n"


def _as_json(rule: Rule, hosts: dict[int, str]) -> dict[str, object]:
    return {
        "id": rule.id,
        "host": hosts.get(rule.host),
        "template": rule.template,
        "rewrite": rule.rewrite.kind,
        "parameters": list(rule.rewrite.group),
        "state": rule.state,
        "pin": rule.pin,
        "trials": rule.trials,
        "failures": rule.failures,
        "bases": rule.bases,
        "skipped": rule.skipped,
        "audits": rule.audits,
        "audit_failures": rule.audit_failures,
        "most_wrong": rule.most_wrong,
    }
