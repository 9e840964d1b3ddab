"""What makes a page a new one, as far as traps go: its text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from spiderproj.content import Blocks, digests

if TYPE_CHECKING:
    from spiderproj.content import Reading

MUCH_TEXT: Final = 200
"""Characters of main text that make lists of links beside it irrelevant."""


def content_digest(reading: Reading) -> int:
    """Return the digest of a page's text, dates masked and order aside, 0 when there is nothing to tell it by.

    Links count only where the page is a list of them: facets and session ids give the same page ever new links.
    """
    if reading.characters >= MUCH_TEXT and not reading.is_list:
        reading = reading._replace(links=Blocks((), ()))
    return digests(reading)[1]
