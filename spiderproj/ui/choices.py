"""The arguments that a person chooses on the page: read from JSON by an allow-list, written as a command line."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from spiderproj.arguments import parse_arguments
from spiderproj.errors import ArgumentError

if TYPE_CHECKING:
    from spiderproj.arguments import CrawlOptions

NAMES: Final = ("seed", "mode", "select", "near", "requisites", "depth", "allow", "deny", "deny_types", "filter",
                "order", "gate", "sitemap", "unique", "window", "window_end", "mirror", "warc", "render",
                "keywords")  # fmt: skip
"""Arguments that the page may give: none that names a file of this machine or where something is written."""

_SETTINGS: Final = {"pages": "CLOSESPIDER_PAGECOUNT", "delay": "DOWNLOAD_DELAY"}
_LISTS: Final = ("allow", "deny")
_MAX_TEXT: Final = 32 * 1024  # characters of one argument
_MAX_LINES: Final = 100
_SHOWN_SEEDS: Final = 200


class Choices(NamedTuple):
    """Arguments by name as a user would write them, and Scrapy settings."""

    arguments: dict[str, str]
    settings: dict[str, str]

    def options(self, out: Path) -> CrawlOptions:
        """Return what the arguments mean for a crawl into *out*; ArgumentError as ``parse_arguments``."""
        return parse_arguments({**self.arguments, "out": str(out)}, Path("/"))

    def argv(self, out: Path) -> list[str]:
        """Return the command line, after ``scrapy``, that crawls into *out* with them."""
        settings = [part for name, text in self.settings.items() for part in ("-s", f"{name}={text}")]
        return ["crawl", "site", *given(self.arguments), "-a", f"out={out}", *settings]


def read(value: object) -> Choices:
    """Return the choices that a JSON *value* makes; ArgumentError names the field that is wrong."""
    if not isinstance(value, dict):
        raise ArgumentError("arguments", value, "an object of texts")
    arguments: dict[str, str] = {}
    settings: dict[str, str] = {}
    for name, one in value.items():
        if name in _SETTINGS:
            if text := _number(name, one):
                settings[_SETTINGS[name]] = text
        elif name in NAMES:
            arguments |= _texts(name, one)
        else:
            raise ArgumentError(str(name)[:60], one, f"one of {' '.join((*NAMES, *_SETTINGS))}")
    return Choices(arguments, settings)


def given(arguments: Mapping[str, str]) -> list[str]:
    """Return *arguments* as a command line has them."""
    return [part for name, text in arguments.items() for part in ("-a", f"{name}={text}")]


def shown(argv: list[str]) -> str:
    """Return a command line as a person would type it."""
    return shlex.join(["scrapy", *argv])


def texts_of(options: CrawlOptions) -> dict[str, str]:
    """Return the arguments of a stored crawl as ``read`` takes them, those of NAMES; of very many seeds the first."""
    select = " ".join(f"{level}:{','.join(sorted(types))}" for level, types in options.select.items() if types)
    found = {
        "seed": " ".join(options.seeds[:_SHOWN_SEEDS]),
        "select": select,
        "depth": "" if options.depth is None else str(options.depth),
        "allow": "\n".join(pattern.text for pattern in options.allow),
        "deny": "\n".join(pattern.text for pattern in options.deny),
        "deny_types": ",".join(sorted(options.deny_types)),
        "filter": options.filter or "",
        "window": options.window or "",
        "window_end": str(options.window_end) if options.window else "",
        "keywords": options.keywords or "",
    }
    for name in ("near", "requisites", "mirror", "warc"):
        found[name] = str(int(getattr(options, name)))
    for name in ("mode", "order", "gate", "sitemap", "unique", "render"):
        found[name] = str(getattr(options, name))
    return {name: found[name] for name in NAMES}


def _texts(name: str, given: object) -> dict[str, str]:
    """Return the argument *name*, or ``allow``, ``allow.1`` ... for a list with a pattern a line."""
    text = _text(name, given)
    if name not in _LISTS:
        return {name: text} if text else {}
    lines = [line for line in text.split("\n") if line]
    if len(lines) > _MAX_LINES:
        raise ArgumentError(
            name, len(lines), f"at most {_MAX_LINES} patterns; more in a file, with @FILE and a command"
        )
    return {f"{name}.{number}" if number else name: line for number, line in enumerate(lines)}


def _text(name: str, given: object) -> str:
    if not isinstance(given, str) or len(given) > _MAX_TEXT or "\0" in given:
        raise ArgumentError(name, given, f"text of at most {_MAX_TEXT:,} characters")
    text = given.replace("\r", "").strip()
    if any(line.lstrip().startswith("@") for line in text.split("\n")) or (name == "seed" and " @" in text):
        raise ArgumentError(name, given, "no @FILE: the page reads no file of this machine")
    return text


def _number(name: str, given: object) -> str:
    """Return a number as a setting has it, "" for none."""
    if given in ("", None):
        return ""
    limit = 1_000_000_000 if name == "pages" else 3600
    text = str(given) if isinstance(given, str | int | float) and not isinstance(given, bool) else "x"
    digits = text.replace(".", "", 0 if name == "pages" else 1)
    if not (digits.isascii() and digits.isdecimal() and len(text) <= 12 and float(text) <= limit):
        raise ArgumentError(name, given, f"a number, 0 to {limit:,}")
    return text


def field_of(values: Mapping[str, Any], name: str, limit: int = 4096) -> str:
    """Return the text under *name* of a JSON object or a query; ArgumentError when it is no text of that length."""
    value = values.get(name, "")
    if not isinstance(value, str) or len(value) > limit or "\0" in value:
        raise ArgumentError(name, value, f"text of at most {limit:,} characters")
    return value
