"""The same crawl under other arguments, answered from its store: what would come in, and what would go.

``arguments`` changes the arguments, ``answers`` stand for the servers', ``rehearsal`` is the crawl, ``comparison`` says
what differs, ``application`` takes it over.
"""

from spiderproj.replay.answers import Answers
from spiderproj.replay.application import apply
from spiderproj.replay.arguments import changed
from spiderproj.replay.comparison import UNLINKED, Changes, Comparison, compare
from spiderproj.replay.rehearsal import learns, lifted, open_rehearsal, rehearse

__all__ = [
    "UNLINKED",
    "Answers",
    "Changes",
    "Comparison",
    "apply",
    "changed",
    "compare",
    "learns",
    "lifted",
    "open_rehearsal",
    "rehearse",
]
