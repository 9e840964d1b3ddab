"""A site most of whose links lead into spaces without end: what novelty budgets are measured on."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from tests.duplicate_sites import BASE, DuplicateSite, Reply, document, prose

_FIRST_YEAR = 1860
_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
           "December")  # fmt: skip
_LOOP = [f"part-{letter}" for letter in "abcde"]


@dataclass(frozen=True)
class Size:
    """How large each part of the site is."""

    items: int
    threads: int
    lists: int
    events: int
    months: int

    @property
    def real(self) -> int:
        """The pages that a reader would miss."""
        return self.items + self.threads + self.lists


FULL = Size(items=6000, threads=4000, lists=300, events=400, months=4000)
SMALL = Size(items=900, threads=600, lists=50, events=60, months=4000)


def kind(url: str) -> str:
    """Return which of the seven families a URL of the site is of."""
    parts = urlsplit(url)
    if "sid=" in parts.query:
        return "session"
    first = parts.path.split("/")[1]
    return first if first in ("item", "thread", "list", "calendar", "event", "loop", "shop") else "other"


class TrapSite:
    """The site: real items, threads and lists; a calendar, a loop of relative links, session ids, facets."""

    def __init__(self, size: Size, seed: int = 1) -> None:
        rng = random.Random(seed)
        self._size = size
        busy = rng.sample(range(size.months), max(1, size.months * 3 // 100))
        self._events = {event: rng.choice(busy) for event in range(size.events)}
        self._seed = seed
        self._sessions = max(30, size.real * 500 // 10_300)  # items that are linked under session ids
        self.requests: Counter[str] = Counter()
        self.fresh: Counter[str] = Counter()
        self._contents: set[str] = set()
        self.site = DuplicateSite(f"{BASE}/", frozenset(self._real()), self._answer)

    def share(self) -> float:
        """Return the share of the real pages that have been asked for."""
        return 1 - len(self.site.lost) / len(self.site.contents)

    def _real(self) -> set[str]:
        size = self._size
        counts = {"item": size.items, "thread": size.threads, "list": size.lists}
        return {f"/{name}/{number}" for name, count in counts.items() for number in range(count)}

    def _answer(self, url: str, number: int) -> tuple[str, Reply] | None:
        name, reply = self._page(url, number)
        self.requests[kind(url)] += 1
        self.fresh[kind(url)] += name not in self._contents
        self._contents.add(name)
        return name, reply

    def _page(self, url: str, number: int) -> tuple[str, Reply]:
        parts = urlsplit(url)
        query = parse_qs(parts.query)
        rng = random.Random(f"{self._seed} {number}")
        path = parts.path
        if path.startswith("/loop/"):
            return self._loop(path)
        if path == "/calendar":
            return self._calendar(int(query["year"][0]), int(query["month"][0]), number)
        if path == "/shop":
            return self._shop(query, rng, number)
        return path, document(path, [*self._onward(path, rng), *self._traps(rng)], number)

    def _onward(self, path: str, rng: random.Random) -> list[str]:
        """Return links to real pages: every list names its own, and there is a way to every list."""
        size = self._size
        if path == "/":
            return ["/list/0", *(f"/list/{rng.randrange(size.lists)}" for _ in range(5))]
        if not path.startswith("/list/"):
            return [f"/item/{rng.randrange(size.items)}", f"/thread/{rng.randrange(size.threads)}"]
        page = int(path.rpartition("/")[2])
        items = [f"/item/{number}" for number in range(page, size.items, size.lists)]
        threads = [f"/thread/{number}" for number in range(page, size.threads, size.lists)]
        return [*items, *threads, f"/list/{(page + 1) % size.lists}", f"/list/{rng.randrange(size.lists)}"]

    def _traps(self, rng: random.Random) -> list[str]:
        """Return links into the spaces without end, three quarters of those of a page."""
        sid = f"{rng.getrandbits(64):016x}"
        month = self._size.months // 2
        return [
            *(f"/item/{rng.randrange(self._sessions)}?sid={sid}" for _ in range(3)),
            *(_shop_url(rng) for _ in range(3)),
            _calendar_url(month),
            "/loop/",
        ]

    def _loop(self, path: str) -> tuple[str, Reply]:
        """Return a page whose relative links lead below itself, for ever; it has no token: a server of files."""
        name = f"chapter {random.Random(path).randrange(30)}"
        anchors = "".join(f'<li><a href="{part}/">{part}</a></li>' for part in _LOOP)
        text = f"<title>{name}</title><main><h1>{name}</h1><p>{prose(name)}</p></main><ul>{anchors}</ul>"
        return name, Reply(f"<!doctype html><html>{text}</html>")

    def _calendar(self, year: int, month: int, number: int) -> tuple[str, Reply]:
        place = (year - _FIRST_YEAR) * 12 + month - 1
        events = [event for event, when in self._events.items() if when == place]
        days = "".join(f"<td>{day}</td>" for day in range(1, 29 + (month * 7) % 4))
        listed = "".join(f"<li><a href=/event/{event}>The event {prose(str(event), 4)}</a></li>" for event in events)
        around = "".join(
            f'<a href="{_calendar_url(place + step).replace("&", "&amp;")}">{step}</a>' for step in (-1, 1)
        )
        name = f"month {place}" if events else f"no event {len(days)}"
        return name, Reply(
            f"<!doctype html><html><head><title>{_MONTHS[month - 1]} {year}</title></head><body><main>"
            f"<h1>{_MONTHS[month - 1]} {year}</h1><table><tr>{days}</tr></table><ul>{listed}</ul></main>"
            f"<nav>{around}</nav><footer>Generated 2026-11-30 10:{number // 60 % 60:02}:{number % 60:02}</footer>"
        )

    def _shop(self, query: dict[str, list[str]], rng: random.Random, number: int) -> tuple[str, Reply]:
        """Return a list of results: the facets are many, the lists few."""
        lists = max(20, self._size.real * 800 // 10_300)
        name = f"results {hash_of(query) % lists}"
        found = [f"/item/{random.Random(name + str(place)).randrange(self._size.items)}" for place in range(8)]
        return name, document(name, [*found, *(_shop_url(rng) for _ in range(6))], number)


def hash_of(query: dict[str, list[str]]) -> int:
    """Return a number for what is searched for, the same in each process."""
    return random.Random(repr(sorted(query.items()))).getrandbits(32)


def _shop_url(rng: random.Random) -> str:
    chosen = [("brand", 40), ("colour", 20), ("size", 12), ("sort", 6)]
    return "/shop?" + "&".join(f"{name}={rng.randrange(count)}" for name, count in chosen)


def _calendar_url(place: int) -> str:
    return f"/calendar?year={_FIRST_YEAR + place // 12}&month={place % 12 + 1}"
