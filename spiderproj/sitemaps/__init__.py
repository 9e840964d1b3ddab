"""What sitemaps list, and which of them to read (https://www.sitemaps.org/protocol.html)."""

from spiderproj.sitemaps.reader import read
from spiderproj.sitemaps.records import Kind, Problem, Sitemap, SitemapEntry
from spiderproj.sitemaps.walk import SitemapWalk, candidates

__all__ = ["Kind", "Problem", "Sitemap", "SitemapEntry", "SitemapWalk", "candidates", "read"]
