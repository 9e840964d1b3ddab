"""Answers that are not believed on a revisit: they look like an accident of the server, not like a change of a page."""

from __future__ import annotations

from typing import Final

from spiderproj.content import is_login_like
from spiderproj.revisit.comparing import Seen

SHARED_BY: Final = 5
"""Pages that may come to say one and the same; with more it is what the server says instead of any of them."""

_MUCH_TEXT: Final = 500  # characters of main text of which a tenth is a collapse
_MANY_LINKS: Final = 5  # of a page that loses most of its text too
_HUB: Final = 10  # links of a seed that leads to the site
_COLLAPSE: Final = 10  # so many times less


def suspicion(before: Seen, after: Seen, *, is_seed: bool) -> str | None:
    """Return why the body *after* is not believed to be what became of *before*, None when it may well be."""
    if after.is_page and not before.is_page:
        return "suspicious: a page instead of a file"
    one, other = before.reading, after.reading
    if other is None:
        return None
    if is_login_like(other) and not (one is not None and is_login_like(one)):
        return "suspicious: login"
    links = len(set(before.links)), len(set(after.links))
    if is_seed and links[0] >= _HUB and links[1] * _COLLAPSE <= links[0]:
        return "suspicious: the seed's links are gone"
    if one is None or one.characters < _MUCH_TEXT or links[0] < _MANY_LINKS:
        return None
    is_collapse = other.characters * _COLLAPSE <= one.characters and links[1] * _COLLAPSE <= links[0]
    return "suspicious: text and links are gone" if is_collapse else None


def crowd(pages: int, *, redirects: bool) -> str | None:
    """Return why an answer is not believed that so many different *pages* give now, None when it is."""
    if pages <= SHARED_BY:
        return None
    return "suspicious: same redirect everywhere" if redirects else "suspicious: same page everywhere"
