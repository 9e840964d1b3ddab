"""What a page links to: reads HTML, CSS, SVG and the headers that came with them.

Start with read_html; every link of a page is recorded, those that can never be fetched too. Nothing here decides what
is fetched, and no body can make it slow: budget.py says what a page may cost.
"""

from spiderproj.links.budget import MAX_LINKS
from spiderproj.links.html import read_html, read_svg
from spiderproj.links.refresh import parse_refresh
from spiderproj.links.sheet import read_css

__all__ = ["MAX_LINKS", "parse_refresh", "read_css", "read_html", "read_svg"]
