"""How slow this machine is now, for tests that bound processor time."""

from __future__ import annotations

import time

_NOMINAL = 0.0011
"""Seconds that a quiet core of 2024 takes for the loop below in CPython 3.11."""


def slowness() -> float:
    """Return by what factor the processor is slower than the one the bounds were set for, at least 1."""
    best = 1.0
    for _ in range(5):
        began = time.process_time()
        sum(range(100_000))
        best = min(best, time.process_time() - began)
    return max(1.0, best / _NOMINAL)
