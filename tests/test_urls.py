"""The one canonical form of a URL, and its parts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spiderproj import urls
from spiderproj.models import Reason
from spiderproj.urls import URLParts

BASE = "http://example.org/foo/bar"


@pytest.mark.parametrize(
    ("reference", "url"),
    [
        ("http://example\t.\norg", "http://example.org/"),
        ("http://user:pass@foo:21/bar;par?b#c", "http://foo:21/bar;par?b"),
        ("https://test:@test", "https://test/"),
        ("http:foo.com", "http://example.org/foo/foo.com"),
        ("\t   :foo.com   \n", "http://example.org/foo/:foo.com"),
        (" foo.com  ", "http://example.org/foo/foo.com"),
        ("http://f:0/c", "http://f:0/c"),
        ("http://f:00000000000000000000080/c", "http://f/c"),
        ("https://f:443/", "https://f/"),
        ("http://f:\n/c", "http://f/c"),
        ("", "http://example.org/foo/bar"),
        ("  \t", "http://example.org/foo/bar"),
        (":/", "http://example.org/foo/:/"),
        ("?", "http://example.org/foo/bar?"),
        ("#/;?", "http://example.org/foo/bar"),
        ("/", "http://example.org/"),
        ("\\x", "http://example.org/x"),
        ("//foo/bar", "http://foo/bar"),
        ("http://foo/path;a??e#f#g", "http://foo/path;a??e"),
        ("http:///bar.com/", "http://bar.com/"),
        ("http:////////bar.com/", "http://bar.com/"),
        ("http:\\\\x:hi@h\\c", "http://h/c"),
        ("http://a:b@c@d/", "http://d/"),
        ("http://[2001::1]:80", "http://[2001::1]/"),
        ("http://[::127.0.0.1]", "http://[::7f00:1]/"),
        ("http://0x7F.1/", "http://127.0.0.1/"),
        ("http://2130706433/", "http://127.0.0.1/"),
        ("http://%31%32%37.0.0.1/", "http://127.0.0.1/"),
        ("http://ExAmPlE.CoM", "http://example.com/"),
        ("http://faß.ExAmPlE/", "http://xn--fa-hia.example/"),
        ("http://ｇｏ.com", "http://go.com/"),
        ("http://example.com/././foo/../bar/%2e%2E/a", "http://example.com/a"),
        ("http://example.com/foo/../../..bar", "http://example.com/..bar"),
        ("http://example.com/foo%41%7a %", "http://example.com/foo%41%7a%20%"),
        ("http://example.com//foo//bar", "http://example.com//foo//bar"),
        ("http://example.com/你好?你", "http://example.com/%E4%BD%A0%E5%A5%BD?%E4%BD%A0"),
        ("http://example.com/a?'\"<>#", "http://example.com/a?%27%22%3C%3E"),
        ("http://example.com/a'^|`{}", "http://example.com/a'%5E|%60%7B%7D"),
        ("http://h/\ud7ff", "http://h/%ED%9F%BF"),
        ("HTTP:x?y", "http://example.org/foo/x?y"),
    ],
)
def test_canonical(reference: str, url: str) -> None:
    """A reference gives the URL standard's serialisation, less credentials and fragment."""
    assert urls.canonical(reference, BASE) == url
    assert urls.canonical(url) == url


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        ("http://", Reason.INVALID),
        ("http://[", Reason.INVALID),
        ("http://[::1", Reason.INVALID),
        ("http://a b/", Reason.INVALID),
        ("http://h:port/", Reason.INVALID),
        ("http://h:99999/", Reason.INVALID),
        ("http://:80/", Reason.INVALID),
        ("http://user@/x", Reason.INVALID),
        ("http://a%00b/", Reason.INVALID),
        ("http://a<b/", Reason.INVALID),
        ("http://256.256.256.256/", Reason.INVALID),
        ("//", Reason.INVALID),
        ("\ud800", Reason.INVALID),
        ("mailto:a@b", Reason.SCHEME),
        ("javascript:void(0)", Reason.SCHEME),
        ("data:,x", Reason.SCHEME),
        ("ftp://h/x", Reason.SCHEME),
        ("file:///etc/passwd", Reason.SCHEME),
        ("java\nscript:x", Reason.SCHEME),
        ("x" * 3000, Reason.TOO_LONG),
        ("é" * 1000, Reason.TOO_LONG),
        ("x" * 10_000_000, Reason.TOO_LONG),
    ],
)
def test_what_is_refused(reference: str, reason: Reason) -> None:
    """What can never be fetched is refused with its reason, in a message of one short line."""
    with pytest.raises(urls.RefusedURLError) as refused:
        urls.canonical(reference, BASE)

    assert refused.value.reason is reason
    assert len(str(refused.value)) < 1000


