"""The gate: when a HEAD is sent, when nothing is, and what the answers teach."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spiderproj.gate import (
    AUDIT_EVERY,
    Advice,
    Ask,
    Gate,
    GateMode,
    Head,
    HeadAnswer,
    families,
    judge_head,
    stop_at_headers,
)
from spiderproj.gate.families import BAD_HEADS_ALLOWED, CERTAIN_AFTER, CERTAIN_ALONE, Families
from spiderproj.gate.headers import SMALL_BODY
from spiderproj.models import Reason, ResourceType
from spiderproj.store import Database
from spiderproj.store.gate_families import load_gate, save_gate
from spiderproj.urls import URLParts, split

if TYPE_CHECKING:
    from pathlib import Path

HTML = frozenset({ResourceType.HTML})
IMAGE = frozenset({ResourceType.IMAGE})
EVERY = frozenset(ResourceType)
HOST = "example.org"
DOUBTFUL = split("https://example.org/wiki/File:a.png")


def parts_of(target: str) -> URLParts:
    """Return the parts of a URL on the test's host."""
    return split(f"https://{HOST}{target}")


def ask(
    mode: str, target: str, wanted: frozenset[ResourceType] = HTML, hint: ResourceType | None = None, key: int = 1
) -> Advice:
    """Return what a new gate advises for one URL."""
    return Gate(mode).before(parts_of(target), HOST, hint, wanted, key)


OPENINGS = [
    # every URL the same
    ("get", "/a.zip", HTML, None, Ask.GET),
    ("head", "/", HTML, None, Ask.HEAD),
    ("head", "/a.zip", EVERY, None, Ask.HEAD),
    # the ending decides
    ("extension", "/a.zip", HTML, None, Ask.REFUSE),
    ("extension", "/a.unheard", HTML, None, Ask.GET),
    ("extension", "/a/", HTML, None, Ask.GET),
    ("extension", "/a/", IMAGE, None, Ask.REFUSE),
    ("extension", "/a.zip", EVERY, None, Ask.GET),
    # nothing to refuse
    ("auto", "/a.unheard", EVERY, None, Ask.GET),
    # likely wanted: GET, stopped at the headers if it is not
    ("auto", "/", HTML, None, Ask.GET),
    ("auto", "/a.php", HTML, None, Ask.GET),
    ("auto", "/a.png", IMAGE, None, Ask.GET),
    ("auto", "/get?id=3", IMAGE, ResourceType.IMAGE, Ask.GET),
    # doubt
    ("auto", "/wiki/File:a.png", HTML, None, Ask.HEAD),
    ("auto", "/wiki/Ask.com", HTML, None, Ask.HEAD),
    ("auto", "/get.php?download=3", HTML, None, Ask.HEAD),
    ("auto", "/", IMAGE, None, Ask.HEAD),
    ("auto", "/", IMAGE, ResourceType.HTML, Ask.HEAD),
    # the context leaves none
    ("auto", "/get?id=3", HTML, ResourceType.IMAGE, Ask.REFUSE),
    ("auto", "/a.html", HTML, ResourceType.IMAGE, Ask.REFUSE),
]


@pytest.mark.parametrize(("mode", "target", "wanted", "hint", "expected"), OPENINGS)
def test_before(
    mode: str, target: str, wanted: frozenset[ResourceType], hint: ResourceType | None, expected: Ask
) -> None:
    """What is sent first goes by the mode, the ending, the link's context and what is wanted."""
    assert expected is ask(mode, target, wanted, hint).ask


def test_refusals_say_why() -> None:
    """A refusal without a request names reason and rule."""
    by_context = ask("auto", "/get", HTML, ResourceType.IMAGE)
    by_ending = ask("extension", "/a.zip")

    assert by_context[1:] == (Reason.TYPE, "gate=auto: linked as image, which is not wanted")
    assert by_ending[1:] == (Reason.TYPE, "gate=extension: zip means archive, which is not wanted")


