"""What is fetched first: sortable keys, computed once when a URL enters the frontier (docs/arguments.md, "Order").

A key is three integers, smaller first; the frontier breaks ties by discovery. The order is strict: only URLs already
in flight can be out of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import NamedTuple

from spiderproj.levels import Home, levels_up
from spiderproj.models import Level
from spiderproj.urls import URLParts

_REST = 1_000_000  # behind any number of parents: a path has at most MAX_URL_LENGTH levels


class Order(StrEnum):
    """The ``order`` argument."""

    SECTION = "section"
    BREADTH = "breadth"
    DEPTH = "depth"
    FILES = "files"


class OrderKey(NamedTuple):
    """Sort key of a pending URL; smaller is fetched first."""

    first: int
    second: int
    third: int


class Place(NamedTuple):
    """What an order may look at."""

    parts: URLParts
    level: Level
    depth: int
    is_file: bool  # predicted to be no HTML page, or a requisite


KeyFunction = Callable[[Place], OrderKey]


def key_function(order: Order, homes: Sequence[Home]) -> KeyFunction:
    """Return the function that gives a place its key under *order*; *homes* may grow or change later."""

    def section(place: Place) -> OrderKey:
        if place.is_file or place.depth == 0:
            return OrderKey(0, 0, place.depth)
        if place.level in (Level.PAGE, Level.CHILD):
            return OrderKey(1, 0, place.depth)
        if place.level is Level.PARENT:
            return OrderKey(1, levels_up(place.parts, homes), place.depth)
        return OrderKey(1, _REST + (place.level is Level.OTHER), place.depth)

    return {
        Order.SECTION: section,
        Order.FILES: lambda place: OrderKey(not (place.is_file or place.depth == 0), place.depth, 0),
        Order.BREADTH: lambda place: OrderKey(place.depth, 0, 0),
        Order.DEPTH: lambda place: OrderKey(-place.depth, 0, 0),
    }[order]
