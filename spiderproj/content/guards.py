"""Pages whose being equal says nothing: errors that are sent as good answers, and walls before a login."""

from __future__ import annotations

from typing import Final

import orjson
import xxhash

from spiderproj.content.noise import NOTHING, Noise
from spiderproj.content.reading import Reading

SHARED_BY: Final = 5
"""Most base paths of a template that one content may have; with more it is the page that stands for all others."""

MAX_CONTENTS: Final = 4096
"""Contents that are counted, of one template; beyond it those that came first are forgotten."""

_ECHOES: Final = 2
"""Blocks in which an error page may repeat what was asked for: its title and its message."""

_LOGIN_CHARACTERS: Final = 600
"""Most text of a page that is nothing but a form to sign in."""


def is_error_like(reading: Reading, probe: Reading, noise: Noise | None = None) -> bool:
    """Return whether a page is what the host answers for a URL that does not exist.

    *probe* is the good answer to a random URL in the same directory. The page has the same blocks in the same places;
    but for *noise*, two may have another text, as error pages repeat what was asked for. Erring costs an example to
    learn from, no page.
    """
    text, other = reading.text, probe.text
    if reading.is_empty or probe.is_empty or len(text.hashes) != len(other.hashes) or text.folded != other.folded:
        return False
    if any(mark >> 32 != there >> 32 for mark, there in zip(text.marks, other.marks, strict=True)):
        return False
    pairs = zip(text.pairs(), other.hashes, strict=True)
    changed = [mark for (mine, mark), theirs in pairs if mine != theirs]
    noise = noise or NOTHING
    return len(changed) <= _ECHOES or sum(not noise.varies(mark) for mark in changed) <= _ECHOES


def is_login_like(reading: Reading) -> bool:
    """Return whether a page asks for a password and says little else."""
    return reading.has_password and reading.characters <= _LOGIN_CHARACTERS


class Shared:
    """Counts the base paths of each content of a template, as far as it matters."""

    def __init__(self) -> None:
        self._bases: dict[int, set[int]] = {}

    def note(self, digest: int, base: str) -> None:
        """Note that the page with base path *base* has the content *digest* (digests(), in any order)."""
        bases = self._bases.get(digest)
        if bases is None:
            if len(self._bases) >= MAX_CONTENTS:
                del self._bases[next(iter(self._bases))]
            bases = self._bases[digest] = set()
        if len(bases) <= SHARED_BY:
            bases.add(xxhash.xxh3_64_intdigest(base.encode(errors="replace")))

    def is_error(self, digest: int) -> bool:
        """Return whether the content *digest* stands for anything: it has too many base paths, or is empty."""
        return digest == 0 or len(self._bases.get(digest, ())) > SHARED_BY

    def dump(self) -> bytes:
        """Return what was counted, as JSON."""
        return orjson.dumps([(digest, *bases) for digest, bases in self._bases.items()])

    @classmethod
    def load(cls, dumped: bytes) -> Shared:
        """Return what was dumped; raises ValueError for bytes that are no dump."""
        shared = cls()
        try:
            shared._bases = {int(digest): {int(base) for base in bases} for digest, *bases in orjson.loads(dumped)}
        except (TypeError, ValueError) as error:
            raise ValueError(f"{dumped[:40]!r}... is no dump of contents: {error}; delete it to count anew") from error
        return shared
