"""Keep cookies by the origin that set them, in bounded memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence

from spiderproj.cookies.setcookie import Cookie, Key, domain_bucket, is_domain_bucket, received
from spiderproj.urls import URLParts, origin, split

COOKIES_PER_HOST = 50
HEADER_BYTES = 8192
LINES_PER_RESPONSE = 100
HOSTS = 10_000
TOTAL_BYTES = 32 * 2**20  # ten thousand hosts that fill their share would hold 2 GB

_OVERHEAD = 250  # bytes of memory that a cookie takes beside its texts, about

_Bucket = dict[Key, Cookie]  # oldest first


class CookieJar:
    """Cookies by origin, in bounded memory; hosts not used for longest go first."""

    def __init__(self) -> None:
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()
        self._domains = 0  # buckets that belong to a domain
        self._bytes = 0

    def store(self, url: str, set_cookie_values: Sequence[str], now: float) -> None:
        """Take the cookies of a response from canonical *url*; its Set-Cookie values are read as Latin-1.

        What is malformed, too large or meant for others is passed over, as are values after the hundredth.
        """
        parts = split(url)
        for line in set_cookie_values[:LINES_PER_RESPONSE]:
            found = received(line, parts, now)
            if found is None:
                continue
            if found.cookie.expires is not None and found.cookie.expires <= now:
                self._remove(found.bucket, found.key)
            else:
                self._put(found.bucket, found.key, found.cookie)

    def add(self, url: str, name: str, value: str) -> None:
        """Give the origin of *url* a cookie for all its paths, for as long as the jar lives."""
        self._put(origin(url), Key("/", name), Cookie(value, None))

    def header_for(self, url: str, now: float) -> str | None:
        """Return the Cookie header for canonical *url*, None when it has none.

        Longer paths first, then the older cookie (5.8.3); what does not fit into HEADER_BYTES stays out.
        """
        if not self._buckets:
            return None
        own = origin(url)
        if own not in self._buckets and not self._domains:
            return None
        parts = split(url)
        found: list[tuple[Key, Cookie]] = []
        for bucket in (own, *self._domain_buckets(parts)):
            found += self._live(bucket, parts.path, now)
        found.sort(key=lambda item: -len(item[0].path))
        return _header(found) or None

    def _domain_buckets(self, parts: URLParts) -> Iterator[str]:
        """Yield the domain buckets that a host may be given cookies of, longest domain first."""
        if not self._domains:
            return
        domain = parts.host
        while "." in domain:
            yield domain_bucket(parts, domain)
            domain = domain.partition(".")[2]

    def _live(self, bucket: str, path: str, now: float) -> list[tuple[Key, Cookie]]:
        """Return the cookies of *bucket* that *path* is given; forget those that have expired."""
        cookies = self._buckets.get(bucket)
        if cookies is None:
            return []
        for key in [key for key, cookie in cookies.items() if cookie.expires is not None and cookie.expires <= now]:
            self._remove(bucket, key)
        if bucket in self._buckets:
            self._buckets.move_to_end(bucket)
        return [(key, cookie) for key, cookie in cookies.items() if _path_matches(path, key.path)]

    def _put(self, bucket: str, key: Key, cookie: Cookie) -> None:
        cookies = self._buckets.get(bucket)
        if cookies is None:
            cookies = self._buckets[bucket] = {}
            self._domains += is_domain_bucket(bucket)
        old = cookies.get(key)
        cookies[key] = cookie  # a cookie set again keeps its age (5.7, step 24)
        self._bytes += _size(key, cookie) - (_size(key, old) if old else 0)
        self._buckets.move_to_end(bucket)
        if len(cookies) > COOKIES_PER_HOST:
            self._remove(bucket, next(iter(cookies)))
        while len(self._buckets) > HOSTS or self._bytes > TOTAL_BYTES:
            self._forget(next(iter(self._buckets)))

    def _remove(self, bucket: str, key: Key) -> None:
        cookie = self._buckets.get(bucket, {}).pop(key, None)
        if cookie is None:
            return
        self._bytes -= _size(key, cookie)
        if not self._buckets[bucket]:
            self._forget(bucket)

    def _forget(self, bucket: str) -> None:
        self._bytes -= sum(_size(key, cookie) for key, cookie in self._buckets.pop(bucket).items())
        self._domains -= is_domain_bucket(bucket)


def _path_matches(path: str, cookie_path: str) -> bool:
    if not path.startswith(cookie_path):
        return False
    return len(path) == len(cookie_path) or cookie_path.endswith("/") or path[len(cookie_path)] == "/"


def _size(key: Key, cookie: Cookie) -> int:
    return len(key.path) + len(key.name) + len(cookie.value) + _OVERHEAD


def _header(cookies: list[tuple[Key, Cookie]]) -> str:
    """Return as many of *cookies*, in their order, as fit."""
    pairs = []
    left = HEADER_BYTES
    for key, cookie in cookies:
        pair = f"{key.name}={cookie.value}"
        if len(pair) + 2 <= left:
            pairs.append(pair)
            left -= len(pair) + 2
    return "; ".join(pairs)
