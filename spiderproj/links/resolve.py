"""From the text of a reference to a canonical URL, or to the reason why it is none."""

from __future__ import annotations

import re

from spiderproj import urls
from spiderproj.charset import encode_query
from spiderproj.models import Reason

_SHOWN = 200
_SHOWN_DATA = 60
"""How much of a reference that can never be fetched is kept; data: URIs are long and say little."""

_MOST_CLIMBED = 30
"""Up to which index "../"s are followed as text: more of them are no site's, and the URL parser is quicker at them."""

_MUCH_TOO_LONG = 4 * urls.MAX_URL_LENGTH
_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]{0,40}):")
_C0_OR_SPACE = "".join(map(chr, range(0x21)))

# A path of characters that the URL standard leaves as they are, with no "." or ".." segment (nor "%2e"), then perhaps
# a query, then perhaps a fragment. Such a reference, joined as text, gives what the URL parser gives.
_PLAIN = re.compile(
    r"((?:/(?!/))?(?:(?!\.\.?(?:[/?#]|\Z))(?:[A-Za-z0-9_~!$&'()*+,;=@.-]++|%(?!2[eE]))++(?:/++|(?=[?#]|\Z)))*+)"
    r"(\?[A-Za-z0-9_~!$&()*+,;=@%./?:-]*+)?+(?:#|\Z)"
)


class Resolver:
    """Resolves the references of one document, each text once.

    *encoding* is the document's: non-ASCII characters in a query are sent in it (URL standard, "query state").
    ``origin`` and ``directory`` are those of the base.
    """

    def __init__(self, base: str, encoding: str) -> None:
        self._encoding = encoding
        self._known: dict[str, tuple[str, Reason | None]] = {}
        self._set_base(base)

    def rebase(self, reference: str) -> None:
        """Make the URL that *reference* resolves to the base; one that cannot be fetched counts as none."""
        target, problem = self(reference)
        if problem is None:
            self._known.clear()
            self._set_base(target)

    def _set_base(self, base: str) -> None:
        self._base = base
        self.origin = urls.origin(base)
        path_end = base.find("?")
        path = base if path_end < 0 else base[:path_end]
        self.directory = path[: path.rfind("/") + 1]

    def __call__(self, reference: str) -> tuple[str, Reason | None]:
        """Return the canonical URL and None, or the reference as a short text and why it can never be fetched."""
        known = self._known.get(reference)
        if known is None:
            known = self._plain(reference) or self._parsed(reference)
            if len(reference) <= urls.MAX_URL_LENGTH:
                self._known[reference] = known
        return known

    def _plain(self, reference: str) -> tuple[str, None] | None:
        """Return what the URL standard makes of a reference of harmless characters, without asking the parser."""
        match = _PLAIN.match(reference)
        if match is None:
            return self._prefixed(reference)
        path, query = match.groups("")
        if path:
            target = (self.origin if path[0] == "/" else self.directory) + path + query
        elif query:
            return None
        else:  # "" or "#y"
            target = self._base
        return (target, None) if len(target) <= urls.MAX_URL_LENGTH else None

    def _prefixed(self, reference: str) -> tuple[str, None] | None:
        """Return the same for a reference that is plain after our own origin, or after "./" or "../"."""
        prefix, start = self._prefix(reference)
        match = _PLAIN.match(reference, start) if start else None
        if match is None:
            return None
        path, query = match.groups("")
        # After the origin a "/" has to come, else "http://h" + "x" names another host; after "../" none: "..//x".
        if path.startswith("/") != (prefix is self.origin):
            return None
        target = prefix + path + query
        return (target, None) if len(target) <= urls.MAX_URL_LENGTH else None

    def _prefix(self, reference: str) -> tuple[str, int]:
        """Return what the rest of *reference*, from the index on, is to be appended to."""
        if reference.startswith(self.origin):
            return self.origin, len(self.origin)
        if reference.startswith("./"):
            return self.directory, 2
        directory, start = self.directory, 0
        while start < _MOST_CLIMBED and reference.startswith("../", start):
            start += 3
            if len(directory) > len(self.origin) + 1:
                directory = directory[: directory.rfind("/", 0, -1) + 1]
        return directory, start

    def _parsed(self, reference: str) -> tuple[str, Reason | None]:
        text = reference[: _MUCH_TOO_LONG + 1].strip(_C0_OR_SPACE)
        scheme = _SCHEME.match(text)
        if scheme and scheme[1].lower() not in {"http", "https"}:
            return _shown(text), Reason.SCHEME
        if len(reference) > _MUCH_TOO_LONG:
            return _shown(text), Reason.TOO_LONG
        if not text.isascii() and self._encoding != "utf-8":
            text = self._with_encoded_query(text)
        try:
            return urls.canonical(text, self._base), None
        except urls.RefusedURLError as error:
            return _shown(text), error.reason

    def _with_encoded_query(self, text: str) -> str:
        head, mark, fragment = text.partition("#")
        path, question, query = head.partition("?")
        return path + question + encode_query(query, self._encoding) + mark + fragment


def _shown(text: str) -> str:
    return text[: _SHOWN_DATA if text[:5].lower() == "data:" else _SHOWN]
