"""Write a static web site of N pages, the same bytes for the same options, and a manifest of what a crawl must find.

    python -m bench.make_site --out /tmp/site5k --pages 5000

``OUT/www/`` is the document root; ``OUT/manifest.json`` has ``options`` and ``urls``: for every file of the site its
URL path, type ("html", "png", "pdf", "css", "js", "zip"), size, SHA-256 and the weakest kind of reference that reaches
it ("a" links alone, "embed" for src and stylesheets, "css" for url() in style sheets), and ``broken``: the paths that
pages mention and nobody serves. Every page is reachable by links from ``/``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import shutil
from dataclasses import asdict, dataclass, field
from pathlib import Path

from bench.assets import SHARES, asset, lognormal

_SYLLABLES = (
    "ba be bo da de di do fa fe ga go ha he jo ka ke ki la le li lo ma me mi mo na ne ni no pa pe tion ment ing"
)
_SECTIONS = ("section", "topic", "area", "chapter")
_PER_DIRECTORY = 10


@dataclass(frozen=True, kw_only=True)
class Options:
    """What the site is like; equal options give equal bytes."""

    pages: int = 5000
    page_bytes: int = 20_000  # mean; sizes are log-normal
    links: int = 40  # of each page, without those to its files
    files: int = 800
    broken: int = 150  # links to nothing, over the whole site
    seed: str = "1"


@dataclass(frozen=True)
class Entry:
    """One file of the site."""

    type: str
    size: int
    sha256: str
    via: str


@dataclass
class Manifest:
    """What a complete crawl finds."""

    options: Options
    urls: dict[str, Entry] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)

    def write(self, path: Path) -> None:
        """Write it as JSON."""
        path.write_text(json.dumps(asdict(self), separators=(",", ":")), "utf-8")


def read_manifest(path: Path) -> Manifest:
    """Return the manifest that was written to *path*."""
    data = json.loads(path.read_text("utf-8"))
    urls = {url: Entry(**entry) for url, entry in data["urls"].items()}
    return Manifest(Options(**data["options"]), urls, data["broken"])


class Builder:
    """One site in the making."""

    def __init__(self, options: Options, out: Path) -> None:
        self._options, self._root = options, out / "www"
        self._rng = random.Random(repr(options))
        self._manifest = Manifest(options)
        self._words = _vocabulary(self._rng)
        self._sentences = [self._sentence() for _ in range(3000)]
        self._pages = [_page_path(number, self._rng.choice(self._words)) for number in range(options.pages)]
        self._files = {kind: self._names(kind, int(options.files * share)) for kind, share in SHARES.items()}
        self._broken = [f"/gone/{self._rng.choice(self._words)}-{n}.html" for n in range(options.broken)]

    def build(self) -> Manifest:
        """Write every file and return the manifest."""
        mentions = self._spread()
        styled = self._files["png"][::10]  # one picture in ten is named by style sheets only
        for kind, names in self._files.items():
            for number, name in enumerate(names):
                pictures = styled[number :: len(names)] if kind == "css" else []
                via = "css" if name in styled else "a" if kind in ("pdf", "zip") else "embed"
                self._write(name, asset(kind, self._rng, pictures), kind, via)
        for number, path in enumerate(self._pages):
            self._write(path, self._page(number, mentions[number]).encode(), "html", "a")
        (self._root / "robots.txt").write_text("User-agent: *\nDisallow:\n")
        self._manifest.broken = self._broken
        return self._manifest

    def _names(self, kind: str, count: int) -> list[str]:
        return [f"/files/{kind}/{n // 100:02}/{self._rng.choice(self._words)}-{n}.{kind}" for n in range(max(1, count))]

    def _spread(self) -> list[list[str]]:
        """Return for each page the HTML of what it alone mentions: files and broken links."""
        mentions: list[list[str]] = [[] for _ in self._pages]
        styled = set(self._files["png"][::10])
        for kind in ("png", "pdf", "zip"):
            for name in self._files[kind]:
                if name not in styled:
                    html = f'<img src="{name}" alt="">' if kind == "png" else f'<a href="{name}">{kind}</a>'
                    self._rng.choice(mentions).append(html)
        for path in self._broken:
            self._rng.choice(mentions).append(f'<a href="{path}">gone</a>')
        return mentions

    def _sentence(self) -> str:
        text = " ".join(self._rng.choices(self._words, k=self._rng.randint(6, 20))).capitalize()
        return text.replace(" ", " &amp; ", 1) + "." if self._rng.random() < 0.06 else text + "."

    def _write(self, path: str, body: bytes, kind: str, via: str) -> None:
        file = self._root / (path[1:] + "index.html" if path.endswith("/") else path[1:])
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(body)
        self._manifest.urls[path] = Entry(kind, len(body), hashlib.sha256(body).hexdigest(), via)

    def _page(self, number: int, mentions: list[str]) -> str:
        """Return a page: styles and scripts, a menu, its tree's links, links by chance, and text around them."""
        css, js = self._files["css"], self._files["js"]
        head = [
            f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{self._title()} {number}</title>',
            *(f'<link rel="stylesheet" href="{name}">' for name in (css[0], css[number % len(css)])),
            *(f'<script src="{name}" defer></script>' for name in (js[0], js[number % len(js)])),
            "</head><body><nav><ul>",
            *(
                f'<li><a class="nav" href="{self._pages[n]}">{self._title()}</a></li>'
                for n in range(min(10, len(self._pages)))
            ),
            "</ul></nav><main>",
        ]
        inline = [self._anchor(number, target) for target in self._targets(number)] + mentions
        filler = max(0, lognormal(self._rng, self._options.page_bytes) - sum(map(len, head)) - sum(map(len, inline)))
        return "\n".join([*head, *self._paragraphs(inline, filler), "</main></body></html>\n"])

    def _targets(self, number: int) -> list[int]:
        count, pages = self._options.links - 10, len(self._pages)
        children = list(range(number * 8 + 1, min(number * 8 + 9, pages)))
        return [
            *children,
            max(0, number - 1) // 8,
            *(self._rng.randrange(pages) for _ in range(count - len(children) - 1)),
        ]

    def _anchor(self, source: int, target: int) -> str:
        """Return a link in one of three styles, sometimes with a fragment."""
        path = self._pages[target]
        if self._rng.random() < 0.4:
            path = _relative(self._pages[source], path)
        return f'<a href="{path}{self._rng.choice(("", "", "", "#s1"))}">{self._title()}</a>'

    def _title(self) -> str:
        return " ".join(self._rng.choices(self._words, k=3)).title()

    def _paragraphs(self, inline: list[str], size: int) -> list[str]:
        """Return *inline* in random order between sentences of *size* bytes together."""
        self._rng.shuffle(inline)
        each = size // (len(inline) + 1)
        return [f'<p id="s{n}">{self._text(each)} {html}</p>' for n, html in enumerate([*inline, ""])]

    def _text(self, size: int) -> str:
        at = self._rng.randrange(len(self._sentences))
        text = ""
        while len(text) < size:
            text += self._sentences[at % len(self._sentences)] + " "
            at += 1
        return text[:size]


