"""The fast lines of links.jsonl say what the plain serialisation says."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from spiderproj.models import Link, LinkRole
from spiderproj.store.known import Known
from spiderproj.store.lines import link_lines, stored_lines, target_of

TEXT = st.text(st.characters(codec=None), max_size=20)


@given(TEXT, st.lists(st.tuples(TEXT, TEXT, TEXT, TEXT, TEXT, st.integers(0, 99)), max_size=5))
@settings(deadline=None)
def test_lines_are_the_rows(source: str, rows: list[tuple[str, str, str, str, str, int]]) -> None:
    """Each line is valid UTF-8 JSON with the fields of the contract; lone surrogates are replaced."""
    made = [
        (
            Link(target, text, tag, attribute, rel, LinkRole.NAVIGATION, None),
            Known(1, "refused", "type", depth, "host", None, "navigation", settled=True),
        )
        for target, text, tag, attribute, rel, depth in rows
    ]
    lines = link_lines(source, made)
    stored = [[number, row[1], *row[2:5]] for number, row in enumerate(rows)]
    targets = {number: target_of(row[0], row[5], "host", None, "refused", "type") for number, row in enumerate(rows)}
    assert stored_lines(source, stored, targets) == lines
    read = [json.loads(line) for line in lines.decode().split("\n")[:-1]]

    assert len(read) == len(rows)
    for (target, text, tag, attribute, rel, depth), line in zip(rows, read, strict=True):
        assert line == {
            "source": _plain(source), "target": _plain(target), "text": _plain(text), "tag": _plain(tag),
            "attribute": _plain(attribute), "rel": _plain(rel), "depth": depth, "level": "host", "type": None,
            "decision": "refused", "reason": "type",
        }  # fmt: skip


def _plain(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
