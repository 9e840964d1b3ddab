"""What spiders yield: one Capture for each answer (or refusal), and Link items for feeds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from spiderproj.models import CrawlURL, Decision, Link, ResourceType

if TYPE_CHECKING:
    from spiderproj.files import Spool
    from spiderproj.store.changes import Comparison


@dataclass(slots=True, kw_only=True)
class Rendering:
    """What drawing a page in a browser came to."""

    sign: str | None  # why it looks drawn by script, None: it does not
    failure: str | None = None  # why it stands as received, None: it was drawn
    html: bytes = b""  # as drawn, in UTF-8
    targets: list[str] = field(default_factory=list)  # where its scripts wanted to go


@dataclass(slots=True, kw_only=True)
class Capture:
    """One fetch of one URL, on its way to the disk and the store.

    A fetch that ended without an answer has status 0 and a ``problem``; one that was not made has a ``refusal`` or,
    when it only has to wait, ``wait_until`` (POSIX seconds).
    """

    url: CrawlURL
    fetched_at: float
    seconds: float = 0.0
    status: int = 0
    content_type: str | None = None
    type: ResourceType | None = None
    media_type: str | None = None
    body: bytes = b""
    spool: Spool | None = None
    links: list[Link] = field(default_factory=list)
    title: str | None = None
    final_url: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    problem: str | None = None  # kind of failure, or what is not whole about the answer: "timeout", "dataloss" ...
    retry: bool = False  # the failure may pass: try again while tries are left
    refusal: Decision | None = None
    wait_until: float | None = None
    digest: bytes = b""
    content: int | None = None
    path: str | None = None
    duplicate_of: str | None = None
    rendering: Rendering | None = None
    comparison: Comparison | None = None  # with what was stored, on a revisit

    @property
    def size(self) -> int:
        """Bytes of the body after content decoding."""
        return self.spool.size if self.spool is not None else len(self.body)

    @property
    def is_good(self) -> bool:
        """Whether this is a whole answer worth keeping."""
        return 200 <= self.status < 300 and self.problem is None and self.refusal is None and self.wait_until is None

    @property
    def is_unchanged(self) -> bool:
        """Whether the server says that the stored body still stands."""
        return self.status == 304 and self.problem is None


@dataclass(slots=True, kw_only=True)
class LinkItem:
    """A line of ``links.jsonl``, as feeds (``-O``) get it."""

    source: str
    target: str
    text: str
    tag: str
    attribute: str
    rel: str
    depth: int
    level: str
    type: str | None
    decision: str
    reason: str | None
