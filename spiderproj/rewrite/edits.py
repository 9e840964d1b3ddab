"""The changes to one document: where each reference is to lead, how that is written, and the bytes that result."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias
from urllib.parse import quote as percent_encoded

from spiderproj.links.resolve import Resolver
from spiderproj.models import Reason
from spiderproj.rewrite.view import View

Resolve: TypeAlias = Callable[[str], str | None]
"""From a canonical URL without fragment to what is to stand for it: a relative reference or an absolute URL, in ASCII;
None leaves the reference as it is written."""

_MOST_KNOWN = 20_000
_EDGE = "".join(map(chr, range(0x21)))
_ABSOLUTE = re.compile(r"https?:[/\\]", re.IGNORECASE)
_NO_FRAGMENT = str.maketrans("", "", "\t\n\r")
_FRAGMENT_SAFE = "".join(chr(code) for code in range(0x21, 0x7F) if chr(code) not in '"<>`')


class Known:
    """What references resolve to that are written the same in documents of one directory and encoding."""

    def __init__(self) -> None:
        self._place = ("", "")
        self._targets: dict[str, tuple[str, Reason | None]] = {}

    def targets(self, url: str, encoding: str) -> dict[str, tuple[str, Reason | None]]:
        """Return what is known where the document at *url* lies, to be added to."""
        path = url.partition("?")[0]
        place = (path[: path.rfind("/")], encoding)
        if place != self._place or len(self._targets) > _MOST_KNOWN:
            self._place, self._targets = place, {}
        return self._targets


class Edits:
    """Collects the changes to the document of a *view*, whose references are relative to *url*."""

    def __init__(self, view: View, url: str, encoding: str, resolve: Resolve, known: Known | None = None) -> None:
        self.view = view
        self.resolver = Resolver(url, encoding)
        self.based = False  # a base element says what references are relative to: "#part" is another document's
        self.led = False  # some reference has been given a place to lead to
        self.local = False  # the last one leads to a file of the copy
        self._resolve = resolve
        self._known = {} if known is None else known.targets(url, encoding)
        self._edits: list[tuple[int, int, str]] = []

    def rebase(self, reference: str) -> None:
        """Let all references be relative to *reference* from here on."""
        before = self.resolver("")
        self.resolver.rebase(reference)
        self._known = {}
        self.based = self.resolver("") != before

    def new_text(self, reference: str) -> str | None:
        """Return what *reference* is to be instead, None when it stays as it is."""
        self.local = False
        text = reference.strip(_EDGE)
        if (not text or text[0] == "#") and not self.based:
            return None
        found = self._known.get(reference)
        if found is None:
            found = self.resolver(reference)
            if text and text[0] not in "?#":  # else it depends on the document's own name
                self._known[reference] = found
        target, problem = found
        new = None if problem is not None else self._resolve(target)
        if new is None:
            return None
        self.led, self.local = True, not is_absolute(new)
        head, mark, fragment = text.partition("#")
        if new == head or (not self.local and _ABSOLUTE.match(head)):
            return None
        return f"{new}#{_fragment(fragment)}" if mark else new

    def replace(self, start: int, end: int, new: str) -> None:
        """Let *new* stand in the text's place from *start* to *end*; no two places may overlap."""
        self._edits.append((start, end, new))

    def result(self) -> bytes:
        """Return the body with all changes made."""
        view = self.view
        if not self._edits:
            return view.body
        body, unit, origin = view.body, view.unit, view.start
        pieces: list[bytes] = []
        done = 0
        for start, end, new in sorted(self._edits):
            pieces += (body[done : origin + start * unit], view.encode(new))
            done = origin + end * unit
        return b"".join((*pieces, body[done:]))


def is_absolute(reference: str) -> bool:
    """Return whether *reference* is an absolute URL."""
    return reference.startswith(("http://", "https://"))


def _fragment(text: str) -> str:
    """Return a fragment as the URL standard writes it, all ASCII."""
    text = text.translate(_NO_FRAGMENT)
    return percent_encoded(text, safe=_FRAGMENT_SAFE, errors="replace")
