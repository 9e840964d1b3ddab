"""How much a choice of arguments would take, at once: the crawl's own rules asked of an even sample of a stored crawl.

Each URL of the sample is judged by ``Scope.judge`` as the link that led to it first, and so are the pages on the way
there. What else links to it is not asked, so this is an estimate; ``scrapy replay`` tells exactly.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from spiderproj.models import Link, LinkRole, Reason, ResourceType, Verdict
from spiderproj.scope import Source

if TYPE_CHECKING:
    from spiderproj.scope import Scope
    from spiderproj.ui.snapshot import Snapshot

SAMPLE: Final = 4000
"""URLs that are judged, with the pages on the way to them; up to this many a crawl is judged whole."""

_FIXED: Final = frozenset({Reason.INVALID, Reason.SCHEME, Reason.TOO_LONG, Reason.ROBOTS, Reason.PRIVATE_ADDRESS,
                           Reason.NOFOLLOW, Reason.ERROR, Reason.TRAP, Reason.DUPLICATE, Reason.LEARNED})  # fmt: skip
"""Refusals that no argument here changes."""
_UNFOLLOWED: Final = ("a form is", "a hint is")
_SHOWN: Final = frozenset({ResourceType.IMAGE, ResourceType.STYLE, ResourceType.SCRIPT, ResourceType.FONT})
_ROWS: Final = """
SELECT id, via, url, depth, role, near, hops, hint, type, answered, text, verdict, reason, rule, size, level FROM rows
"""
_ROW: Final = f"{_ROWS} WHERE id = ?"
_EVEN: Final = f"{_ROWS} WHERE id % ? = ? ORDER BY id LIMIT ?"
_ANCESTORS: Final = 32


class Known(NamedTuple):
    """A URL of the sample, as far as judging it goes."""

    id: int
    via: int | None
    link: Link
    source: Source
    type: ResourceType | None
    answered: ResourceType | None
    outside: str  # the reason why it is out whatever the arguments say, "" when they matter
    level: str
    size: int | None


class Sample:
    """URLs of a *snapshot*, evenly spread over the order of their discovery, and the pages on the way to them."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.total = snapshot.total
        step = max(1, -(-snapshot.total // SAMPLE))
        self._rows: dict[int, Any] = {}
        rows = snapshot.rows(_EVEN, (step, 1 % step, SAMPLE))
        self.ids = [row[0] for row in rows]
        for row in rows:
            self._rows[row[0]] = row
            self._take_ancestors(snapshot, row[1])
        self.known = {number: self._known(row) for number, row in sorted(self._rows.items())}

    @property
    def is_whole(self) -> bool:
        """Whether every URL is in it."""
        return len(self.ids) == self.total

    def _take_ancestors(self, snapshot: Snapshot, via: int | None) -> None:
        for _ in range(_ANCESTORS):
            if via is None or via in self._rows:
                return
            rows = snapshot.rows(_ROW, (via,))
            if not rows:
                return
            self._rows[via] = rows[0]
            via = rows[0][1]

    def _known(self, row: Any) -> Known:  # noqa: ANN401 - a row of any types
        number, via, url, _, role, _, hops, hint, kind, answered, text, verdict, reason, rule, size, level = row
        parent = self._rows.get(via)
        source = Source(None, "", 0, LinkRole.NAVIGATION)
        if parent is not None:
            source = Source(parent[0], parent[2], parent[3], LinkRole(parent[4]), bool(parent[5]), parent[6])
        known = ResourceType(kind) if kind else None
        tag = "redirect" if hops else "sitemap" if via is None else "a"
        hinted = ResourceType(hint) if hint else None
        role = LinkRole.REQUISITE if hinted in _SHOWN else LinkRole(role)
        is_out = verdict == Verdict.REFUSED and (reason in _FIXED or rule.startswith(_UNFOLLOWED))
        outside = reason if is_out else ""
        link = Link(url, text, tag, "href", "", role, hinted)
        return Known(number, via, link, source, known, known if answered else None, outside, level, size)


def estimate(sample: Sample, scope: Scope, seeds: frozenset[str]) -> dict[str, Any]:
    """Return how many URLs and bytes *scope* would take of those that are known, by level and type, and what not."""
    reasons: dict[int, str] = {}
    for number, known in sample.known.items():
        reasons[number] = _reason(known, scope, seeds, reasons)
    scale = sample.total / len(sample.ids) if sample.ids else 0.0
    taken = [sample.known[number] for number in sample.ids if not reasons[number]]
    share = len(taken) / len(sample.ids) if sample.ids else 0.0
    error = 0.0 if sample.is_whole else 1.96 * math.sqrt(share * (1 - share) / len(sample.ids)) * sample.total
    return {
        "takes": round(len(taken) * scale),
        "error": round(error),
        "of": sample.total,
        "bytes": round(_mean_size(taken) * len(taken) * scale),
        "matrix": _scaled(Counter((known.level, known.type or "") for known in taken), scale),
        "refused": {reason: round(count * scale) for reason, count in
                    Counter(reasons[number] for number in sample.ids if reasons[number]).most_common()},
        "examples": list(_examples(taken)),
    }  # fmt: skip


def _reason(known: Known, scope: Scope, seeds: frozenset[str], reasons: dict[int, str]) -> str:
    """Return why *scope* leaves a URL out, "" when it takes it."""
    if known.link.target in seeds:
        return ""
    if known.outside:
        return known.outside
    if known.via is not None and reasons.get(known.via):
        return "not linked"
    judgement = scope.judge(known.link, known.source, known.answered)
    return judgement.decision.reason or ""


def _mean_size(taken: Sequence[Known]) -> float:
    sizes = [known.size for known in taken if known.size]
    return sum(sizes) / len(sizes) if sizes else 0.0


def _scaled(counts: Counter[tuple[str, str]], scale: float) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for (level, kind), count in counts.items():
        found.setdefault(level, {})[kind] = round(count * scale)
    return found


def _examples(taken: Sequence[Known]) -> Iterator[dict[str, str]]:
    for known in taken[:: max(1, len(taken) // 8)][:8]:
        yield {"url": known.link.target, "level": known.level, "type": known.type or ""}
