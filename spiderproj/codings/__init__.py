"""Content codings undone while the body arrives, bounded in layers, members, ratio and time."""

from spiderproj.codings.decoder import ACCEPT_ENCODING, CodingError, Decoder

__all__ = ["ACCEPT_ENCODING", "CodingError", "Decoder"]
