"""The three kinds of documents that hold references, from bytes to bytes."""

from __future__ import annotations

from contextlib import suppress

from spiderproj import charset
from spiderproj.links.budget import MAX_BYTES, Budget, BudgetSpentError
from spiderproj.rewrite.declarations import declare_css, declare_html, declare_xml
from spiderproj.rewrite.edits import Edits, Known, Resolve
from spiderproj.rewrite.markup import Markup
from spiderproj.rewrite.styles import rewrite_css_text
from spiderproj.rewrite.view import view_of


def rewrite_html(
    body: bytes,
    url: str,
    *,
    header_charset: str | None = None,
    is_xml: bool = False,
    resolve: Resolve,
    known: Known | None = None,
) -> bytes:
    """Return the HTML *body* of the canonical *url* with its references led to where *resolve* says.

    When any is, a <base> and a <meta> policy cease to mean anything, and so do ``integrity`` and ``crossorigin`` of
    what leads to a file. An encoding that only the header told is declared. *is_xml*: it will be read as XML (XHTML).
    *known* helps with the next document of the same directory.
    """
    if len(body) > MAX_BYTES:
        return body
    encoding = charset.decode(body, header_charset)[1]
    edits = Edits(view_of(body, encoding), url, encoding, resolve, known)
    Markup(edits, is_xml=False).rewrite()
    if _is_told(header_charset, encoding):
        (declare_xml if is_xml else declare_html)(edits)
    return edits.result()


def rewrite_svg(body: bytes, url: str, *, header_charset: str | None = None, resolve: Resolve) -> bytes:
    """Return the SVG *body* of the canonical *url* with its references led to where *resolve* says."""
    if len(body) > MAX_BYTES:
        return body
    encoding = charset.decode(body, header_charset)[1]
    edits = Edits(view_of(body, encoding), url, encoding, resolve)
    Markup(edits, is_xml=True).rewrite()
    if _is_told(header_charset, encoding):
        declare_xml(edits)
    return edits.result()


def rewrite_css(body: bytes, url: str, *, header_charset: str | None = None, resolve: Resolve) -> bytes:
    """Return the style sheet *body* of the canonical *url* with its references led to where *resolve* says."""
    if len(body) > MAX_BYTES:
        return body
    encoding = charset.decode_css(body, header_charset)[1]
    edits = Edits(view_of(body, encoding), url, "utf-8", resolve)
    view = edits.view
    with suppress(BudgetSpentError):
        rewrite_css_text(edits, view.text, Budget(), written=view.value, replace=edits.replace)
    if _is_told(header_charset, encoding):
        declare_css(edits)
    return edits.result()


def _is_told(header_charset: str | None, encoding: str) -> bool:
    """Return whether it was the header that told the encoding."""
    return header_charset is not None and charset.codec_for(header_charset) == encoding
