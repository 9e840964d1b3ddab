"""A text that is searched window by window gives what it gives in one go."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spiderproj.links import windows
from spiderproj.links.elements import ELEMENTS
from spiderproj.links.markup import _SCRIPT_STEP, ALL_TAGS, XML_TAGS, tags_named

PIECES = ["<", ">", "a", " ", '"', "'", "=", "/", "!", "-", "<!--", "-->", "<a href=x>", "<p>", "</p>", "<script>",
          "</script>", "<![CDATA[", "]]>", "<img src='>'>", "x" * 9]  # fmt: skip
texts = st.lists(st.sampled_from(PIECES), max_size=60).map("".join)
PATTERNS = {"all": ALL_TAGS, "XML": XML_TAGS, "own": tags_named(ELEMENTS)}


def spans(matches: object) -> list[tuple[int, int]]:
    """Return where each match begins and ends."""
    return [match.span() for match in matches]  # type: ignore[attr-defined]  # an iterator of matches


@given(st.sampled_from(sorted(PATTERNS)), texts, st.integers(2, 40), st.integers(0, 20))
@settings(deadline=None, max_examples=500)
def test_windows_change_no_token(name: str, text: str, width: int, start: int) -> None:
    """Whatever the size of the windows, the same tokens are found at the same places."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(windows, "_WINDOW", width)
        assert spans(windows.tokens(PATTERNS[name], text, start)) == spans(PATTERNS[name].finditer(text, start))


@given(texts, st.integers(17, 40), st.integers(0, 20))
@settings(deadline=None)
def test_windows_change_no_search(text: str, width: int, start: int) -> None:
    """The first match is the same, across the border of two windows too."""

    def span(match: re.Match[str] | None) -> tuple[int, int] | None:
        return match.span() if match else None

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(windows, "_WINDOW", width)
        patch.setattr(windows, "_OVERLAP", 16)
        assert span(windows.search(_SCRIPT_STEP, text, start)) == span(_SCRIPT_STEP.search(text, start))
