"""From the store of a survey's crawl to what it tells: the crawl is rehearsed under each choice of arguments.

What a choice would fetch of the known URLs is so decided by what decides in a crawl; only what nobody has seen is
guessed.
"""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import orjson
from scrapy.settings import BaseSettings

from spiderproj import replay
from spiderproj.arguments import CrawlOptions, parse_arguments
from spiderproj.configuration import build_scope
from spiderproj.models import Level, Link, LinkRole, ResourceType, Verdict
from spiderproj.sampling import HUBS
from spiderproj.scope import Source
from spiderproj.store import Database
from spiderproj.store.sampled import SampledURL, linked, sampled
from spiderproj.survey import End, Seen, estimate, family_of
from spiderproj.survey.records import Choice
from spiderproj.survey.suspects import Suspect

if TYPE_CHECKING:
    from spiderproj.probing import FileHead, Listed
    from spiderproj.survey import SurveyOptions
    from spiderproj.survey.records import Rate

LOCAL: Final = "local"
CHOICES: Final[Mapping[str, Mapping[str, str]]] = {
    LOCAL: {"mode": "local"},
    "directory": {"mode": "directory"},
    "files": {"mode": "files"},
    "all": {"mode": "all"},
}
SITEMAP: Final = {"mode": "local", "sitemap": "only"}
_ENDS = {"files": End.KNOWN, "all": End.OPEN}
_NOTES = {
    "files": "the files that the seed itself links to; of other hosts' files the size is not known",
    "all": "other hosts were not looked at: set a limit",
}
_SLOWER = (0.8, 1.0, 1.5)
"""How the time a request takes may be another in a crawl than in the survey."""
_BUSIER = (0.8, 1.0, 3.0)
"""The same where only this machine's processor limits it: others may use it too."""


class Rehearsed(NamedTuple):
    """The known URLs under some arguments."""

    options: CrawlOptions
    rows: list[SampledURL]
    links: Mapping[int, int]  # read pages that link to each, by id
    pages: int  # read, with links

    @property
    def wanted(self) -> list[SampledURL]:
        """What a crawl would ask for."""
        return [row for row in self.rows if row.verdict != Verdict.REFUSED]

    def may_want(self, row: SampledURL) -> bool:
        """Say whether what a URL looks like is wanted where it lies."""
        return row.type in self.options.select[Level(row.level)] - self.options.deny_types


