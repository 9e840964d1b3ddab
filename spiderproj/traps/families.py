"""Which URLs belong together: those of one host with one path template and the same names of parameters.

A loop of relative links gives each turn another path, and facets each choice other parameters: such families have one
page each. So what is deep, and what has several parameters, is counted in a wider family, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from spiderproj.learning import parameter_names, scope_template

if TYPE_CHECKING:
    from spiderproj.urls import URLParts

DEEP: Final = 3
"""Directories from which a path belongs to the family of all that are so deep."""


def family_names(parts: URLParts) -> list[str]:
    """Return the families of a canonical URL, as people read them: its own, and those that are wider.

    >>> from spiderproj.urls import split
    >>> family_names(split("http://h/calendar/2031-05-01?view=day"))
    ['h/calendar/{d}?view']
    >>> family_names(split("http://h/shop?size=4&colour=red"))
    ['h/{s}?colour&size', 'h/{s}?*&*']
    >>> family_names(split("http://h/a/b/c/"))
    ['h/a/b/c/{s}', 'h/*/*/*/**']
    """
    path, names = parts.authority + scope_template(parts.path), sorted(parameter_names(parts.query))
    found = [f"{path}?{'&'.join(names)}" if names else path]
    if len(names) > 1:
        found.append(f"{path}?*&*")
    if parts.path.count("/") > DEEP:
        found.append(parts.authority + "/*" * DEEP + "/**")
    return found
