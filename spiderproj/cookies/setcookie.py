"""Judge a Set-Cookie value: which cookie it sets, for whom, until when, or that it must not be kept.

Stricter than browsers, on purpose: a cookie belongs to scheme, host and port, where the RFC goes by host alone, so
that no change of any of the three carries it along. ``Domain`` widens it to the subdomains on the same scheme and
port, and is refused for public suffixes and addresses. ``HttpOnly`` and ``SameSite`` mean nothing to a crawler.
"""

from __future__ import annotations

import ipaddress
import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from spiderproj.cookies.dates import cookie_date
from spiderproj.urls import URLParts

if TYPE_CHECKING:
    import tldextract

COOKIE_BYTES = 4096  # name and value together (5.6)

_LINE_LENGTH = 2 * COOKIE_BYTES
_ATTRIBUTE_LENGTH = 1024  # longer ones are ignored (5.6)
_LONGEST_LIFE = 400 * 86_400  # seconds (5.5)
_NAME = re.compile("[!-:<>-~]+")  # visible ASCII but ";" and "="
_VALUE = re.compile("[ -:<-~]*")  # printable ASCII but ";"


class Key(NamedTuple):
    """What makes two cookies of one bucket the same (5.7, step 24)."""

    path: str
    name: str


class Cookie(NamedTuple):
    """A cookie's value and its end in POSIX seconds; None: it lives as long as the jar."""

    value: str
    expires: float | None


class Received(NamedTuple):
    """A cookie that may be kept; ``bucket`` names its origin, or its domain when it has one."""

    bucket: str
    key: Key
    cookie: Cookie


def is_valid(name: str, value: str) -> bool:
    """Return whether a cookie of this name and value may be sent: printable ASCII, bounded, no separators."""
    within = len(name) + len(value) <= COOKIE_BYTES
    return within and _NAME.fullmatch(name) is not None and _VALUE.fullmatch(value) is not None


def is_public_suffix(domain: str) -> bool:
    """Return whether anybody may register names below *domain*; by the list in the package, never by the network."""
    domain = domain.strip(".")
    if "." not in domain:  # the list's default rule: "*"
        return True
    return _extractor().extract_str(domain).suffix == domain


@cache
def _extractor() -> tldextract.TLDExtract:
    import tldextract  # noqa: PLC0415 - takes 0.1 s, and few crawls meet a cookie with a Domain

    return tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)


def received(line: str, parts: URLParts, now: float) -> Received | None:
    """Return the cookie that the Set-Cookie value *line* sets (5.6, 5.7), None when it must not be kept."""
    line = line.replace("\t", " ")
    if len(line) > _LINE_LENGTH or not (line.isascii() and line.isprintable()):
        return None
    pair, _, rest = line.partition(";")
    name, equals, value = pair.partition("=")
    name, value = name.strip(), value.strip()
    if not equals or not is_valid(name, value):
        return None
    attributes = _attributes(rest)
    path = attributes.get("path", "")
    key = Key(path if path.startswith("/") else _default_path(parts.path), name)
    if not _secure_enough(name, attributes, parts.scheme):
        return None
    bucket = _bucket(attributes.get("domain", ""), parts)
    return Received(bucket, key, Cookie(value, _expiry(attributes, now))) if bucket else None


def _attributes(text: str) -> dict[str, str]:
    """Return the attributes by their lower-case names; the last of a name counts."""
    found: dict[str, str] = {}
    for attribute in text.split(";"):
        name, _, value = attribute.partition("=")
        if len(value) <= _ATTRIBUTE_LENGTH:
            found[name.strip().lower()] = value.strip()
    return found


def _secure_enough(name: str, attributes: dict[str, str], scheme: str) -> bool:
    """Return whether the Secure attribute and the name's prefix are honest (5.7, steps 8, 21 and 22)."""
    if "secure" in attributes and scheme != "https":
        return False
    prefix = name.lower()
    if prefix.startswith("__host-"):
        return "secure" in attributes and not attributes.get("domain") and attributes.get("path") == "/"
    return not prefix.startswith("__secure-") or "secure" in attributes


def _bucket(attribute: str, parts: URLParts) -> str | None:
    """Return the bucket that a cookie with this Domain *attribute* goes into, None when it is for others."""
    domain = attribute.removeprefix(".").lower()
    own = f"{parts.scheme}://{parts.authority}"
    if not domain:
        return own
    if domain == parts.host:
        alone = _is_address(domain) or is_public_suffix(domain)  # (5.7, step 9)
        return own if alone else domain_bucket(parts, domain)
    if not parts.host.endswith("." + domain) or _is_address(parts.host) or is_public_suffix(domain):
        return None
    return domain_bucket(parts, domain)


def domain_bucket(parts: URLParts, domain: str) -> str:
    """Return the name of the bucket for *domain* on the scheme and port of *parts*; no origin is named like it."""
    return f"{parts.scheme}:.{domain}:{parts.port}"


def is_domain_bucket(bucket: str) -> bool:
    """Return whether *bucket* belongs to a domain, not to an origin."""
    return "://" not in bucket


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


def _expiry(attributes: dict[str, str], now: float) -> float | None:
    """Return when the cookie ends; Max-Age goes before Expires, one that cannot be read is ignored."""
    age = attributes.get("max-age", "")
    if re.fullmatch("-?[0-9]+", age):
        return now + (0 if age.startswith("-") else min(int(age.lstrip("0")[:12] or 0), _LONGEST_LIFE))
    expires = cookie_date(attributes.get("expires", ""))
    return None if expires is None else min(expires, now + _LONGEST_LIFE)


def _default_path(path: str) -> str:
    """Return the directory of the request's *path* without its last slash (5.1.4)."""
    return path[: path.rfind("/")] or "/"
