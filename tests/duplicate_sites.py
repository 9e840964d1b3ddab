"""Sites whose URLs are many and whose pages are few: what ``unique=strict|learn`` is measured on."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

BASE = "http://dup.test"

_WORDS = [
    "river",
    "stone",
    "market",
    "winter",
    "letter",
    "garden",
    "engine",
    "window",
    "history",
    "paper",
    "summer",
    "bridge",
    "mountain",
    "village",
    "record",
    "harbour",
    "method",
    "copper",
    "lantern",
    "measure",
    "journey",
    "forest",
    "silver",
    "station",
    "library",
    "weather",
    "kitchen",
    "orchard",
]


class Reply(NamedTuple):
    """What the site answers: an HTML page, or where it redirects."""

    html: str
    location: str | None = None


@dataclass
class DuplicateSite:
    """A site as one function; ``contents`` are the names of the contents a complete copy has."""

    seed: str
    contents: frozenset[str]
    answer: Callable[[str, int], tuple[str, Reply] | None]  # URL, number of the request -> content name and reply
    asked: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)

    def ask(self, url: str) -> Reply | None:
        """Answer a request, None for a page that is not there."""
        self.asked.append(url)
        found = self.answer(url, len(self.asked))
        if found is None:
            return None
        self.seen.add(found[0])
        return found[1]

    @property
    def lost(self) -> list[str]:
        """The contents that nobody has asked for."""
        return sorted(self.contents - self.seen)


def prose(name: str, words: int = 90) -> str:
    """Return a text that is the same for the same *name*."""
    rng = random.Random(name)
    return " ".join(rng.choice(_WORDS) for _ in range(words))


def document(name: str, links: Iterable[str], number: int, *, widget: str = "") -> Reply:
    """Return a page with boilerplate, a token, a time, and a main text that is that of *name*."""
    anchors = "".join(
        f'<li><a href="{link.replace("&", "&amp;")}">{link[-24:].replace("&", "&amp;")}</a></li>' for link in links
    )
    return Reply(
        f"<!doctype html><html><head><title>{name} - a site</title><meta name=csrf-token content={number:032x}></head>"
        f"<body><nav><a href=/>Home</a></nav><main><h1>{name}</h1><p>{prose(name)}</p></main>"
        f"<ul class=links>{anchors}</ul><aside>{widget}</aside>"
        f"<footer><form><input type=hidden name=t value={number:032x}></form>Generated 2026-11-30 "
        f"{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}. All rights reserved.</footer></body></html>"
    )


def _archive(paths: list[str], state: int) -> str:
    """Return an archive widget with one month open, as weblogs have it."""
    months = []
    for month, path in enumerate(paths):
        is_open = month == state % len(paths)
        inside = f"<ul class=posts><li><a href={path}>{path}</a></li></ul>" if is_open else ""
        sign = "&#9660;" if is_open else "&#9658;"
        months.append(
            f"<li><a class=toggle href=#><span>{sign}&nbsp;</span></a><a href={path}>Month {month}</a>"
            f"<span class=post-count>({month % 4 + 1})</span>{inside}</li>"
        )
    return f"<h2>Blog Archive</h2><ul class=archive>{''.join(months)}</ul>"


def blog(posts: int = 15, toggles: int = 24) -> DuplicateSite:
    """Return a blog whose archive widget gives every post as many addresses as it has states."""
    paths = [
        f"/2008/{month:02}/{_WORDS[month % 28]}-{_WORDS[(month * 7) % 28]}-{month}.html"
        for month in range(1, posts + 1)
    ]
    others = ["/", "/about", *(f"/2008_{month:02}_01_archive.html" for month in range(1, 6))]

    def toggled(path: str) -> list[str]:
        return [
            f"{path}?widgetType=BlogArchive&widgetId=BlogArchive1&action=toggle&dir={'open' if state % 2 else 'close'}"
            f"&toggle=MONTHLY-{1_199_000_000_000 + state}&toggleopen=MONTHLY-{1_209_600_000_000}"
            for state in range(toggles)
        ]

    def answer(url: str, number: int) -> tuple[str, Reply] | None:
        parts = urlsplit(url)
        if parts.path in paths:
            state = parse_qs(parts.query).get("toggle", ["0"])[0]
            widget = _archive(paths, int(state[-2:]))
            return parts.path, document(parts.path, toggled(parts.path), number, widget=widget)
        if parts.path in others:
            return parts.path, document(f"overview {parts.path}", [*paths, *others], number)
        return None

    return DuplicateSite(f"{BASE}/", frozenset([*paths, *others]), answer)


def shop(
    items: int = 400, variants: int = 7, *, matters: float = 0.0, flip_at: int | None = None, seed: int = 1
) -> DuplicateSite:
    """Return a catalogue whose links carry a ``ref``, which changes the content of a share of the items.

    From the request *flip_at* on it changes that of every item.
    """
    rng = random.Random(seed)
    special = {number for number in range(items) if rng.random() < matters}
    lists = [f"/list/{page}" for page in range(items // 5)]

    def name(path: str, ref: str, number: int) -> str:
        item = int(path.rpartition("/")[2])
        matters_now = item in special or (flip_at is not None and number >= flip_at)
        return f"{path} by {ref}" if matters_now and ref else path

    def answer(url: str, number: int) -> tuple[str, Reply] | None:
        parts = urlsplit(url)
        if parts.path == "/":
            return "/", document("start", lists, number)
        if parts.path in lists:
            page = int(parts.path.rpartition("/")[2])
            links = [
                f"/item/{item}?ref={seed}-{ref}" for item in range(page * 5, page * 5 + 5) for ref in range(variants)
            ]
            return parts.path, document(parts.path, links, number)
        if parts.path.startswith("/item/"):
            content = name(parts.path, parse_qs(parts.query).get("ref", [""])[0], number)
            return content, document(content, [], number)
        return None

    contents = {"/", *lists}
    for item in range(items):
        if item in special:
            contents |= {f"/item/{item} by {seed}-{ref}" for ref in range(variants)}
        else:
            contents.add(f"/item/{item}")
    return DuplicateSite(f"{BASE}/", frozenset(contents), answer)


def newspaper(pages: int = 300, versions: int = 5) -> DuplicateSite:
    """Return a site on which ``v`` is neutral for its news, and the content of its documents."""
    lists = [f"/list/{page}" for page in range(pages // 10)]

    def answer(url: str, number: int) -> tuple[str, Reply] | None:
        parts = urlsplit(url)
        if parts.path == "/":
            return "/", document("start", lists, number)
        if parts.path in lists:
            first = int(parts.path.rpartition("/")[2]) * 10
            each = [(page, version) for page in range(first, first + 10) for version in range(versions)]
            links = [f"/{kind}/{page}?v={version}" for page, version in each for kind in ("news", "doc")]
            return parts.path, document(parts.path, links, number)
        content = parts.path if parts.path.startswith("/news/") else f"{parts.path} version {parts.query}"
        return content, document(content, [], number)

    documents = {f"/doc/{page} version v={version}" for page in range(pages) for version in range(versions)}
    return DuplicateSite(
        f"{BASE}/", frozenset({"/", *lists, *documents, *(f"/news/{page}" for page in range(pages))}), answer
    )


def sessions(pages: int = 200) -> DuplicateSite:
    """Return a site that puts a new session id into each link, as a parameter and into the path."""

    def answer(url: str, number: int) -> tuple[str, Reply] | None:
        parts = urlsplit(url)
        path = parts.path.partition(";")[0]
        if path == "/":
            links = [f"/page/{page}?sid={number:08x}" for page in range(pages)]
        elif not path.startswith("/page/"):
            return None
        else:
            page = int(path.rpartition("/")[2])
            near = [(page + step) % pages for step in (1, 2, 3)]
            links = [f"/page/{other}?sid={number:08x}" for other in near]
            links += [f"/page/{other};jsessionid={number:08X}" for other in near]
        return path, document(path, links, number)

    return DuplicateSite(f"{BASE}/", frozenset({"/", *(f"/page/{page}" for page in range(pages))}), answer)


def spellings(pages: int = 120) -> DuplicateSite:
    """Return a site that links to each directory with and without its slash, its index page, and in capitals."""

    def answer(url: str, number: int) -> tuple[str, Reply] | None:
        parts = urlsplit(url)
        path = parts.path.lower().removesuffix("index.html").replace("/print/", "/")
        if not path.endswith("/"):
            return path + "/", Reply("", path + "/")
        if path == "/":
            forms = ("/part{}/", "/part{}", "/part{}/index.html", "/Part{}/", "/print/part{}/")
            links = [form.format(page) for page in range(pages) for form in forms]
        else:
            links = ["/"]
        return path, document(path, links, number)

    return DuplicateSite(f"{BASE}/", frozenset({"/", *(f"/part{page}/" for page in range(pages))}), answer)
