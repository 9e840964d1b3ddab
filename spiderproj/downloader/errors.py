"""What can go wrong with a fetch, as Scrapy's exceptions, each with a ``kind`` that is one word for counters.

Those that derive from DownloadCancelledError would fail again in the same way: Scrapy's RetryMiddleware leaves them.
"""

from __future__ import annotations

from typing import ClassVar

from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    ResponseDataLossError,
)


class FetchError(Exception):
    """Base of all failures of a fetch; the message is short and names the limit or the address."""

    kind: ClassVar[str] = "error"


class FetchTimeoutError(FetchError, DownloadTimeoutError):
    """Too slow to connect, to answer, to go on, or in all."""

    kind = "timeout"


class RefusedError(FetchError, DownloadConnectionRefusedError):
    """No address of the host accepts a connection."""

    kind = "refused"


class ResolveError(FetchError, CannotResolveHostError):
    """The host has no address."""

    kind = "dns"


class ResetError(FetchError, DownloadFailedError):
    """The connection ended before a whole head came."""

    kind = "reset"


class TruncatedError(FetchError, ResponseDataLossError):
    """The connection ended before the body did."""

    kind = "dataloss"


class BadResponseError(FetchError, DownloadFailedError):
    """The answer is not HTTP/1.x, or its framing is broken."""

    kind = "bad-response"


class TLSError(FetchError, DownloadCancelledError):
    """The TLS handshake failed, or the certificate is not the host's."""

    kind = "tls"


class TooLargeError(FetchError, DownloadCancelledError):
    """The body is over its limit, as announced, as received, or decoded."""

    kind = "too-large"


class TooManyHeadersError(FetchError, DownloadCancelledError):
    """The headers or trailers are over their limits."""

    kind = "too-many-headers"


class BombError(FetchError, DownloadCancelledError):
    """The body decodes to far more than was received, or has too many layers or members."""

    kind = "bomb"


class PrivateAddressError(FetchError, DownloadCancelledError):
    """An address of the host is not public, and neither a seed nor a setting allows it."""

    kind = "private-address"


class NotNowError(FetchError):
    """The request was not sent: its host may not be asked before *until* (POSIX seconds), and nobody waits for it."""

    kind = "not-now"

    def __init__(self, until: float) -> None:
        super().__init__("the host may not be asked now")
        self.until = until


class BadPortError(FetchError, DownloadCancelledError):
    """The port is one of another protocol, and no seed names it."""

    kind = "bad-port"


class BadRequestError(FetchError, DownloadCancelledError):
    """The request cannot be written as HTTP: a control character in its URL or headers, say."""

    kind = "bad-request"


_UNREADABLE: dict[str, type[FetchError]] = {
    error.kind: error for error in (BadResponseError, TooManyHeadersError, TooLargeError, BombError)
}


def unreadable(kind: str, message: str) -> FetchError:
    """Return the error for an answer that the parser or a decoder gave up with *kind*."""
    return _UNREADABLE[kind](message)
