"""Links by what is written: the pages of a site repeat their navigation, and most links lead where others lead.

bench/page.py says what that saves.
"""

from __future__ import annotations

from typing import TypeAlias

from spiderproj.links.resolve import Resolver
from spiderproj.models import Link

Made: TypeAlias = tuple[Link, int]
"""The one link that an element makes, and in how many steps."""

_MOST = 16_384  # about 10 MB
_LONGEST = 300  # characters of attributes
_ANYWHERE = ("/", "http://", "https://")


class Repeats:
    """Remembers the links of elements whose attributes are written the same on pages of one directory or origin."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, str], Made] = {}

    def find(self, base: Resolver, name: str, source: str) -> Made | None:
        """Return what an element makes of the attributes *source* where this *base* is, None when it is not known."""
        return self._known.get((base.origin, name, source)) or self._known.get((base.directory, name, source))

    def keep(self, base: Resolver, reference: str, name: str, source: str, made: Made) -> None:
        """Remember what an element makes of its *reference*, unless that depends on the page's own name or encoding."""
        if len(source) > _LONGEST or not source.isascii() or reference[:1] <= " " or reference[0] in "?#&":
            return
        if len(self._known) >= _MOST:
            self._known.clear()
        place = base.origin if reference.startswith(_ANYWHERE) else base.directory
        self._known[place, name, source] = made
