"""What a resource is: its Content-Type header, the ending of its URL, its first bytes, and the four weighed."""

from spiderproj.mediatype.endings import extension, predict
from spiderproj.mediatype.header import MediaType, parse
from spiderproj.mediatype.sniffing import SNIFFED_BYTES, sniff
from spiderproj.mediatype.types import SAYS_NOTHING, resource_type, true_type

__all__ = [
    "SAYS_NOTHING",
    "SNIFFED_BYTES",
    "MediaType",
    "extension",
    "parse",
    "predict",
    "resource_type",
    "sniff",
    "true_type",
]