def test_a_relative_reference_needs_a_base() -> None:
    """Without a base only an absolute URL is accepted."""
    with pytest.raises(urls.RefusedURLError):
        urls.canonical("/x")


def test_the_longest_url() -> None:
    """The limit of length is exact, and counts what is sent."""
    longest = "http://h/" + "x" * (urls.MAX_URL_LENGTH - 9)

    assert urls.canonical("http://u:p@" + longest[7:] + "#f") == longest
    with pytest.raises(urls.RefusedURLError):
        urls.canonical(longest + "x")


@settings(deadline=None)
@given(st.text(max_size=40), st.sampled_from(["", "http://", "//h", "http://u@h:8", "?", "http://[::1]"]))
def test_canonical_is_stable(text: str, start: str) -> None:
    """Whatever is accepted is canonical, ASCII, splits, and joins again from its parts."""
    try:
        url = urls.canonical(start + text, BASE)
    except urls.RefusedURLError:
        return
    parts = urls.split(url)
    query = "" if parts.query is None else "?" + parts.query

    assert url.isascii()
    assert urls.canonical(url) == url
    assert f"{parts.scheme}://{parts.authority}{parts.path}{query}" == url
    assert urls.origin(url) == f"{parts.scheme}://{parts.authority}"
    assert 0 <= urls.port_number(parts) <= 65535


@pytest.mark.parametrize(
    ("url", "parts", "authority", "origin", "port"),
    [
        ("http://h/", URLParts("http", "h", "", "/", None), "h", "http://h", 80),
        ("https://h/?", URLParts("https", "h", "", "/", ""), "h", "https://h", 443),
        ("http://h:8/a/b?c=d?e", URLParts("http", "h", "8", "/a/b", "c=d?e"), "h:8", "http://h:8", 8),
        ("http://[::1]/x:y", URLParts("http", "[::1]", "", "/x:y", None), "[::1]", "http://[::1]", 80),
        ("http://[::1]:8/?//", URLParts("http", "[::1]", "8", "/", "//"), "[::1]:8", "http://[::1]:8", 8),
    ],
)
def test_parts(url: str, parts: URLParts, authority: str, origin: str, port: int) -> None:
    """A canonical URL is cut into its parts, nothing decoded."""
    assert urls.split(url) == parts
    assert (parts.authority, urls.origin(url), urls.port_number(parts)) == (authority, origin, port)


@pytest.mark.parametrize(("path", "directory"), [("/", "/"), ("/a", "/"), ("/a/", "/a/"), ("/a/b/c.html", "/a/b/")])
def test_directory(path: str, directory: str) -> None:
    """A page lies in the directory up to its path's last slash."""
    assert urls.directory(path) == directory


def test_url_key() -> None:
    """A key is the URL's xxh3 as SQLite holds it: 64 bits with a sign, for ever the same."""
    keys = [urls.url_key(f"http://h/{number}") for number in range(100)]

    assert urls.url_key("http://h/") == -7377535290460293454
    assert len(set(keys)) == 100
    assert min(keys) < 0 < max(keys)
    assert all(-(1 << 63) <= key < 1 << 63 for key in keys)


@pytest.mark.parametrize(
    ("value", "url"),
    [
        (b"/a?b", "http://h/a?b"),
        ("/caf\u00e9?\u00e9".encode(), "http://h/caf%C3%A9?%C3%A9"),
        (b"/caf\xe9?\xe9", "http://h/caf%E9?%E9"),
        ("//b\u00fccher.example/".encode(), "http://xn--bcher-kva.example/"),
        (b"", "http://h/d/p"),
    ],
)
def test_a_reference_in_a_header(value: bytes, url: str) -> None:
    """The bytes of a header field name what they say, in whichever encoding: redirects of pages, robots, sitemaps."""
    assert urls.canonical(urls.from_header(value), "http://h/d/p") == url
