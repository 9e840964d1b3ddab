"""The ``filter`` expression: one condition for everything the other arguments cannot say."""

from spiderproj.filters.language import MAX_LENGTH, MAX_NESTING, NAMES, Filter

__all__ = ["MAX_LENGTH", "MAX_NESTING", "NAMES", "Filter"]
