"""Which encoding a body is in, and its text; start with decode."""

from spiderproj.charset.decoding import codec_for, css_charset, decode, decode_css, encode_query
from spiderproj.charset.prescan import PRESCAN_BYTES, css_label, declared_labels

__all__ = [
    "PRESCAN_BYTES",
    "codec_for",
    "css_charset",
    "css_label",
    "declared_labels",
    "decode",
    "decode_css",
    "encode_query",
]
