"""The cookie jar is bounded, never fails, and gives a cookie to nobody but the origin that set it."""

from __future__ import annotations

import socket
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spiderproj.cookies import CookieJar, is_public_suffix, is_valid
from spiderproj.cookies.dates import cookie_date
from spiderproj.cookies.jar import COOKIES_PER_HOST, HEADER_BYTES, HOSTS, LINES_PER_RESPONSE, TOTAL_BYTES

NOW = 1_700_000_000.0
HOME = "https://www.example.org/docs/page.html"
FOREVER = 500 * 86_400


def jar(*lines: str, url: str = HOME) -> CookieJar:
    """Return a jar after one response from *url* that set *lines*."""
    one = CookieJar()
    one.store(url, lines, NOW)
    return one


def sent(*lines: str, url: str = HOME, to: str = HOME, later: float = 0) -> str | None:
    """Return the Cookie header that a request *to* gets after a response from *url* set *lines*."""
    return jar(*lines, url=url).header_for(to, NOW + later)


KEPT: list[tuple[str, str | None]] = [
    ("a=1", "a=1"),
    ("a=1; Secure; HttpOnly; SameSite=Lax; Partitioned; nonsense", "a=1"),
    (" a = 1 ;Path=/", "a=1"),
    ("a=1;\tPath=/", "a=1"),
    ("a=", "a="),
    ("a==b=c", "a==b=c"),
    ('a="1, 2"', 'a="1, 2"'),
    ("a=1; Path=relative", "a=1"),
    ("a=1; Path=" + "/x" * 600, "a=1"),
    ("a=1; Max-Age=99999999999999999999", "a=1"),
    ("a=1; Max-Age=soon", "a=1"),
    ("a=1; Expires=" + "1" * 4000, "a=1"),
    ("a=1; Expires=never; Max-Age=00000000000000000060", "a=1"),
    ("a=1; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "a=1"),
    ("__Host-a=1; Secure; Path=/", "__Host-a=1"),
    ("__Secure-a=1; Secure", "__Secure-a=1"),
    ("a=1; Domain=", "a=1"),
    ("a=1; Domain=.", "a=1"),
    ("a=1; Domain=WWW.Example.ORG", "a=1"),
    ("a=1; Domain=.example.org", "a=1"),
    ("", None),
    ("a", None),
    ("=1", None),
    (";;;===;;", None),
    ("a b=1", None),
    ("a=\x01\x02", None),
    ("a=1; Path=/\x00", None),
    ("a=1\r\nX: y", None),
    ("a=1; Path=/docs; Comment=caf\xe9", None),
    ("a=caf\xe9", None),
    ("a=" + "x" * 4096, None),
    ("a=1; x=" + "y" * 9000, None),
    ("a=1; Max-Age=0", None),
    ("a=1; Max-Age=-1", None),
    ("a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT", None),
    ("__Host-a=1", None),
    ("__Host-a=1; Secure; Path=/docs", None),
    ("__Host-a=1; Secure; Path=/; Domain=www.example.org", None),
    ("__secure-a=1", None),
    ("a=1; Domain=org", None),
    ("a=1; Domain=.com", None),
    ("a=1; Domain=localhost", None),
    ("a=1; Domain=other.example.org", None),
    ("a=1; Domain=ample.org", None),
    ("a=1; Domain=example.org.", None),
    ("a=1; Domain=127.0.0.1", None),
    ("a=1; Path=/elsewhere", None),
    ("a=1; Path=/doc", None),
]


@pytest.mark.parametrize(("line", "expected"), KEPT, ids=lambda text: ascii(text)[:40])
def test_what_comes_back_to_the_page_that_set_it(line: str, expected: str | None) -> None:
    """A sound Set-Cookie value is sent back to the same page, any other is passed over."""
    assert sent(line) == expected


PATHS = [
    ("/docs/page.html", "", "/docs/", True),
    ("/docs/page.html", "", "/docs", True),
    ("/docs/page.html", "", "/docsx", False),
    ("/docs/page.html", "", "/", False),
    ("/page.html", "", "/any/where", True),
    ("/", "; Path=/a", "/a/b?c", True),
    ("/", "; Path=/a/", "/a", False),
    ("/", "; Path=/a", "/ab", False),
]


@pytest.mark.parametrize(("path", "attribute", "asked", "matches"), PATHS)
def test_paths(path: str, attribute: str, asked: str, matches: bool) -> None:
    """A cookie goes to its path and what lies below; without one, to the directory of the page that set it."""
    header = sent(f"a=1{attribute}", url=f"http://h{path}", to=f"http://h{asked}")
    assert header == ("a=1" if matches else None)


ORIGINS = [
    "http://a.example.org/",
    "https://a.example.org/",
    "http://a.example.org:8080/",
    "https://a.example.org:8080/",
    "http://b.example.org/",
    "https://example.org/",
    "https://a.a.example.org/",
    "https://a.example.org./",
    "http://127.0.0.1:8080/",
    "http://localhost:8080/",
    "http://[::1]:8080/",
]


@pytest.mark.parametrize("url", ORIGINS)
@pytest.mark.parametrize("to", ORIGINS)
def test_a_cookie_does_not_leave_its_origin(url: str, to: str) -> None:
    """A cookie without Domain is sent to the same scheme, host and port and to no other."""
    assert sent("a=1", url=url, to=to) == ("a=1" if url == to else None)


DOMAINS = [
    ("https://a.example.org/", "example.org", "https://b.example.org/", True),
    ("https://a.example.org/", "example.org", "https://example.org/", True),
    ("https://a.example.org/", "example.org", "https://x.y.example.org/", True),
    ("https://a.example.org/", "a.example.org", "https://x.a.example.org/", True),
    ("https://a.example.org/", "example.org", "http://b.example.org/", False),
    ("https://a.example.org/", "example.org", "https://b.example.org:444/", False),
    ("https://a.example.org/", "example.org", "https://badexample.org/", False),
    ("https://a.example.org/", "a.example.org", "https://b.example.org/", False),
    ("https://a.example.co.uk/", "co.uk", "https://b.example.co.uk/", False),
    ("https://a.github.io/", "github.io", "https://b.github.io/", False),
    ("https://github.io/", "github.io", "https://b.github.io/", False),
    ("https://a.co.uk./", "co.uk.", "https://b.co.uk./", False),
    ("https://a.xn--55qx5d.cn/", "xn--55qx5d.cn", "https://b.xn--55qx5d.cn/", False),
    ("https://a.internal/", "internal", "https://b.internal/", False),
    ("http://1.2.3.4/", "3.4", "http://9.9.3.4/", False),
    ("https://*.github.io:80/", "", "https://b.github.io:80/", False),
]


@pytest.mark.parametrize(("url", "domain", "to", "matches"), DOMAINS)
def test_domain(url: str, domain: str, to: str, matches: bool) -> None:
    """Domain lets subdomains of the same scheme and port share a cookie, never those of a public suffix."""
    assert sent(f"a=1; Domain={domain}", url=url, to=to) == ("a=1" if matches else None)


def test_a_public_suffix_may_keep_its_own_cookie() -> None:
    """A host that is itself a public suffix, or an address, keeps a cookie whose Domain is its own name."""
    assert sent("a=1; Domain=github.io", url="https://github.io/", to="https://github.io/") == "a=1"
    assert sent("a=1; Domain=127.0.0.1", url="http://127.0.0.1/", to="http://127.0.0.1/") == "a=1"


def test_secure_needs_https() -> None:
    """Plain http can neither set a Secure cookie nor get one."""
    assert sent("a=1; Secure", url="http://h/", to="http://h/") is None
    assert sent("a=1; Secure", url="https://h/", to="http://h/") is None


def test_the_suffix_list_never_comes_from_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first Domain attribute opens no socket."""

    def refuse(*_: object, **__: object) -> None:
        pytest.fail("a socket was opened")

    sys.modules["spiderproj.cookies.setcookie"]._extractor.cache_clear()
    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert is_public_suffix("co.uk")
    assert not is_public_suffix("example.co.uk")


def test_cookies_end() -> None:
    """A cookie is sent until its end and then forgotten; Max-Age goes before Expires, both end after 400 days."""
    assert sent("a=1; Max-Age=60", later=59) == "a=1"
    assert sent("a=1; Max-Age=60", later=60) is None
    assert sent("a=1; Expires=Tue, 14 Nov 2023 22:14:20 GMT", later=59) == "a=1"
    assert sent("a=1; Expires=Tue, 14 Nov 2023 22:14:20 GMT", later=60) is None
    assert sent("a=1; Max-Age=9999999999", later=FOREVER) is None
    assert sent("a=1; Expires=Fri, 31 Dec 9999 23:59:59 GMT", later=FOREVER) is None
    assert sent("a=1", later=FOREVER) == "a=1"


def test_a_cookie_set_again_is_replaced_and_an_ended_one_removed() -> None:
    """One name and path is one cookie: the last value counts, and an end in the past takes it away."""
    one = jar("a=1", "b=2", "a=3")
    assert one.header_for(HOME, NOW) == "a=3; b=2"
    one.store(HOME, ["a=; Max-Age=0", "never=; Max-Age=0"], NOW)
    assert one.header_for(HOME, NOW) == "b=2"


def test_removing_one_domain_leaves_the_others() -> None:
    """Cookies of two domains live and end independently."""
    one = jar("a=1; Domain=example.org", "b=2; Domain=www.example.org")
    one.store(HOME, ["b=; Domain=www.example.org; Max-Age=0"], NOW)
    assert one.header_for("https://x.example.org/docs/", NOW) == "a=1"


def test_longer_paths_come_first_then_older_cookies() -> None:
    """The order of RFC 6265bis, across host and domain cookies."""
    header = sent("a=1; Path=/", "b=2", "c=3; Path=/; Domain=example.org", "d=4; Path=/docs/page.html")
    assert header == "d=4; b=2; a=1; c=3"


def test_a_login_cookie_is_bound_to_its_origin() -> None:
    """A cookie of the login file goes to every path of its origin and to no other origin."""
    one = CookieJar()
    one.add("https://h:444", "sid", "s")
    assert one.header_for("https://h:444/any/where", NOW + FOREVER) == "sid=s"
    assert [one.header_for(url, NOW) for url in ("https://h/", "http://h:444/", "https://x.h:444/")] == [None] * 3


def test_a_flood_leaves_a_bounded_header() -> None:
    """Of thousands of large cookies the newest of the first hundred stay, and what is sent stays below 8 KiB."""
    header = sent(*[f"c{number}={'v' * 3000}; Path=/" for number in range(5000)])
    assert header is not None
    assert len(header) <= HEADER_BYTES
    names = [pair.partition("=")[0] for pair in header.split("; ")]
    assert names == [f"c{LINES_PER_RESPONSE - COOKIES_PER_HOST}", f"c{LINES_PER_RESPONSE - COOKIES_PER_HOST + 1}"]


def test_the_oldest_cookie_of_a_host_gives_way() -> None:
    """A host keeps fifty cookies."""
    header = sent(*[f"c{number}=1" for number in range(COOKIES_PER_HOST + 3)])
    assert header is not None
    assert header.split("; ") == [f"c{number}=1" for number in range(3, COOKIES_PER_HOST + 3)]


def test_the_host_not_used_for_longest_gives_way() -> None:
    """Cookies of ten thousand hosts are kept; use counts, not age."""
    one = CookieJar()
    for number in range(HOSTS):
        one.store(f"http://h{number}/", ["a=1"], NOW)
    assert one.header_for("http://h0/", NOW) == "a=1"
    one.store("http://new/", ["a=1"], NOW)
    assert one.header_for("http://h0/", NOW) == "a=1"
    assert one.header_for("http://h1/", NOW) is None


def test_all_cookies_together_are_bounded() -> None:
    """Hosts that each fill their share push older hosts out long before the number of hosts would."""
    one = CookieJar()
    lines = [f"c{number}={'v' * 4000}" for number in range(COOKIES_PER_HOST)]
    count = 3 * TOTAL_BYTES // 2 // (COOKIES_PER_HOST * 4000)
    for number in range(count):
        one.store(f"http://h{number}/", lines, NOW)
    kept = [number for number in range(count) if one.header_for(f"http://h{number}/", NOW)]
    assert kept == list(range(kept[0], count))
    assert count // 2 < len(kept) < count * 3 // 4


DATES: list[tuple[str, float | None]] = [
    ("Thu, 01 Jan 1970 00:00:10 GMT", 10),
    ("Thursday, 01-Jan-70 00:00:10 GMT", 10),
    ("Thu Jan  1 00:00:10 1970", 10),
    ("1 jan 1970 0:0:10", 10),
    ("1970 January 1st 00:00:10x", 10),
    ("31 Dec 69 23:59:59", 3155759999),
    ("Wed, 21 Oct 2099 07:28:00 GMT", 4096250880),
    ("", None),
    ("tomorrow", None),
    ("1 Jan 1970", None),
    ("31 Feb 2000 00:00:00", None),
    ("1 Jan 1600 00:00:00", None),
    ("1 Jan 0100 00:00:00", None),
    ("1 Jan 2000 24:00:00", None),
    ("1 Jan 2000 00:00:60", None),
    ("1 Jan 20000 00:00:00", None),
    ("1 Jan 1970 00:00:10" + " " * 128, None),
]


@pytest.mark.parametrize(("text", "expected"), DATES)
def test_dates(text: str, expected: float | None) -> None:
    """Dates are read in any order and spelling that RFC 6265bis allows, and no others."""
    assert cookie_date(text) == expected


NAMES = [("a", "1", True), ("a", "", True), ("a" * 96, "b" * 4000, True), ("a" * 97, "b" * 4000, False),
         ("", "1", False), ("a;", "1", False), ("a=", "1", False), ("a", "1;", False), ("a", "1\n", False),
         ("a", "é", False)]  # fmt: skip


@pytest.mark.parametrize(("name", "value", "valid"), NAMES)
def test_is_valid(name: str, value: str, valid: bool) -> None:
    """Only printable ASCII without separators, of at most 4 KiB, may be a cookie."""
    assert is_valid(name, value) is valid


HOSTS_HERE = ["https://a.example.org/x/", "https://b.example.net/x/", "http://127.0.0.1/x/", "https://a.github.io/"]
PIECES = ["a", "=", ";", " ", "Domain=", "example.org", ".", "org", "github.io", "127.0.0.1", "example.net", "Path=",
          "/", "Max-Age=", "-1", "9", "Expires=", "1 Jan 2030 00:00:00", "__Host-", "Secure"]  # fmt: skip
LINES = st.binary(max_size=80).map(lambda raw: raw.decode("latin-1")) | st.lists(st.sampled_from(PIECES)).map("".join)


@settings(deadline=None, max_examples=150)
@given(st.lists(LINES, max_size=8), st.sampled_from(HOSTS_HERE), st.sampled_from(HOSTS_HERE))
def test_any_bytes_are_taken_and_nothing_leaks(lines: list[str], url: str, to: str) -> None:
    """Arbitrary Set-Cookie bytes never raise; what is sent is printable, short, and for the host that set it."""
    header = sent(*lines, url=url, to=to)
    if header is None:
        return
    assert url == to
    assert header.isascii()
    assert header.isprintable()
    assert 0 < len(header) <= HEADER_BYTES
