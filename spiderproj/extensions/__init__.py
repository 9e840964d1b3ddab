"""What watches a crawl: its summary, its live line, its limits; and the lean log formatter."""

from spiderproj.extensions.logformat import LeanLogFormatter

__all__ = ["LeanLogFormatter"]
