"""Targets: the URL gate, the resolver of references, the path of a URL on disk."""

from __future__ import annotations

from itertools import pairwise

import ada_url

from fuzz.expect import clean_text, expect, parts, text
from spiderproj import urls
from spiderproj.links.resolve import Resolver
from spiderproj.models import Reason, ResourceType
from spiderproj.paths import relative_path
from spiderproj.paths.mapping import MAX_PATH_BYTES

_BASE = "http://example.org/a/b?c"
_VARIATIONS = (
    "",
    "/",
    "~",
    "~1",
    "~0",
    "?",
    "?a",
    "%00",
    ".html",
    ".",
    "index.html",
    "/index.html",
    "%2F",
    "%2f",
    "//",
)
_TYPES = ((ResourceType.HTML, "text/html"), (ResourceType.IMAGE, "image/png"), (ResourceType.OTHER, None))


def gate(data: bytes) -> None:
    """Expect a canonical URL to be its own canonical form, and to name the host that the standard's parser finds."""
    base, reference = map(text, parts(data, 2))
    for given, against in ((base, None), (reference, _canonical(base) or _BASE)):
        url = _canonical(given, against)
        if url is None:
            continue
        check_canonical(url)
        meant = ada_url.URL(given, base=against)
        found = urls.split(url)
        expect(found.host == meant.hostname, "one host", url, meant.hostname)
        expect(found.port == meant.port, "one port", url, meant.port)
        expect(found.path == meant.pathname, "one path", url, meant.pathname)
        expect(f"{found.scheme}:" == meant.protocol, "one scheme", url, meant.protocol)


def resolver(data: bytes) -> None:
    """Expect of the quick way from a reference to a URL what the parser gives, in any order of references."""
    base, *references = map(clean_text, parts(data, 4))
    resolve = Resolver(_canonical(base) or _BASE, "utf-8")
    for reference in references:
        target, problem = resolve(reference)
        if problem is None:
            check_canonical(target)
            expect(target == _canonical(reference, _canonical(base) or _BASE), "one URL", reference, target)
        else:
            expect(problem in {Reason.INVALID, Reason.SCHEME, Reason.TOO_LONG}, "a reason", problem)
    if references[0]:
        resolve.rebase(references[0])
        check_canonical(resolve("x")[0])


def path(data: bytes) -> None:
    """Expect a path of its own for each URL, also without upper case; none leaves the folder or lies below another."""
    given = [_canonical(clean_text(part)) for part in parts(data, 2)]
    every = {found for url in given if url for found in _variations(url)}
    paths: dict[str, str] = {}
    for url in every:
        for kind, media_type in _TYPES:
            found = relative_path(url, kind, media_type)
            _check_path(found)
            expect(paths.setdefault(found.lower(), url) == url, "a path for each URL", url, paths[found.lower()], found)
    for one, other in pairwise(sorted(name.split("/") for name in paths)):
        expect(other[: len(one)] != one, "no file is a folder", one, other)


def check_canonical(url: str) -> None:
    """Expect that *url* is canonical."""
    expect(urls.canonical(url) == url, "canonical", url, urls.canonical(url))
    expect(url.isascii() and url.isprintable() and " " not in url, "printable ASCII", url)
    expect(len(url) <= urls.MAX_URL_LENGTH, "a length", len(url))
    expect("@" not in urls.split(url).authority and "#" not in url, "neither credentials nor fragment", url)


def _canonical(url: str, base: str | None = None) -> str | None:
    try:
        return urls.canonical(url, base)
    except urls.RefusedURLError:
        return None


def _variations(url: str) -> set[str]:
    """Return *url* and the URLs that a mapping might take for it."""
    head, tail = url[: len(urls.origin(url))], url[len(urls.origin(url)) :]
    other = {"http": "https", "https": "http"}[urls.split(url).scheme]
    written = [url + end for end in _VARIATIONS] + [head + tail.swapcase(), head + tail.lower(), head + tail.upper()]
    written += [other + url[url.index(":") :], head + tail.replace("%", "%25"), head + tail.replace("?", "%3F")]
    written += [url.rstrip("/"), head + tail.replace("?", "~"), f"{head}:8080{tail}", f"{head}_8080{tail}"]
    return {found for name in written if (found := _canonical(name))}


def _check_path(found: str) -> None:
    names = found.split("/")
    expect(len(found) <= MAX_PATH_BYTES, "a length", found)
    expect(found.isascii() and found.isprintable(), "printable ASCII", found)
    expect(not set(found) & set("\\:*?\"<>| '"), "no character that means something", found)
    for name in names:
        expect(name and name[0] not in "-." and name[-1] not in ". ", "a name that is only a name", found)
