"""Targets: documents rewritten for the copy."""

from __future__ import annotations

from fuzz.expect import body, expect, parts
from fuzz.of_urls import check_canonical
from spiderproj.rewrite import rewrite_css, rewrite_html, rewrite_svg

_URL = "http://example.org/a/b?c"
_REWRITES = (rewrite_html, rewrite_svg, rewrite_css)


def rewrite(data: bytes) -> None:
    """Expect any document to be rewritten, and one whose references have no answer to stay as it is."""
    label, content = parts(data, 2)
    content = body(content)

    def nowhere(url: str) -> None:
        check_canonical(url)

    for change in _REWRITES:
        change(content, _URL, header_charset=label.decode("latin-1"), resolve=lambda _: "x.html")
        expect(change(content, _URL, resolve=nowhere) == content, "the same bytes", change.__name__)
