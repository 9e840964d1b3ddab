"""Where a body lies on disk: security.md 2.1, A1 to A18, and T5."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spiderproj.models import ResourceType
from spiderproj.paths import MAX_LEVELS, MAX_NAME_BYTES, MAX_PATH_BYTES, relative_path
from spiderproj.paths.endings import ALL_ENDINGS, file_endings
from spiderproj.urls import RefusedURLError, canonical

GOLDEN = Path(__file__).parent / "data" / "paths.tsv"
HTML = (ResourceType.HTML, "text/html")
PNG = (ResourceType.IMAGE, "image/png")
OCTETS = (ResourceType.OTHER, "application/octet-stream")
KINDS = [
    HTML,
    (ResourceType.HTML, "application/xhtml+xml"),
    PNG,
    (ResourceType.IMAGE, "image/svg+xml"),
    (ResourceType.IMAGE, "image/apng"),
    (ResourceType.STYLE, "text/css"),
    (ResourceType.SCRIPT, "text/javascript"),
    (ResourceType.ARCHIVE, "application/gzip"),
    (ResourceType.DATA, "text/plain"),
    (ResourceType.DATA, "application/vnd.api+json"),
    OCTETS,
    (ResourceType.OTHER, None),
]


def page(url: str, home_scheme: str = "http") -> str:
    """Return the path of an HTML page at *url*, which is made canonical first."""
    return relative_path(canonical(url), *HTML, home_scheme)


def folded(path: str) -> str:
    """Return *path* as a file system sees it that knows neither case nor Unicode's forms."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFC", path).casefold())


@pytest.mark.parametrize(
    "row", [line.split("\t") for line in GOLDEN.read_text().splitlines() if line], ids=lambda row: row[0][:60]
)
def test_mapping_is_stable(row: list[str]) -> None:
    """A crawl of last year finds its files: no row of the golden file ever changes."""
    url, resource_type, media_type, home_scheme, path = row
    assert canonical(url) == url
    assert relative_path(url, ResourceType(resource_type), media_type or None, home_scheme) == path


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("http://h/", "h/index.html"),
        ("http://h/a/b.html", "h/a/b.html"),
        ("http://h/3.11/library/", "h/3.11/library/index.html"),
        ("http://h/caf%C3%A9.html", "h/caf%C3%A9.html"),
        ("http://h/~user/a_b-c.htm", "h/~user/a_b-c.htm"),
        ("http://H:8080/blog", "h_8080/blog~.html"),
        ("http://h/page.php", "h/page.php~.html"),
        ("http://h/java/String.html", "h/java/String~1.html"),
        ("http://h/Docs/README", "h/Docs~1/README~3f~.html"),
        ("http://h/index.html", "h/index~0.html"),
        ("http://h/x.html/y.html", "h/x.html~/y.html"),
    ],
)
def test_names_stay_readable(url: str, path: str) -> None:
    """A name is the URL's own, and what had to be added is short."""
    assert page(url) == path


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("http://h/a?", "http://h/a"),
        ("http://h/a?x", "http://h/a%3Fx"),
        ("http://h/a?x=1", "http://h/a?x=2"),
        ("http://h/?a", "http://h/index.html?a"),
        ("http://h/blog", "http://h/blog/"),
        ("http://h/blog", "http://h/blog.html"),
        ("http://h/blog", "http://h/blog~"),
        ("http://h/blog", "http://h/blog~.html"),
        ("http://h/index", "http://h/index.html"),
        ("http://h/", "http://h/index.html"),
        ("http://h/index.html", "http://h/index.html/"),
        ("http://h/index.html", "http://h/index~0.html"),
        ("http://h/String", "http://h/String.html"),
        ("http://h/String.html", "http://h/string.html"),
        ("http://h/String.html", "http://h/string~1.html"),
        ("http://h/STRASSE", "http://h/stra\u00dfe"),
        ("http://h/K", "http://h/\u212a"),
        ("http://h/caf\u00e9", "http://h/cafe\u0301"),
        ("http://h/%c3%a9", "http://h/%C3%A9"),
        ("http://h/(", "http://h/%28"),
        ("http://h/a//b", "http://h/a/b"),
        ("http://h/a//b", "http://h/a/~~/b"),
        ("http://h/a//b", "http://h/a/_/b"),
        ("http://h/%2e%2e%2fx", "http://h/..%2fx"),
        ("http://h/%252e", "http://h/%2e%"),
        ("http://h/" + "x" * 300 + "1", "http://h/" + "x" * 300 + "2"),
        ("http://h/" + "X" * 100 + "1", "http://h/" + "x" * 100 + "1"),
        ("http://h/" + "a/" * 100 + "1", "http://h/" + "a/" * 100 + "2"),
        ("http://h/" + "abcdefghi/" * 20 + "1", "http://h/" + "abcdefghi/" * 20 + "2"),
        ("http://h/_deep/x", "http://h/" + "a/" * 100),
        ("http://h/", "https://h/"),
        ("http://h:443/", "https://h/"),
        ("https://h:80/", "http://h/"),
        ("http://h:8080/", "https://h:8080/"),
        ("http://h_8080/", "http://h:8080/"),
        ("https://a_80/", "https://a:80/"),
        ("https://a_80/", "http://a/"),
        ("http://[2001:db8::1]/", "http://ip6-2001-db8--1/"),
        ("http://" + "a" * 300 + "/", "http://" + "a" * 301 + "/"),
        ("http://h./", "http://h/"),
    ],
)
@pytest.mark.parametrize("home_scheme", ["http", "https"])
def test_neighbours_have_files_of_their_own(first: str, second: str, home_scheme: str) -> None:
    """Two URLs that look alike lie at two places, neither inside the other."""
    assert canonical(first) != canonical(second)
    one, other = folded(page(first, home_scheme)), folded(page(second, home_scheme))
    assert one != other
    assert not one.startswith(f"{other}/")
    assert not other.startswith(f"{one}/")


