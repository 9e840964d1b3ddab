"""What the headers of an answer decide about its type: go on, stop, or cannot tell.

Only a 2xx decides anything: a redirect, an error or a type that says nothing leaves the question to the body.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

from spiderproj.mediatype import SAYS_NOTHING, parse, resource_type
from spiderproj.models import ResourceType

SMALL_BODY = 14_600
"""Bytes a server sends before it waits for an acknowledgement (RFC 6928: ten segments). Stopping a shorter body saves
nothing and costs the connection."""


class Head(NamedTuple):
    """The answer to a HEAD; ``status`` is None when none came."""

    status: int | None
    values: Sequence[str] = ()  # of its Content-Type headers


class HeadAnswer(Enum):
    """What the answer to a HEAD decides; UNKNOWN decides nothing, so the GET is sent."""

    WANTED = "wanted"
    UNWANTED = "unwanted"
    UNKNOWN = "unknown"


def judge_head(head: Head, wanted: frozenset[ResourceType]) -> HeadAnswer:
    """Return what a HEAD decides: only a 2xx with a known type that is not wanted refuses.

    ``text/plain`` never refuses where HTML is wanted: see Gate.on_head.
    """
    found = known_type(head.status, head.values)
    if found is None:
        return HeadAnswer.UNKNOWN
    if found in wanted:
        return HeadAnswer.WANTED
    return HeadAnswer.UNKNOWN if _may_be_html(head.values, wanted) else HeadAnswer.UNWANTED


def stop_at_headers(
    status: int, values: Sequence[str], content_length: int | None, wanted: frozenset[ResourceType]
) -> ResourceType | None:
    """Return the unwanted type for which a GET should be stopped at its headers, None to read on.

    Types that only the body tells are read, and so are bodies up to SMALL_BODY: what was read to its end must be
    judged again by its true type. *content_length* is None when the server does not say.
    """
    found = known_type(status, values)
    if found is None or found in wanted or _may_be_html(values, wanted):
        return None
    if content_length is not None and content_length <= SMALL_BODY:
        return None
    return found


def known_type(status: int | None, values: Sequence[str]) -> ResourceType | None:
    """Return the type that a 2xx with a Content-Type that says something declares, None for anything else."""
    if not is_success(status):
        return None
    essence = parse(values).essence
    return None if essence in SAYS_NOTHING else resource_type(essence)


def is_success(status: int | None) -> bool:
    """Return whether *status* is a 2xx (RFC 9110, 15.3)."""
    return status is not None and 200 <= status <= 299


def is_plain_text(values: Sequence[str]) -> bool:
    """Return whether the Content-Type *values* say ``text/plain``."""
    return parse(values).essence == "text/plain"


def _may_be_html(values: Sequence[str], wanted: frozenset[ResourceType]) -> bool:
    return ResourceType.HTML in wanted and is_plain_text(values)
