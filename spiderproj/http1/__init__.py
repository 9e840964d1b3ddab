"""HTTP/1.x answers, read from bytes without any I/O: tolerant where browsers are, bounded everywhere."""

from spiderproj.http1.head import Head, HeadLimits, ResponseError
from spiderproj.http1.parser import ResponseParser, keep_alive_seconds

__all__ = ["Head", "HeadLimits", "ResponseError", "ResponseParser", "keep_alive_seconds"]
