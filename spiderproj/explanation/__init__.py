"""Why a URL was, or was not, fetched: asked of a stored crawl, which is only read.

``rules`` names the rules in their order, ``inquiry`` asks the store, ``records`` hold the answer, ``text`` writes it.
"""

from spiderproj.explanation.inquiry import Inquiry
from spiderproj.explanation.records import MAX_FETCHES, MAX_LINKERS, Explanation
from spiderproj.explanation.rules import Answer, Rule, Step
from spiderproj.explanation.text import as_text, as_values

__all__ = ["MAX_FETCHES", "MAX_LINKERS", "Answer", "Explanation", "Inquiry", "Rule", "Step", "as_text", "as_values"]
