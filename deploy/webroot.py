"""Scrapyd's root page for programs on this machine: what a foreign web page makes a browser send is refused.

Scrapyd looks at the password only. A browser that was once given it sends it with whatever any page posts to Scrapyd,
and an egg is code that runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapyd import website
from scrapyd.exceptions import ConfigError
from twisted.web import pages

if TYPE_CHECKING:
    from twisted.web.resource import IResource
    from twisted.web.server import Request

_OWN_NAMES = frozenset({"127.0.0.1", "localhost"})
_OWN_CONTEXTS = frozenset({None, "none", "same-origin"})
_REFUSED = "Only for programs on this machine, and for pages that Scrapyd itself has served."


class Root(website.Root):  # type: ignore[misc]  # Scrapyd ships no types
    """The root resource; the configuration option ``webroot`` names it."""

    def __init__(self, config: Any, app: Any) -> None:  # noqa: ANN401 - Scrapyd's own classes, untyped
        if not config.get("username", "") or not config.get("password", ""):
            raise ConfigError("no username or no password is set: start Scrapyd with deploy/start.py, which makes one")
        super().__init__(config, app)

    def getChildWithDefault(self, path: bytes, request: Request) -> IResource:  # noqa: N802 - Twisted's name
        """Return what is at *path*, or a page that says no to a request of foreign origin."""
        header = request.getHeader
        if is_foreign(header("host"), header("origin"), header("sec-fetch-site")):
            return pages.forbidden(message=_REFUSED)
        child: IResource = super().getChildWithDefault(path, request)
        return child


def is_foreign(host: str | None, origin: str | None, context: str | None) -> bool:
    """Return whether a request with these fields (Host, Origin, Sec-Fetch-Site) comes from a web page not ours.

    >>> is_foreign("127.0.0.1:6800", None, None), is_foreign("127.0.0.1:6800", "https://example.org", "cross-site")
    (False, True)
    """
    name = (host or "").partition(":")[0]
    return name not in _OWN_NAMES or origin not in (None, f"http://{host}") or context not in _OWN_CONTEXTS
