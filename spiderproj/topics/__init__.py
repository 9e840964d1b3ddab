"""What a copy is about: its key words, the file ``__doc.txt`` that holds them, and the search over many copies.

``words`` and ``headings`` take words out of pages, ``document`` writes and reads the file, ``expression`` is the
language of ``scrapy topics``, ``ranking`` applies it. Pure: what is on a disk is read by others.
"""

from spiderproj.topics.document import MAX_BYTES, MAX_WORDS, NAME, KeyWords, read, render
from spiderproj.topics.expression import Expression
from spiderproj.topics.headings import READ_BYTES, headings
from spiderproj.topics.ranking import Match, ranked
from spiderproj.topics.words import Tally, words

__all__ = [
    "MAX_BYTES",
    "MAX_WORDS",
    "NAME",
    "READ_BYTES",
    "Expression",
    "KeyWords",
    "Match",
    "Tally",
    "headings",
    "ranked",
    "read",
    "render",
    "words",
]
