"""Cookies for a crawl: a bounded jar that gives a cookie back to nobody but the origin that set it.

``jar`` keeps and gives, ``setcookie`` judges what a response sets, ``dates`` reads ``Expires``. Section numbers are
those of RFC 6265bis (draft-ietf-httpbis-rfc6265bis).
"""

from spiderproj.cookies.jar import CookieJar
from spiderproj.cookies.setcookie import is_public_suffix, is_valid

__all__ = ["CookieJar", "is_public_suffix", "is_valid"]
