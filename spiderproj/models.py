"""The nouns of a crawl: plain records and enumerations, no behaviour beyond their own validity.

Records that are made dozens of times a page are NamedTuples (0.4 µs each); the others are frozen dataclasses
(1.5 µs). Times are POSIX seconds in UTC; sizes are bytes; digests are raw SHA-256 bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Level(StrEnum):
    """Where a URL lies, seen from the seed's directory (docs/arguments.md, "Levels")."""

    PAGE = "page"
    CHILD = "child"
    PARENT = "parent"
    HOST = "host"
    OTHER = "other"


class ResourceType(StrEnum):
    """What a resource is, by the media type of its response (docs/arguments.md, "Types")."""

    HTML = "html"
    IMAGE = "image"
    STYLE = "style"
    SCRIPT = "script"
    FONT = "font"
    DOCUMENT = "document"
    ARCHIVE = "archive"
    AUDIO = "audio"
    VIDEO = "video"
    DATA = "data"
    OTHER = "other"


class Verdict(StrEnum):
    """What became of a URL."""

    FETCHED = "fetched"
    QUEUED = "queued"
    REFUSED = "refused"


class Reason(StrEnum):
    """Why a URL was refused."""

    SCOPE = "scope"
    LEVEL = "level"
    TYPE = "type"
    DEPTH = "depth"
    DENY = "deny"
    ALLOW = "allow"
    FILTER = "filter"
    ROBOTS = "robots"
    NOFOLLOW = "nofollow"
    SCHEME = "scheme"
    INVALID = "invalid"
    PRIVATE_ADDRESS = "private-address"
    TOO_LONG = "too-long"
    DUPLICATE = "duplicate"
    LEARNED = "learned"
    TRAP = "trap"
    BUDGET = "budget"
    WINDOW = "window"
    ERROR = "error"


class Decision(NamedTuple):
    """The one current verdict on a URL, the reason when it is a refusal, and the rule that gave it.

    ``rule`` is text for people and for ``explain``: the argument and value that decided, e.g. ``"deny=/private/"``.
    """

    verdict: Verdict
    reason: Reason | None
    rule: str


class LinkRole(StrEnum):
    """How a page uses a URL it names."""

    NAVIGATION = "navigation"  # a person can go there: a, area, iframe, frame, meta refresh, Link: next ...
    REQUISITE = "requisite"  # needed to show the page: img, script, stylesheet, font, media, CSS url()
    FORM = "form"  # a form's target: recorded, never followed
    HINT = "hint"  # preconnect, dns-prefetch and the like: recorded, never followed


class Link(NamedTuple):
    """One reference from a page, in document order."""

    target: str  # canonical absolute URL without fragment; when ``problem`` is set, the text as found (cut)
    text: str  # what a person reads on it: anchor text, alt, title; white space folded, at most 200 characters
    tag: str  # element that carries it: "a", "img", "style" ...; "http" for a header, "redirect", "sitemap"
    attribute: str  # attribute that carries it: "href", "srcset", "style" ...; "url()" or "@import" inside CSS
    rel: str  # the rel attribute, lower case, blanks folded; "" when there is none
    role: LinkRole
    hint: ResourceType | None  # what the context says the target is (img: image), None when it says nothing
    nofollow: bool = False  # by its own rel=nofollow, or the page's meta robots or X-Robots-Tag
    problem: Reason | None = None  # INVALID, SCHEME or TOO_LONG: can never be fetched


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What reading a body (HTML, CSS, SVG) and its headers tells."""

    links: list[Link]
    title: str | None  # folded and cut at 500 characters; None when there is none
    charset: str | None  # WHATWG name of the encoding the text was read with, None for a body that is not text
    partial: str | None = None  # why not everything was read ("links over 5000", ...), None when all was


class CrawlURL(NamedTuple):
    """A URL as the frontier hands it out: everything a fetch and its judgement need."""

    id: int
    url: str
    depth: int  # hops from the seed; requisites and redirects do not count
    via: str  # URL of the page that linked here first; "" for a seed
    level: Level
    role: LinkRole
    near: bool  # fetched only as a non-HTML file near an in-scope page: nothing is followed from it
    hops: int  # redirects in a row that led here
    attempts: int  # fetches of this URL that failed so far
    text: str  # the first link's text
    hint: ResourceType | None  # what the first link's context says it is
