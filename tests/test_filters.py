"""The filter expression: what it says yes to, what it cannot tell yet, and how it refuses what it is not."""

from __future__ import annotations

import itertools
import re
import warnings
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spiderproj.errors import ArgumentError
from spiderproj.filters import MAX_LENGTH, NAMES, Filter
from spiderproj.filters import language as filters

VALUES: dict[str, Any] = {
    "url": "https://www.example.org/2024/Report.pdf?page=2",
    "scheme": "https",
    "host": "www.example.org",
    "path": "/2024/Report.pdf",
    "query": "page=2",
    "ext": "pdf",
    "level": "child",
    "type": "document",
    "depth": 3,
    "text": "Download the report",
    "source": "https://www.example.org/toc.html",
    "size": 4096,
}

EXAMPLES: dict[str, list[tuple[dict[str, Any], bool | None]]] = {
    'ext in ("pdf", "ps") or depth <= 2': [({}, True), ({"ext": "doc"}, False), ({"ext": "doc", "depth": 2}, True)],
    'not path.startswith(("/cgi-bin/", "/search"))': [({}, True), ({"path": "/search?q"}, False)],
    r'path.matches(r"/20(19|2\d)/")': [({}, True), ({"path": "/2018/"}, False), ({"path": "/2019/"}, True)],
    '"download" in text.lower() and level != "other"': [({}, True), ({"level": "other"}, False), ({"text": ""}, False)],
    'type != "video" or size < 50_000_000': [
        ({}, True),
        ({"type": "video"}, True),
        ({"type": "video", "size": None}, None),
        ({"type": "", "size": None}, None),
        ({"type": None, "size": 60_000_000}, None),
        ({"type": "video", "size": 60_000_000}, False),
    ],
    'host.endswith(".example.org") and source.matches("/(index|toc)")': [({}, True), ({"source": ""}, False)],
}
OTHERS: dict[str, list[tuple[dict[str, Any], bool | None]]] = {
    "True": [({}, True)],
    "not False": [({}, True)],
    "1 < depth <= 3": [({}, True), ({"depth": 4}, False), ({"depth": 1}, False)],
    "3 == depth": [({}, True)],
    "depth != 3": [({}, False)],
    "depth in (1, 3)": [({}, True), ({"depth": 2}, False)],
    "depth not in [1, 3]": [({}, False)],
    '"2024" in path': [({}, True)],
    "ext not in path": [({}, False)],
    "ext in path": [({}, True)],
    'ext in ""': [({}, False), ({"ext": ""}, True)],
    'path.lower() == "/2024/report.pdf"': [({}, True)],
    'host < "x"': [({}, True)],
    "(depth > 1\nand depth < 9)": [({}, True)],
    '  scheme == "https"': [({}, True)],
    '"https://x".startswith("https") and url.startswith("https:")': [({}, True)],
    'type.lower() == "html"': [({"type": None}, None)],
    # Kleene's logic: an unknown size decides only where nothing else does
    "size > 1": [({"size": None}, None), ({}, True)],
    "not size > 1": [({"size": None}, None), ({}, False)],
    "size > 1 or depth == 3": [({"size": None}, True)],
    "depth == 3 or size > 1": [({"size": None}, True)],
    "size > 1 or depth == 4": [({"size": None}, None)],
    "size > 1 and depth == 4": [({"size": None}, False)],
    "size > 1 and depth == 3": [({"size": None}, None)],
    "1 < size < 5000 and depth == 3": [({"size": None}, None), ({}, True)],
    "size in (1, 2)": [({"size": None}, None)],
    "size not in (1, 2)": [({"size": None}, None), ({}, True)],
    "depth < size": [({"size": None}, None), ({}, True)],
}


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [(text, values, expected) for text, rows in (EXAMPLES | OTHERS).items() for values, expected in rows],
)
def test_decide(text: str, values: dict[str, Any], expected: bool | None) -> None:
    """An expression says yes, no, or that it needs a type or size not yet known."""
    assert Filter.parse(text).decide(VALUES | values) is expected


def test_examples_are_those_of_the_documentation() -> None:
    """The module's documentation shows exactly the examples tested here."""
    section = (filters.__doc__ or "").split("Examples::")[1].split("\n``type``")[0]

    assert list(EXAMPLES) == [line.strip() for line in section.splitlines() if line.strip()]


def test_names() -> None:
    """A filter knows the names it asks about, and every name of the contract can be asked about."""
    assert Filter.parse('size > 1 or ext == "a"').names == {"size", "ext"}
    for name, kind in NAMES.items():
        assert Filter.parse(f"{name} != {'0' if kind is int else name}").names == {name}


