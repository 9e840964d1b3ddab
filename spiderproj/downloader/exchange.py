"""One request and its answer: what has come, what may still come, and until when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from spiderproj.codings import CodingError, Decoder
from spiderproj.downloader.errors import FetchTimeoutError, ResetError, TooLargeError, unreadable
from spiderproj.http1 import ResponseError, ResponseParser

if TYPE_CHECKING:
    from collections.abc import Callable

    from spiderproj.http1 import Head
    from spiderproj.warc import Tape

MAX_DRAINED = 64 * 1024
"""Longest unwanted body that is read to its end, so that the connection can be kept ..."""
DRAIN_SECONDS = 2.0
"""... and for how long."""


class Spool(Protocol):
    """Where a body goes that is not kept in memory."""

    def write(self, data: bytes, /) -> object:
        """Take *data*; an OSError fails the fetch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How slow a server may be, in seconds and bytes a second."""

    headers: float = 20.0  # from the request to the end of the headers
    idle: float = 20.0  # between two reads of the body
    window: float = 20.0  # over which the rate is measured
    rate: float = 1000.0  # bytes a second in each window


class Exchange:
    """The state of one request of *method* and its answer; *deadline* is a time of *clock*.

    *on_head*, when given, is called at the headers: it may set ``spool`` and ``max_size``, and call ``stop``.
    ``over``: nothing more is read. ``whole``: all of the answer came. ``flags``: as Decoder's.
    ``tape``, when one is set, gets every byte as it comes.
    """

    # Defaults live in the class: an exchange is made for every request, and few of these ever change.
    head: Head | None = None
    latency = 0.0  # seconds from the request to the end of the headers
    received = 0  # bytes from the connection
    size = 0  # bytes of body after decoding
    flags: frozenset[str] = frozenset()
    spool: Spool | None = None
    tape: Tape | None = None
    stopped: Exception | None = None
    over = False
    whole = False
    _decoder: Decoder | None = None
    _body: bytes | bytearray = b""
    _wire = 0  # bytes of body before decoding
    _seen = 0
    _mark = 0
    _paused_at: float | None = None

    def __init__(
        self,
        method: str,
        *,
        max_size: int,
        truncate_at: int | None = None,
        deadline: float,
        patience: Patience,
        clock: Callable[[], float],
        on_head: Callable[[Exchange], None] | None = None,
    ) -> None:
        self.method = method
        self.max_size = max_size
        self._truncate_at = truncate_at
        self.deadline = deadline
        self.parser = ResponseParser(method)
        self._patience = patience
        self._clock = clock
        self._on_head = on_head
        self.begin()

    def begin(self) -> None:
        """Start the clock: the request is being sent."""
        self.started = self._seen_at = self._mark_at = self._clock()

    @property
    def body(self) -> bytes:
        """The body that was kept in memory."""
        return bytes(self._body)

    @property
    def held(self) -> int:
        """How many bytes of memory the body takes."""
        return len(self._body)

    def feed(self, data: bytes) -> None:
        """Take *data* from the connection; raises FetchError, or what the spool raises."""
        self.received += len(data)
        if self.tape is not None:
            self.tape.write(data)
        try:
            body = self.parser.feed(data)
            if self.head is None:
                if self.parser.head is None:
                    return
                self._begin_body(self.parser.head)
            if body and self.stopped is None:
                self._take(body)
            if self.parser.done:
                self._end(whole=True)
        except (ResponseError, CodingError) as error:
            raise unreadable(error.kind, str(error)) from error

    def eof(self, *, clean: bool) -> None:
        """Take the end of the connection, *clean* unless it was reset; raises FetchError when no head came."""
        if self.head is None:
            raise ResetError(f"the connection ended after {self.received} bytes, before the end of the headers")
        try:
            self._end(whole=self.parser.eof() and clean)
        except CodingError as error:
            raise unreadable(error.kind, str(error)) from error

    def stop(self, reason: Exception) -> None:
        """Keep nothing of the body; a short one is read to its end within DRAIN_SECONDS."""
        self.stopped = reason
        if self.parser.length is not None and self.parser.length <= MAX_DRAINED:
            self.deadline = min(self.deadline, self._clock() + DRAIN_SECONDS)
        elif not self.parser.done:
            self.over = True

    def pause(self) -> None:
        """Stop the clock: it is us who do not read."""
        self._paused_at = self._clock()

    def resume(self) -> None:
        """Let the clock go on."""
        if self._paused_at is not None:
            now = self._clock()
            self.deadline += now - self._paused_at
            self._seen_at = self._mark_at = now
            self._mark = self.received
            self._paused_at = None

    def check(self, now: float) -> None:
        """Raise FetchTimeoutError when the server is too slow; called a few times a second."""
        if self._paused_at is not None:
            return
        patience = self._patience
        if now > self.deadline:
            raise FetchTimeoutError(f"not done after {now - self.started:.1f} s; {self.received} bytes came")
        if self.head is None:
            if now - self.started > patience.headers:
                raise FetchTimeoutError(f"no headers within {patience.headers:g} s")
            self._seen_at = self._mark_at = now
            self._mark = self.received
        elif now - self._mark_at >= patience.window:
            if self.received - self._mark < patience.rate * patience.window:
                raise FetchTimeoutError(f"under {patience.rate:g} bytes/s for {patience.window:g} s")
            self._mark, self._mark_at = self.received, now
        if self.received != self._seen:
            self._seen, self._seen_at = self.received, now
        elif now - self._seen_at > patience.idle:
            raise FetchTimeoutError(f"silent for {patience.idle:g} s; {self.received} bytes came")

    def _begin_body(self, head: Head) -> None:
        """Act on the headers."""
        self.head = head
        self.latency = self._clock() - self.started
        if "content-encoding" in head.fields and self.method != "HEAD":
            self._decoder = Decoder(head.fields["content-encoding"])
        if self._on_head is not None:
            self._on_head(self)
        length = self.parser.length
        is_too_large = length is not None and length > self.max_size and self._truncate_at is None
        if is_too_large and self.stopped is None:
            raise TooLargeError(f"a body of {length} bytes is announced: expected at most {self.max_size}")

    def _take(self, body: bytes) -> None:
        """Take *body* bytes as they were sent."""
        self._wire += len(body)
        if self._decoder is None:
            self._keep(body)
            return
        if self._wire > self.max_size and self._truncate_at is None:
            raise TooLargeError(f"the encoded body is over {self.max_size} bytes")
        for piece in self._decoder.decode(body):
            if self.over:
                return
            self._keep(piece)

    def _keep(self, piece: bytes) -> None:
        """Keep decoded bytes of the body; what is over ``truncate_at`` ends it, and it counts as whole."""
        if self._truncate_at is not None and self.size + len(piece) > self._truncate_at:
            piece = piece[: self._truncate_at - self.size]
            self.over = self.whole = True
            self.flags |= {"truncated"}
        self.size += len(piece)
        if self.size > self.max_size:
            raise TooLargeError(f"the body is over {self.max_size} bytes")
        if self.spool is not None:
            self.spool.write(piece)
        elif isinstance(self._body, bytearray):
            self._body += piece
        elif self._body:
            self._body = bytearray(self._body)
            self._body += piece
        else:
            self._body = piece

    def _end(self, *, whole: bool) -> None:
        """Note that nothing more will come."""
        if self.over:
            return
        self.over = True
        self.whole = whole
        if self._decoder is not None and self.stopped is None:
            for piece in self._decoder.finish():
                self._keep(piece)
            self.flags |= frozenset(self._decoder.flags)
            if self._decoder.active and self.size and "encoding" not in self.flags:
                self.flags |= {"decoded"}
