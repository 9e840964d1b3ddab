"""Read values out of the tables of a login file, naming the place of what is wrong and never its value."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from spiderproj.arguments.values import nearest
from spiderproj.errors import ArgumentError, InvalidURLError
from spiderproj.urls import canonical, origin, split

_SECRET_LIMIT = 65_536  # bytes
_VARIABLE = re.compile("[A-Za-z_][A-Za-z0-9_]*")


class Section(NamedTuple):
    """One table of the file."""

    file: Path
    title: str
    table: Mapping[str, object]
    environment: Mapping[str, str]

    def wrong(self, key: str, expected: str) -> ArgumentError:
        """Return the error that says what was expected at *key*."""
        place = ascii(f"[{self.title}] {key}" if self.title else key)[:100]
        return ArgumentError("login", str(self.file), f"{expected} at {place}")

    def check_keys(self, *known: str) -> None:
        """Raise ArgumentError for a key that is none of *known*."""
        for key in self.table:
            if key not in known:
                raise self.wrong(key, f"one of {', '.join(known)} (nearest: {nearest(key, known)})")

    def section(self, key: str) -> Section:
        """Return the table at *key*, empty when there is none."""
        table = self.table.get(key, {})
        if not isinstance(table, dict):
            raise self.wrong(key, "a table")
        return Section(self.file, f"{self.title}.{key}".lstrip("."), table, self.environment)

    def by_origin(self, key: str) -> list[tuple[str, Section]]:
        """Return the tables below *key* with the origin that each is for."""
        hosts = self.section(key)
        return [(hosts.origin_of(host), hosts.section(host)) for host in hosts.table]

    def origin_of(self, host: str) -> str:
        """Return the origin that *host* means: a bare one is for https alone, http has to be written."""
        try:
            url = canonical(host if "://" in host else f"https://{host}")
        except InvalidURLError:
            raise self.wrong(host, "a host or an origin such as http://example.org:8080") from None
        if split(url)[3:] != ("/", None) or "@" in host:
            raise self.wrong(host, "a host or an origin such as http://example.org:8080, and nothing more")
        return origin(url)

    def text(self, key: str) -> str:
        """Return the string at *key* as written."""
        value = self.table.get(key)
        if isinstance(value, dict):
            raise self.wrong(key, 'text; a host with dots stands in quotes, e.g. [headers."example.org"]')
        if not isinstance(value, str):
            raise self.wrong(key, "text in quotes")
        return value

    def secret(self, key: str) -> str:
        """Return the string at *key*, fetched from where ``env:NAME`` or ``file:PATH`` point."""
        text = self.text(key)
        if text.startswith("env:"):
            return self._from_environment(key, text[4:])
        if text.startswith("file:"):
            return self._from_file(key, text[5:])
        return text

    def content(self, key: str, limit: int) -> tuple[str, bytes]:
        """Return the name and the bytes of the file whose path, seen from the login file, stands at *key*."""
        path = self.file.parent / self.text(key)
        return path.name, self._bytes(key, path, limit)

    def _from_environment(self, key: str, name: str) -> str:
        value = self.environment.get(name) if _VARIABLE.fullmatch(name) else None
        if value is None:
            raise self.wrong(key, "env: and the name of an environment variable that is set")
        return value

    def _from_file(self, key: str, name: str) -> str:
        try:
            text = self._bytes(key, self.file.parent / name, _SECRET_LIMIT).decode()
        except UnicodeDecodeError:
            raise self.wrong(key, "file: and the path of a text file in UTF-8") from None
        return text.removesuffix("\n").removesuffix("\r")

    def _bytes(self, key: str, path: Path, limit: int) -> bytes:
        expected = f"the path of a file that can be read, of at most {limit} bytes,"
        try:
            if not path.is_file():
                raise self.wrong(key, expected)
            with path.open("rb") as file:
                content = file.read(limit + 1)
        except (OSError, ValueError):  # ValueError: a NUL in the path
            raise self.wrong(key, expected) from None
        if len(content) > limit:
            raise self.wrong(key, expected)
        return content
