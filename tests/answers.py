"""One answer of the scripted server as bytes, made from a route's response keys (``tests/routes.py``)."""

from __future__ import annotations

import base64
import gzip
import re
import time
import zlib
from dataclasses import dataclass
from email.utils import formatdate
from enum import Enum, auto
from functools import lru_cache
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    RouteSpec = Mapping[str, Any]

_BODILESS = frozenset({204, 304})
_CHUNK = 512


class Ending(Enum):
    """What becomes of the connection after an answer."""

    KEEP = auto()
    CLOSE = auto()
    RESET = auto()
    HANG = auto()


@dataclass(frozen=True, slots=True)
class Answer:
    """A response as bytes; ``head`` lacks its Date, Connection and the blank line unless it is ``whole``."""

    head: bytes
    body: bytes
    ending: Ending
    delay_s: float = 0.0
    whole: bool = False
    body_to_head: bool = False
    says_close: bool = False
    status: int | None = None

    def to(self, method: str, *, keep: bool) -> tuple[bytes, Ending]:
        """Return the bytes for *method* on a connection the client wants to *keep*, and how it ends."""
        if not self.head:
            return self.body, self.ending
        stays = keep and not self.says_close
        connection = b"Connection: keep-alive\r\n" if stays else b"Connection: close\r\n"
        head = self.head + b"\r\n" if self.whole else self.head + _date_field(int(time.time())) + connection + b"\r\n"
        bare = method == "HEAD" and not self.body_to_head
        ending = Ending.KEEP if bare else self.ending
        if ending is Ending.KEEP and not stays:
            ending = Ending.CLOSE
        return (head if bare else head + self.body), ending


def fill(text: str, names: Mapping[str, str]) -> str:
    """Return *text* with its {{NAME}} placeholders replaced; unknown ones stay as they are."""
    if "{{" not in text:
        return text
    now = time.time()
    text = re.sub(r"\{\{DATE_IN_(\d+)\}\}", lambda m: formatdate(now + int(m[1]), usegmt=True), text)
    return re.sub(r"\{\{(\w+)\}\}", lambda m: names.get(m[1], m[0]), text)


def render(spec: RouteSpec, names: Mapping[str, str], folder: Path) -> Answer:
    """Return the answer that *spec* describes, its placeholders filled from *names*."""
    fault, delay_s = spec.get("fault"), float(spec.get("delay_s", 0))
    broken = {"close": Ending.CLOSE, "reset": Ending.RESET, "hang": Ending.HANG}.get(fault or "")
    if broken and "send_bytes" not in spec:
        return Answer(b"", b"", broken, delay_s)
    if "raw" in spec:
        return Answer(b"", fill(spec["raw"], names).encode("latin-1"), Ending.CLOSE, delay_s)
    status = int(spec.get("status", 200))
    body, fields = _coded(spec.get("coding"), _body(spec, names, folder))
    own = bool(spec.get("add_headers", True))
    headers = [(name, fill(value, names)) for name, value in _pairs(spec.get("headers", ()))] + fields
    headers += _framing(fault, own and status not in _BODILESS, headers, len(body))
    body, ending = _cut(spec, body, broken)
    if status in _BODILESS:
        body, ending = b"", Ending.KEEP
    return Answer(
        _head(status, spec.get("reason"), headers),
        body,
        ending,
        delay_s,
        whole=not own,
        body_to_head=fault == "head_body",
        says_close=fault == "until_close",
        status=status,
    )


def _pairs(headers: Any) -> list[tuple[str, str]]:
    return [(name, value) for name, value in (headers.items() if hasattr(headers, "items") else headers)]


def _body(spec: RouteSpec, names: Mapping[str, str], folder: Path) -> bytes:
    """Return the bytes of the resource before any content coding."""
    charset = spec.get("body_charset", "utf-8")
    if "body" in spec:
        data = fill(spec["body"], names).encode(charset, "surrogateescape")
    elif "body_repeat" in spec:
        part = spec["body_repeat"]
        text = [fill(part.get(key, ""), names) for key in ("prefix", "unit", "suffix")]
        data = (text[0] + text[1] * part["count"] + text[2]).encode(charset)
    elif "body_file" in spec:
        data = (folder / spec["body_file"]).read_bytes()
    else:
        data = base64.b64decode(spec.get("body_base64", ""))
    return gzip.compress(data, mtime=0) if spec.get("pack") == "gzip" else data


def _coded(coding: str | None, body: bytes) -> tuple[bytes, list[tuple[str, str]]]:
    if coding == "gzip":
        return gzip.compress(body, mtime=0), [("Content-Encoding", "gzip")]
    if coding == "deflate":
        return zlib.compress(body), [("Content-Encoding", "deflate")]
    return body, []


def _framing(fault: str | None, own: bool, headers: list[tuple[str, str]], size: int) -> list[tuple[str, str]]:
    """Return the field that says where the body ends, when the route has none of its own."""
    if fault in ("chunked", "chunked_cut"):
        return [("Transfer-Encoding", "chunked")]
    if fault == "until_close" or not own or any(name.lower() == "content-length" for name, _ in headers):
        return []
    return [("Content-Length", str(size))]


def _cut(spec: RouteSpec, body: bytes, broken: Ending | None) -> tuple[bytes, Ending]:
    """Return the body as it goes out, and what follows it."""
    fault = spec.get("fault")
    if fault in ("chunked", "chunked_cut"):
        parts = [body[at : at + _CHUNK] for at in range(0, len(body), _CHUNK)]
        framed = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts)
        return (framed, Ending.CLOSE) if fault == "chunked_cut" else (framed + b"0\r\n\r\n", Ending.KEEP)
    if "send_bytes" in spec:
        return body[: spec["send_bytes"]], broken or Ending.CLOSE
    return body, Ending.CLOSE if fault == "until_close" else Ending.KEEP


def _head(status: int, reason: str | None, headers: list[tuple[str, str]]) -> bytes:
    try:
        phrase = reason or HTTPStatus(status).phrase
    except ValueError:
        phrase = "Status"
    lines = [f"HTTP/1.1 {status} {phrase}", *(f"{name}: {value}" for name, value in headers)]
    return "".join(f"{line}\r\n" for line in lines).encode("latin-1")


@lru_cache(maxsize=1)
def _date_field(second: int) -> bytes:
    return f"Date: {formatdate(second, usegmt=True)}\r\n".encode()