JUDGEMENTS = [
    (Head(200, ["text/html"]), HTML, HeadAnswer.WANTED),
    (Head(204, ["text/html"]), HTML, HeadAnswer.WANTED),
    (Head(200, ["image/png"]), HTML, HeadAnswer.UNWANTED),
    (Head(200, ["application/x-unheard-of"]), HTML, HeadAnswer.UNWANTED),
    (Head(None), HTML, HeadAnswer.UNKNOWN),
    (Head(302, ["image/png"]), HTML, HeadAnswer.UNKNOWN),
    (Head(404, ["image/png"]), HTML, HeadAnswer.UNKNOWN),
    (Head(405, ["text/html"]), HTML, HeadAnswer.UNKNOWN),
    (Head(500, ["image/png"]), HTML, HeadAnswer.UNKNOWN),
    (Head(200), HTML, HeadAnswer.UNKNOWN),
    (Head(200, ["bogus"]), HTML, HeadAnswer.UNKNOWN),
    (Head(200, ["application/octet-stream"]), HTML, HeadAnswer.UNKNOWN),
    (Head(200, ["text/plain"]), HTML, HeadAnswer.UNKNOWN),
    (Head(200, ["text/plain"]), IMAGE, HeadAnswer.UNWANTED),
    (Head(200, ["text/plain"]), HTML | {ResourceType.DATA}, HeadAnswer.WANTED),
]


@pytest.mark.parametrize(("head", "wanted", "expected"), JUDGEMENTS)
def test_judge_head(head: Head, wanted: frozenset[ResourceType], expected: HeadAnswer) -> None:
    """Only a 2xx with a known type that is not wanted refuses, and text/plain never where HTML is wanted."""
    assert expected is judge_head(head, wanted)


STOPS = [
    (200, ["image/png"], None, HTML, ResourceType.IMAGE),
    (200, ["image/png"], SMALL_BODY + 1, HTML, ResourceType.IMAGE),
    (200, ["image/png"], SMALL_BODY, HTML, None),
    (200, ["text/html"], None, HTML, None),
    (200, [], None, HTML, None),
    (200, ["application/octet-stream"], None, HTML, None),
    (200, ["text/plain"], None, HTML, None),
    (200, ["text/plain"], None, IMAGE, ResourceType.DATA),
    (404, ["image/png"], None, HTML, None),
    (301, ["image/png"], None, HTML, None),
]


@pytest.mark.parametrize(("status", "values", "length", "wanted", "expected"), STOPS)
def test_stop_at_headers(
    status: int,
    values: list[str],
    length: int | None,
    wanted: frozenset[ResourceType],
    expected: ResourceType | None,
) -> None:
    """A GET is stopped for a known unwanted type, unless reading the rest is cheaper than a new connection."""
    assert expected is stop_at_headers(status, values, length, wanted)


def taught(count: int, values: list[str] | None = None) -> Gate:
    """Return a gate that saw *count* HEADs of wiki files answered with one type."""
    gate = Gate("auto")
    for _ in range(count):
        gate.on_head(DOUBTFUL, HOST, Head(200, values or ["image/png"]))
    return gate


def test_learns_to_refuse() -> None:
    """After enough equal answers the HEAD is spared, and the decision says what taught it."""
    nearly = taught(CERTAIN_AFTER - 1).before(DOUBTFUL, HOST, None, HTML, 1)
    certain = taught(CERTAIN_AFTER).before(DOUBTFUL, HOST, None, HTML, 1)

    assert Ask.HEAD is nearly.ask
    rule = f"gate=auto: {CERTAIN_AFTER} of {CERTAIN_AFTER} URLs like /wiki/{{s}}.png on {HOST} were not wanted"
    assert (Ask.REFUSE, Reason.TYPE, rule) == certain


def test_learns_to_get() -> None:
    """A family of a wanted type is fetched without HEAD, though its ending says otherwise."""
    gate = taught(2 * CERTAIN_AFTER, ["text/html"])

    assert Ask.GET is gate.before(DOUBTFUL, HOST, None, HTML, 1).ask


def test_learning_is_by_host_ending_and_wanted_types() -> None:
    """Other hosts, other endings and other wishes are untouched by what one family taught."""
    gate = taught(CERTAIN_AFTER)

    assert Ask.HEAD is gate.before(DOUBTFUL, "example.net", None, HTML, 1).ask
    assert Ask.HEAD is gate.before(parts_of("/a.gif"), HOST, None, HTML, 1).ask
    assert Ask.GET is gate.before(DOUBTFUL, HOST, None, IMAGE, 1).ask


def test_pages_are_refused_by_their_own_family_alone() -> None:
    """Pictures without an ending teach of what looks like them, after more of them, and not of other such URLs."""
    gate = Gate("auto")
    asked = []
    for number in range(CERTAIN_ALONE + 1):
        asked.append(gate.before(parts_of(f"/image/{number}"), HOST, None, HTML, 1).ask)
        gate.on_get(parts_of(f"/image/{number}"), HOST, ResourceType.IMAGE, HTML)

    assert asked == [Ask.GET] + [Ask.HEAD] * (CERTAIN_ALONE - 1) + [Ask.REFUSE]
    assert Ask.HEAD is gate.before(parts_of("/about/us"), HOST, None, HTML, 1).ask