def _vocabulary(rng: random.Random) -> list[str]:
    syllables = _SYLLABLES.split()
    return sorted({"".join(rng.choices(syllables, k=rng.randint(1, 4))) for _ in range(1500)})


def _page_path(number: int, word: str) -> str:
    """Return the path of a page: ten to a directory, directories nested by their number's digits."""
    if number == 0:
        return "/"
    digits = str(number // _PER_DIRECTORY)
    folders = "".join(f"{_SECTIONS[depth % len(_SECTIONS)]}-{digit}/" for depth, digit in enumerate(digits))
    return f"/{folders}" if number % _PER_DIRECTORY == 0 else f"/{folders}{word}-{number}.html"


def _relative(source: str, target: str) -> str:
    """Return *target* as seen from *source*."""
    here, there = source.split("/")[1:-1], target.split("/")[1:]
    same = 0
    while same < min(len(here), len(there) - 1) and here[same] == there[same]:
        same += 1
    return "../" * (len(here) - same) + "/".join(there[same:]) or "./"


def make_site(options: Options, out: Path) -> Manifest:
    """Return the manifest of the site of *options* in *out*, which is written when it is not there already."""
    path = out / "manifest.json"
    if path.exists() and (ready := read_manifest(path)).options == options:
        return ready
    shutil.rmtree(out, ignore_errors=True)
    manifest = Builder(options, out).build()
    manifest.write(path)
    return manifest


def main() -> None:
    """Write a site and say what is in it."""
    parser = argparse.ArgumentParser(description="Write a static web site and its manifest.")
    parser.add_argument("--out", type=Path, required=True)
    for name, value in asdict(Options()).items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value)
    options = vars(parser.parse_args())
    manifest = make_site(Options(**{name: options[name] for name in asdict(Options())}), options["out"])
    kinds = {kind: sum(entry.type == kind for entry in manifest.urls.values()) for kind in ("html", *SHARES)}
    print(kinds, f"{sum(entry.size for entry in manifest.urls.values()) / 1e6:.1f} MB, {len(manifest.broken)} broken")


if __name__ == "__main__":
    main()
