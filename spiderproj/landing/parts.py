"""What pages about a copy have in common: their frame, foreign text, moments and sizes."""

from __future__ import annotations

from base64 import b64encode
from datetime import UTC, datetime
from hashlib import sha256
from typing import Final

from spiderproj.landing.markup import Markup, element

_UNITS: Final = ("KiB", "MiB", "GiB", "TiB")


def document(title: str, style: str, *body: str) -> bytes:
    """Return a whole page that loads and runs nothing: its policy allows its one style sheet, by digest."""
    digest = b64encode(sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", name="robots", content="noindex"),
        element("title", title),
        element("style", Markup(style)),
    )
    page = Markup(f"<!doctype html>\n{element('html', head, element('body', *body), lang='en')}\n")
    return page.encode("utf-8", "replace")


def foreign(text: str) -> Markup:
    """Return *text* that may be in any language, read in its own direction."""
    return element("bdi", text, lang="")


def moment(seconds: float) -> str:
    """Return POSIX *seconds* for people."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"


def size_of(size: int) -> str:
    """Return a number of bytes for people."""
    if size < 1024:
        return f"{size} bytes"
    power = min((size.bit_length() - 1) // 10, len(_UNITS))
    return f"{size / 1024**power:,.1f} {_UNITS[power - 1]}"
