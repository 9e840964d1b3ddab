"""Spaces without end: walls that no real site passes, and families of URLs that cease to bring anything new."""

from spiderproj.traps.contents import content_digest
from spiderproj.traps.dates import is_far
from spiderproj.traps.families import family_names
from spiderproj.traps.novelty import CAREFUL, EAGER, FIRST_QUOTA, WINDOW, Budget, Family, Look, State
from spiderproj.traps.walls import MAX_REPEATS, MAX_SEGMENTS, wall

__all__ = [
    "CAREFUL",
    "EAGER",
    "FIRST_QUOTA",
    "MAX_REPEATS",
    "MAX_SEGMENTS",
    "WINDOW",
    "Budget",
    "Family",
    "Look",
    "State",
    "content_digest",
    "family_names",
    "is_far",
    "wall",
]
