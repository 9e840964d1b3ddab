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
    from collections.abc import Iterable, Mapping

    from tests.hostile.cases import Case

_CLASSES = (framing, heads, codings, redirects, cookies, charsets, markup, names, traps, sitemaps, robots, ports)

CASES: dict[str, Case] = {case.name: case for module in _CLASSES for case in module.CASES}


def chosen(words: Iterable[str], cases: Mapping[str, Case] = CASES) -> list[Case]:
    """Return those of *cases* that *words*, classes or names, mean; all without words. ValueError for another word."""
    wanted = list(words)
    for word in wanted:
        if word not in cases and word not in {case.kind for case in cases.values()}:
            raise ValueError(f"{word!r} is neither a class nor a case")
    return [case for case in cases.values() if not wanted or case.name in wanted or case.kind in wanted]
