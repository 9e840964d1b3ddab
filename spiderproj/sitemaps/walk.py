"""Which sitemaps to read, in what order, and when to stop; what is read, and how, is not known here."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from spiderproj.urls import RefusedURLError, canonical

MAX_LEVEL = 3
"""Deepest sitemap read: one that robots.txt names is on level 1, what an index there lists on level 2."""

MAX_FILES = 500
"""Most sitemaps read in one crawl."""

MAX_URLS = 1_000_000
"""Most pages taken from all sitemaps of one crawl."""


def candidates(origin: str, robots_sitemaps: Iterable[str]) -> Iterator[str]:
    """Yield the sitemap URLs to try for *origin*, each once: the Sitemap lines of its robots.txt, then /sitemap.xml.

    Lines are resolved against robots.txt, though RFC 9309 knows only absolute ones; those that cannot be fetched
    are passed over. /sitemap.xml is tried also where robots.txt names others: it is often the fuller one.
    """
    robots = f"{origin}/robots.txt"
    seen = set()
    for text in (*robots_sitemaps, f"{origin}/sitemap.xml"):
        try:
            url = canonical(text, robots)
        except RefusedURLError:
            continue
        if url not in seen:
            seen.add(url)
            yield url


class Step(NamedTuple):
    """A sitemap to read, and its level."""

    url: str
    level: int


class SitemapWalk:
    """The sitemaps of one crawl still to be read; each is read once, by the address asked for and the final one."""

    def __init__(self) -> None:
        self.problems: list[str] = []  # which limits were reached, each once
        self._known: set[str] = set()
        self._waiting: deque[Step] = deque()
        self._urls_left = MAX_URLS

    def offer(self, urls: Iterable[str], level: int = 1) -> int:
        """Queue those of the canonical *urls* that are new and within the limits; return how many."""
        before = len(self._waiting)
        for url in urls:
            if url in self._known:
                continue
            if level > MAX_LEVEL:
                self._problem(f"sitemaps over {MAX_LEVEL} levels deep are not read")
                break
            if len(self._known) >= MAX_FILES:
                self._problem(f"only {MAX_FILES} sitemaps are read")
                break
            self._known.add(url)
            self._waiting.append(Step(url, level))
        return len(self._waiting) - before

    def take(self) -> Step | None:
        """Return the next sitemap to read, None when there is none; what it lists is offered one level deeper."""
        return self._waiting.popleft() if self._waiting and self._urls_left else None

    def arrive(self, requested: str, final: str) -> bool:
        """Return whether the body at *final*, where *requested* led, must be read: False when it was or will be."""
        if final == requested:
            return True
        is_new = final not in self._known
        self._known.add(final)
        return is_new

    def admit(self, count: int) -> int:
        """Return how many of *count* pages that a sitemap lists may still be taken, and count them."""
        admitted = min(count, self._urls_left)
        self._urls_left -= admitted
        if admitted < count:
            self._problem(f"only {MAX_URLS} URLs are taken from sitemaps")
        return admitted

    def _problem(self, text: str) -> None:
        if text not in self.problems:
            self.problems.append(text)
