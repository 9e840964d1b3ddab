"""The references in a piece of CSS, replaced where they stand."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from spiderproj.links.css import references, unescape
from spiderproj.rewrite.escapes import in_css

if TYPE_CHECKING:
    from spiderproj.links.budget import Budget
    from spiderproj.rewrite.edits import Edits


def rewrite_css_text(
    edits: Edits,
    css: str,
    budget: Budget,
    *,
    written: Callable[[int, int], str],
    replace: Callable[[int, int, str], None],
) -> None:
    """Replace the references of *css*; *written* tells what really stands at a place, *replace* changes it."""
    for found in references(css, budget):
        # Characters that are not ASCII stand for bytes here, or came from an escape: only the place can tell.
        url = found.url if found.url.isascii() else unescape(written(found.start, found.end))
        new = edits.new_text(url) if url and url[0] != "#" else None
        if new is not None:
            replace(found.start, found.end, in_css(new, css[found.start - 1 : found.start]))
