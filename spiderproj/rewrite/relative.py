"""From one file of a copy to another: a relative reference that every browser reads as that file's name."""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import quote

_SAFE = "/~!$&'()*+,;=@"


@lru_cache(maxsize=4096)
def _names(folder: str) -> list[str]:
    return folder.split("/") if folder else []


def relative_reference(source: str, target: str) -> str:
    """Return the reference from the file *source* to the file *target*, both paths below one root.

    "?", "#" and "%" of a name are escaped: in a reference they mean something else.

    >>> relative_reference("h/a/index.html", "h/b/50%25~1.html")
    '../b/50%2525~1.html'
    """
    folder, _, _ = source.rpartition("/")
    target_folder, _, name = target.rpartition("/")
    if folder == target_folder:
        return _guarded(quote(name, safe=_SAFE))
    here, there = _names(folder), _names(target_folder)
    common = 0
    while common < min(len(here), len(there)) and here[common] == there[common]:
        common += 1
    return _guarded("../" * (len(here) - common) + quote("/".join([*there[common:], name]), safe=_SAFE))


def _guarded(reference: str) -> str:
    """Return *reference* so that no empty first name makes it begin at a host or a root."""
    return f"./{reference}" if reference.startswith("/") else reference
