"""Which family a URL belongs to in a list: its host and the first folders, numbers made alike.

Coarser than the families of a survey, and a third of their price: a list is grouped into a few that can be read.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_FOLDERS: Final = 2
_HEAD: Final = re.compile(r"https?://([^/?#]*)([^?#]*)")
_VARIES: Final = re.compile(r"[0-9]+")
_LONG: Final = 32  # characters of a folder's name


def family(url: str) -> str:
    """Return the family of *url*.

    >>> family("https://example.org/docs/2026/07/a.html?x=1")
    'example.org/docs/#/'
    """
    found = _HEAD.match(url)
    if found is None:
        return url.partition(":")[0][:_LONG] + ":"
    host, path = found.groups()
    return _named(host, path.rpartition("/")[0])


@lru_cache(maxsize=65_536)
def _named(host: str, folder: str) -> str:
    folders = folder.split("/")[1 : _FOLDERS + 1]
    return "/".join([host, *(_VARIES.sub("#", one[:_LONG]) for one in folders), ""])
