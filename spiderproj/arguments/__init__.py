"""The arguments of the ``site`` spider: declared once as a table, read once into ``CrawlOptions``.

``table`` declares, ``values``, ``lists`` and ``seeds`` read one value each, ``options`` holds the result, ``parse``
puts it together. A wrong value is an ArgumentError: one line, before any request.
"""

from spiderproj.arguments.lists import PatternText
from spiderproj.arguments.options import (
    CrawlOptions,
    Gate,
    Mode,
    Render,
    Sitemap,
    Unique,
    WindowEnd,
    differences,
)
from spiderproj.arguments.parse import parse_arguments
from spiderproj.arguments.table import ARGUMENTS, Argument, markdown_table

__all__ = [
    "ARGUMENTS",
    "Argument",
    "CrawlOptions",
    "Gate",
    "Mode",
    "PatternText",
    "Render",
    "Sitemap",
    "Unique",
    "WindowEnd",
    "differences",
    "markdown_table",
    "parse_arguments",
]
