"""All cases by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.hostile import (
    charsets,
    codings,
    cookies,
    framing,
    heads,
    markup,
    names,
    ports,
    redirects,
    robots,
    sitemaps,
    traps,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.hostile.cases import Case

_CLASSES = (framing, heads, codings, redirects, cookies, charsets, markup, names, traps, sitemaps, robots, ports)

CASES: dict[str, Case] = {case.name: case for module in _CLASSES for case in module.CASES}


def chosen(words: Iterable[str]) -> list[Case]:
    """Return the cases that *words*, classes or names, mean; all of them without words. ValueError for another word."""
    wanted = list(words)
    for word in wanted:
        if word not in CASES and word not in {case.kind for case in CASES.values()}:
            raise ValueError(f"{word!r} is neither a class nor a case")
    return [case for case in CASES.values() if not wanted or case.name in wanted or case.kind in wanted]
