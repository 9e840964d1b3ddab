"""What a body is, by its first bytes: https://mimesniff.spec.whatwg.org/ with a few formats more.

Differences from the standard, which guards browsers while this serves a crawler: a byte order mark may stand before
HTML, any white space may end its first tag, XML is looked into for XHTML and SVG, and TIFF, FLAC, MP3 without tags and
more archives and documents are known.
"""

from __future__ import annotations

import re

SNIFFED_BYTES = 1445
"""How much of a body is looked at: the length that mimesniff calls the resource header."""

HTML = "text/html"
TEXT = "text/plain"
BINARY = "application/octet-stream"

_ZIP = "application/zip"

_CERTAIN: tuple[tuple[bytes, str], ...] = (
    (b"%PDF-", "application/pdf"),
    (b"%!PS-Adobe-", "application/postscript"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"PK\x03\x04", _ZIP),
    (b"\x1f\x8b\x08", "application/x-gzip"),
    (b"Rar!\x1a\x07", "application/x-rar-compressed"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"\xfd7zXZ\x00", "application/x-xz"),
    (b"BZh91AY&SY", "application/x-bzip2"),  # level 9, its default
    (b"\x28\xb5\x2f\xfd", "application/zstd"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),
)
_SIGNATURES = (
    *_CERTAIN,
    (b"AT&TFORM", "image/vnd.djvu"),
    (b"{\\rtf", "application/rtf"),
    (b"\x00\x00\x01\x00", "image/x-icon"),
    (b"\x00\x00\x02\x00", "image/x-icon"),
    (b"BM", "image/bmp"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
    (b"ID3", "audio/mpeg"),
    (b"\xff\xfb", "audio/mpeg"),
    (b"\xff\xf3", "audio/mpeg"),
    (b"OggS\x00", "application/ogg"),
    (b"fLaC\x00", "audio/flac"),
    (b"MThd\x00\x00\x00\x06", "audio/midi"),
    (b"\x1a\x45\xdf\xa3", "video/webm"),
    (b"FLV\x01", "video/x-flv"),
    (b"\x00\x00\x01\xba", "video/mpeg"),
    (b"\x00\x01\x00\x00", "font/ttf"),
    (b"OTTO", "font/otf"),
    (b"ttcf", "font/collection"),
    (b"wOFF", "font/woff"),
    (b"wOF2", "font/woff2"),
)
_CONTAINERS = {
    (b"RIFF", b"WEBP"): "image/webp",
    (b"RIFF", b"WAVE"): "audio/wave",
    (b"RIFF", b"AVI "): "video/avi",
    (b"FORM", b"AIFF"): "audio/aiff",
}
_ISO_BRANDS = {b"avi": "image/avif", b"hei": "image/heic", b"M4A": "audio/mp4"}  # ISO/IEC 14496-12, major brand
_CERTAIN_STARTS = tuple(start for start, _ in _CERTAIN)

# mimesniff 7.1: each pattern ends with a tag-terminating byte, "<!--" without one.
_TAG = re.compile(
    rb"[\t\n\f\r ]*<(?:!--|(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p)"
    rb"[\t\n\f\r >])",
    re.IGNORECASE,
)
_PLAIN_HTML = re.compile(rb"[\t\n\f\r ]*<(?:!doctype html|html)[\t\n\f\r >]", re.IGNORECASE)
_XML = re.compile(rb"[\t\n\f\r ]*<\?xml[\t\n\f\r ]", re.IGNORECASE)
_ROOT = re.compile(rb"<(html|svg)[\t\n\f\r >]", re.IGNORECASE)
_ROOTS = {b"html": "application/xhtml+xml", b"svg": "image/svg+xml"}
_BINARY_BYTES = bytes([*range(9), 0x0B, *range(0x0E, 0x1B), *range(0x1C, 0x20)])  # mimesniff 3, "binary data byte"
_BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


def sniff(head: bytes) -> str | None:
    r"""Return the essence that the first bytes of a body speak for; None when there are no bytes.

    What has no sign of its own is ``text/plain`` or, with bytes that no text has, ``application/octet-stream``.

    >>> sniff(b"\n<!DOCTYPE html><title>x</title>")
    'text/html'
    """
    head = head[:SNIFFED_BYTES]
    if not head:
        return None
    text = _single_bytes(head)
    return _markup(text) or _signature(head) or (BINARY if is_binary(head) else TEXT)


def certain(head: bytes) -> str | None:
    """Return the essence of a body with a signature that no text begins with, None for any other."""
    return _signature(head[:SNIFFED_BYTES]) if head.startswith(_CERTAIN_STARTS) else None


def is_plainly_html(head: bytes) -> bool:
    """Say whether a body begins, after white space, with ``<!doctype html`` or ``<html``."""
    return _PLAIN_HTML.match(_single_bytes(head[:SNIFFED_BYTES])) is not None


def is_binary(head: bytes) -> bool:
    """Say whether *head* holds bytes that no text has (mimesniff 7.2); a byte order mark speaks for text."""
    head = head[:SNIFFED_BYTES]
    return not head.startswith(_BYTE_ORDER_MARKS) and len(head.translate(None, _BINARY_BYTES)) < len(head)


def _single_bytes(head: bytes) -> bytes:
    """Return *head* without byte order mark; of UTF-16, the low bytes, which hold all of its markup."""
    if head.startswith(b"\xef\xbb\xbf"):
        return head[3:]
    if head.startswith(b"\xff\xfe"):
        return head[2::2]
    if head.startswith(b"\xfe\xff"):
        return head[3::2]
    return head


def _markup(text: bytes) -> str | None:
    if _TAG.match(text):
        return HTML
    if not _XML.match(text) and not text.lstrip()[:5].lower().startswith((b"<svg ", b"<svg>")):
        return None
    root = _ROOT.search(text)
    return _ROOTS[root.group(1).lower()] if root else "text/xml"


def _signature(head: bytes) -> str | None:
    for start, essence in _SIGNATURES:
        if head.startswith(start):
            return _inside_zip(head) if essence is _ZIP else essence
    if head[4:8] == b"ftyp":
        return _ISO_BRANDS.get(head[8:11], "video/mp4")
    if head[257:262] == b"ustar":
        return "application/x-tar"
    return _CONTAINERS.get((head[:4], head[8:12]))


def _inside_zip(head: bytes) -> str:
    """Return the document format a ZIP file's first member tells of; the member's name stands at byte 30."""
    if head.startswith(b"mimetypeapplication/epub+zip", 30):
        return "application/epub+zip"
    if head.startswith(b"mimetypeapplication/vnd.oasis.opendocument.", 30):
        return "application/vnd.oasis.opendocument"
    if head.startswith(b"[Content_Types].xml", 30):
        return "application/vnd.openxmlformats-officedocument"
    return _ZIP
