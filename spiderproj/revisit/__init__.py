"""Visiting again: what has changed about a page, which answers are not believed, and which pages are due.

Pure rules: ``store.changes`` keeps what they say, ``pipelines.compare`` asks them.
"""

from spiderproj.revisit.comparing import Seen, What, is_change, link_changes, main_digest, number_of
from spiderproj.revisit.suspicion import SHARED_BY, crowd, suspicion

__all__ = [
    "SHARED_BY",
    "Seen",
    "What",
    "crowd",
    "is_change",
    "link_changes",
    "main_digest",
    "number_of",
    "suspicion",
]