def test_a_single_file_among_pages_costs_no_head() -> None:
    """Pages are fetched at once though one of their kind was a file."""
    gate = Gate("auto")
    for number in range(100):
        gate.on_get(parts_of(f"/{number}"), HOST, ResourceType.IMAGE if number == 50 else ResourceType.HTML, HTML)

    assert Ask.GET is gate.before(parts_of("/101"), HOST, None, HTML, 1).ask


def test_gets_teach_too() -> None:
    """A GET's true type teaches as a HEAD does; one without a known type teaches nothing."""
    gate = taught(CERTAIN_AFTER - 1)
    gate.on_get(DOUBTFUL, HOST, None, HTML)

    assert Ask.HEAD is gate.before(DOUBTFUL, HOST, None, HTML, 1).ask

    gate.on_get(DOUBTFUL, HOST, ResourceType.IMAGE, HTML)

    assert Ask.REFUSE is gate.before(DOUBTFUL, HOST, None, HTML, 1).ask


@pytest.mark.parametrize("head", [Head(200, ["text/plain"]), Head(200), Head(404, ["image/png"]), Head(None)])
def test_what_decides_nothing_teaches_nothing(head: Head) -> None:
    """Failures, missing types and text/plain on HEAD leave the families alone."""
    gate = Gate("auto")
    gate.on_head(DOUBTFUL, HOST, head)

    assert gate.rows() == []


def test_a_contrary_answer_doubles_the_proof() -> None:
    """One wanted answer ends the certainty, and twice as many others are asked for after it."""
    gate = taught(CERTAIN_AFTER)
    gate.on_get(DOUBTFUL, HOST, ResourceType.HTML, HTML)

    asked = []
    for _ in range(2 * CERTAIN_AFTER):
        gate.on_head(DOUBTFUL, HOST, Head(200, ["image/png"]))
        asked.append(gate.before(DOUBTFUL, HOST, None, HTML, 1).ask)

    assert asked == [Ask.HEAD] * (2 * CERTAIN_AFTER - 1) + [Ask.REFUSE]


def test_audits() -> None:
    """Of the URLs that learning refuses, one in AUDIT_EVERY is asked for, always the same ones."""
    gate = taught(CERTAIN_AFTER)
    asked = [gate.before(DOUBTFUL, HOST, None, HTML, key).ask for key in range(-500, 500)]

    assert [Ask.HEAD if key % AUDIT_EVERY == 0 else Ask.REFUSE for key in range(-500, 500)] == asked
    assert gate.counts.audits == 1000 // AUDIT_EVERY


def test_rows_carry_over() -> None:
    """A gate given the rows of another advises as that one did."""
    before = taught(CERTAIN_AFTER)
    after = Gate("auto", before.rows())

    assert {(row.host, row.name, row.seen) for row in after.rows()} == {
        (HOST, "/wiki/{s}.png", CERTAIN_AFTER),
        (HOST, "*.png", CERTAIN_AFTER),
    }
    assert Ask.REFUSE is after.before(DOUBTFUL, HOST, None, HTML, 1).ask


def test_rows_are_stored(tmp_path: Path) -> None:
    """What has changed is written, once, and comes back from the store as it was."""
    gate = taught(CERTAIN_AFTER)
    gate.on_get(DOUBTFUL, HOST, ResourceType.HTML, HTML, Head(405))
    with Database(tmp_path / "crawl.db") as database:
        save_gate(database, gate.changed())
        assert sorted(load_gate(database), key=str) == sorted(gate.rows(), key=str)
        assert gate.changed() == []


def test_families_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that invents paths pushes out the oldest families, not the memory's limit."""
    monkeypatch.setattr(families, "MAX_FAMILIES", 3)
    known = Families()
    for name in "abcde":
        known.change(HOST, name).learn(ResourceType.DATA)
    known.change(HOST, "c")
    known.change(HOST, "f")

    assert [row.name for row in known.rows()] == ["e", "c", "f"]


FAILURES = [
    Head(None),
    Head(405),
    Head(501),
    Head(403),
    Head(500, ["text/html"]),
    Head(302),
    Head(200),
    Head(200, ["x"]),
]


