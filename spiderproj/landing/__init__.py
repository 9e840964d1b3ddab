"""The landing page of a copy: ``index.html`` beside its files.

``records`` say what it tells, ``page`` makes the HTML of it. Pure: whoever reads the store is above.
"""

from spiderproj.landing.page import render
from spiderproj.landing.records import MAX_ENTRIES, MAX_FOLDERS, MAX_SEEDS, Copy, Entry, Holding, Start

__all__ = ["MAX_ENTRIES", "MAX_FOLDERS", "MAX_SEEDS", "Copy", "Entry", "Holding", "Start", "render"]
