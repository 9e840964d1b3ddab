"""Fixtures for every test. The Twisted reactor is never imported here: pytest-twisted installs it."""

from __future__ import annotations

import os
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests.site import Site

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tests.answers import RouteSpec


# What lands a change is not left to chance. SPIDERPROJ_SOAK=1 and `make fuzz` draw new inputs; finds become examples.
settings.register_profile("repeatable", derandomize=True)
settings.load_profile("default" if os.environ.get("SPIDERPROJ_SOAK") else "repeatable")


@pytest.fixture
def site() -> Iterator[Callable[[Iterable[RouteSpec]], Site]]:
    """Return a factory of scripted servers, ``site(routes) -> Site``; all are closed after the test."""
    with ExitStack() as stack:
        yield lambda routes: stack.enter_context(Site(routes))


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name bytes by their number: gzip data holds the time, and all workers must see the same names."""
    return f"{len(val)} bytes" if isinstance(val, bytes) else None
