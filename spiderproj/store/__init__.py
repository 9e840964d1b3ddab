"""One crawl's state in one SQLite file: frontier, fetches, contents, links, decisions (docs/storage.md).

Everything a page brings - its fetch, its content, its links, the decisions on them, new frontier rows, and the end of
its lease - is written in one transaction, so a page is either wholly in the store or still in the frontier.
"""

from spiderproj.store.database import Database
from spiderproj.store.decisions import PART, Decisions
from spiderproj.store.folder import Folder
from spiderproj.store.frontier import Frontier
from spiderproj.store.journal import Journal
from spiderproj.store.known import LinkRow
from spiderproj.store.learner import Learner
from spiderproj.store.ledger import Content, Ledger, Outcome

__all__ = [
    "PART",
    "Content",
    "Database",
    "Decisions",
    "Folder",
    "Frontier",
    "Journal",
    "Learner",
    "Ledger",
    "LinkRow",
    "Outcome",
]
