"""What a resource is: the type of a media type, and the true type of a response.

The header is read in contenttype, first bytes in sniffing, a URL's ending in endings; this module weighs them.
"""

from __future__ import annotations

from collections.abc import Sequence

from spiderproj import urls
from spiderproj.mediatype import sniffing
from spiderproj.mediatype.endings import extension, predict
from spiderproj.mediatype.header import parse
from spiderproj.mediatype.sniffing import sniff
from spiderproj.models import ResourceType

SAYS_NOTHING = frozenset(
    {
        None,
        "application/octet-stream",
        "binary/octet-stream",
        "application/unknown",
        "application/x-unknown",
        "unknown/unknown",
        "application/download",
        "application/x-download",
        "application/force-download",
        "application/x-force-download",
    }
)
"""What servers send for files they do not know or want saved; None is a missing or unreadable header."""

_APPLICATION = {
    ResourceType.HTML: "xhtml+xml vnd.wap.xhtml+xml",
    ResourceType.DOCUMENT: (
        "pdf x-pdf postscript epub+zip rtf msword x-ole-storage x-tex x-latex x-dvi x-mobipocket-ebook "
        "vnd.amazon.ebook vnd.amazon.mobi8-ebook vnd.ms-excel vnd.ms-powerpoint vnd.ms-word vnd.ms-works "
        "vnd.visio vnd.ms-project vnd.ms-xpsdocument oxps vnd.openxmlformats-officedocument vnd.oasis vnd.sun "
        "vnd.apple.pages vnd.apple.numbers vnd.apple.keynote x-iwork-pages-sffpages x-djvu"
    ),
    ResourceType.ARCHIVE: (
        "zip x-zip x-zip-compressed gzip x-gzip x-tar x-gtar x-compressed-tar x-compress x-bzip x-bzip2 x-xz zstd "
        "x-7z-compressed x-rar x-rar-compressed vnd.rar x-lzip x-lzma x-lzh-compressed x-stuffit x-cpio "
        "java-archive vnd.android.package-archive x-iso9660-image x-cd-image x-apple-diskimage x-debian-package "
        "vnd.debian.binary-package x-rpm x-redhat-package-manager vnd.ms-cab-compressed warc"
    ),
    ResourceType.AUDIO: "ogg",
    ResourceType.VIDEO: "vnd.apple.mpegurl x-mpegurl dash+xml mp4 x-matroska vnd.rn-realmedia",
    ResourceType.FONT: (
        "font-woff font-woff2 x-font-woff x-font-ttf x-font-truetype x-font-opentype x-font-otf font-sfnt "
        "vnd.ms-fontobject vnd.ms-opentype"
    ),
    ResourceType.SCRIPT: "javascript x-javascript ecmascript x-ecmascript typescript wasm",
    ResourceType.DATA: (
        "json ld+json xml yaml x-yaml toml csv sql x-ndjson ndjson jsonl x-bibtex-text-file "
        "x-research-info-systems xml-dtd x-subrip n-triples n-quads trig vnd.sqlite3 x-sqlite3 x-netcdf x-hdf5 "
        "vnd.apache.parquet mbox"
    ),
}
_TYPES = {f"application/{name}": kind for kind, names in _APPLICATION.items() for name in names.split()} | {
    "text/html": ResourceType.HTML,
    "text/css": ResourceType.STYLE,
    "text/javascript": ResourceType.SCRIPT,
    "text/ecmascript": ResourceType.SCRIPT,
    "text/x-javascript": ResourceType.SCRIPT,
    "text/jscript": ResourceType.SCRIPT,
    "text/rtf": ResourceType.DOCUMENT,
    "image/vnd.djvu": ResourceType.DOCUMENT,
    "image/x-djvu": ResourceType.DOCUMENT,
}
_FAMILIES = {
    "image": ResourceType.IMAGE,
    "audio": ResourceType.AUDIO,
    "video": ResourceType.VIDEO,
    "font": ResourceType.FONT,
    "text": ResourceType.DATA,
}


def resource_type(essence: str | None) -> ResourceType:
    """Return our type for a media type; OTHER for one that is missing or says nothing.

    >>> resource_type("application/atom+xml")
    <ResourceType.DATA: 'data'>
    """
    if essence is None:
        return ResourceType.OTHER
    return _TYPES.get(essence) or _by_family(essence)


def _by_family(essence: str) -> ResourceType:
    kind, _, subtype = essence.partition("/")
    if kind in _FAMILIES:
        return _FAMILIES[kind]
    if subtype.endswith(("+xml", "+json", "+yaml")):
        return ResourceType.DATA
    # Office formats go by their first two parts: "vnd.oasis.opendocument.text", "vnd.ms-excel.sheet.macroenabled.12".
    stem = ".".join(subtype.split(".", 2)[:2])
    return _TYPES.get(f"application/{stem}", ResourceType.OTHER)


def true_type(values: Sequence[str], head: bytes, url: str) -> tuple[str | None, ResourceType]:
    """Return what a response is: the essence and type of its Content-Type *values*, or of its first bytes.

    The header is believed unless it says nothing or is plainly wrong:

    - missing, unreadable, ``application/octet-stream`` and the like: the first bytes decide; where they have no
      signature (a script, a CSV file, a disk image), the ending of *url* names the type, but never HTML;
    - a type of text whose body begins with the signature of a PDF, picture or archive is that;
    - ``text/plain`` with bytes that no text has is what they say, never HTML (mimesniff 7.2); other ``text/plain``
      is HTML only when both its first bytes and the ending of *url* say so: a source file shown as text is not a page;
    - a picture, document, archive ... whose body begins with ``<!doctype html`` or ``<html`` is HTML: an error page.

    An empty body leaves the header's word. *head* need not be longer than SNIFFED_BYTES.
    """
    essence = parse(values).essence
    if not head:
        return essence, resource_type(essence)
    if essence in SAYS_NOTHING:
        return _sniffed(head, url)
    declared = resource_type(essence)
    if declared not in _TEXTUAL:
        if sniffing.is_plainly_html(head):
            return sniffing.HTML, ResourceType.HTML
        return essence, declared
    found = sniffing.certain(head) or (_true_text(head, url) if essence == sniffing.TEXT else None)
    return (found, resource_type(found)) if found else (essence, declared)


_TEXTUAL = {ResourceType.HTML, ResourceType.STYLE, ResourceType.SCRIPT, ResourceType.DATA}


def _sniffed(head: bytes, url: str) -> tuple[str | None, ResourceType]:
    essence = sniff(head)
    if essence in {sniffing.TEXT, sniffing.BINARY}:
        by_ending = predict(urls.split(url).path, None)
        if by_ending not in {None, ResourceType.HTML}:
            return essence, by_ending or ResourceType.OTHER
    return essence, resource_type(essence)


def _true_text(head: bytes, url: str) -> str | None:
    """Return what a ``text/plain`` body without a certain signature is instead, None when it is text."""
    if sniffing.is_binary(head):
        found = sniff(head)
        return sniffing.BINARY if found == sniffing.HTML else found
    if extension(urls.split(url).path) in {"html", "htm", "xhtml"} and resource_type(sniff(head)) is ResourceType.HTML:
        return sniffing.HTML
    return None