@pytest.mark.parametrize("home_scheme", ["http", "https"])
def test_home_scheme_is_plain(home_scheme: str) -> None:
    """The host's folder of a site crawled over one scheme is the host's name, whichever scheme it is."""
    assert page(f"{home_scheme}://example.org/", home_scheme) == "example.org/index.html"


@pytest.mark.parametrize(
    "name",
    ["CON", "con", "aux.tar.gz", "COM1.txt", "com\u00b9", "NUL", "CONIN$", "lpt9.html", "...", ".hidden", "-rf",
     "--help", "a.", "c:x", "C:", "a:b:$DATA", "\u202egnp.exe", "\ufeff", "x%0d%0a", "_deep",
     "a|b", "*", "'", "\"", "`x`", "$(x)", "a;b", "a~b"],
)  # fmt: skip
@pytest.mark.parametrize("place", ["http://h/{}", "http://h/{}/x.html", "http://h/{}?q"])
def test_hostile_names_are_changed(name: str, place: str) -> None:
    """What a system, a shell or a person could take for something else is spelled otherwise."""
    path = page(place.format(name))
    assert name not in path.split("/")
    assert_safe(path)


@pytest.mark.parametrize(
    ("url", "kind", "name"),
    [
        ("x.png", HTML, "x.png~.html"),
        ("x.desktop", HTML, "x.desktop~.html"),
        ("x.lnk", OCTETS, "x.lnk~.bin"),
        ("x.html.exe", OCTETS, "x.html.exe~.bin"),
        ("x.exe", (ResourceType.OTHER, None), "x.exe~.bin"),
        ("x.html", OCTETS, "x.html~.bin"),
        ("x.svg", OCTETS, "x.svg~.bin"),
        ("x.svg", PNG, "x.svg~.png"),
        ("x.svg", (ResourceType.IMAGE, "image/svg+xml"), "x.svg"),
        ("x.zip", OCTETS, "x.zip"),
        ("x.JPG", (ResourceType.IMAGE, "image/jpeg"), "x~1c.JPG"),
        ("x.jpeg", (ResourceType.IMAGE, "image/jpeg"), "x.jpeg"),
        ("x", PNG, "x~.png"),
        ("x.mjs", (ResourceType.SCRIPT, "application/x-javascript"), "x.mjs"),
        ("x", (ResourceType.SCRIPT, "application/x-javascript"), "x~.js"),
        ("x.tar.gz", (ResourceType.ARCHIVE, "application/gzip"), "x.tar.gz"),
        ("x.docx", (ResourceType.ARCHIVE, "application/zip"), "x.docx"),
        ("api", (ResourceType.DATA, "application/vnd.api+json"), "api~.json"),
        ("a.py", (ResourceType.DATA, "text/x-python"), "a.py~.txt"),
        (".png", PNG, "%2Epng~1~.png"),
    ],
)
def test_endings_are_from_the_list(url: str, kind: tuple[ResourceType, str | None], name: str) -> None:
    """The ending says what the server sent, whatever the URL ends in."""
    assert relative_path(f"http://h/{url}", *kind) == f"h/{name}"


