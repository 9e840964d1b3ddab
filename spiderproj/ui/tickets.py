"""Answers that take longer than a request should: work goes on in a thread, and a ticket asks for it later."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final, Generic, TypeVar

T = TypeVar("T")

PATIENCE: Final = 0.08
"""Seconds that a request waits for its answer."""

_MOST: Final = 64  # answers that wait to be fetched


class Tickets(Generic[T]):
    """Runs functions in *workers* threads; what is not done after PATIENCE gets a ticket."""

    def __init__(self, workers: int = 4) -> None:
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="ui")
        self._waiting: dict[str, Future[T]] = {}

    def submit(self, function: Callable[[], T]) -> Future[T]:
        """Begin the work."""
        return self._pool.submit(function)

    def deposit(self, work: Future[T]) -> str:
        """Return a ticket for *work*; the oldest that nobody has asked for is given up."""
        while len(self._waiting) >= _MOST:
            self._waiting.pop(next(iter(self._waiting))).cancel()
        ticket = secrets.token_urlsafe(9)
        self._waiting[ticket] = work
        return ticket

    def take(self, ticket: str) -> Future[T] | None:
        """Return the work of a *ticket*, which is void from then on; None when there is no such."""
        return self._waiting.pop(ticket, None)

    def close(self) -> None:
        """Begin nothing more."""
        self._pool.shutdown(wait=False, cancel_futures=True)
