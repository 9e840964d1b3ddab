"""The lines of ``links.jsonl``: a million links make half of a crawl's output, so a line is put together from parts.

Serialising each link as a dictionary costs three times as much (bench/page.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import orjson

from spiderproj.models import Link
from spiderproj.store.known import Known

Target: TypeAlias = tuple[str, str]
"""What a line says of a link's target: its URL, and what is known of it, to the end of the line."""


def link_lines(source: str, rows: Sequence[tuple[Link, Known]]) -> bytes:
    """Return a line of ``links.jsonl`` for each link of the page *source* and what is known of its target."""
    head = f'{{"source":{_json(source)},"target":"'
    written = _written([text for link, _ in rows for text in (link.target, link.text)])
    return "".join(
        [
            f'{head}{target}","text":"{text}",{_markup(link.tag, link.attribute, link.rel)}'
            f"{_verdict(known.depth, known.level, known.type, known.decision, known.reason)}"
            for (link, known), target, text in zip(rows, written[::2], written[1::2], strict=True)
        ]
    ).encode()


def stored_lines(source: str, rows: Sequence[Sequence[Any]], targets: Mapping[int, Target]) -> bytes:
    """Return the same for the *rows* that the store keeps of a page's links, whose *targets* are known by their ids."""
    head = f'{{"source":{_json(source)},"target":'
    texts = _written([row[1] for row in rows])
    pieces = []
    for (target, _, tag, attribute, rel, *_), text in zip(rows, texts, strict=True):
        url, known = targets[target]
        pieces.append(f'{head}{url},"text":"{text}",{_markup(tag, attribute, rel)}{known}')
    return "".join(pieces).encode()


def target_of(url: str, depth: int, level: str, resource_type: str | None, decision: str, reason: str | None) -> Target:
    """Return what lines say of the target *url*."""
    return _json(url), _verdict(depth, level, resource_type, decision, reason)


def _written(texts: list[str]) -> list[str]:
    """Return each text as JSON has it between its quotes.

    All are written in one go and taken apart again: inside a string a quote stands after a backslash, so that a quote,
    a comma and a quote can only be its end and the beginning of the next.
    """
    if not texts:
        return []
    try:
        return orjson.dumps(texts).decode()[2:-2].split('","')
    except TypeError:  # a lone surrogate, which UTF-8 cannot hold
        return [_json(text)[1:-1] for text in texts]


def _json(text: str) -> str:
    try:
        return orjson.dumps(text).decode()
    except TypeError:
        return orjson.dumps(text.encode("utf-8", "replace").decode()).decode()


@lru_cache(maxsize=1024)
def _markup(tag: str, attribute: str, rel: str) -> str:
    return f'"tag":{_json(tag)},"attribute":{_json(attribute)},"rel":{_json(rel)},'


@lru_cache(maxsize=4096)
def _verdict(depth: int, level: str, resource_type: str | None, decision: str, reason: str | None) -> str:
    values = {"depth": depth, "level": level, "type": resource_type, "decision": decision, "reason": reason}
    return orjson.dumps(values).decode()[1:] + "\n"
