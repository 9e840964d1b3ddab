"""Pages as a blog, a shop and an archive make them: the same content amid what changes at each fetch."""

from __future__ import annotations

from random import Random

_WORDS = ("river", "stone", "window", "letter", "garden", "music", "winter", "harbour", "paper", "engine", "silver",
          "market", "bridge", "mountain", "copper", "evening", "lamp", "orchard", "signal", "thunder")  # fmt: skip
_MENU = "".join(f'<li class="item"><a href="/{name}/">{name.title()}</a></li>' for name in _WORDS[:8])
_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August")


class Moment:
    """One fetch: everything on a page that is not of the page."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def page(self, title: str, main: str) -> str:
        """Return the HTML of a page with *main* as its content."""
        token = f"{self._random.getrandbits(128):032x}"
        return (
            f'<!DOCTYPE html><html><head><title>{title}</title><meta name="csrf" content="{token}">'
            f"<script>var t='{token}';</script><style>p{{}}</style></head><body>"
            f'<div id="top"><ul class="menu">{_MENU}</ul></div><div id="content">{main}</div>'
            f'<div class="sidebar section">{self._archive()}{self._advert()}</div>'
            f'<form action="/search"><input type=hidden name=token value="{token}"><input name=q></form>'
            f'<div class="foot"><p class="visits">You are visitor no. {self._random.randrange(10**6)}</p>'
            f"<p>Generated on {self._random.choice(_MONTHS)} {self._random.randrange(1, 29)}, 2026 at "
            f"{self._random.randrange(24):02}:{self._random.randrange(60):02} by the engine</p></div></body></html>"
        )

    def _archive(self) -> str:
        """Return the archive widget, with other years and months open each time."""
        years = []
        for year in range(2001, 2009):
            months = [
                f'<li><a href="/{year}_{month}.html">{_MONTHS[month]}</a> ({month + 3})</li>'
                for month in range(8)
                if self._random.random() < 0.5
            ]
            toggle = f"?widgetType=BlogArchive&toggle=YEARLY-{self._random.randrange(10**9)}"
            years.append(f'<li><a href="{toggle}">+</a> <a href="/{year}/">{year}</a><ul>{"".join(months)}</ul></li>')
        return f'<div class="widget BlogArchive"><h2>Archive</h2><ul>{"".join(years)}</ul></div>'

    def _advert(self) -> str:
        product = " ".join(self._random.choices(_WORDS, k=4))
        return f'<div class="advert"><p>Buy {product} now, only {self._random.randrange(100)}.99</p></div>'


def words(seed: int, count: int) -> str:
    """Return some words."""
    return " ".join(Random(seed).choices(_WORDS, k=count))


def post(number: int, moment: Moment) -> str:
    """Return a blog post; every third has twelve words only."""
    length = 12 if number % 3 == 0 else 40
    paragraphs = "".join(f"<p>{words(1000 * number + part, length)}.</p>" for part in range(1 if length == 12 else 6))
    main = f'<div class="post" id="p{number}"><h1>Post {words(number, 3)}</h1>{paragraphs}</div>'
    return moment.page(f"Post {words(number, 3)}", main)


def product(moment: Moment, *, name: str = "Chair", sku: str = "A-1001", price: str = "19.99") -> str:
    """Return a page of a shop."""
    main = (
        f"<h1>{name}</h1><table><tr><td>SKU</td><td>{sku}</td></tr><tr><td>Price</td><td>{price} EUR</td></tr></table>"
        f"<p>{words(7, 60)}.</p><p>In stock, delivered within 3 days.</p>"
    )
    return moment.page("Our products", main)


def listing(number: int, moment: Moment) -> str:
    """Return a list of links under an introduction that all lists share."""
    items = "".join(
        f'<li><a href="/items/{10 * number + item}.html">{words(10 * number + item, 4)}</a></li>' for item in range(10)
    )
    return moment.page("All items", f"<h1>All items</h1><p>{words(8, 25)}.</p><ul>{items}</ul>")


def not_found(path: str, moment: Moment) -> str:
    """Return an error page that repeats what was asked for."""
    return moment.page("Oops", f"<h1>Page not found</h1><p>There is no page {path} here.</p><p>{words(9, 20)}.</p>")
