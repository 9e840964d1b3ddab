"""The Scrapy download handler for http and https."""

from __future__ import annotations

import asyncio
import math
import ssl
import sys
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast
from weakref import WeakValueDictionary

from pydispatch.dispatcher import getReceivers  # type: ignore[import-untyped]  # has no types
from scrapy import signals
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.exceptions import StopDownload
from scrapy.http import Headers, Response
from scrapy.utils.misc import build_from_crawler, load_object
from twisted.python.failure import Failure

from spiderproj.addresses import AddressPolicy, literal
from spiderproj.downloader.budget import Budget
from spiderproj.downloader.errors import PrivateAddressError, TruncatedError
from spiderproj.downloader.exchange import Exchange, Patience
from spiderproj.downloader.pool import Pool
from spiderproj.downloader.recorder import recorder_of
from spiderproj.downloader.resolver import Resolver, not_public
from spiderproj.downloader.wire import read_url, write_request

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.core.downloader.handlers import DownloadHandlerProtocol
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from spiderproj.downloader.connection import Connection
    from spiderproj.downloader.recorder import Recorder
    from spiderproj.downloader.wire import Origin
    from spiderproj.http1 import Head

_FOR_PROXIES = "scrapy.core.downloader.handlers.http11.HTTP11DownloadHandler"  # 0.3 s to import
DEFAULT_INFLIGHT_BYTES = 64 * 1024 * 1024
DEFAULT_IDLE_TIMEOUT = 20.0
_MANY = 64
"""Idle connections when Scrapy's settings give no limit."""


