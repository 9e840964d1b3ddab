"""From one file of a copy to another: a relative reference that every browser reads as that file's name."""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import quote

_SAFE = "/~!$&'()*+,;=@"
_UNSAFE = re.compile(r"[^A-Za-z0-9._~-]")


@lru_cache(maxsize=16384)
def _between(folder: str, target: str) -> str:
    """Return the reference from one folder to another, with a slash at its end."""
    here, there = (path.split("/") if path else [] for path in (folder, target))
    common = 0
    while common < min(len(here), len(there)) and here[common] == there[common]:
        common += 1
    return "../" * (len(here) - common) + quote("".join(f"{name}/" for name in there[common:]), safe=_SAFE)


def relative_reference(source: str, target: str) -> str:
    """Return the reference from the file *source* to the file *target*, both paths below one root.

    "?", "#" and "%" of a name are escaped: in a reference they mean something else.

    >>> relative_reference("h/a/index.html", "h/b/50%25~1.html")
    '../b/50%2525~1.html'
    """
    folder, _, _ = source.rpartition("/")
    target_folder, _, name = target.rpartition("/")
    reference = _between(folder, target_folder) + (quote(name, safe=_SAFE) if _UNSAFE.search(name) else name)
    return f"./{reference}" if reference.startswith("/") else reference  # an empty name would begin at a root
