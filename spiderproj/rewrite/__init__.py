"""Making a document lead to other places, in the bytes in which it was received.

Nothing is parsed into a tree and written again: the places of references are found in the bytes, and what is between
them is copied as it is. What the reference texts are to be is asked of a function; where that has no answer, nothing
changes.
"""

from spiderproj.rewrite.documents import rewrite_css, rewrite_html, rewrite_svg
from spiderproj.rewrite.edits import Known, Resolve
from spiderproj.rewrite.relative import Relative, relative_reference
from spiderproj.rewrite.task import Form, Rewriter, Task

__all__ = [
    "Form",
    "Known",
    "Relative",
    "Resolve",
    "Rewriter",
    "Task",
    "relative_reference",
    "rewrite_css",
    "rewrite_html",
    "rewrite_svg",
]