class Field:
    """What the survey with *options* has seen, and how to look at it; ``files`` are the HEADs by URL."""

    def __init__(self, options: SurveyOptions, settings: BaseSettings, cwd: Path) -> None:
        self.folder = options.crawl.out
        self._options = options
        self._cwd = cwd
        self._settings = BaseSettings()
        self._settings.update(settings)
        self.files: Mapping[str, FileHead] = {}
        self.suspects: list[Suspect] = []

    def __enter__(self) -> Field:
        self.database = Database(self.folder / "crawl.db", read_only=True)
        return self

    def __exit__(self, *_: object) -> None:
        self.database.close()

    @cached_property
    def rows(self) -> dict[str, SampledURL]:
        """The URLs that are known."""
        return {row.url: row for row in sampled(self.database)}

    @property
    def title(self) -> str:
        """The title of the first seed's page, or where it leads; "" when it has none."""
        return next((row.title for row in self.rows.values() if row.title), "")

    @cached_property
    def _hubs(self) -> frozenset[str]:
        with self.database.reading():
            numbers = frozenset(orjson.loads(self.database.meta(HUBS) or "[]"))
        return frozenset(row.url for row in self.rows.values() if row.id in numbers)

    @cached_property
    def token(self) -> str | None:
        """The name for robots.txt, None when that is ignored."""
        return self._settings.get("ROBOTSTXT_USER_AGENT") if self._settings.getbool("ROBOTSTXT_OBEY") else None

    def options(self, arguments: Mapping[str, str]) -> CrawlOptions:
        """Return the options of a crawl with *arguments* beside those that were given."""
        return parse_arguments({**self._options.given, **arguments}, self._cwd)

    def rehearsed(self, arguments: Mapping[str, str]) -> Rehearsed:
        """Return what a crawl with *arguments* would make of the known URLs."""
        options = self.options(arguments)
        with ExitStack() as stack:
            place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="spiderproj-survey-")))
            job = replay.open_rehearsal(options, self._settings, place)
            stack.callback(job.close)
            replay.rehearse(job, replay.Answers(self.database, self.token), options.seeds)
            links, pages = linked(job.database)
            return Rehearsed(options, sampled(job.database), links, pages)

    def seen(self, found: Rehearsed) -> tuple[list[Seen], int]:
        """Return what is wanted as estimates take it, without the suspects, and how many URLs of these there are.

        What looks like a file and is not wanted as such costs a HEAD at most, unless others of its family were pages.
        """
        shunned = {one.family for one in self.suspects}
        seen = [(row, self._seen(row, found.links.get(row.id, 0))) for row in found.wanted]
        pages = {one.family for _, one in seen if one.is_whole}
        kept = [one for row, one in seen if one.is_read or one.family in pages or found.may_want(row)]
        rest = [one for one in kept if one.family not in shunned]
        return rest, len(kept) - len(rest)

    def seen_all(self, rows: list[SampledURL]) -> list[Seen]:
        """Return rows of the survey's own store as estimates take them, whatever they are."""
        return [self._seen(row, 0) for row in rows]

    def choices(self, listed: Listed, rate: Rate) -> Iterator[Choice]:
        """Yield what each choice comes to at this *rate*."""
        for name, arguments in CHOICES.items():
            found = self.rehearsed(arguments)
            seen, shunned = self.seen(found)
            note = _NOTES.get(name, "")
            if shunned:
                note = f"without {shunned:,} known URLs of suspected traps{'; ' if note else ''}{note}"
            yield self._choice(name, arguments, seen, found.pages, _ENDS.get(name, End.GUESSED), rate, note)
        if listed.entries:
            end = End.OPEN if listed.unread or listed.urls > len(listed.entries) else End.KNOWN
            note = f"{listed.unread:,} sitemaps were not read" if listed.unread else ""
            yield self._choice("sitemap", SITEMAP, self._listed(listed), 0, end, rate, note)

    def _choice(
        self, name: str, arguments: Mapping[str, str], seen: list[Seen], pages: int, end: End, rate: Rate, note: str
    ) -> Choice:
        found = estimate(seen, pages, end)
        factors = _SLOWER if rate.delay else _BUSIER
        hours = found.urls.times(*(rate.seconds_per_request * factor / 3600 for factor in factors))
        return Choice(
            name=name, arguments=arguments, command=self._command(arguments), known=len(seen),
            read=sum(one.is_read for one in seen), urls=found.urls, pages=found.pages, files=found.files,
            bytes=found.bytes, hours=hours, note=note,
        )  # fmt: skip

    def _command(self, arguments: Mapping[str, str]) -> str:
        pairs = {**self._options.given, **arguments}
        return " ".join(["scrapy crawl site", *(f"-a {shlex.quote(f'{name}={text}')}" for name, text in pairs.items())])

    def _seen(self, row: SampledURL, links: int) -> Seen:
        """Return a row of a rehearsal with what the survey knows of its URL."""
        known, head = self.rows.get(row.url), self.files.get(row.url)
        family = str(family_of(row.url))
        if head is not None:
            return Seen(family, row.type, links, is_read=head.size is not None or not head.is_whole,
                        is_whole=head.is_whole, is_new=head.is_whole, size=head.size)  # fmt: skip
        if known is None or known.fetch is None:
            return Seen(family, row.type, links, is_read=False)
        is_new = known.is_whole and not known.is_duplicate
        return Seen(family, known.type, links, is_read=True, is_drawn=known.url not in self._hubs,
                    is_whole=known.is_whole, is_new=is_new, size=known.size)  # fmt: skip

    def _listed(self, listed: Listed) -> list[Seen]:
        """Return the entries of the sitemaps that a crawl of these only would ask for."""
        scope = build_scope(self.options(SITEMAP), self._settings)
        source, robots = Source(None, "", 0, LinkRole.NAVIGATION), replay.Answers(self.database, self.token)
        found = []
        for url in listed.entries:
            judged = scope.judge(Link(url, "", "sitemap", "loc", "", LinkRole.NAVIGATION, None), source)
            if judged.decision.verdict is Verdict.QUEUED and robots.robots_refusal(url) is None:
                kind = judged.predicted or ResourceType.HTML
                found.append(self._seen(_unread(url, judged.level, kind), 0))
        return found


def _unread(url: str, level: Level, kind: ResourceType) -> SampledURL:
    """Return the row that a URL would have that no page links to."""
    return SampledURL(0, url, level, kind, Verdict.QUEUED, None, "", None, None, None, None, has_error=False,
                      is_redirect=False, is_duplicate=None, etag=None, last_modified=None, content_type=None,
                      title=None, path=None)  # fmt: skip