@pytest.mark.parametrize("ending", ["exe", "scr", "lnk", "url", "desktop", "hta", "jar", "bat", "cmd", "ps1", "vbs",
                                    "sh", "py", "php", "chm", "msi", "app", "reg", "docm", "apk"])  # fmt: skip
def test_nothing_that_runs_is_on_the_list(ending: str) -> None:
    """No file of a copy ends in what an operating system starts or follows."""
    assert ending not in ALL_ENDINGS


@pytest.mark.parametrize("resource_type", ResourceType)
@pytest.mark.parametrize(
    "media_type", [None, "", "text/html", "image/png", "x/y", "text/x", "a/b+xml", "application/wasm"]
)
def test_every_type_has_an_ending(resource_type: ResourceType, media_type: str | None) -> None:
    """The default ending is one that fits, for any type with any media type."""
    endings = file_endings(resource_type, media_type)
    assert endings.default in endings.fitting <= ALL_ENDINGS


DEVICE = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|clock\$|com[0-9]|lpt[0-9])(?:\.|$)", re.IGNORECASE)


def assert_safe(path: str) -> None:
    """Fail unless *path* is inside its root and every name in it is harmless on every system."""
    assert len(path) <= MAX_PATH_BYTES
    names = path.split("/")
    assert 2 <= len(names) <= MAX_LEVELS
    for name in names:
        assert re.fullmatch(r"[A-Za-z0-9._%~][A-Za-z0-9._%~-]*", name), name
        assert name[0] != "."
        assert name[-1] != "."
        assert not DEVICE.match(name)
        assert len(name) <= MAX_NAME_BYTES + 7
        for mark in re.findall("~([0-9a-f]+)", name):
            assert len(mark) <= 15 or len(mark) == 20  # a mask is never as long as a hash
    stem, dot, ending = names[-1].rpartition(".")
    assert stem
    assert dot
    assert ending.lower() in ALL_ENDINGS
    assert names[0] != "_deep"
    assert all(name.rpartition(".")[2].lower() not in ALL_ENDINGS or "." not in name for name in names[1:-1])


PIECES = st.sampled_from(
    ["a", "A", "b.html", "index", "index.html", ".html", ".HTML", ".png", ".apng", ".bin", ".", "..", "~", "~~", "~0",
     "~1", "~3f", "_deep", "_80", "%", "%2", "%2e", "%2E", "%2f", "%5c", "%00", "%41", "%c3%A9", "%C3%A9", "%c3%a9",
     "\u00e9", "e\u0301", "\u212a", "\uff0e", "(", ":", "-", "con", "NUL", "x" * 90, "x" * 90 + "/",
     "X" * 61, "?", "?a", "$", "@", " ",
     "\u202e", "a/", "A/", "/", "//", "a/" * 23, "b.html/"]
)  # fmt: skip
HOSTS = st.sampled_from(
    ["h", "h:80", "h:443", "h:8080", "h_80", "h_443", "h_8080", "h.", "con", "_deep", "h~", "h~0", "[::1]", "[::1]:80",
     "ip6-1", "ip6~--1", "-h", "127.0.0.1", "xn--strae-oqa", "stra\u00dfe", "h" * 200, "h" * 201, "h!", "h%21"]
)  # fmt: skip
URLS = st.builds(
    lambda scheme, host, pieces: f"{scheme}://{host}/{''.join(pieces)}",
    st.sampled_from(["http", "https"]),
    HOSTS,
    st.lists(PIECES, max_size=5),
)


