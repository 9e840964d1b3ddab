"""One sitemap read whole: index, urlset, RSS, Atom or plain text."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any, cast

from lxml import etree

from spiderproj.sitemaps.bodies import decode, unpack
from spiderproj.sitemaps.markup import mended
from spiderproj.sitemaps.records import (
    MAX_PROBLEMS,
    Kind,
    Sitemap,
    SitemapEntry,
    parse_changefreq,
    parse_priority,
    parse_time,
)
from spiderproj.urls import MAX_URL_LENGTH

MAX_EVENTS = 1_500_000
"""Most elements and pieces of text read: thirty for each of 50,000 entries, with the blanks between them."""

MAX_QUIET = 1024 * 1024
"""Longest stretch of markup, in bytes, in which nothing happens: a tag or comment without end."""

_MAX_TEXT = 4 * MAX_URL_LENGTH  # characters of one element's text that are kept; a URL over it is refused anyway
_PADDING = "_"  # elements opened around the document, so that an end tag too many does not end it: libxml2 would
_PADDING_DEPTH = 100  # close the root, and pass over the rest
_ROOTS = {"urlset": Kind.URLSET, "sitemapindex": Kind.INDEX, "rss": Kind.FEED, "feed": Kind.FEED}
_RECORDS = frozenset({"url", "sitemap", "item", "entry"})
_VALUES = {
    "loc": "loc",
    "link": "loc",
    "lastmod": "lastmod",
    "pubDate": "lastmod",
    "updated": "lastmod",
    "priority": "priority",
    "changefreq": "changefreq",
}
_NAMES = _VALUES | {name: name for name in _RECORDS}
_IMAGE = "{http://www.google.com/schemas/sitemap-image/1.1}loc"


def read(body: bytes, url: str) -> Sitemap:
    """Return what *body*, served at the canonical *url* (after redirects), lists.

    Never raises: what cannot be read is among the problems, and everything before and after it still counts.
    """
    sitemap = Sitemap()
    problems: list[str] = []
    pieces = decode(unpack(body, problems))
    for reason in problems:
        sitemap.add_problem(url, reason)
    first = next(pieces, "")
    pieces = itertools.chain([first], pieces)
    if "<" in first[:1024]:
        _read_markup(pieces, url, sitemap)
    else:
        _read_text(pieces, url, sitemap)
    if sitemap.kind is Kind.UNKNOWN and not sitemap.problems:
        sitemap.add_problem(url, "blank")
    return sitemap


def _read_text(pieces: Iterable[str], url: str, sitemap: Sitemap) -> None:
    """Read a list of absolute URLs, one a line; a file that begins with a hundred other lines is no sitemap."""
    rest = ""
    for piece in itertools.chain(pieces, ["\n"]):
        *lines, rest = (rest + piece).replace("\r", "\n").split("\n")
        rest = rest[:_MAX_TEXT]  # so that a line without end costs no more than a long one
        for line in filter(str.strip, lines):
            if not sitemap.has_room(url) or (not sitemap.entries and sitemap.problem_count >= MAX_PROBLEMS):
                return
            if loc := sitemap.resolve(line[:_MAX_TEXT], None):
                sitemap.entries.append(SitemapEntry(loc))
                sitemap.kind = Kind.TEXT


def _read_markup(pieces: Iterable[str], url: str, sitemap: Sitemap) -> None:
    """Read XML, however broken: libxml2 closes what is left open and passes over what it cannot read."""
    target = _Target(sitemap, url)
    parser = etree.XMLParser(
        target=cast("Any", target),  # the stubs ask for methods that lxml itself does without
        encoding="utf-8",
        recover=True,
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=False,
    )
    parser.feed(f"<{_PADDING}>".encode() * _PADDING_DEPTH)
    quiet, events = -1, 0
    for piece in mended(pieces):
        parser.feed(piece)
        quiet = quiet + len(piece) if target.events == events else 0
        events = target.events
        if target.is_done:
            return
        if events > MAX_EVENTS or quiet > MAX_QUIET:
            sitemap.add_problem(url, f"only {MAX_EVENTS} elements are read, or {MAX_QUIET >> 20} MB without one")
            break
    if quiet < 0:
        sitemap.add_problem(url, "no element in it")
        return
    try:
        parser.close()
    except etree.XMLSyntaxError as error:
        sitemap.add_problem(url, f"broken XML: {error.msg}")


class _Target:
    """Takes the parser's events; no tree is built, so that memory grows with the entries alone.

    Elements count by their name within the root's namespace, whichever that is; other namespaces are extensions.
    """

    def __init__(self, sitemap: Sitemap, url: str) -> None:
        self.is_done = False  # the rest of the file would tell nothing more
        self._sitemap = sitemap
        self._url = url
        self._keys: dict[str, str] = {}  # full tag to a word of _RECORDS or a value of _VALUES; empty before the root
        self.events = 0  # elements and pieces of text so far
        self._root_tag = ""
        self._record = ""  # which of _RECORDS is open
        self._record_tag = ""
        self._values: dict[str, str] = {}  # of the open record
        self._value = ""  # the key of the value that is being read
        self._text = ""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Take the start of an element; it also ends a value whose own end is missing."""
        self.events += 1
        if self._value:
            self._take_value()
        key = self._keys.get(tag)
        if key is None:
            if not self._keys and tag != _PADDING:
                self._root(tag)
        elif key in _RECORDS:
            self._finish()
            self._record, self._record_tag = key, tag
        elif self._record:
            self._value, self._text = key, ""
            if attributes and "href" in attributes and attributes.get("rel", "alternate") == "alternate":
                self._values.setdefault("loc", attributes["href"])  # Atom's link

    def data(self, text: str) -> None:
        """Take a piece of text."""
        self.events += 1
        if self._value and len(self._text) <= _MAX_TEXT:
            self._text += text

    def end(self, tag: str) -> None:
        """Take the end of an element, also of one that the parser had to close."""
        if self._value:
            self._take_value()
        elif tag == self._record_tag:
            self._finish()
        elif tag == self._root_tag:
            self._keys |= _NAMES  # what still comes has lost the root's namespace

    def close(self) -> None:
        """Take the end of the document; a value that it cuts off is not the whole value and does not count."""
        self._finish()

    def _root(self, tag: str) -> None:
        brace = tag.rfind("}") + 1
        self._root_tag = tag
        self._keys = {tag[:brace] + name: key for name, key in _NAMES.items()} | {_IMAGE: "image"}
        self._sitemap.kind = _ROOTS.get(tag[brace:], Kind.UNKNOWN)
        if self._sitemap.kind is Kind.UNKNOWN:
            self.is_done = True
            self._sitemap.add_problem(f"<{tag[brace:]}>", "not the root element of a sitemap")

    def _take_value(self) -> None:
        key, text = self._value, self._text.strip()
        self._value = ""
        if key != "image":
            if text:
                self._values.setdefault(key, text)
        elif self._has_room() and (image := self._sitemap.resolve(text, self._url)):
            self._sitemap.images.append(image)

    def _finish(self) -> None:
        """Add the record that is open, if one is."""
        record, values = self._record, self._values
        self._record, self._record_tag, self._values = "", "", {}
        if not record or not self._has_room():
            return
        loc = self._sitemap.resolve(values.get("loc", ""), self._url)
        if loc is None:
            return
        if record == "sitemap":
            self._sitemap.children.append(loc)
            return
        lastmod = parse_time(values.get("lastmod", ""))
        priority = parse_priority(values.get("priority", ""))
        self._sitemap.entries.append(
            SitemapEntry(loc, lastmod, priority, parse_changefreq(values.get("changefreq", "")))
        )

    def _has_room(self) -> bool:
        self.is_done = self.is_done or not self._sitemap.has_room(self._url)
        return not self.is_done
