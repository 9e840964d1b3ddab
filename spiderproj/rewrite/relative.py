"""From one file of a copy to another: a relative reference that every browser reads as that file's name."""

from __future__ import annotations

import re
from urllib.parse import quote

_SAFE = "/~!$&'()*+,;=@"
_UNSAFE = re.compile(r"[^A-Za-z0-9._~/-]")


class Relative:
    """The references from the files of one *folder*, a path without a slash at its end."""

    def __init__(self, folder: str) -> None:
        self._ups = {folder: ""}  # from here to each folder above
        while folder:
            folder = folder[: max(folder.rfind("/"), 0)]
            self._ups[folder] = "../" * len(self._ups)

    def __call__(self, target: str) -> str:
        """Return the reference to the file *target*; what means something else in a reference is escaped: ?, #, %."""
        ups, above = self._ups, target[: max(target.rfind("/"), 0)]
        while above not in ups:
            above = above[: max(above.rfind("/"), 0)]
        rest = target[len(above) + 1 :] if above else target
        if _UNSAFE.search(rest):
            rest = quote(rest, safe=_SAFE)
        reference = ups[above] + rest
        return f"./{reference}" if reference.startswith("/") else reference  # an empty name would begin at a root


def relative_reference(source: str, target: str) -> str:
    """Return the reference from the file *source* to the file *target*, both paths below one root.

    >>> relative_reference("h/a/index.html", "h/b/50%25~1.html")
    '../b/50%2525~1.html'
    """
    return Relative(source.rpartition("/")[0])(target)