REFUSED = [
    ("", "at column 1 a condition"),
    ("   ", "a condition"),
    ("depth <", "at column 8 a condition such as depth <= 3, but invalid syntax"),
    ("depth < 3 3", "invalid syntax"),
    ('hots == "a"', "not 'hots'; did you mean host?"),
    ("zzz == 1", "at column 1 one of url scheme host"),
    ('"é" == ex', "at column 8 one of"),
    ("   ex == 1", "at column 4 one of"),
    ('depth < "3"', "at column 9 a number, not a text"),
    ("ext == 3", "at column 8 a text, not a number"),
    ("url < depth", "a text, not a number"),
    ('level == "chld"', "one of page child parent host other"),
    ('"pdf" == type', "at column 1 one of html image"),
    ('type in ("html", "pdf")', "at column 18 one of html image"),
    ("url", "a condition such as"),
    ("3", "a condition such as"),
    ("depth == True", "a name, a text or a whole number"),
    ("path == None", "a name, a text or a whole number"),
    ("depth > 1.5", "a name, a text or a whole number"),
    ("depth is 3", "== or != to compare, not is"),
    ("depth in url", "a list of numbers"),
    ("url in depth", "a text, not a number"),
    ('ext in ("a", 1)', "at column 14 a text, not a number"),
    ("ext in (path,)", "a text written out"),
    ("url.startswith(path)", "a text written out"),
    ("url.startswith(3)", "a text, not a number"),
    ('depth.startswith("a")', "at column 1 a text, not a number"),
    ('url.strip("a")', "startswith, endswith or matches, not 'strip'"),
    ("url.startswith()", "a condition such as"),
    ('url.startswith(prefix="a")', "a condition such as"),
    ('path.matches("(")', "RE2 syntax: missing )"),
    ("path.matches(text)", "a text written out"),
    ('path.matches(("a", "b"))', "a name, a text or a whole number"),
    ('path.matches("\\.pdf")', 'write text with backslashes as r"..."'),
    ('path.matches("\\bpdf")', 'write backslashes as r"\\b"'),
    ("x" * (MAX_LENGTH + 1), "at most 4096 characters"),
    ("not " * 40 + "True", "levels of nesting"),
    ("(" * 300 + "True" + ")" * 300, "nested parentheses"),
    ("-" * 3000 + "1", "recursion"),
    ("url" + ".lower()" * 40 + ' == ""', "levels of nesting"),
    ('text == "\ud800"', "surrogates not allowed"),
    ('url == "a\0"', "null bytes"),
    ('__import__("os")', "a condition such as"),
    ("url.__class__ == url", "a name, a text or a whole number"),
    ("[x for x in url] == url", "a name, a text or a whole number"),
    ("(lambda: True)()", "a condition such as"),
    ('f"{url}" == url', "a name, a text or a whole number"),
    ("(depth := 3) == 3", "a name, a text or a whole number"),
    ("depth == 2 ** 99999", "a name, a text or a whole number"),
    ('url == "a" * 99999', "a name, a text or a whole number"),
    ("True if depth == 1 else False", "a condition such as"),
    ("url[0] == url", "a name, a text or a whole number"),
]


@pytest.mark.parametrize(("text", "words"), REFUSED)
def test_refused(text: str, words: str) -> None:
    """What is not of the language is refused at the start, in one line with the column and what could stand there."""
    with pytest.raises(ArgumentError, match=re.escape(words)) as caught:
        Filter.parse(text)

    assert ("filter", text) == (caught.value.name, caught.value.value)
    assert "\n" not in str(caught.value)


def test_parsing_leaves_warnings_alone() -> None:
    """The strictness of the parse does not leak into the process."""
    before = list(warnings.filters)

    Filter.parse("depth < 3")

    assert before == list(warnings.filters)


TERMS = st.sampled_from(["depth == 3", "depth == 4", "size > 9", "size < 9", 'type == "html"', "True", "not False"])
EXPRESSIONS = st.recursive(
    TERMS,
    lambda inner: st.one_of(
        inner.map("not ({})".format),
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(lambda parts: "({} {} {})".format(*parts)),
    ),
    max_leaves=8,
)


@given(EXPRESSIONS)
@settings(deadline=None, max_examples=150)
def test_an_early_answer_stands(text: str) -> None:
    """What is decided without size and type stays so for every size and type; with both, everything is decided."""
    condition = Filter.parse(text)
    early = condition.decide(VALUES | {"size": None, "type": None})
    late = {
        condition.decide(VALUES | {"size": size, "type": kind})
        for size, kind in itertools.product((1, 9, 99), ("html", "image"))
    }

    assert None not in late
    assert early is None or late == {early}


@given(EXPRESSIONS)
@settings(deadline=None, max_examples=100)
def test_python_agrees(text: str) -> None:
    """With everything known an expression means what it means in Python."""
    assert Filter.parse(text).decide(VALUES) is bool(eval(text, {}, VALUES))


@given(st.text(alphabet="depth size<>=()\"'andornot3.,\\[]", max_size=60))
@settings(deadline=None, max_examples=200)
def test_any_text_is_read_or_refused(text: str) -> None:
    """Every text either is an expression that decides, or an ArgumentError."""
    try:
        condition = Filter.parse(text)
    except ArgumentError:
        return
    assert condition.decide(VALUES | {"size": None}) in {True, False, None}
