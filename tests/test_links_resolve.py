"""References to canonical URLs: the quick way gives what the URL parser gives."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spiderproj import urls
from spiderproj.links.resolve import Resolver
from spiderproj.models import Reason

BASES = [
    "http://h.example/d/e/p.html?q=/r/s",
    "https://h.example:444/",
    "http://[::1]/x",
    "http://h.example/a//b//c",
    "http://h.example/?" + "y" * 2000,
]
PIECES = [
    *(
        "a",
        "b.html",
        "..",
        ".",
        "%2e",
        "%2E",
        "/",
        "//",
        "?",
        "#",
        ":",
        "@",
        "x=1",
        "&",
        "'",
        "(",
        "%",
        "%zz",
        "%41",
        "é",
    ),
    *(
        " ",
        "\\",
        "~",
        "|",
        "^",
        "[",
        "!",
        "$",
        ",",
        ";",
        "-",
        "...",
        ".a",
        "\t",
        "\n",
        "http://h.example",
        "https:",
        "./",
    ),
    *("../", "HTTP:", "\ud7ff", "{", "`", "<", "\x00", "x" * 2100),
]


@settings(deadline=None, max_examples=300)
@given(base=st.sampled_from(BASES), own=st.booleans(), pieces=st.lists(st.sampled_from(PIECES), max_size=7))
def test_every_way_gives_what_the_url_parser_gives(base: str, own: bool, pieces: list[str]) -> None:
    """Any reference against any base is resolved as urls.canonical does it, or refused for its reason."""
    reference = (urls.origin(base) if own else "") + "".join(pieces)
    try:
        expected: tuple[str, Reason | None] = urls.canonical(reference, base), None
    except urls.RefusedURLError as error:
        expected = "", error.reason
    target, problem = Resolver(base, "utf-8")(reference)

    if problem is Reason.SCHEME:  # said first, whatever else is wrong with it
        assert expected[1] is not None
    else:
        assert problem == expected[1]
        assert problem is not None or target == expected[0]


@pytest.mark.parametrize("reference", ["x", "/x/y.html?a=b&c=%20#d", "../x", "./x", "../../../../x", "#x", ""])
def test_common_references_need_no_parser(reference: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What most pages write is resolved without the URL parser."""
    expected = urls.canonical(reference, BASES[0])
    monkeypatch.delattr(urls, "canonical")

    assert Resolver(BASES[0], "utf-8")(reference) == (expected, None)


@pytest.mark.parametrize(
    ("reference", "shown", "problem"),
    [
        ("javascript:alert(1)", "javascript:alert(1)", Reason.SCHEME),
        (" JavaScript:x ", "JavaScript:x", Reason.SCHEME),
        ("java\tscript:x", "java\tscript:x", Reason.SCHEME),
        ("mailto:" + "x" * 300, "mailto:" + "x" * 193, Reason.SCHEME),
        ("data:," + "x" * 9000, "data:," + "x" * 54, Reason.SCHEME),
        ("ftp://h/x", "ftp://h/x", Reason.SCHEME),
        ("file:///etc/passwd", "file:///etc/passwd", Reason.SCHEME),
        ("http://", "http://", Reason.INVALID),
        ("http://h:99999/", "http://h:99999/", Reason.INVALID),
        ("x" * 3000, "x" * 200, Reason.TOO_LONG),
        ("/" * 10_000_000, "/" * 200, Reason.TOO_LONG),
        ("../" * 1000, "http://h.example/", None),
    ],
)
def test_what_can_never_be_fetched(reference: str, shown: str, problem: Reason | None) -> None:
    """A reference without a URL of ours is kept as short text with the reason."""
    assert Resolver(BASES[0], "utf-8")(reference) == (shown, problem)


def test_rebase_forgets_what_was_resolved() -> None:
    """After a new base the same text means another URL; a base that cannot be fetched changes nothing."""
    resolve = Resolver(BASES[0], "utf-8")
    before = resolve("x")
    resolve.rebase("//b.example/c/")
    resolve.rebase("ftp://c.example/")

    assert before == ("http://h.example/d/e/x", None)
    assert resolve("x") == ("http://b.example/c/x", None)
