"""One sitemap read whole: index, urlset, RSS, Atom or plain text."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from lxml import etree

from spiderproj.sitemaps.bodies import decode, unpack
from spiderproj.sitemaps.markup import mended
from spiderproj.sitemaps.records import (
    MAX_ENTRIES,
    Kind,
    Sitemap,
    SitemapEntry,
    parse_changefreq,
    parse_priority,
    parse_time,
)
from spiderproj.urls import MAX_URL_LENGTH

_MAX_TEXT = 4 * MAX_URL_LENGTH  # characters of one element's text that are kept; a URL over it is refused anyway
_MAX_LINE = _MAX_TEXT
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
        _read_text(pieces, sitemap)
    if sitemap.is_full:
        sitemap.add_problem(url, f"only {MAX_ENTRIES} entries are taken")
    return sitemap


def _read_text(pieces: Iterable[str], sitemap: Sitemap) -> None:
    """Read a list of absolute URLs, one a line; without any it is no sitemap."""
    rest = ""
    for piece in itertools.chain(pieces, ["\n"]):
        *lines, rest = (rest + piece).replace("\r", "\n").split("\n")
        rest = rest[:_MAX_LINE]  # so that a line without end costs no more than a long one
        for line in lines:
            if line.strip() and (loc := sitemap.resolve(line[:_MAX_LINE], None)):
                sitemap.entries.append(SitemapEntry(loc))
                sitemap.kind = Kind.TEXT
            if sitemap.is_full:
                return


def _read_markup(pieces: Iterable[str], url: str, sitemap: Sitemap) -> None:
    """Read XML, however broken: libxml2 closes what is left open and passes over what it cannot read."""
    target = _Target(sitemap, url)
    parser = etree.XMLParser(
        target=target,
        encoding="utf-8",
        recover=True,
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=False,
    )
    try:
        for piece in mended(pieces):
            parser.feed(piece)
            if target.is_done:
                return
        parser.close()
    except etree.XMLSyntaxError as error:
        sitemap.add_problem(url, f"broken XML: {error.msg}")
    if sitemap.kind is Kind.UNKNOWN:
        sitemap.add_problem(url, "no element of a sitemap")


class _Target:
    """Takes the parser's events; no tree is built, so that memory grows with the entries alone.

    Elements count by their name within the root's namespace, whichever that is; other namespaces are extensions.
    """

    def __init__(self, sitemap: Sitemap, url: str) -> None:
        self.is_done = False  # the rest of the file would tell nothing more
        self._sitemap = sitemap
        self._url = url
        self._namespace: str | None = None  # of the root, as "{...}"; None before the root
        self._record = ""  # which of _RECORDS is open
        self._values: dict[str, str] = {}  # of the open record
        self._value = ""  # the key of the value that is being read
        self._text: list[str] = []
        self._length = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Take the start of an element."""
        if self._namespace is None:
            self._root(tag)
            return
        self._value = ""
        if tag == _IMAGE:
            self._begin("image")
        elif tag.startswith(self._namespace):
            name = tag[len(self._namespace) :]
            if name in _RECORDS:
                self._finish()
                self._record = name
            elif self._record and name in _VALUES:
                self._begin(_VALUES[name])
                if name == "link" and attributes.get("rel", "alternate") == "alternate" and "href" in attributes:
                    self._values.setdefault("loc", attributes["href"])  # Atom

    def data(self, text: str) -> None:
        """Take a piece of text."""
        if self._value and self._length <= _MAX_TEXT:
            self._text.append(text)
            self._length += len(text)

    def end(self, tag: str) -> None:
        """Take the end of an element, also of one that the parser had to close."""
        if self._value:
            text = "".join(self._text).strip()
            if self._value == "image":
                self._add_image(text)
            elif text or self._value not in self._values:
                self._values.setdefault(self._value, text)
            self._value = ""
        elif self._record and tag == f"{self._namespace}{self._record}":
            self._finish()

    def close(self) -> None:
        """Take the end of the document."""
        self._finish()

    def _root(self, tag: str) -> None:
        brace = tag.rfind("}") + 1
        self._namespace = tag[:brace]
        self._sitemap.kind = _ROOTS.get(tag[brace:], Kind.UNKNOWN)
        if self._sitemap.kind is Kind.UNKNOWN:
            self.is_done = True
            self._sitemap.add_problem(f"<{tag[brace:]}>", "not the root element of a sitemap")

    def _begin(self, value: str) -> None:
        self._value = value
        self._text = []
        self._length = 0

    def _add_image(self, text: str) -> None:
        if not self.is_done and (image := self._sitemap.resolve(text, self._url)):
            self._sitemap.images.append(image)
            self.is_done = self._sitemap.is_full

    def _finish(self) -> None:
        """Add the record that is open, if it is one."""
        record, values = self._record, self._values
        self._record, self._values = "", {}
        if not record or self.is_done:
            return
        loc = self._sitemap.resolve(values.get("loc", ""), self._url)
        if loc is None:
            return
        if record == "sitemap":
            self._sitemap.children.append(loc)
        else:
            self._sitemap.entries.append(
                SitemapEntry(
                    loc,
                    parse_time(values.get("lastmod", "")),
                    parse_priority(values.get("priority", "")),
                    parse_changefreq(values.get("changefreq", "")),
                )
            )
        self.is_done = self._sitemap.is_full
