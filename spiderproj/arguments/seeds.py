"""Read the ``seed`` argument: the canonical URLs that a crawl begins at."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

import ada_url

from spiderproj.arguments.lists import Entry, entries
from spiderproj.models import Reason
from spiderproj.urls import MAX_URL_LENGTH, RefusedURLError, canonical, split

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spiderproj.arguments.values import Given
    from spiderproj.errors import ArgumentError

_SEED_LIMIT = 1_000_000  # about 150 bytes of memory each, twice that without a scheme
_SCHEME = re.compile("[a-z][a-z0-9+.-]*://|(?:https?|mailto|javascript|data|tel|blob|file|about):", re.IGNORECASE)
_CONTROL = re.compile("[\x00-\x20\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_EXPECTED = {
    Reason.INVALID: "a URL such as https://example.org/docs/",
    Reason.SCHEME: "an http or https URL",
    Reason.TOO_LONG: f"a URL of at most {MAX_URL_LENGTH} characters",
}


class Seeds(NamedTuple):
    """Canonical URLs in the order given, each once; ``fallbacks`` has the http form of those given without scheme."""

    urls: tuple[str, ...]
    fallbacks: dict[str, str]


def seeds(given: Given) -> Seeds:
    """Return the seeds: URLs separated by white space, or those of ``@FILE``.

    A line of the file may also be a JSON object with a ``url``, so that refused.jsonl is a seed list; URLs that it
    says can never be fetched (invalid, scheme, too-long) are passed over.
    """
    urls: dict[str, None] = {}
    fallbacks: dict[str, str] = {}
    for entry in _entries(given):
        url, fallback = _seed(given, entry)
        urls[url] = None
        if fallback:
            fallbacks[url] = fallback
        if len(urls) > _SEED_LIMIT:
            raise given.wrong(f"at most {_SEED_LIMIT} seeds; split the list")
    if not urls:
        raise given.wrong("a URL to begin at, e.g. https://example.org/docs/")
    return Seeds(tuple(urls), fallbacks)


def folder_name(seed: str) -> str:
    """Return the host key of a canonical *seed* as the name of one folder that every file system takes.

    >>> folder_name("http://[::1]:8080/a")
    '___1__8080'
    """
    name = re.sub("[^a-z0-9.-]", "_", split(seed).authority)[:200]
    return "_" + name[1:] if name[:1] in (".", "-", "") else name


def _entries(given: Given) -> Iterator[Entry]:
    if not given.text.startswith("@"):
        return (Entry(text, "") for text in given.text.split())
    return filter(None, (_unpacked(given, entry) for entry in entries(given)))


def _unpacked(given: Given, entry: Entry) -> Entry | None:
    """Return *entry* with the URL of its JSON object, None when the object says that it can never be fetched."""
    if not entry.text.startswith("{"):
        return entry
    try:
        row = json.loads(entry.text)
    except (ValueError, RecursionError) as error:
        raise given.wrong(f"a URL, or a JSON object with a url{entry.place}", entry.text) from error
    if not isinstance(row.get("url"), str):
        raise given.wrong(f"a JSON object with a url{entry.place}", entry.text)
    return None if row.get("reason") in _EXPECTED else Entry(row["url"], entry.place)


def _seed(given: Given, entry: Entry) -> tuple[str, str]:
    """Return the canonical URL, and the one to try when it does not answer ("" for none)."""
    text = entry.text
    if text.startswith("@"):
        raise given.wrong("URLs, or a single @FILE", text)
    bare = not _SCHEME.match(text)
    url = _canonical(given, entry, f"https://{text}" if bare else text)
    return url, (_canonical(given, entry, f"http://{text}") if bare else "")


def _canonical(given: Given, entry: Entry, url: str) -> str:
    if _CONTROL.search(url):
        raise _wrong(given, entry, "a URL without blanks and control characters")
    try:
        if "@" in url and any(ada_url.parse_url(url, attributes=("username", "password")).values()):
            raise _wrong(given, entry, "a URL without user and password; put them into a file: login=FILE.toml")
        return canonical(url)
    except RefusedURLError as error:
        raise _wrong(given, entry, _EXPECTED[error.reason]) from None
    except ValueError:
        raise _wrong(given, entry, _EXPECTED[Reason.INVALID]) from None


def _wrong(given: Given, entry: Entry, expected: str) -> ArgumentError:
    """Return the error; nothing before the last ``@`` is shown, it may be a password."""
    _, at, rest = entry.text.rpartition("@")
    return given.wrong(f"{expected}{entry.place}", f"...@{rest}" if at else entry.text)
