"""Sites of the survey's tests: a plain one with everything that is told of, and one with traps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.routes import link, page, text

if TYPE_CHECKING:
    from tests.answers import RouteSpec

ARTICLES = 60
LASTMOD = "2024-05-17"
DATE = "Fri, 17 May 2024 10:00:00 GMT"


def _png(path: str, **keys: Any) -> dict[str, Any]:
    return text(path, f"\x89PNG{path:x<95}", "image/png", **keys)


def _article(number: int) -> dict[str, Any]:
    """Return an article with a text of its own, links to the next two, a picture and a file."""
    near = link(*(f"/docs/a{1 + (number + step) % ARTICLES}.html" for step in (1, 2)))
    body = f"<main><p>{'word ' * (number + 20)}number {number} of all.</p></main>{near}"
    body += link("/docs/index.html", f"/docs/p{number % 9}.png", "/docs/all.pdf", "http://other.example/x")
    served = page(f"/docs/a{number}.html", body)
    served["headers"] |= {"ETag": f'"a{number}"', "Last-Modified": DATE}
    return served


def _unchanged(number: int) -> dict[str, Any]:
    return {"path": f"/docs/a{number}.html", "when": {"If-None-Match": f'"a{number}"'}, "status": 304, "headers": {}}


def _sitemap(*paths: str) -> dict[str, Any]:
    entries = "".join(f"<url><loc>{{{{BASE}}}}{path}</loc><lastmod>{LASTMOD}</lastmod></url>" for path in paths)
    return text("/sitemap.xml", f"<urlset>{entries}</urlset>", "application/xml")


NUMBERS = range(1, ARTICLES + 1)
PLAIN: list[RouteSpec] = [
    page("/docs/", link("/docs/index.html", "/docs/a1.html", "/private/1.html", "/private/2.html", "/about.html")),
    page("/docs/index.html", link(*(f"a{number}.html" for number in range(1, ARTICLES, 7)))),
    page("/about.html", link("/docs/missing.html")),
    *map(_unchanged, NUMBERS), *map(_article, NUMBERS), *(_png(f"/docs/p{number}.png") for number in range(9)),
    text("/docs/all.pdf", "%PDF" + "x" * 996, "application/pdf"),
    page("/private/1.html"), page("/private/2.html"), _article(3) | {"path": "/docs/orphan.html"},
    text("/robots.txt", "User-agent: *\nDisallow: /private/\nCrawl-delay: 0.01\nSitemap: {{BASE}}/sitemap.xml"),
    _sitemap("/docs/", "/docs/a1.html", "/docs/a2.html", "/docs/orphan.html"),
]  # fmt: skip
"""63 pages (one is broken), 9 pictures, a document, two URLs that robots.txt refuses, and an orphan in the sitemap."""
PLAIN_URLS, PLAIN_PAGES = ARTICLES + 4, ARTICLES + 3

_MONTHS = "<main><p>Nothing happens.</p></main>" + link("/calendar/2026-05/{{1}}0", "/calendar/2026-05/{{1}}1")
TRAPS: list[RouteSpec] = [
    page("/", link(*(f"/a{number}.html" for number in NUMBERS), "/calendar/2026-05/1", "/shop?sid=1",
                   *(f"/print?id={number}" for number in range(80)))),
    *(page(f"/a{number}.html", f"<main><p>{'word ' * (number + 20)}</p></main>" + link("/")) for number in NUMBERS),
    {**page("", _MONTHS), "path_re": r"/calendar/2026-05/([0-9]+)"},
    {**page("", "<main><p>Buy.</p></main>" + link("/shop?sid={{1}}7", "/shop?sid={{1}}8")),
     "path_re": r"/shop\?sid=([0-9]+)"},
    {**page("", "<main><p>This page is printed.</p></main>"), "path_re": r"/print\?id=[0-9]+"},
]  # fmt: skip
"""61 pages; a calendar without end, a session id in each link, and eighty pages that say the same."""
TRAPS_PAGES = ARTICLES + 1
