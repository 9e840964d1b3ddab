"""What a store knows of the answer to a request: robots.txt, the type, the body's size, the links, or nothing."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from spiderproj.models import Decision, Link, LinkRole, Reason, ResourceType, Verdict
from spiderproj.robots import Access, parse
from spiderproj.store.page_links import PageLinks
from spiderproj.store.robots import robots_state
from spiderproj.urls import origin, url_key

if TYPE_CHECKING:
    from collections.abc import Collection

    from spiderproj.robots import RobotsRules, RobotsState
    from spiderproj.store import Database

_ROW = """
SELECT u.url, u.verdict, u.reason, u.rule, u.type, u.answered, u.near, f.status, f.type, f.size, f.final_url, f.error,
    p.links
FROM urls AS u LEFT JOIN fetches AS f ON f.id = u.fetch AND u.verdict != 'refused'
    LEFT JOIN page_links AS p ON p.source = u.id WHERE u.key = ?
"""
_RULES_KEPT = 2000  # origins whose parsed rules stay in memory
_LASTING = frozenset({Reason.ERROR, Reason.PRIVATE_ADDRESS, Reason.LEARNED, Reason.TRAP})
_READ = frozenset({ResourceType.HTML, ResourceType.STYLE, ResourceType.IMAGE})
"""Types whose links a crawl may have read."""


class Answer(NamedTuple):
    """What came of a URL's fetch; everything None where no fetch is known."""

    refusal: Decision | None  # what other arguments do not change: no answer, a private address, a learned rule
    answered: ResourceType | None  # the type that a server has told
    status: int | None
    size: int | None
    final_url: str | None
    error: str | None
    was_near: bool  # its links were not read
    links: str | None  # a row of page_links

    @property
    def is_good(self) -> bool:
        """Whether a body came."""
        return self.status is not None and (200 <= self.status < 300 or self.status == 304)

    @property
    def has_unread_links(self) -> bool:
        """Whether it may have links that nobody has read."""
        return self.was_near and self.is_good and self.answered in _READ


class Answers:
    """The answers that a stored crawl has got; *token* is the name for robots.txt, None when that is ignored.

    What a crawl has found out about URLs while it went on, which are the same and which bring nothing new, holds for
    other arguments too; refusals for the reasons in *lifted* do not.
    """

    def __init__(self, database: Database, token: str | None, *, lifted: frozenset[Reason] = frozenset()) -> None:
        self._db = database
        self._token = token
        self._lasting = _LASTING - lifted
        self._links = PageLinks(database)
        self._robots = lru_cache(_RULES_KEPT)(self._read_robots)

    def of(self, url: str) -> Answer | None:
        """Return what came of *url*, None when the crawl has never heard of it."""
        for row in self._db.execute(_ROW, (url_key(url),)).fetchall():
            if row[0] == url:
                with self._db.reading():
                    return _answer(self._lasting, *row[1:])
        return None

    def links(self, answer: Answer) -> list[Link]:
        """Return the links of the page, or the redirect, that *answer* is."""
        if answer.links is None or (answer.status is not None and answer.status >= 400):
            return []
        return self._links.unpack(answer.links)

    def robots_refusal(self, url: str) -> Decision | None:
        """Return the refusal of *url* by the robots.txt that the store has, None when it has none that refuses."""
        if self._token is None:
            return None
        state, rules = self._robots(origin(url))
        if state.access is Access.DISALLOW:
            rule = f"unreachable: {state.cause}, so nothing may be fetched (RFC 9309, 2.3.1.4)"
        elif rules is None or rules.allows(url):
            return None
        else:
            rule = f"robots.txt: {rules.rule_for(url)}"
        return Decision(Verdict.REFUSED, Reason.ROBOTS, rule)

    @property
    def lacks_robots(self) -> bool:
        """Whether robots.txt is to be obeyed, and the crawl has never asked for one."""
        return self._token is not None and self._db.scalar("SELECT 1 FROM robots LIMIT 1") is None

    def listed(self, seeds: Collection[str]) -> Iterator[Link]:
        """Yield what is known of the sitemaps: the URLs that no page linked to first and that are no *seeds*."""
        known = frozenset(seeds)
        for (url,) in self._db.execute("SELECT url FROM urls WHERE via IS NULL ORDER BY id"):
            if url not in known:
                yield Link(url, "", "sitemap", "loc", "", LinkRole.NAVIGATION, None)

    def _read_robots(self, key: str) -> tuple[RobotsState, RobotsRules | None]:
        state = robots_state(self._db, key)
        if state.body is None or self._token is None:
            return state, None
        return state, parse(state.body, self._token)


def _answer(
    lasting: frozenset[Reason], verdict: str, reason: str | None, rule: str, told: str | None, is_told: int, near: int,
    status: int | None, type_: str | None, size: int | None, final_url: str | None, error: str | None,
    links: str | None,
) -> Answer:  # fmt: skip
    given = Reason(reason) if reason is not None else None
    refusal = Decision(Verdict.REFUSED, given, rule) if verdict == Verdict.REFUSED and given in lasting else None
    kind = type_ if status is not None else told if is_told else None
    return Answer(refusal, ResourceType(kind) if kind else None, status, size, final_url, error, bool(near), links)
