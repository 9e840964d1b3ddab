"""Pages that are slow to read, and pages that link to what must not be fetched."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from tests.hostile.answers import Ask, packed
from tests.hostile.cases import Case, Fate

_START = b"<!doctype html><html><body>"

_SLOW: dict[str, tuple[str, Callable[[], bytes], tuple[str, ...]]] = {
    # name: attack, body, what must be asked for
    "deep": (
        "100,000 elements within each other",
        lambda: b"<div>" * 100_000 + b"<a href=/fine/markup.deep>",
        ("/fine/markup.deep",),
    ),
    "less-than": ("5 MB of <", lambda: b"<" * 5_000_000, ()),
    "comments": ("two million comments that never end", lambda: b"<!--" * 2_000_000, ()),
    "quotes": ("a million attributes that never end", lambda: b"<a href='" * 1_000_000, ()),
    "long-link": ("a link of 10 MB", lambda: b"<a href='/fine/" + b"a" * 10_000_000 + b"'>", ()),
}

_FEW = ("CLOSESPIDER_PAGECOUNT=1100",)  # the page, all that must be asked for, and not fifty thousand

_HEAVY: dict[str, tuple[str, Callable[[], bytes], tuple[str, ...], float]] = {
    # name: attack, body, what must be asked for, megabytes that reading may take
    "attributes": (
        "100,000 attributes on one tag",
        lambda: b"<a " + b"".join(b"a%d=1 " % i for i in range(100_000)) + b" href=/fine/markup.attributes>",
        ("/fine/markup.attributes",),
        100,
    ),
    "anchors": (
        "a thousand anchors around a long text",
        lambda: b"".join(b"<a href='/fine/a%d'><div>" % i for i in range(1000)) + b"t" * 1_000_000,
        ("/fine/a999",),
        150,
    ),
    "links": (
        "400,000 links, which is as many as a page may hold",
        lambda: b"".join(b"<a href='/fine/l%d'>x</a>" % i for i in range(400_000)),
        (),
        250,
    ),
    "tags": ("five million tags", lambda: b"<p>" * 5_000_000, (), 100),
    "style": ("16 MB of style that never ends", lambda: b"<style>" + b"a{b:url(" * 2_000_000, (), 150),
    "references": ("four million character references", lambda: b"<a href='" + b"&amp;" * 3_200_000 + b"'>", (), 200),
}


def _files(host: str) -> bytes:
    return f"<a href='file://{host}/etc/passwd'>a</a><a href='file://{host}/etc/hostname'>b</a>".encode()


def _schemes(ask: Ask) -> bytes:
    inside = ask.port("inside")
    return (
        "<a href='file:///etc/passwd'>f</a><a href='FILE:/etc/hosts'>f</a><img src='file:///etc/passwd'>"
        f"<iframe src='file:///etc/passwd'></iframe><a href='ftp://127.0.0.1:{inside}/x'>p</a><a href='s3://b/k'>s</a>"
        "<a href='data:text/html,d'>d</a><a href='/fine/markup.schemes'>ok</a>"
    ).encode()


def _inert(_: Ask) -> bytes:
    return (
        '<title>"><svg onload=owned=1>\r\n=HYPERLINK("http://e")\x1b[2J\u2028</title><script>owned=1</script>'
        "<a href='/fine/x\"><img src=x onerror=owned=1>.html'>\"><svg/onload=owned=1></a>"
        "<a href='/fine/=cmd|calc.html'>=1+1</a><a href='/fine/%3Cscript%3E.html'>@SUM(1)\x1b[31m</a>"
        "<a href='javascript:owned=1'>j</a><a href='/fine/markup.inert'>&#xD800;\x00</a>"
    ).encode()


_BROKEN_LINKS = (
    b"http://[::1", b"http://[bad]/", b"http://:80/", b"http://", b"//", b"http://a b/", b"http://127.0.0.1:port/",
    b"http://127.0.0.1:99999/", b"http://127.0.0.1:-1/", b"http://127.0.0.1:0/", b"http:///x", b"http:x", b"?", b"#",
    b"", b"http://xn--/", b"http://" + b"a" * 300 + b"/", b"http://" + "é".encode() * 5000 + b"/", b"http://a..b/",
    b"\\\\127.0.0.1\\x", b"http://user:hunter2@127.0.0.1/", b"ht\ttp://x.invalid/", b"\x01http://x.invalid/",
    b"feed:http://x", b"view-source:http://x", b"http://%31%32%37.0.0.1/", b"mailto:a@b", b"tel:1", b"blob:x",
    b"about:blank", b"intent://x", b"/fine/markup.broken-1", b"/fine/markup.broken-2",
)  # fmt: skip


def _built(build: Callable[[], bytes], _: Ask) -> bytes:
    return _START + build()


def _page(name: str, attack: str, body: Callable[[Ask], bytes], *, asks: tuple[str, ...] = (),
          refuses: Mapping[str, str] | None = None, growth_mb: float = 100, slow: bool = False,
          settings: tuple[str, ...] = ()) -> Case:  # fmt: skip
    return Case(name=f"markup.{name}", attack=attack, fate=Fate.STORED, answer=lambda ask: packed(ask, body(ask)),
                asks=asks, refuses=refuses or {}, growth_mb=growth_mb, slow=slow, settings=settings)  # fmt: skip


CASES = [
    *(_page(name, attack, partial(_built, build), asks=asks) for name, (attack, build, asks) in _SLOW.items()),
    *(
        _page(name, attack, partial(_built, build), asks=asks, growth_mb=growth_mb, slow=True, settings=_FEW)
        for name, (attack, build, asks, growth_mb) in _HEAVY.items()
    ),
    _page(
        "schemes",
        "links to local files and other protocols",
        _schemes,
        asks=("/fine/markup.schemes",),
        refuses={"file:": "scheme", "ftp:": "scheme"},
    ),
    _page(
        "own-host-files",
        "local files under our own host's name",
        lambda ask: _files("127.0.0.1") + _files(ask.here[7:]),
        refuses={"file:": "scheme"},
    ),
    _page(
        "base",
        "a <base> on the inside",
        lambda ask: f"<base href='{ask.at['inside']}/'><a href='secret?base'>x</a><a href='//'>y</a>".encode(),
        refuses={"/secret?base": "private-address"},
    ),
    _page(
        "inert",
        "text and URLs that attack whoever reads the results",
        _inert,
        asks=("/fine/markup.inert",),
        refuses={"javascript:": "scheme"},
    ),
    _page(
        "broken",
        "links that break URL parsers, and two good ones",
        lambda _: b"".join(b'<a href="%s">x</a>' % link for link in _BROKEN_LINKS),
        asks=("/fine/markup.broken-1", "/fine/markup.broken-2"),
    ),
]
