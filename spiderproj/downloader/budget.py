"""Bound the bytes that the bodies in flight hold in memory, all together, by not reading on."""

from __future__ import annotations

from typing import Protocol


class Pausable(Protocol):
    """Something that holds bytes and can cease to take more."""

    def pause(self) -> None:
        """Take no more until ``resume``."""

    def resume(self) -> None:
        """Take more again."""


class Budget:
    """Up to *limit* bytes for all holders; above it only the oldest holder may go on.

    The oldest ends, or fails at its own limit of size or time, and then the next may go on: no deadlock, and memory
    stays below *limit* plus one body and one read a connection.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._used = 0
        self._held: dict[Pausable, int] = {}  # in order of age
        self._paused: set[Pausable] = set()

    def hold(self, holder: Pausable, size: int) -> None:
        """Note that *holder* holds *size* bytes now, and pause it when that is too much."""
        self._used += size - self._held.get(holder, 0)
        self._held[holder] = size
        if self._used > self._limit and holder is not next(iter(self._held)) and holder not in self._paused:
            self._paused.add(holder)
            holder.pause()

    def release(self, holder: Pausable) -> None:
        """Note that *holder* holds nothing any more, and let others go on."""
        size = self._held.pop(holder, None)
        if size is None:
            return
        self._used -= size
        self._paused.discard(holder)
        if not self._paused:
            return
        if self._used <= self._limit:
            waiting, self._paused = self._paused, set()
            for other in waiting:
                other.resume()
        elif (oldest := next(iter(self._held))) in self._paused:
            self._paused.discard(oldest)
            oldest.resume()