class HttpHandler(BaseDownloadHandler):
    """Fetches for one crawler; http and https share one instance, and so its pool and limits.

    Reads of ``request.meta``: download_timeout, download_maxsize, download_fail_on_dataloss, proxy, truncate_at (bytes
    of the body that are kept; more is no error), and ``spool``: a callable that gets the status and the Headers and
    returns a Spool for the body or None, with ``spool_maxsize``.
    Sets there: download_latency, raw_headers ([(lower-case name, latin-1 value)] as received), spooled (the Spool).
    The response's flags: "dataloss", "encoding", "decoded", "spooled", "download_stopped".
    """

    _shared: ClassVar[WeakValueDictionary[int, HttpHandler]] = WeakValueDictionary()

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        settings = crawler.settings
        self.policy = AddressPolicy(
            settings.getlist("SPIDERPROJ_ALLOWED_NETWORKS"), getattr(crawler.spider, "seed_addresses", ())
        )
        self._timeout = settings.getfloat("DOWNLOAD_TIMEOUT")
        self._max_size = settings.getint("DOWNLOAD_MAXSIZE") or sys.maxsize
        self._fail_on_dataloss = settings.getbool("DOWNLOAD_FAIL_ON_DATALOSS")
        self._patience = Patience(idle=settings.getfloat("SPIDERPROJ_IDLE_TIMEOUT", DEFAULT_IDLE_TIMEOUT))
        self._pool = Pool(
            Resolver(self.policy),
            Budget(settings.getint("SPIDERPROJ_INFLIGHT_BYTES", DEFAULT_INFLIGHT_BYTES)),
            tls=_tls_context(settings),
            per_origin=settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN") or _MANY,
            total=2 * settings.getint("CONCURRENT_REQUESTS") or _MANY,
            count=self._count,
            local_address=_local_address(settings),
        )
        self._proxied: DownloadHandlerProtocol | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the handler of *crawler*, made once: Scrapy asks for one a scheme."""
        handler = cls._shared.get(id(crawler))  # it holds the crawler, so the id is not used again while it lives
        if handler is None:
            handler = cls._shared[id(crawler)] = cls(crawler)
        return cast("Self", handler)

    @cached_property
    def _recorder(self) -> Recorder | None:
        """What records each exchange; asked for by the first one, because it opens the job."""
        return recorder_of(self.crawler)

    async def download_request(self, request: Request) -> Response:
        """Return the response to *request*; raises FetchError, StopDownload, or the spool's OSError."""
        meta = request.meta
        origin, target = read_url(request.url)
        if meta.get("proxy"):
            return await self._through_proxy(request, origin)
        payload = write_request(request, origin, target)
        clock = asyncio.get_running_loop().time
        exchange = Exchange(
            request.method,
            max_size=meta.get("download_maxsize", self._max_size) or sys.maxsize,
            truncate_at=meta.get("truncate_at"),
            deadline=clock() + (meta.get("download_timeout") or self._timeout),
            patience=self._patience,
            clock=clock,
            on_head=partial(self._on_head, request) if "spool" in meta or self._has_listeners() else None,
        )
        if self._recorder is None:
            connection = await self._pool.fetch(origin, payload, exchange)
        else:
            connection = await self._recorder.fetch(self._pool, request.url, origin, payload, exchange)
        return self._response(request, exchange, connection)

    async def close(self) -> None:
        """Close all connections."""
        await self._pool.close()
        if self._proxied is not None:
            proxied, self._proxied = self._proxied, None
            await proxied.close()

    async def _through_proxy(self, request: Request, origin: Origin) -> Response:
        """Leave *request* to Scrapy's handler; a proxy resolves names itself, so only literal addresses are judged."""
        host = "127.0.0.1" if origin.host.endswith("localhost") else literal(origin.host)
        if host and not self.policy.permits(host, origin.port, origin.host):
            raise PrivateAddressError(not_public(origin, host))
        if self._proxied is None:
            self._proxied = build_from_crawler(load_object(_FOR_PROXIES), self.crawler)
        return await self._proxied.download_request(request)

    def _count(self, event: str) -> None:
        """Count what happens to connections."""
        if self.crawler.stats is not None:
            self.crawler.stats.inc_value(f"spiderproj/connections/{event}")

    def _has_listeners(self) -> bool:
        """Tell whether anybody listens to headers_received."""
        return bool(getReceivers(self.crawler, signals.headers_received))  # signals are connected with it as the sender

    def _on_head(self, request: Request, exchange: Exchange) -> None:
        """Let others stop the body or take it elsewhere."""
        head = cast("Head", exchange.head)
        headers = _headers(head)
        request.meta["status"] = head.status  # the signal does not tell it
        stop = self._ask_listeners(request, headers, exchange.parser.length)
        if stop is not None:
            exchange.stop(stop)
            return
        ask = request.meta.get("spool")
        spool = ask(head.status, headers) if ask else None
        if spool is not None:
            request.meta["spooled"] = exchange.spool = spool
            exchange.max_size = request.meta.get("spool_maxsize") or sys.maxsize
            exchange.deadline = math.inf  # a large file takes its time; the idle and rate limits hold

    def _ask_listeners(self, request: Request, headers: Headers, length: int | None) -> StopDownload | None:
        """Send headers_received; return the StopDownload of a listener."""
        results = self.crawler.signals.send_catch_log(
            signals.headers_received,
            headers=headers,
            body_length=length,
            request=request,
            spider=self.crawler.spider,
            dont_log=StopDownload,
        )
        for _, result in results:
            if isinstance(result, Failure) and isinstance(result.value, StopDownload):
                return result.value
        return None

    def _response(self, request: Request, exchange: Exchange, connection: Connection) -> Response:
        """Return what *exchange* received."""
        head = cast("Head", exchange.head)
        meta = request.meta
        meta["download_latency"] = exchange.latency
        meta["raw_headers"] = head.headers
        flags = sorted(exchange.flags) if exchange.flags else []
        if exchange.spool is not None:
            flags.append("spooled")
        if exchange.stopped is not None:
            flags.append("download_stopped")
        elif not exchange.whole:
            if meta.get("download_fail_on_dataloss", self._fail_on_dataloss):
                raise TruncatedError(f"the connection ended after {exchange.size} bytes of the body, before its end")
            flags.append("dataloss")
        response = Response(
            request.url,
            status=head.status,
            body=exchange.body,
            flags=flags,
            request=request,
            ip_address=connection.address,
            protocol=head.version,
        )
        response.headers = _headers(head)
        if isinstance(exchange.stopped, StopDownload) and exchange.stopped.fail:
            exchange.stopped.response = response
            raise exchange.stopped
        return response


def _headers(head: Head) -> Headers:
    """Return Scrapy's Headers, filled without normalising every name and value again."""
    fields: dict[bytes, list[bytes]] = {}
    for field in head.headers:
        name, value = _known_field(field) if len(field[1]) <= _SHORT else _encoded(field)
        if name in fields:
            fields[name].append(value)
        else:
            fields[name] = [value]
    headers = Headers()
    dict.update(headers, fields)
    return headers


def _encoded(field: tuple[str, str]) -> tuple[bytes, bytes]:
    """Return name and value of *field* as Headers holds them."""
    return field[0].encode("latin-1").title(), field[1].encode("latin-1")


_SHORT = 128
_known_field = lru_cache(maxsize=2048)(_encoded)  # most fields come with every answer of a server


def _tls_context(settings: BaseSettings) -> ssl.SSLContext:
    """Return a context by Scrapy's TLS settings; certificates are verified unless the setting was set to False."""
    context = ssl.create_default_context()
    name = "DOWNLOAD_VERIFY_CERTIFICATES"
    if settings.getpriority(name) and not settings.getbool(name):  # priority 0: Scrapy's own default, which is False
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(["http/1.1"])
    return context


def _local_address(settings: BaseSettings) -> tuple[str, int] | None:
    """Return the address to dial from, None for any."""
    value: Any = settings.get("DOWNLOAD_BIND_ADDRESS")
    return (value, 0) if isinstance(value, str) else value
