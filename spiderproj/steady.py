"""The time by which a crawl waits: POSIX seconds that go on evenly, whoever sets the clock meanwhile."""

from __future__ import annotations

import time
from typing import Final

_START: Final = time.time() - time.monotonic()


def now() -> float:
    """Return the time: that of the clock when the process began, and what has passed since."""
    return _START + time.monotonic()
