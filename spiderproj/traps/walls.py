"""Walls that no real site has ever to pass: a path that grows over one leads into a space without end.

They are few and hard on purpose, and stand only in the way of paths that grow: one page may link to anything once.
What is merely suspicious - calendars, facets, session ids - looks like this too on sites that are real, and is judged
by what it brings (``novelty``).
"""

from __future__ import annotations

from spiderproj.urls import split

MAX_SEGMENTS = 40
"""Most segments of a path."""

MAX_REPEATS = 3
"""How often a segment may stand in a path ..."""

MAX_RUN = 2
"""... and how often in a row, unless it is a number (/11/11/11/): where a site answers everything, links relative to
the page grow "/a/a/a/"."""

_FREE = MAX_RUN + 1  # slashes of a path that is too short to be a trap


def wall(path: str, source: str) -> str | None:
    """Return the rule that the *path* of a canonical URL breaks, None when it breaks none or has not grown there.

    *source* is the canonical URL of the page that links to it.

    >>> wall("/en/en/en/", "http://h/en/en/"), wall("/a/b/a/b/a/b/a/", "http://h/a/b/a/b/")
    ("the segment 'en' 3 times in a row", "the segment 'a' 4 times")
    >>> wall("/en/en/en/", "http://h/")
    """
    rule = _broken(path)
    return rule if rule is None or _has_grown(split(source).path) else None


def _has_grown(path: str) -> bool:
    segments = path.strip("/").split("/")
    return len(segments) > MAX_SEGMENTS // 2 or len(set(segments)) < len(segments)


def _broken(path: str) -> str | None:
    if path.count("/") <= _FREE:
        return None
    segments = path.strip("/").split("/")
    count = len(segments)
    if count > MAX_SEGMENTS:
        return f"more than {MAX_SEGMENTS} segments"
    if len(set(segments)) > count - MAX_RUN:
        return None
    return _repeated(segments)


def _repeated(segments: list[str]) -> str | None:
    run, previous = 0, None
    for segment in segments:
        run = run + 1 if segment == previous else 1
        if run > MAX_RUN and not segment.isdigit():
            return f"the segment {segment[:40]!r} {run} times in a row"
        previous = segment
    often = max(segments, key=segments.count)
    count = segments.count(often)
    return f"the segment {often[:40]!r} {count} times" if count > MAX_REPEATS else None
