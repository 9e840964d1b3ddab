"""The gate: when a HEAD is sent, when nothing is, and what the answers teach."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spiderproj.gate import (
    AUDIT_EVERY,
    Advice,
    Ask,
    Family,
    Gate,
    GateMode,
    Head,
    HeadAnswer,
    families,
    judge_head,
    stop_at_headers,
)
from spiderproj.gate import policy as gate_module
from spiderproj.gate.families import CERTAIN_AFTER, Families
from spiderproj.gate.headers import SMALL_BODY
from spiderproj.models import Reason, ResourceType
from spiderproj.urls import URLParts, split

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
    assert (Ask.REFUSE, Reason.TYPE, f"gate=auto: {CERTAIN_AFTER} .png in a row on {HOST} were image") == certain


def test_learns_to_get() -> None:
    """A family of a wanted type is fetched without HEAD, though its ending says otherwise."""
    gate = taught(CERTAIN_AFTER, ["text/html"])

    assert Ask.GET is gate.before(DOUBTFUL, HOST, None, HTML, 1).ask


def test_learning_is_by_host_ending_and_wanted_types() -> None:
    """Other hosts, other endings and other wishes are untouched by what one family taught."""
    gate = taught(CERTAIN_AFTER)

    assert Ask.HEAD is gate.before(DOUBTFUL, "example.net", None, HTML, 1).ask
    assert Ask.HEAD is gate.before(parts_of("/a.gif"), HOST, None, HTML, 1).ask
    assert Ask.GET is gate.before(DOUBTFUL, HOST, None, IMAGE, 1).ask


def test_likely_pages_are_never_refused_by_learning() -> None:
    """Pages without ending are asked for however many of them were pictures."""
    gate = Gate("auto")
    for _ in range(10 * CERTAIN_AFTER):
        gate.on_get(parts_of("/image/3"), HOST, ResourceType.IMAGE, HTML)

    assert Ask.GET is gate.before(parts_of("/about"), HOST, None, HTML, 1).ask


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
    """One answer of another type ends the certainty, and twice as many equal ones are asked for after it."""
    gate = taught(CERTAIN_AFTER)
    gate.on_get(DOUBTFUL, HOST, ResourceType.HTML, HTML)

    asked = []
    for _ in range(3 * CERTAIN_AFTER):
        gate.on_head(DOUBTFUL, HOST, Head(200, ["image/png"]))
        asked.append(gate.before(DOUBTFUL, HOST, None, HTML, 1).ask)

    assert asked == [Ask.HEAD] * (3 * CERTAIN_AFTER - 1) + [Ask.REFUSE]


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

    assert [Family(HOST, "png", ResourceType.IMAGE, CERTAIN_AFTER, 0)] == before.rows() == after.rows()
    assert Ask.REFUSE is after.before(DOUBTFUL, HOST, None, HTML, 1).ask


def test_families_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that invents endings pushes out the oldest families, not the memory's limit."""
    monkeypatch.setattr(families, "MAX_FAMILIES", 3)
    known = Families()
    for ending in "abcde":
        known.learn(HOST, f"/x.{ending}", ResourceType.DATA)

    assert [row.ending for row in known.rows()] == ["c", "d", "e"]


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
    """Three HEADs in a row of no use where GET succeeds end HEAD for that host; GET takes its place."""
    gate = Gate("auto")
    usable = []
    for _ in range(3):
        gate.on_head(DOUBTFUL, HOST, head)
        gate.on_get(DOUBTFUL, HOST, ResourceType.HTML, HTML, head)
        usable.append(gate.head_usable(HOST))

    assert usable == [True, True, False]
    assert gate.head_usable("example.net")
    assert Ask.GET is gate.before(DOUBTFUL, HOST, None, HTML, 1).ask
    assert (gate.counts.head_failures, gate.counts.hosts_without_head) == (3, 1)


def test_a_good_head_forgives_failures() -> None:
    """Failures count only in a row."""
    gate = Gate("auto")
    for head in [Head(500), Head(500), Head(200, ["text/html"])] * 3:
        gate.on_head(DOUBTFUL, HOST, head)
        gate.on_get(DOUBTFUL, HOST, ResourceType.HTML, HTML, head)

    assert gate.head_usable(HOST)


def test_head_is_given_up_where_it_lies() -> None:
    """Two HEADs with a type that would have decided otherwise than GET's end HEAD for that host."""
    gate = Gate("auto")
    lie = Head(200, ["text/plain"])
    gate.on_get(DOUBTFUL, HOST, ResourceType.HTML, HTML, lie)

    assert gate.head_usable(HOST)

    gate.on_head(DOUBTFUL, HOST, Head(200, ["text/html"]))
    gate.on_get(DOUBTFUL, HOST, ResourceType.IMAGE, HTML, Head(200, ["text/html"]))

    assert not gate.head_usable(HOST)
    assert (gate.counts.head_lies, gate.counts.hosts_without_head) == (2, 1)


def test_a_difference_that_decides_nothing_is_no_lie() -> None:
    """Types that differ but are both wanted, or both not, are forgiven."""
    gate = Gate("auto")
    for found in (ResourceType.ARCHIVE, ResourceType.DOCUMENT, None) * 3:
        gate.on_get(DOUBTFUL, HOST, found, HTML, Head(200, ["image/png"]))

    assert gate.head_usable(HOST)


def test_mode_head_asks_even_where_it_fails() -> None:
    """With gate=head every URL gets its HEAD, whatever the host made of the last ones."""
    gate = Gate("head")
    for _ in range(5):
        gate.on_get(DOUBTFUL, HOST, ResourceType.HTML, HTML, Head(405))

    assert not gate.head_usable(HOST)
    assert Ask.HEAD is gate.before(DOUBTFUL, HOST, None, HTML, 1).ask


def test_hosts_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only so many hosts whose HEAD is bad are remembered, the latest."""
    monkeypatch.setattr(gate_module, "MAX_HOSTS", 2)
    gate = Gate("auto")
    for host in ("a", "b", "c"):
        for _ in range(3):
            gate.on_get(DOUBTFUL, host, ResourceType.HTML, HTML, Head(405))

    assert [gate.head_usable(host) for host in ("a", "b", "c")] == [True, False, False]


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

    assert "in a row" not in gate.before(DOUBTFUL, HOST, None, HTML, key).rule
