"""The lines of one robots.txt, read once and in linear time: which of them bind our product token (RFC 9309, 2.2)."""

from __future__ import annotations

import codecs
import math
import re
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import quote

MAX_LINE = 16 * 1024
"""Longest line read, in characters. No URL that is fetched (2,083 characters) can match a longer plain rule."""

MAX_SITEMAPS = 500
"""Most Sitemap lines kept: as many as a crawl reads sitemaps."""

MAX_CRAWL_DELAY = 60.0
"""Longest Crawl-delay obeyed, in seconds."""

_FIELDS = {
    "user-agent": "agent",
    "useragent": "agent",
    "user agent": "agent",
    "allow": "Allow",
    "disallow": "Disallow",
    # Misspellings that Google's parser found common enough to read; what they forbid stays forbidden.
    "dissallow": "Disallow",
    "dissalow": "Disallow",
    "disalow": "Disallow",
    "diasllow": "Disallow",
    "disallaw": "Disallow",
    "sitemap": "sitemap",
    "site-map": "sitemap",
    "crawl-delay": "delay",
}
_PRODUCT_TOKEN = re.compile(r"[A-Za-z_-]*")
_EVERYONE = "*"
_PRINTABLE_ASCII = "".join(map(chr, range(0x21, 0x7F)))


class Rule(NamedTuple):
    """One Allow or Disallow line; ``kind`` is "Allow" or "Disallow", ``pattern`` never blank."""

    kind: str
    pattern: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.pattern}"


class Group(NamedTuple):
    """What the lines say to one product token; ``rules`` in the order of the file, each once."""

    rules: tuple[Rule, ...]
    crawl_delay: float | None
    sitemaps: tuple[str, ...]
    problems: tuple[str, ...]


@dataclass(slots=True)
class _Collected:
    """The merged groups of one agent."""

    rules: dict[Rule, None] = field(default_factory=dict)  # as an ordered set
    delays: list[float] = field(default_factory=list)


def read_group(body: bytes, token: str, max_bytes: int) -> Group:
    """Return what the first *max_bytes* of *body* say to *token*, or else to everyone ("*").

    Several groups of one agent count as one (2.2.1). Blank and unknown lines, Sitemap and Crawl-delay do not end a
    group (2.2.4); rules before the first group bind nobody.
    """
    reader = _Reader(token)
    text = _text(body[:max_bytes])
    if len(body) > max_bytes:
        text = text[: text.rfind("\n") + 1]
        reader.problems.append(f"only the first {max_bytes // 1024} KiB count")
    skipped = 0
    for line in text.split("\n"):
        if len(line) > MAX_LINE:
            skipped += 1  # never split: the rest of a line read as a line of its own could reopen what is closed
        elif line:
            reader.read(line)
    if skipped:
        reader.problems.append(f"{skipped} lines over {MAX_LINE // 1024} KiB are ignored")
    return reader.group()


class _Reader:
    """Takes the lines of a file one by one and keeps those that bind one token, or everyone."""

    def __init__(self, token: str) -> None:
        self.problems: list[str] = []
        self._token = token.lower()
        self._groups: dict[str, _Collected] = {}
        self._current: list[_Collected] = []  # what the group being read binds; at most ours and everyone's
        self._rules_began = False
        self._sitemaps: dict[str, None] = {}

    def read(self, line: str) -> None:
        """Take one line, without its end."""
        name, value = _field(line)
        if name == "agent":
            self._agent(value)
        elif name in {"Allow", "Disallow"}:
            self._rules_began = True
            if value.startswith(
                ("/", "*")
            ):  # 2.2: a path begins with "/"; "*/x" is common, and what else never matches
                self._rule(name, value)
        elif name == "delay":
            self._delay(value)
        elif name == "sitemap" and value and len(self._sitemaps) < MAX_SITEMAPS:
            self._sitemaps[value] = None

    def group(self) -> Group:
        """Return what was collected for the token, or for everyone when no group names it (2.2.1)."""
        chosen = self._groups.get(self._token) or self._groups.get(_EVERYONE) or _Collected()
        delay = max(chosen.delays, default=None)
        if delay is not None and delay > MAX_CRAWL_DELAY:
            self.problems.append(f"Crawl-delay {delay:g} is capped at {MAX_CRAWL_DELAY:g} s")
            delay = MAX_CRAWL_DELAY
        return Group(tuple(chosen.rules), delay, tuple(self._sitemaps), tuple(self.problems))

    def _agent(self, value: str) -> None:
        if self._rules_began:
            self._rules_began = False
            self._current = []
        agent = _EVERYONE if value.split(maxsplit=1)[:1] == [_EVERYONE] else _product_token(value)
        if agent in {self._token, _EVERYONE}:
            collected = self._groups.setdefault(agent, _Collected())
            if not any(collected is known for known in self._current):
                self._current.append(collected)

    def _rule(self, kind: str, value: str) -> None:
        if self._current:
            rule = Rule(kind, _encoded(value))
            for collected in self._current:
                collected.rules[rule] = None

    def _delay(self, value: str) -> None:
        try:
            seconds = float(value)
        except ValueError:
            return
        if math.isfinite(seconds) and seconds >= 0:
            for collected in self._current:
                collected.delays.append(seconds)


def _field(line: str) -> tuple[str | None, str]:
    """Return what *line* is (a value of _FIELDS, None when unknown) and its value, without comment and blanks."""
    if "#" in line:
        line = line.partition("#")[0]
    name, colon, value = line.partition(":")
    if not colon:  # "disallow /" is read, as long as it is exactly two words; Google's parser reads no more either
        words = line.split()
        if len(words) != 2:
            return None, ""
        name, value = words
    return _FIELDS.get(name.strip().lower()), value.strip()


def _product_token(value: str) -> str:
    """Return the product token that *value* begins with, in lower case (2.2.1); "" when there is none."""
    found = _PRODUCT_TOKEN.match(value)
    return found[0].lower() if found else ""


def _encoded(pattern: str) -> str:
    """Return *pattern* with all but printable ASCII percent-encoded (2.2.2): no character in it can end a line."""
    if pattern.isascii() and pattern.isprintable():
        return pattern
    return quote(pattern, safe=_PRINTABLE_ASCII)


def _text(body: bytes) -> str:
    r"""Return *body* as text with "\n" as the only line end, without byte order marks and NULs."""
    is_utf16 = body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    text = body.decode("utf-16" if is_utf16 else "utf-8", errors="replace")
    return text.lstrip("\ufeff").replace("\0", "").replace("\r\n", "\n").replace("\r", "\n")
