"""Where in a page a block stands: the elements around it."""

from __future__ import annotations

from typing import Final

from spiderproj.content.elements import Kind, nameable, named, place

_MAIN: Final = frozenset({"article", "main"})
"""Never in a side bar or a navigation: that was not closed."""

_DEEPEST: Final = 1000
"""Elements that are remembered inside one another; what lies deeper stands where the last of them does."""


class Places:
    """The open elements. An end tag closes all that is open inside its element; one without a start does nothing."""

    def __init__(self) -> None:
        self._open: list[tuple[str, int, Kind]] = [("", 0, Kind.CONTENT)]
        self._counts: dict[str, int] = {}
        self._leaf = "", ""

    @property
    def kind(self) -> Kind:
        """What kind of text comes now."""
        return self._open[-1][2]

    def here(self) -> int:
        """Return 32 bits for the place of the text that comes now."""
        name, source = self._leaf
        around = self._open[-1][1]
        return place(named(name, nameable(source))[0], around) if name else around

    def enter(self, name: str, source: str) -> None:
        """Note the start of a container."""
        self._leaf = "", ""
        if len(self._open) >= _DEEPEST:
            return
        seed, kind = named(name, nameable(source))
        _, around, inherited = self._open[-1]
        if inherited > kind and (name not in _MAIN or inherited is Kind.HIDDEN):
            kind = inherited
        self._open.append((name, place(seed, around), kind))
        self._counts[name] = self._counts.get(name, 0) + 1

    def leave(self, name: str) -> None:
        """Note the end of a container."""
        self._leaf = "", ""
        while self._counts.get(name):
            last = self._open.pop()[0]
            self._counts[last] -= 1
            if last == name:
                break

    def lead(self, name: str, source: str) -> None:
        """Note the start of another block: a paragraph, a heading, a cell."""
        self._leaf = name, source

    def trail(self) -> None:
        """Note the end of one."""
        self._leaf = "", ""
