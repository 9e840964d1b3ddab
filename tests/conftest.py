"""Fixtures for every test. The Twisted reactor is never imported here: pytest-twisted installs it."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from tests.site import Site

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tests.answers import RouteSpec


@pytest.fixture
def site() -> Iterator[Callable[[Iterable[RouteSpec]], Site]]:
    """Return a factory of scripted servers, ``site(routes) -> Site``; all are closed after the test."""
    with ExitStack() as stack:
        yield lambda routes: stack.enter_context(Site(routes))


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name bytes by their number: gzip data holds the time, and all workers must see the same names."""
    return f"{len(val)} bytes" if isinstance(val, bytes) else None