@pytest.mark.parametrize("head", FAILURES)
def test_head_is_given_up_where_it_fails(head: Head) -> None:
    """Three HEADs in a row of no use where GET succeeds end HEAD for that family; GET takes its place."""
    gate = Gate("auto")
    usable = []
    for _ in range(3):
        gate.on_head(DOUBTFUL, HOST, head)
        gate.on_get(DOUBTFUL, HOST, ResourceType.HTML, HTML, head)
        usable.append(gate.head_usable(DOUBTFUL, HOST))

    assert usable == [True, True, False]
    assert gate.head_usable(DOUBTFUL, "example.net")
    assert gate.head_usable(parts_of("/a.zip"), HOST)
    assert Ask.GET is gate.before(DOUBTFUL, HOST, None, HTML, 1).ask
    assert (gate.counts.head_failures, gate.counts.hosts_without_head) == (3, 0)


def test_head_is_given_up_on_a_host() -> None:
    """Where most HEADs of a host are bad, and many are, no other of its families is tried."""
    gate = Gate("auto")
    for number in range(BAD_HEADS_ALLOWED):
        parts = parts_of(f"/{'abcdefghij'[number // 2]}/a.zip")
        assert gate.head_usable(parts, HOST)
        gate.on_get(parts, HOST, ResourceType.ARCHIVE, HTML, Head(405))

    assert not gate.head_usable(parts_of("/another/a.zip"), HOST)
    assert gate.counts.hosts_without_head == 1


def test_a_good_head_forgives_failures() -> None:
    """Failures count only in a row."""
    gate = Gate("auto")
    for head in [Head(500), Head(500), Head(200, ["text/html"])] * 3:
        gate.on_head(DOUBTFUL, HOST, head)
        gate.on_get(DOUBTFUL, HOST, ResourceType.HTML, HTML, head)

    assert gate.head_usable(DOUBTFUL, HOST)


def test_head_is_given_up_where_it_lies() -> None:
    """Two HEADs with a type that would have decided otherwise than GET's end HEAD for that family."""
    gate = Gate("auto")
    usable = []
    for _ in range(2):
        gate.on_head(DOUBTFUL, HOST, Head(200, ["text/html"]))
        gate.on_get(DOUBTFUL, HOST, ResourceType.IMAGE, HTML, Head(200, ["text/html"]))
        usable.append(gate.head_usable(DOUBTFUL, HOST))

    assert usable == [True, False]
    assert gate.counts.head_lies == 2


def test_a_difference_that_decides_nothing_is_no_lie() -> None:
    """Types that differ but are both wanted, or both not, are forgiven."""
    gate = Gate("auto")
    for found in (ResourceType.ARCHIVE, ResourceType.DOCUMENT, None) * 3:
        gate.on_get(DOUBTFUL, HOST, found, HTML, Head(200, ["image/png"]))

    assert gate.head_usable(DOUBTFUL, HOST)


def test_mode_head_asks_even_where_it_fails() -> None:
    """With gate=head every URL gets its HEAD, whatever the host made of the last ones."""
    gate = Gate("head")
    for _ in range(5):
        gate.on_get(DOUBTFUL, HOST, ResourceType.HTML, HTML, Head(405))

    assert not gate.head_usable(DOUBTFUL, HOST)
    assert Ask.HEAD is gate.before(DOUBTFUL, HOST, None, HTML, 1).ask


def test_counts() -> None:
    """Every piece of advice is counted once."""
    gate = taught(CERTAIN_AFTER)
    for target, hint in (("/", None), ("/a.unheard", None), ("/x", ResourceType.IMAGE), ("/File:a.png", None)):
        gate.before(parts_of(target), HOST, hint, HTML, 1)
    counts = gate.counts

    assert (counts.get, counts.head, counts.refused_by_context, counts.refused_by_learning) == (1, 1, 1, 1)


def test_wrong_mode() -> None:
    """A mode that there is not is an error at the start."""
    with pytest.raises(ValueError, match="sometimes"):
        Gate("sometimes")


@given(st.lists(st.booleans(), max_size=200), st.integers(), st.sampled_from(list(GateMode)))
@settings(deadline=None)
def test_a_mixed_family_is_always_asked(answers: list[bool], key: int, mode: GateMode) -> None:
    """Whatever was answered, a family whose last answer was wanted is never refused by learning."""
    gate = Gate(mode)
    for wanted in [*answers, True]:
        gate.on_get(DOUBTFUL, HOST, ResourceType.HTML if wanted else ResourceType.IMAGE, HTML)

    assert "URLs like" not in gate.before(DOUBTFUL, HOST, None, HTML, key).rule