def with_neighbours(url: str, path: str) -> list[str]:
    """Return *url* and others that are made to meet it on disk; *path* is where it lies."""
    root = url[: url.index("/", 8) + 1]
    _, _, below = path.partition("/")
    return [
        url,
        root + below,  # the spelling itself, asked for
        root + below.lower(),
        root + below.rpartition(".")[0],
        root + below.replace("%", "%25"),
        f"{url}/",
        f"{url}/index.html",
        f"{url}.html",
        f"{url}~.html",
        f"{url}?",
        url.replace("%", "%25"),
        url.swapcase().replace("HTTPS:", "https:").replace("HTTP:", "http:"),
        url.removesuffix(".html"),
        url.rstrip("/"),
        re.sub("%..", lambda escape: escape[0].swapcase(), url),
        re.sub("^https?", lambda scheme: "https" if scheme[0] == "http" else "http", url),
    ]


def accepted(candidates: list[str]) -> list[str]:
    """Return the distinct canonical URLs among *candidates*, in order."""
    found: dict[str, None] = {}
    for url in candidates:
        try:
            found[canonical(url)] = None
        except RefusedURLError:
            continue
    return list(found)


@given(
    st.lists(URLS, min_size=1, max_size=3), st.lists(st.sampled_from(KINDS), min_size=48, max_size=48), st.booleans()
)
@settings(deadline=None, max_examples=150)
def test_no_two_urls_meet(
    candidates: list[str], kinds: list[tuple[ResourceType, str | None]], https_is_home: bool
) -> None:
    """Distinct URLs of any types, hostile neighbours too, have distinct safe paths, and none is the other's parent."""
    home = "https" if https_is_home else "http"
    known = accepted(candidates)
    everything = accepted(
        [other for url in known for other in with_neighbours(url, relative_path(url, *kinds[0], home))]
    )
    paths = [relative_path(url, *kind, home) for url, kind in zip(everything, kinds, strict=False)]
    for path in paths:
        assert_safe(path)
    ordered = sorted(folded(path) + "/" for path in paths)  # a parent sorts just before its first child
    for path, following in pairwise(ordered):
        assert not following.startswith(path)


@given(st.text(max_size=200), st.sampled_from(KINDS))
@settings(deadline=None, max_examples=300)
def test_any_path_is_safe(text: str, kind: tuple[ResourceType, str | None]) -> None:
    """Whatever stands behind the host, the path is inside the root."""
    for url in accepted([f"http://h/{text}", f"http://h/a?{text}"]):
        assert_safe(relative_path(url, *kind))


def test_one_capital_is_told_from_every_other() -> None:
    """All 2,048 spellings of a word in capitals and small letters have names of their own."""
    words = {
        "".join(letter.upper() if number >> index & 1 else letter for index, letter in enumerate("readme.html"))
        for number in range(2048)
    }
    assert len({folded(page(f"http://h/{word}")) for word in words}) == len(words) == 1024  # "." has no capital


def test_a_million_queries_do_not_meet() -> None:
    """The hash of a query is long enough for the largest crawl: at least 80 bits."""
    found = re.fullmatch(r"h/page\.php~([0-9a-f]+)\.html", page("http://h/page.php?id=7"))
    assert found is not None
    assert len(found[1]) * 4 >= 80
