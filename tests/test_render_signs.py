"""Which pages look drawn by script: shells of frameworks do, pages with something to read, follow or fill in do not."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spiderproj.rendering import Sign, Signs, read_signs, still

WORDS = "The committee met on Tuesday and agreed on the budget for the coming year. " * 10
TRACKER = (
    "<script async src='https://www.googletagmanager.com/gtag/js?id=G-1'></script>"
    "<noscript><iframe src='https://www.googletagmanager.com/ns.html?id=G-1' height=0></iframe></noscript>"
)
NAV = "".join(f"<a href=/{name}>{name}</a> " for name in ("home", "news", "about", "contact", "imprint"))

# name, what it is, the page
PAGES: list[tuple[str, Sign | None, str]] = [
    ("create-react-app", Sign.EMPTY_ROOT, """<!doctype html><html lang="en"><head><meta charset="utf-8"/>
        <title>React App</title><script defer="defer" src="/static/js/main.3f1.js"></script></head><body>
        <noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div></body></html>"""),
    ("vite-react", Sign.EMPTY_ROOT, """<!doctype html><html><head><script type="module" crossorigin
        src="/assets/index-x.js"></script><link rel="stylesheet" href="/assets/i.css"></head>
        <body><div id="root"></div></body></html>"""),
    ("vue-cli", Sign.EMPTY_ROOT, """<!DOCTYPE html><html><head><title>shop</title></head><body><noscript><strong>We're
        sorry but shop doesn't work properly without JavaScript enabled. Please enable it to continue.</strong>
        </noscript><div id="app"></div><script src="/js/vendors.js"></script><script src="/js/app.js"></script>"""),
    ("vue-with-spinner", Sign.EMPTY_ROOT, """<body><div id="app"><div class="spinner"><div></div></div></div>
        <script type=module src=/app.js></script>"""),
    ("angular", Sign.EMPTY_ROOT, """<!doctype html><html><head><base href="/"></head><body><app-root></app-root>
        <script src="runtime.js" type="module"></script><script src="main.js" type="module"></script></body>"""),
    ("angular-loading", Sign.EMPTY_ROOT, """<body><app-root>Loading...</app-root><script src=main.js></script>"""),
    ("angular-own-prefix", Sign.EMPTY_ROOT, """<body><shop-root></shop-root><script src=main.js></script>"""),
    ("nuxt-client-only", Sign.EMPTY_ROOT, """<div id="__nuxt"></div><script>window.__NUXT__={}</script>
        <script type="module" src="/_nuxt/entry.js"></script>"""),
    ("next-client-only", Sign.EMPTY_ROOT, """<div id="__next"></div><script id="__NEXT_DATA__" type="application/json">
        {"props":{}}</script><script src="/_next/static/chunks/main.js" async></script>"""),
    ("svelte-kit-client-only", Sign.NO_TEXT, """<body data-sveltekit-preload-data="hover"><div
        style="display: contents"><script>{__sveltekit_1={};import("/_app/start.js")}</script></div></body>"""),
    ("ember", Sign.NO_TEXT, """<html><head><title>Board</title></head><body><script src="/assets/vendor.js"></script>
        <script src="/assets/board.js"></script><div id="ember-basic-dropdown-wormhole"></div></body></html>"""),
    ("gwt", Sign.NOSCRIPT, """<body><iframe src="javascript:''" id="__gwt_historyFrame"></iframe><noscript><div>Your web
        browser must have JavaScript enabled in order for this application to display correctly.</div></noscript>
        <script src="app/app.nocache.js"></script></body>"""),
    ("shell-with-frame", Sign.EMPTY_ROOT, f"""<header>{NAV}</header><main id="root"></main><footer>© 2026 Example Ltd,
        all rights reserved. This site uses cookies.</footer><script src=/b.js></script>"""),
    ("notice-only", Sign.NOSCRIPT, """<body><h1>Catalogue</h1><noscript>Bitte aktivieren Sie JavaScript.</noscript>
        <a href="/imprint">imprint</a><a href="/help">help</a><a href="/">start</a><script src=x.js></script>"""),
    ("redirect-by-script", Sign.NO_TEXT, "<html><head><script>location.replace('/de/')</script></head></html>"),
    ("document-write", Sign.NO_TEXT, "<script src=menu.js></script><script>document.write(menu())</script>"),
    ("web-components", Sign.EMPTY_ROOT, "<my-app></my-app><script type=module src=/my-app.js></script>"),

    ("classic", None, f"<h1>Minutes</h1><p>{WORDS}</p>{NAV}<script src=/jquery.js></script>{TRACKER}"),
    ("no-script-at-all", None, "<div id=root></div>"),
    ("empty", None, ""),
    ("empty-body", None, "<html><head><title>x</title></head><body></body></html>"),
    ("next-server-rendered", None, f"""<div id="__next"><main><h1>News</h1><p>{WORDS}</p></main></div>
        <script id="__NEXT_DATA__" type="application/json">{{}}</script><script src="/_next/main.js"></script>"""),
    ("nuxt-server-rendered", None, f"<div id=__nuxt><div id=__layout>{WORDS}</div></div><script src=a.js></script>"),
    ("angular-universal", None, f"<app-root ng-version=17><h1>Shop</h1>{WORDS}</app-root><script src=m.js></script>"),
    ("notice-beside-text", None, f"<noscript>Enable JavaScript for maps.</noscript><p>{WORDS}<script src=a></script>"),
    ("frameset", None, "<frameset cols='20%,80%'><frame src=nav.html><frame src=a.html></frameset><script>1</script>"),
    ("login", None, """<form method=post action=/login><input name=user><input type=password name=pw><button>Log in
        </button></form><script src=/login.js></script>"""),
    ("meta-refresh", None, "<meta http-equiv=refresh content='0;url=/new'><script>location='/new'</script>"),
    ("index-of", None, f"<h1>Index of /pub</h1><pre>{''.join(f'<a href={n}.zip>{n}.zip</a> ' for n in 'abcd')}</pre>"),
    ("picture", None, "<a href=2.html><img src=1.jpg></a><script src=lightbox.js></script>"),
    ("iframe", None, "<iframe src=/real.html></iframe><script src=stats.js></script>"),
    ("short-text", None, f"<p>{WORDS[:150]}</p><script src=a.js></script>"),
    ("few-words-many-links", None, f"<ul>{NAV}</ul><script src=a.js></script>"),
    ("json-ld-only", None, '<p>Soon.</p><script type="application/ld+json">{"@type":"Event"}</script>'),
    ("template-app-used-as-id", None, f"<div id=app><nav>{NAV}</nav><p>{WORDS}</p></div><script src=a.js></script>"),
    ("error-page", None, """<h1>404</h1><p>The page that you are looking for is not here, or it has never been. Sorry
        for that; go back to the <a href=/>start</a>.</p><script src=a.js></script>"""),
    ("tracker-with-noscript", None, f"<h1>Opening hours</h1><p>{WORDS[:220]}</p>{TRACKER}"),
    ("comment-holds-root", None, f"<!-- <div id=root></div> --><p>{WORDS[:220]}</p><script src=a.js></script>"),
]  # fmt: skip


@pytest.mark.parametrize(("expected", "html"), [row[1:] for row in PAGES], ids=[row[0] for row in PAGES])
def test_sign(expected: Sign | None, html: str) -> None:
    """A page has the sign of its kind, or none."""
    assert read_signs(html.encode()).sign is expected


def test_another_encoding() -> None:
    """Signs are read in the encoding of the header, with a byte order mark too."""
    shell = "<div id=root></div><script src=a.js></script>"
    assert read_signs(shell.encode("utf-16-le"), "utf-16le").sign is Sign.EMPTY_ROOT
    assert read_signs(b"\xfe\xff" + shell.encode("utf-16-be")).sign is Sign.EMPTY_ROOT


@pytest.mark.parametrize(
    "unit",
    [b"<div id=app>", b"<noscript>", b"<x-app>", b"<a b=", b"<", b"<script>", b"<!--", b"<noscript><div id=root>"],
)
def test_hostile_markup_is_cheap(unit: bytes) -> None:
    """No markup takes more than a moment; what is beyond the first part of a page is not looked at."""
    began = time.process_time()
    read_signs(unit * (1_000_000 // len(unit)))
    assert time.process_time() - began < 3


@given(st.text(alphabet="<>/=\"' abdinoprstv!-", max_size=300))
@settings(deadline=None, max_examples=200)
def test_any_text_has_signs(text: str) -> None:
    """Whatever the text, signs come out, and no text is counted that is not there."""
    signs = read_signs(text.encode())
    assert isinstance(signs, Signs)
    assert 0 <= signs.text <= len(text)


def test_still_says_everything_first() -> None:
    """The policy and the encoding stand before anything of the page; a page in quirks mode stays in it."""
    made = still(b"<!DOCTYPE html><html><head><meta charset=shift_jis></head></html>")
    assert made.startswith(b'<!DOCTYPE html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy"')
    assert b"script-src 'none'" in made
    assert made.endswith(b"<html><head><meta charset=shift_jis></head></html>")
    assert not still(b"<html></html>").startswith(b"<!DOCTYPE")
