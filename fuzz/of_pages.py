"""Targets: what pages and style sheets link to, in which encoding they are, and what their type is."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

from fuzz.expect import body, clean_text, expect, parts
from fuzz.of_urls import check_canonical
from spiderproj import charset, links
from spiderproj.links.collector import TEXT_LENGTH
from spiderproj.links.html import TITLE_LENGTH
from spiderproj.links.refresh import refresh_place
from spiderproj.links.srcset import candidates, each_place
from spiderproj.mediatype import extension, parse, predict, resource_type, sniff, true_type
from spiderproj.models import Page, ResourceType
from spiderproj.urls import split

_URL = "http://example.org/a/b?c"


def _page(read: Callable[..., Page], data: bytes) -> None:
    page = read(body(data), _URL)
    expect(len(page.links) <= links.MAX_LINKS, "so many links", len(page.links))
    expect(page.title is None or len(page.title) <= TITLE_LENGTH, "a short title", page.title)
    (page.title or "").encode()
    for link in page.links:
        expect(len(link.text) <= TEXT_LENGTH, "a short text", link.text)
        f"{link.target}{link.text}{link.rel}{link.tag}{link.attribute}".encode()
        if link.problem is None:
            check_canonical(link.target)


def html(data: bytes) -> None:
    """Expect that every HTML page can be read, and that its targets are canonical."""
    _page(links.read_html, data)


def svg(data: bytes) -> None:
    """Expect that every SVG can be read, and that its targets are canonical."""
    _page(links.read_svg, data)


def css(data: bytes) -> None:
    """Expect that every style sheet can be read, and that its targets are canonical."""
    _page(links.read_css, data)


def srcset(data: bytes) -> None:
    """Expect the URLs of a srcset to be pieces of it, and to lie where each_place says."""
    value = clean_text(body(data))
    found = candidates(value)
    expect(found == [value[start:end] for start, end in each_place(value)], "one place each", value[:100])
    expect(not any(set(url) & set("\t\n\f\r ") for url in found), "no blanks", found[:5])


def refresh(data: bytes) -> None:
    """Expect the URL of a refresh to be a piece of it, without blanks around."""
    value = clean_text(body(data))
    start, end = refresh_place(value)
    expect(0 <= start <= end <= len(value), "a place inside", start, end)
    found = links.parse_refresh(value)
    expect(found is None or (found in value and found == found.strip("\t\n\f\r ")), "a piece", found)


def encoding(data: bytes) -> None:
    """Expect text that UTF-8 can hold, whatever a body and its header claim."""
    label, content = parts(data, 2)
    for decode in (charset.decode, charset.decode_css):
        decoded, name = decode(body(content), label.decode("latin-1"))
        decoded.encode()
        expect(charset.codec_for(name) == name, "an encoding of the standard", name)
        query = charset.encode_query(decoded[:1000], name)
        expect(query.isascii(), "a query in ASCII", query[:100])


def media_type(data: bytes) -> None:
    """Expect a type of any Content-Type, path and first bytes."""
    header, target, head = parts(data, 3)
    found = parse([header.decode("latin-1")])
    expect(found.essence is None or (found.essence.isascii() and found.essence.count("/") == 1), "a type", found)
    sniffed = sniff(head)
    expect(sniffed is not None or not head, "a sign", head[:20])
    url = f"http://example.org/{quote(target, safe='/%?;.,+')}"
    essence, kind = true_type(header.decode("latin-1").split("\n"), head, url)
    expect(isinstance(kind, ResourceType), "a type of ours", essence, kind)
    expect(isinstance(resource_type(found.essence), ResourceType), "a type of ours", found)
    ending = extension(split(url).path)
    expect(ending == ending.lower() and "/" not in ending, "an ending", ending)
    predict(split(url).path, split(url).query)
