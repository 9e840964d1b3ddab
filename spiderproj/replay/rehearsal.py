"""A crawl in which the store of another answers instead of servers: the same job, ledger and rules, and no request.

Every decision is made by what decides in a crawl, in a folder of its own. A URL whose answer is not known stays queued.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import count, islice
from typing import TYPE_CHECKING

from spiderproj.arguments import Render, Sitemap, Unique
from spiderproj.items import Capture
from spiderproj.job import Job
from spiderproj.levels import moved_home
from spiderproj.models import CrawlURL, Decision, LinkRole, Reason, Verdict
from spiderproj.scope import Source
from spiderproj.store import PART, Outcome

if TYPE_CHECKING:
    from pathlib import Path

    from scrapy.settings import BaseSettings

    from spiderproj.arguments import CrawlOptions
    from spiderproj.replay.answers import Answer, Answers

_A_COMMIT = 1000  # URLs


def open_rehearsal(options: CrawlOptions, settings: BaseSettings, folder: Path) -> Job:
    """Return a job with the rules of *options* that keeps its decisions in *folder* and does nothing else.

    It learns nothing and sets nothing aside: what the crawl itself has found out is among the answers.
    """
    ours = settings.copy()
    off = {"SPIDERPROJ_DISK_RESERVE": 0, "SPIDERPROJ_FSYNC": False, "SPIDERPROJ_TRAPS": False}
    ours.setdict(off, priority="cmdline")
    plain = replace(options, out=folder, fresh=False, warc=False, mirror=False, render=Render.NEVER, login=None,
                    unique=Unique.EXACT)  # fmt: skip
    return Job(plain, ours)


def lifted(options: CrawlOptions, settings: BaseSettings) -> frozenset[Reason]:
    """Return the reasons for which a crawl with *options* lets in again what an earlier run has refused."""
    learned = frozenset() if learns(options) else frozenset({Reason.LEARNED})
    return learned if settings.getbool("SPIDERPROJ_TRAPS") else learned | {Reason.TRAP}


def learns(options: CrawlOptions) -> bool:
    """Return whether a crawl with *options* learns which URLs are the same page."""
    return options.unique in (Unique.STRICT, Unique.LEARN)


def rehearse(job: Job, answers: Answers, seeds_before: tuple[str, ...]) -> None:
    """Take *job* as far as the *answers* of a crawl from *seeds_before* go."""
    if job.options.sitemap is not Sitemap.OFF:
        listed = answers.listed((*seeds_before, *job.options.seeds))
        source = Source(None, "", 0, LinkRole.NAVIGATION)
        while part := list(islice(listed, PART)):
            job.decisions.decide(source, part)
    for number in count(1):
        url = job.frontier.lease(0.0, lambda _: 0.0)
        if url is None:
            break
        _answer(job, url, answers)
        if number % _A_COMMIT == 0:
            job.commit()
    job.commit()


def _answer(job: Job, url: CrawlURL, answers: Answers) -> None:
    """Do with *url* what the crawl does with its answer; nothing when that is not known."""
    refusal, answer = answers.robots_refusal(url.url), answers.of(url.url)
    if refusal is None and answer is not None:
        refusal = answer.refusal or _refusal(job, url, answer)
    if refusal is not None:
        job.ledger.refuse(url, refusal, answer.answered if answer is not None else None)
        job.ended(Capture(url=url, fetched_at=0.0))
    elif answer is not None and answer.status is not None and (url.near or not answer.has_unread_links):
        _record(job, url, answer, answers)


def _refusal(job: Job, url: CrawlURL, answer: Answer) -> Decision | None:
    """Return the refusal by what the *answer* is: its type, and its size once there was a body."""
    if answer.answered is None or not (answer.is_good or answer.status is None):
        return None
    if answer.answered not in job.scope.wanted(url):
        rule = f"answer: {answer.answered} is not wanted at level {url.level}"
        return Decision(Verdict.REFUSED, Reason.TYPE, rule)
    if Source.of(url).is_seed:
        return None
    return job.scope.judge_size(url, answer.answered, answer.size)


def _record(job: Job, url: CrawlURL, answer: Answer, answers: Answers) -> None:
    if Source.of(url).is_seed and answer.final_url is not None and (home := moved_home(url.url, answer.final_url)):
        job.move_home(home)
    links = [] if url.near and answer.is_good else answers.links(answer)
    outcome = Outcome(
        status=answer.status or 0,
        fetched_at=0.0,
        type=answer.answered,
        size=answer.size or 0,
        final_url=answer.final_url,
        error=answer.error,
    )
    job.ledger.record(url, outcome, links)
