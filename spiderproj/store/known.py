"""A bounded memory of URLs met lately, so that most links of a page need no query at all."""

from __future__ import annotations

from typing import NamedTuple

from spiderproj.models import Link

_GENERATION = 24_000  # two generations of about 350 B a URL: 17 MB at most


class Known:
    """What the store holds about a URL, as far as judging another link to it goes."""

    __slots__ = ("answered", "decision", "depth", "id", "level", "reason", "role", "settled", "type")

    def __init__(
        self, url_id: int, decision: str, reason: str | None, depth: int, level: str, resource_type: str | None,
        role: str, *, settled: bool, answered: bool = False,
    ) -> None:  # fmt: skip
        self.id = url_id
        self.decision = decision
        self.reason = reason
        self.depth = depth
        self.level = level
        self.type = resource_type
        self.role = role
        self.answered = answered  # its type is the word of a server
        self.settled = settled  # its verdict cannot be improved by another link


class LinkRow(NamedTuple):
    """A link and what was decided about its target, for ``links.jsonl``."""

    link: Link
    known: Known


class KnownURLs:
    """URL → Known, forgetting what was not asked for during the last two generations."""

    def __init__(self, generation: int = _GENERATION) -> None:
        self._size = generation
        self._young: dict[str, Known] = {}
        self._old: dict[str, Known] = {}

    def get(self, url: str) -> Known | None:
        """Return what is remembered about *url*, None when nothing is."""
        found = self._young.get(url)
        if found is None and (found := self._old.get(url)) is not None:
            self.put(url, found)
        return found

    def put(self, url: str, known: Known) -> None:
        """Remember *known*."""
        if len(self._young) >= self._size:
            self._old = self._young
            self._young = {}
        self._young[url] = known

    def forget(self, url: str) -> None:
        """Drop *url*, because its row has changed."""
        self._young.pop(url, None)
        self._old.pop(url, None)
