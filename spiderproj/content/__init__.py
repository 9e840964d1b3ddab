"""What a page says, apart from what surrounds it: which pages have the same content.

A Reading keeps the hashes of a page's blocks and not one digest of all of them, because what counts as noise is learned
while a site is crawled: two readings are always compared under one and the same Noise, whatever was known when they
were made.
"""

from spiderproj.content.blocks import read_blocks
from spiderproj.content.guards import SHARED_BY, Shared, is_error_like, is_login_like
from spiderproj.content.near import near, sketch
from spiderproj.content.noise import CALIBRATIONS, Noise
from spiderproj.content.reading import Blocks, Reading
from spiderproj.content.sameness import Sameness, digests, same

__all__ = [
    "CALIBRATIONS",
    "SHARED_BY",
    "Blocks",
    "Noise",
    "Reading",
    "Sameness",
    "Shared",
    "digests",
    "is_error_like",
    "is_login_like",
    "near",
    "read_blocks",
    "same",
    "sketch",
]
