"""What happens beside the frontier at the start of a crawl: signing in, and reading sitemaps.

Sitemaps are discovery documents: read anew by every run, never stopped by what is already known.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import AsyncGenerator, Sequence
from typing import TYPE_CHECKING

from scrapy import Request
from scrapy.http.request import NO_CALLBACK

from spiderproj import login as signing
from spiderproj import robots, sitemaps, urls
from spiderproj.errors import ArgumentError
from spiderproj.mediatype import parse
from spiderproj.models import Link, LinkRole
from spiderproj.scope import Source

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from spiderproj.job import Job

logger = logging.getLogger(__name__)

_SITEMAP_BYTES = 50 * 1024 * 1024  # sitemaps.org: at most 50 MB uncompressed
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MAX_REDIRECTS = 5


async def sign_in(crawler: Crawler, job: Job) -> None:
    """Post the login form, when there is one; ArgumentError when the site does not let us in."""
    login = job.login
    if login is None:
        return
    try:
        await _sign_in(crawler, job, login)
    finally:
        job.is_ready = True


async def _sign_in(crawler: Crawler, job: Job, login: signing.Login) -> None:
    for problem in login.problems:
        logger.warning("login: %s", problem)
    if login.form is None:
        return
    form = await _form(crawler, login.form)
    kind, body = signing.encode(form, login.form, secrets.token_hex(16))
    headers = {"Content-Type": kind}
    posting = Request(form.action, NO_CALLBACK, "POST", headers, body, meta=_meta(form.action))
    response = await _download(crawler, posting)
    text = response.body.decode("utf-8", "replace") if response is not None else ""
    if response is None or not signing.succeeded(login.form, response.status, text):
        status = "no answer" if response is None else f"status {response.status}"
        raise ArgumentError(
            "login", str(job.options.login), f"a form that signs in at {form.action} (it gave {status})"
        )
    logger.info("signed in at %s", urls.origin(form.action))


async def read_sitemaps(crawler: Crawler, job: Job) -> None:
    """Read the sitemaps of the seeds' origins and queue what they list."""
    if job.options.sitemap == "off":
        return
    walk = sitemaps.SitemapWalk()
    async for url, found in sitemap_files(crawler, job, walk):
        entries = found.entries[: walk.admit(len(found.entries))]
        listed = [Link(entry.loc, "", "sitemap", "loc", "", LinkRole.NAVIGATION, None) for entry in entries]
        await _queue(job, Source(None, url, 0, LinkRole.NAVIGATION), listed)
    for problem in walk.problems:
        logger.warning("%s", problem)


async def sitemap_files(
    crawler: Crawler, job: Job, walk: sitemaps.SitemapWalk
) -> AsyncGenerator[tuple[str, sitemaps.Sitemap]]:
    """Yield the sitemaps of the seeds' origins by their URLs, in the order of the *walk*, while the crawl goes on."""
    for origin in dict.fromkeys(urls.origin(seed) for seed in job.options.seeds):
        walk.offer(sitemaps.candidates(origin, await _named_in_robots(crawler, origin)))
    while not job.is_sealed and (step := walk.take()) is not None:
        response = await _follow(crawler, step.url)
        if response is None or response.status != 200 or not walk.arrive(step.url, response.url):
            continue
        found = await asyncio.to_thread(sitemaps.read, response.body, response.url)
        walk.offer(found.children, step.level + 1)
        for text, reason in found.problems[:20]:
            logger.info("sitemap %s: %r: %s", response.url, text, reason)
        yield response.url, found


async def _queue(job: Job, source: Source, listed: Sequence[Link]) -> None:
    """Judge what a sitemap lists, a part at a time, as long as the crawl goes on."""
    for _ in job.decisions.decide_in_parts(source, listed):
        await asyncio.sleep(0)
        if job.is_sealed:
            return


async def _form(crawler: Crawler, wanted: signing.FormLogin) -> signing.Form:
    if wanted.find is False:
        return signing.direct_form(wanted)
    response = await _follow(crawler, wanted.url)
    form = None
    if response is not None:
        charset = parse([value.decode("latin-1") for value in response.headers.getlist(b"Content-Type")]).charset
        form = signing.find_form(response.body, response.url, charset, wanted.find)
    if form is None:
        raise ArgumentError("login", wanted.url, "a page with the form to fill (find)")
    return form


async def _named_in_robots(crawler: Crawler, origin: str) -> Sequence[str]:
    response = await _follow(crawler, f"{origin}/robots.txt")
    if response is None or response.status != 200:
        return ()
    return robots.parse(response.body, crawler.settings.get("ROBOTSTXT_USER_AGENT")).sitemaps


async def _follow(crawler: Crawler, url: str) -> Response | None:
    """Fetch *url*, following redirects; None when there is no answer in the end."""
    for _ in range(_MAX_REDIRECTS + 1):
        response = await _download(crawler, Request(url, callback=NO_CALLBACK, meta=_meta(url)))
        if response is None or response.status not in _REDIRECTS:
            return response
        location = response.headers.get(b"Location")
        try:
            url = urls.canonical(urls.from_header(location or b""), url)
        except urls.RefusedURLError:
            return None
    return None


async def _download(crawler: Crawler, request: Request) -> Response | None:
    try:
        return await crawler.engine.download_async(request)
    except Exception as error:  # noqa: BLE001 - what cannot be fetched is not there
        logger.info("no answer from %s: %s", request.url, error)
        return None


def _meta(url: str) -> dict[str, object]:
    host_key = urls.split(url).authority
    return {
        "download_slot": host_key,
        "verbatim_url": True,
        "download_maxsize": _SITEMAP_BYTES,
        "auxiliary": "source",
    }
