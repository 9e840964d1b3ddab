"""The result of a survey, in the shape of ``survey.json`` (docs/survey.md): every field is a key there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from spiderproj.survey.ranges import Range
from spiderproj.survey.suspects import Suspect

VERSION = 1
MAX_ROWS = 500
"""Rows of a list in the result; the others are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What a crawl with some arguments would come to; ``command`` is a line for a shell."""

    name: str
    arguments: Mapping[str, str]
    command: str
    known: int  # URLs it would ask for that are known already
    read: int  # of these
    urls: Range
    pages: Range
    files: Range
    bytes: Range
    hours: Range
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """The known URLs of one level and type."""

    level: str
    type: str
    known: int
    read: int
    bytes: Range  # of all known; of another host's nothing is known


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyRow:
    """The known URLs of one family on the seed's host."""

    family: str
    level: str
    type: str
    known: int
    read: int
    mean_bytes: int | None
    example: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """Another host that is linked to."""

    host: str
    urls: int
    files: int  # those that look like no page
    pages: int  # read pages that link to it


@dataclass(frozen=True, slots=True, kw_only=True)
class Robots:
    """What robots.txt does to a crawl."""

    url: str
    status: int  # 0: no answer
    crawl_delay: float | None
    sitemaps: Sequence[str]
    refused: int  # known URLs that a crawl with mode=local would else ask for
    refused_by: Mapping[str, int]  # by rule


@dataclass(slots=True, kw_only=True)
class HeadHonesty:
    """HEAD beside GET on the same URLs."""

    asked: int = 0
    same: int = 0
    failed: int = 0  # no answer, or an error where GET has none
    differences: list[str] = field(default_factory=list)  # "URL: what"


@dataclass(slots=True, kw_only=True)
class Validators:
    """Whether a revisit can ask for changes only."""

    pages: int = 0  # read whole
    etag: int = 0
    last_modified: int = 0
    asked: int = 0  # conditional requests, moments after the page was read
    unchanged: int = 0  # answered 304
    etags_changed: int = 0  # answered 200 with another ETag: it says nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class LastModified:
    """``lastmod`` of sitemaps beside the header Last-Modified."""

    listed: int  # entries with a lastmod
    times: int  # different ones: a single one says when the sitemap was made
    compared: int
    same: int  # within a day
    later: int  # lastmod is later than the header
    earlier: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SitemapFile:
    """A sitemap that was read."""

    url: str
    kind: str
    entries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sitemaps:
    """What the sitemaps list."""

    files: Sequence[SitemapFile]
    unread: int  # that an index lists
    urls: int
    linked: int  # of these, those that read pages link to
    unlisted: int  # known pages of the site that they do not list
    lastmod: LastModified


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """How fast the site was asked."""

    requests: Mapping[str, int]  # by method
    limit: int
    seconds: float
    seconds_per_request: float
    delay: float  # the least between two requests: the setting's, or Crawl-delay
    limited_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """All that a survey tells."""

    version: int
    seeds: Sequence[str]
    surveyed_at: float
    title: str
    rate: Rate
    choices: Sequence[Choice]
    matrix: Sequence[Cell]
    families: Sequence[FamilyRow]
    families_total: int
    hosts: Sequence[Host]
    hosts_total: int
    robots: Sequence[Robots]
    suspects: Sequence[Suspect]
    head: HeadHonesty
    validators: Validators
    sitemaps: Sitemaps
