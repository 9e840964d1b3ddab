"""What the arguments of a crawl say, as one frozen record with a stable text form."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spiderproj.arguments.lists import PatternText
from spiderproj.errors import StoreDamagedError
from spiderproj.models import Level, ResourceType
from spiderproj.order import Order

if TYPE_CHECKING:
    from spiderproj.arguments.values import LevelTypes


class Mode(StrEnum):
    """The ``mode`` argument: which URLs belong to the crawl."""

    LOCAL = "local"
    ALL = "all"
    DIRECTORY = "directory"
    FILES = "files"


class Gate(StrEnum):
    """The ``gate`` argument: how the type is learned before a body is downloaded."""

    AUTO = "auto"
    HEAD = "head"
    GET = "get"
    EXTENSION = "extension"


class Sitemap(StrEnum):
    """The ``sitemap`` argument."""

    OFF = "off"
    ON = "on"
    ONLY = "only"


class Unique(StrEnum):
    """The ``unique`` argument: what counts as a duplicate."""

    OFF = "off"
    EXACT = "exact"
    STRICT = "strict"
    LEARN = "learn"


class Render(StrEnum):
    """The ``render`` argument: when pages are drawn in a browser."""

    NEVER = "never"
    AUTO = "auto"
    ALWAYS = "always"


class WindowEnd(StrEnum):
    """The ``window_end`` argument: what a crawl does when its window closes."""

    WAIT = "wait"
    STOP = "stop"


@dataclass(frozen=True, kw_only=True)
class CrawlOptions:
    """The arguments of one crawl with every default filled in; fields are named after them."""

    seeds: tuple[str, ...]  # canonical URLs
    seed_fallbacks: Mapping[str, str]  # seed given without a scheme -> its http form, the second try
    mode: Mode
    select: LevelTypes
    near: bool
    requisites: bool
    depth: int | None
    allow: tuple[PatternText, ...]
    deny: tuple[PatternText, ...]
    deny_types: frozenset[ResourceType]
    filter: str | None
    order: Order
    gate: Gate
    sitemap: Sitemap
    unique: Unique
    mirror: bool
    warc: bool
    render: Render
    window: str | None
    window_end: WindowEnd
    login: Path | None
    keywords: str | None
    out: Path
    fresh: bool

    def to_json(self) -> str:
        """Return the options as one line of JSON, the same for equal options."""
        return _dumped({field.name: _plain(getattr(self, field.name)) for field in fields(self)})

    @classmethod
    def from_json(cls, text: str) -> CrawlOptions:
        """Return the options that ``to_json`` gave *text* for; StoreDamagedError when it is something else."""
        try:
            return cls(**_restored(json.loads(text)))
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            message = "the stored arguments of this crawl cannot be read; give fresh=1 to start over beside it"
            raise StoreDamagedError(message) from error

    def fingerprint(self) -> str:
        """Return 64 hexadecimal digits that change exactly when ``differences`` would find something."""
        return hashlib.sha256(_dumped(_belonging(self)).encode()).hexdigest()


def differences(old: CrawlOptions, new: CrawlOptions) -> list[str]:
    """Return the names of the arguments that change which URLs belong to the crawl, in the table's order."""
    before, after = _belonging(old), _belonging(new)
    return [name for name in before if before[name] != after[name]]


def _belonging(options: CrawlOptions) -> dict[str, object]:
    """Return what decides which URLs belong, without the order and the place in which lists were given."""
    return {
        "seed": sorted(options.seeds),
        "mode": options.mode,
        "select": _plain(options.select),
        "near": options.near,
        "requisites": options.requisites,
        "depth": options.depth,
        "allow": sorted({pattern.text for pattern in options.allow}),
        "deny": sorted({pattern.text for pattern in options.deny}),
        "deny_types": _plain(options.deny_types),
        "filter": options.filter,
        "sitemap": options.sitemap,
    }


def _dumped(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _plain(value: object) -> object:
    """Return *value* in JSON's own types."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, frozenset):
        return sorted(value)
    return str(value) if isinstance(value, Path) else value


def _restored(row: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a row that ``to_json`` wrote, in their own types."""
    return {name: _RESTORE[name](value) if name in _RESTORE else value for name, value in row.items()}


def _optional_path(value: str | None) -> Path | None:
    return None if value is None else Path(value)


def _types(names: list[str]) -> frozenset[ResourceType]:
    return frozenset(map(ResourceType, names))


def _select(levels: dict[str, list[str]]) -> LevelTypes:
    return {Level(name): _types(names) for name, names in levels.items()}


def _patterns(rows: list[list[str]]) -> tuple[PatternText, ...]:
    return tuple(PatternText(*row) for row in rows)


_RESTORE: Mapping[str, Callable[[Any], object]] = {
    "seeds": tuple,
    "mode": Mode,
    "select": _select,
    "allow": _patterns,
    "deny": _patterns,
    "deny_types": _types,
    "order": Order,
    "gate": Gate,
    "sitemap": Sitemap,
    "unique": Unique,
    "render": Render,
    "window_end": WindowEnd,
    "login": _optional_path,
    "out": Path,
}
