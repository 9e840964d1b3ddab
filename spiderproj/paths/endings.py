"""Which ending the name of a file may have, by type and media type: the only endings a file of a copy ever gets.

Nothing that an operating system starts, installs or follows when it is opened is among them. A new ending changes
the names of folders that end in it: tests/data/paths.tsv keeps watch.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from spiderproj.models import ResourceType

if TYPE_CHECKING:
    from collections.abc import Iterable

_TEXT: Final = (
    "txt text log md rst csv tsv json jsonl ndjson xml yaml yml toml ini conf cfg c h cc cpp hpp java go rs tex bib "
    "diff patch asc sig md5 sha1 sha256 po srt vtt ics vcf sql"
)
_XML: Final = "xml rss atom rdf xsd xsl xslt rng kml gpx opml wsdl plist"
_JSON: Final = "json map geojson topojson jsonld webmanifest ipynb"

# Of each, the first is the one that is added; the others are as good.
_TABLE: Final[dict[ResourceType, dict[str, str]]] = {
    ResourceType.HTML: {
        "text/html": "html htm shtml xhtml xht",
        "application/xhtml+xml": "xhtml xht html htm",
    },
    ResourceType.IMAGE: {
        "image/png": "png apng",
        "image/apng": "apng png",
        "image/jpeg": "jpg jpeg jpe jfif",
        "image/gif": "gif",
        "image/webp": "webp",
        "image/avif": "avif",
        "image/svg+xml": "svg",
        "image/x-icon": "ico cur",
        "image/vnd.microsoft.icon": "ico cur",
        "image/bmp": "bmp dib",
        "image/tiff": "tif tiff",
        "image/heic": "heic heif",
        "image/jxl": "jxl",
    },
    ResourceType.STYLE: {"text/css": "css"},
    ResourceType.SCRIPT: {"text/javascript": "js mjs cjs", "application/wasm": "wasm"},
    ResourceType.FONT: {
        "font/woff2": "woff2",
        "font/woff": "woff",
        "application/font-woff": "woff",
        "font/ttf": "ttf",
        "font/otf": "otf",
        "font/collection": "ttc",
        "application/vnd.ms-fontobject": "eot",
    },
    ResourceType.DOCUMENT: {
        "application/pdf": "pdf",
        "application/postscript": "ps eps",
        "application/epub+zip": "epub",
        "application/rtf": "rtf",
        "image/vnd.djvu": "djvu djv",
        "application/x-mobipocket-ebook": "mobi",
        "application/msword": "doc",
        "application/vnd.ms-excel": "xls",
        "application/vnd.ms-powerpoint": "ppt pps",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx ppsx",
        "application/vnd.oasis.opendocument.text": "odt",
        "application/vnd.oasis.opendocument.spreadsheet": "ods",
        "application/vnd.oasis.opendocument.presentation": "odp",
    },
    ResourceType.ARCHIVE: {
        "application/zip": "zip docx xlsx pptx odt ods odp epub cbz kmz whl",
        "application/gzip": "gz tgz",
        "application/x-gzip": "gz tgz",
        "application/x-tar": "tar",
        "application/x-bzip2": "bz2 tbz2 tbz",
        "application/x-xz": "xz txz",
        "application/zstd": "zst",
        "application/x-7z-compressed": "7z",
        "application/vnd.rar": "rar cbr",
        "application/x-rar-compressed": "rar cbr",
        "application/x-iso9660-image": "iso",
        "application/vnd.debian.binary-package": "deb",
        "application/x-rpm": "rpm",
        "application/x-apple-diskimage": "dmg",
        "application/warc": "warc",
    },
    ResourceType.AUDIO: {
        "audio/mpeg": "mp3 mp2 mpga",
        "audio/ogg": "ogg oga opus",
        "audio/mp4": "m4a mp4 m4b",
        "audio/aac": "aac",
        "audio/flac": "flac",
        "audio/wav": "wav",
        "audio/x-wav": "wav",
        "audio/webm": "weba webm",
        "audio/midi": "mid midi",
        "audio/aiff": "aiff aif",
    },
    ResourceType.VIDEO: {
        "video/mp4": "mp4 m4v",
        "video/webm": "webm",
        "video/ogg": "ogv ogg",
        "video/quicktime": "mov qt",
        "video/x-msvideo": "avi",
        "video/x-matroska": "mkv",
        "video/mpeg": "mpg mpeg mpe",
        "video/mp2t": "ts",
        "video/x-flv": "flv",
        "video/3gpp": "3gp",
    },
    ResourceType.DATA: {
        "text/plain": _TEXT,
        "application/json": _JSON,
        "application/xml": _XML,
        "text/xml": _XML,
        "text/csv": "csv txt",
        "text/tab-separated-values": "tsv tab txt",
        "text/markdown": "md markdown txt",
        "text/calendar": "ics",
        "text/vcard": "vcf",
        "text/vtt": "vtt",
        "application/yaml": "yaml yml",
        "application/x-ndjson": "ndjson jsonl json",
        "application/manifest+json": "webmanifest json",
        "application/ld+json": "jsonld json",
        "application/geo+json": "geojson json",
        "application/rss+xml": "xml rss",
        "application/atom+xml": "xml atom rss",
    },
}
_DEFAULTS: Final = {ResourceType.HTML: "html", ResourceType.STYLE: "css", ResourceType.SCRIPT: "js"}
_UNKNOWN: Final = "bin"
_RUN_BY_BROWSERS: Final = frozenset({"svg"})  # only ever given to what is served as such


class FileEndings(NamedTuple):
    """The ending that is added when a name has none that fits, and those that fit; all lower case, without the dot."""

    default: str
    fitting: frozenset[str]


@lru_cache(maxsize=256)
def file_endings(resource_type: ResourceType, media_type: str | None) -> FileEndings:
    """Return the endings for a body; an unknown *media_type* gives those of its type, an unknown type any passive one.

    >>> file_endings(ResourceType.IMAGE, "image/jpeg").default
    'jpg'
    """
    table = _TABLE.get(resource_type, {})
    words = table.get(_known(resource_type, media_type or ""), "").split()
    if words:
        return FileEndings(words[0], frozenset(words))
    default = _DEFAULTS.get(resource_type, _UNKNOWN)
    tables = [table] if table else [_TABLE[passive] for passive in _TABLE.keys() - _DEFAULTS.keys()]
    return FileEndings(default, _union(tables) - _RUN_BY_BROWSERS | {default})


def _known(resource_type: ResourceType, media_type: str) -> str:
    """Return the media type of the table that *media_type* is a kind of (RFC 6839), or itself."""
    if resource_type is not ResourceType.DATA or media_type in _TABLE[resource_type]:
        return media_type
    for suffix, general in (("+json", "application/json"), ("+xml", "application/xml")):
        if media_type.endswith(suffix):
            return general
    return "text/plain" if media_type.startswith("text/") else media_type


def _union(tables: Iterable[dict[str, str]]) -> frozenset[str]:
    """Return every ending in *tables*."""
    return frozenset(ending for table in tables for words in table.values() for ending in words.split())


ALL_ENDINGS: Final = _union(_TABLE.values()) | {_UNKNOWN}
"""Every ending that a file can have."""

ADDED_ENDINGS: Final = frozenset(words.split()[0] for table in _TABLE.values() for words in table.values()) | {_UNKNOWN}
"""Those that can be added to a name; ``index`` with one of them is the page of a folder."""
