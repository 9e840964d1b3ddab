"""The encoding label that a body declares in its own first bytes: <meta>, an XML declaration, or @charset.

A byte scanner for the first kilobyte only; what a label means is decided in charset.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

PRESCAN_BYTES = 1024
"""How far into a body its own declaration is looked for (HTML 13.2.3.2, CSS Syntax 3.2)."""

_XML_DECLARATION = re.compile(rb"<\?xml[\t\n\r ][^>]*?encoding[\t\n\r ]*=[\t\n\r ]*(?:\"([^\"<>]*)\"|'([^'<>]*)')")
_META = re.compile(rb"(?i)<meta(?=[\t\n\f\r /])")
_SKIPPED = re.compile(rb"<(?:!--(?:-?>|.*?-->)|(/?[a-zA-Z][^\t\n\f\r >]*)|[!/?][^>]*>)", re.DOTALL)
_ATTRIBUTE = re.compile(
    rb"[\t\n\f\r /]*([^\t\n\f\r />][^\t\n\f\r />=]*)"
    rb"(?:[\t\n\f\r ]*=[\t\n\f\r ]*(?:\"([^\"]*)\"|'([^']*)'|([^\t\n\f\r >\"'][^\t\n\f\r >]*))?)?"
)
_CONTENT_CHARSET = re.compile(r"(?i)charset[\t\n\f\r ]*=[\t\n\f\r ]*(?:\"([^\"]*)\"|'([^']*)'|([^\t\n\f\r ;\"']+))")
_CSS_CHARSET = re.compile(rb"@charset \"([^\"\x80-\xff]*)\";")


def declared_labels(body: bytes) -> Iterator[str]:
    """Yield the labels that HTML or XML declares, best first: HTML's prescan (13.2.3.2), then an XML declaration."""
    head = body[:PRESCAN_BYTES]
    yield from _prescan(head)
    match = _XML_DECLARATION.match(head)
    if match:
        yield (match[1] or match[2] or b"").decode("latin-1")


def css_label(body: bytes) -> str | None:
    """Return the label of the @charset rule a style sheet begins with (CSS Syntax 3.2)."""
    match = _CSS_CHARSET.match(body[:PRESCAN_BYTES])
    return match[1].decode("latin-1") if match else None


def _prescan(head: bytes) -> Iterator[str]:
    position = head.find(b"<")
    while position >= 0:
        meta = _META.match(head, position)
        if meta:
            attributes, position = _attributes(head, meta.end())
            label = _meta_label(attributes)
            if label is not None:
                yield label
        elif skipped := _SKIPPED.match(head, position):
            position = skipped.end()
            if skipped[1]:
                position = _attributes(head, position)[1]
        else:
            position += 1
        position = head.find(b"<", position)


def _attributes(head: bytes, position: int) -> tuple[dict[str, str], int]:
    """Return a tag's attributes, first of each name, and the index of the ">" that ends it (or of the end)."""
    found: dict[str, str] = {}
    while match := _ATTRIBUTE.match(head, position):
        value = match[2] or match[3] or match[4] or b""
        found.setdefault(match[1].decode("latin-1").lower(), value.decode("latin-1"))
        position = match.end()
    end = head.find(b">", position)
    return found, end if end >= 0 else len(head)


def _meta_label(attributes: dict[str, str]) -> str | None:
    label = attributes.get("charset")
    if label is None and attributes.get("http-equiv", "").lower() == "content-type":
        match = _CONTENT_CHARSET.search(attributes.get("content", ""))
        label = (match[1] or match[2] or match[3]) if match else None
    return label
