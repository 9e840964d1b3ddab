"""The lines of ``links.jsonl``: a million links make half of a crawl's output, so a line is put together from parts.

Serialising each link as a dictionary costs 2.2 µs; with the parts that repeat kept (the target's, the attribute's, the
text's) a line costs 0.7 µs (bench/link_lines.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import orjson

from spiderproj.models import Link
from spiderproj.store.known import Known


def link_lines(source: str, rows: Sequence[tuple[Link, Known]]) -> bytes:
    """Return a line of ``links.jsonl`` for each link of the page *source* and what is known of its target."""
    head = f'{{"source":{_json(source)},"target":'
    return "".join(
        [
            f"{head}{_json(link.target)},{_text(link.text)}{_markup(link.tag, link.attribute, link.rel)}"
            f"{_verdict(known.depth, known.level, known.type, known.decision, known.reason)}"
            for link, known in rows
        ]
    ).encode()


def _json(text: str) -> str:
    try:
        return orjson.dumps(text).decode()
    except TypeError:  # a lone surrogate, which UTF-8 cannot hold
        return orjson.dumps(text.encode("utf-8", "replace").decode()).decode()


@lru_cache(maxsize=8192)
def _text(text: str) -> str:
    return f'"text":{_json(text)},'


@lru_cache(maxsize=1024)
def _markup(tag: str, attribute: str, rel: str) -> str:
    return f'"tag":{_json(tag)},"attribute":{_json(attribute)},"rel":{_json(rel)},'


@lru_cache(maxsize=4096)
def _verdict(depth: int, level: str, resource_type: str | None, decision: str, reason: str | None) -> str:
    values = {"depth": depth, "level": level, "type": resource_type, "decision": decision, "reason": reason}
    return orjson.dumps(values).decode()[1:] + "\n"
