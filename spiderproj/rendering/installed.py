"""Whether this machine has a browser to draw pages in."""

from __future__ import annotations

import os
from importlib.util import find_spec


def missing(executable: str) -> str | None:
    """Return what is not there of what drawing needs, None when everything is."""
    if find_spec("playwright") is None:
        return "the Python package playwright"
    if not os.access(executable, os.X_OK):
        return f"a browser at {executable}"
    return None
