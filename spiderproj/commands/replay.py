"""``scrapy replay``: the same crawl under other arguments, answered from the store."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from scrapy.commands import ScrapyCommand

from spiderproj import replay
from spiderproj.arguments import Sitemap
from spiderproj.configuration import check
from spiderproj.display import one_line
from spiderproj.errors import ArgumentError
from spiderproj.files import json_line
from spiderproj.store import Folder
from spiderproj.stored import completed, folder_of, opened, options_of, say, status_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from scrapy.settings import BaseSettings

    from spiderproj.arguments import CrawlOptions
    from spiderproj.replay import Changes, Comparison

_URL = 300  # characters
_NOTES = {
    "render": "what scripts would add, or no longer add, is not known: pages are not drawn by a replay",
    "robots": "the crawl has asked for no robots.txt, so what they refuse is not known",
    "unique": "what would be learned about the URLs, and skipped then, is not known",
    "sitemap": "of sitemaps only the URLs are known that no page had let in before",
}


class Command(ScrapyCommand):
    """Say what other arguments would change; nothing is fetched, and without ``--apply`` nothing is changed."""

    requires_crawler_process = False
    default_settings: ClassVar = {"LOG_ENABLED": False}

    def syntax(self) -> str:
        """Return what follows the command's name."""
        return "[options] DIR -a NAME=VALUE ..."

    def short_desc(self) -> str:
        """Return what the command does, for the list of commands."""
        return "What a stored crawl would have fetched under other arguments"

    def long_desc(self) -> str:
        """Return what the command does."""
        return (
            "Decide anew about all that the crawl in DIR has found, with some arguments of it changed: what would come "
            "in and what would go, by reason, level and type, with the first URLs of each. An argument without a value "
            "takes its default again."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Take the changed arguments, ``--apply``, ``--samples`` and ``--json`` beside Scrapy's own options."""
        super().add_options(parser)
        parser.add_argument("-a", dest="changes", action="append", default=[], metavar="NAME=VALUE",
                            help="set an argument of the spider (may be repeated)")  # fmt: skip
        parser.add_argument("--apply", action="store_true", help="queue what comes in for the next run")
        parser.add_argument("--samples", type=int, default=10, metavar="N", help="URLs shown of each (default: 10)")
        parser.add_argument("--json", action="store_true", help="print one line of JSON")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print what changes; status 2 for a wrong argument, 4 when a crawl runs that ``--apply`` would change."""
        self.exitcode = status_of(lambda: self._replay(args, opts))

    def _replay(self, args: list[str], opts: argparse.Namespace) -> None:
        folder = folder_of(args, 1, "the output folder of a crawl, and arguments with -a")
        if opts.samples < 0:
            raise ArgumentError("--samples", opts.samples, "a number of URLs, 0 or more")
        settings = completed(self.settings)
        with ExitStack() as stack:
            store = stack.enter_context(opened(folder))
            target = None
            if opts.apply:  # the lock first, then reading: nothing may change in between
                store.close()
                target = _locked(folder, settings, stack)
                store = target.database
            before = options_of(store)
            options = replay.changed(before, _pairs(opts.changes), Path.cwd())
            check(options, settings)
            place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="spiderproj-replay-")))
            job = replay.open_rehearsal(options, settings, place)
            stack.callback(job.close)
            token = settings.get("ROBOTSTXT_USER_AGENT") if settings.getbool("ROBOTSTXT_OBEY") else None
            answers = replay.Answers(store, token, lifted=replay.lifted(options, settings))
            replay.rehearse(job, answers, before.seeds)
            notes = [*_notes(before, options), *([_NOTES["robots"]] if answers.lacks_robots else [])]
            comparison = replay.compare(job.database, store.path, opts.samples)
            if target is not None:
                replay.apply(target, job.database.path, options)
        say(json_line(_values(comparison, notes, opts.apply)) if opts.json else _text(comparison, notes, opts.apply))


def _locked(folder: Path, settings: BaseSettings, stack: ExitStack) -> Folder:
    """Return the crawl's folder, locked, open and as its last commit left it."""
    target = Folder(
        folder, fsync=settings.getbool("SPIDERPROJ_FSYNC"), reserve=settings.getint("SPIDERPROJ_DISK_RESERVE")
    )
    stack.callback(target.close)
    target.recover()
    target.commit()
    return target


def _pairs(given: list[str]) -> dict[str, str]:
    """Return the arguments of ``-a`` by name."""
    pairs = {}
    for text in given:
        name, sign, value = text.partition("=")
        if not sign:
            raise ArgumentError("-a", text, "NAME=VALUE, such as depth=3")
        pairs[name] = value
    return pairs


def _notes(before: CrawlOptions, after: CrawlOptions) -> Iterator[str]:
    """Yield what the store cannot answer for."""
    if before.render is not after.render:
        yield _NOTES["render"]
    if replay.learns(after) and not replay.learns(before):
        yield _NOTES["unique"]
    if after.sitemap is not Sitemap.OFF:
        yield _NOTES["sitemap"]


def _values(found: Comparison, notes: list[str], is_applied: bool) -> dict[str, object]:
    """Return the answer as values that JSON can say."""
    sides = {"comes_in": found.comes_in, "goes": found.goes}
    return {
        **{
            name: {
                "total": side.total,
                "by_reason": side.by_reason,
                "by_level": side.by_level,
                "by_type": side.by_type,
                "samples": [sample._asdict() for sample in side.samples],
            }
            for name, side in sides.items()
        },
        "stays": found.stays,
        "notes": notes,
        "applied": is_applied,
    }


def _text(found: Comparison, notes: list[str], is_applied: bool) -> str:
    """Return the answer as lines for a person."""
    lines = [f"URLs that stay: {found.stays:,}"]
    lines += _side("URLs that come in", "they were out by", found.comes_in)
    if found.comes_in.total:
        lines.append("  What they link to is not known yet.")
        is_open = replay.UNLINKED in found.goes.by_reason
        lines += ["  That may be some of what goes because nothing links to it."] if is_open else []
    lines += _side("URLs that go", "they are out by", found.goes)
    lines += [f"Note: {note}." for note in notes]
    if is_applied:
        lines.append(
            "Queued: crawl with these arguments and this folder to fetch what comes in. What goes stays stored."
        )
    return "\n".join([*lines, ""])


def _side(title: str, why: str, changes: Changes) -> Iterator[str]:
    if not changes.total:
        yield f"{title}: 0"
        return
    yield f"{title}: {changes.total:,}; {why}: {_counts(changes.by_reason)}"
    yield f"  by level: {_counts(changes.by_level)}; by type: {_counts(changes.by_type)}"
    for sample in changes.samples:
        rule = f" ({one_line(sample.rule, _URL)})" if sample.rule else ""
        yield f"  {one_line(sample.url, _URL)}  {one_line(sample.reason, _URL)}{rule}"
    if changes.total > len(changes.samples):
        yield f"  and {changes.total - len(changes.samples):,} more"


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {one_line(name, _URL)}" for name, count in counts.items())
