"""The arguments of a stored crawl with some of them changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from spiderproj.arguments import CrawlOptions, parse_arguments
from spiderproj.errors import ArgumentError

if TYPE_CHECKING:
    from enum import StrEnum

_SEED: Final = "http://localhost/"  # stands for seeds that stay as they are
_REFUSED: Final = ("out", "fresh")
_TAKEN_OVER: Final = ("seed", "allow", "deny", "filter", "login", "keywords", "window", "window_end")
"""Arguments that no other depends on; they keep their value, which may be longer than any text of theirs."""
_FIELDS: Final = {"seed": ("seeds", "seed_fallbacks")}


def changed(options: CrawlOptions, given: Mapping[str, str], cwd: Path) -> CrawlOptions:
    """Return *options* with the arguments *given*; an empty one takes its default again.

    Raises ArgumentError as ``parse_arguments`` does, and for what a replay cannot change.
    """
    for name in _REFUSED:
        if name in given:
            raise ArgumentError(name, given[name], "no such argument here: DIR is the folder, and it is only read")
    named = {name.partition(".")[0] for name in given}
    raw = {"seed": _SEED} | {name: text for name, text in _texts(options) if name not in named}
    parsed = parse_arguments(raw | {name: text for name, text in given.items() if text}, cwd)
    kept = (field for name in _TAKEN_OVER if name not in named for field in _FIELDS.get(name, (name,)))
    return replace(parsed, out=options.out, **{field: getattr(options, field) for field in kept})


def _texts(options: CrawlOptions) -> Iterator[tuple[str, str]]:
    """Yield those arguments, as a user would write them, that others depend on, and that are not their defaults."""
    plain = parse_arguments({"seed": _SEED, "mode": options.mode, "mirror": _flag(options.mirror)}, Path("/"))
    words: tuple[StrEnum, ...] = (options.mode, options.gate, options.sitemap, options.unique, options.render)
    yield from zip(("mode", "gate", "sitemap", "unique", "render"), map(str, words), strict=True)
    for name in ("near", "mirror", "warc"):
        yield name, _flag(getattr(options, name))
    if options.select != plain.select:
        yield "select", " ".join(f"{level}:{','.join(sorted(types)) or 'none'}"
                                 for level, types in options.select.items())  # fmt: skip
    if options.requisites != plain.requisites:
        yield "requisites", _flag(options.requisites)
    if options.order != plain.order:
        yield "order", options.order
    if options.depth is not None:
        yield "depth", str(options.depth)
    if options.deny_types:
        yield "deny_types", ",".join(sorted(options.deny_types))


def _flag(value: object) -> str:
    return "1" if value else "0"
