"""Key words of a copy: words out of any text, headings, ``__doc.txt``, and the expressions that search them."""

from __future__ import annotations

import itertools
import re
import time
import unicodedata
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from spiderproj.display import one_line
from spiderproj.errors import ArgumentError
from spiderproj.topics import (
    MAX_BYTES,
    MAX_WORDS,
    READ_BYTES,
    Expression,
    KeyWords,
    Tally,
    expression,
    headings,
    ranked,
    read,
    render,
    words,
)
from spiderproj.topics.document import MAX_SEEDS
from spiderproj.topics.expression import MAX_LENGTH, MAX_NESTING
from spiderproj.topics.words import MAX_WORD
from tests import markdown
from tests.source_code import ROOT

# --- words

TEXTS = {
    "SQLite: The Backup-API (3.45)": ["sqlite", "the", "backup", "api", "45"],
    "öffentliche RÄUME, Straße": ["öffentliche", "räume", "strasse"],
    "Ünïcode \ufb01ne caf\u0065\u0301": ["ünïcode", "fine", "café"],
    "Do\u00adnau soft\u200bened": ["donau", "softened"],
    "हिन्दी में": ["हिन्दी", "में"],
    "日本語のAPI 水": ["日本", "本語", "語の", "api", "水"],
    "ไทย": ["ไท", "ทย"],
    "Привет, МИР!": ["привет", "мир"],
    "한국어 문서": ["한국어", "문서"],
    "a b c _ - \ud800 \x00": [],
    f"{'x' * MAX_WORD} {'y' * (MAX_WORD + 1)}": ["x" * MAX_WORD],
    "snake_case don't e\u202email": ["snake", "case", "don", "email"],
}


@pytest.mark.parametrize(("text", "expected"), TEXTS.items())
def test_words_of_any_script(text: str, expected: list[str]) -> None:
    """Words are found in the scripts that part them by spaces and in those that do not, each folded, each once."""
    assert list(words(text)) == expected
    assert list(words(f"{text} {text}")) == expected


def test_small_words_and_numbers_count_less() -> None:
    """What is written as small words and numbers are counts a quarter; a capital somewhere makes it a whole one."""
    assert words("the API of 2026 and api tools") == {
        "the": 0.25, "api": 1.0, "of": 0.25, "2026": 0.25, "and": 0.25, "tools": 1.0,
    }  # fmt: skip


@settings(deadline=None, max_examples=300)
@given(st.text(max_size=60))
def test_words_are_fit_to_be_written(text: str) -> None:
    """A word holds letters, marks and digits only, is no longer than the longest, and is its own only word."""
    for word, share in words(text).items():
        assert {unicodedata.category(character)[0] for character in word} <= set("LMN")
        assert 1 <= len(word) <= MAX_WORD
        assert 0 < share <= 1
        assert list(words(word)) == [word]
        assert list(words(word.upper()))[:1] == [word] or word.upper().casefold() != word


def test_words_of_hostile_text_cost_little() -> None:
    """Many characters of the worst kinds are done in a moment, and a tally of endless words ends to grow."""
    began = time.process_time()
    for unit in ("a", "水", "\u202e", "x ", "\ud800", "ﷺ"):
        words(unit * 20_000)
    assert time.process_time() - began < 2
    tally = Tally()
    for start in range(0, 300_000, 1000):
        tally.add(" ".join(f"word{number}" for number in range(start, start + 1000)), 1)
    assert len(list(tally.heaviest(1_000_000))) == 100_000


def test_a_tally_adds_up() -> None:
    """A word counts once a text, with the text's points; the heaviest come first, equal ones by the alphabet."""
    tally = Tally()
    tally.add("Backup Backup restore", 3)
    tally.add("the backup", 1)
    assert list(tally.heaviest(3)) == [("backup", 4.0), ("restore", 3.0), ("the", 0.25)]
    assert list(tally.heaviest(1)) == [("backup", 4.0)]


# --- headings

MARKUP: dict[str, list[str]] = {
    "<h1>One</h1><p>x<H2 class='a'>T<em>wo</em> &amp;\n more</h2>": ["One", "Two & more"],
    "<script>'<h1>no</h1>'</script><!-- <h1>no</h1> --><style><h1></style><h3>yes</h3>": ["yes"],
    "<title><h1>t</h1></title><h4>no</h4><h10>no</h10><header>no</header><h1": [],
    "<h1>unclosed <b>one": ["unclosed one"],
    "<!-- <h1>never ends": [],
    "<script><h1>never ends": [],
}


@pytest.mark.parametrize(("markup", "expected"), MARKUP.items())
def test_headings_of_a_page(markup: str, expected: list[str]) -> None:
    """Headings of the first three levels are read, without their markup; those in comments and scripts are none."""
    assert headings(markup.encode(), None) == expected


def test_headings_are_decoded() -> None:
    """The header's charset counts, and the page's own where the header is silent."""
    assert headings("<h1>café</h1>".encode("latin-1"), "iso-8859-1") == ["café"]
    assert headings("<meta charset=koi8-r><h1>мир</h1>".encode("koi8-r"), None) == ["мир"]
    assert headings(b" " * READ_BYTES + b"<h1>too late</h1>", None) == []


@settings(deadline=None, max_examples=200)
@given(
    st.lists(st.sampled_from(["<h1>", "</h1>", "<h1", "<!--", "-->", "<script>", "</script", "x", "<", ">", "&#1;"]))
)
def test_headings_of_anything(parts: list[str]) -> None:
    """Whatever the markup, headings are short, and no more than fifty."""
    found = headings("".join(parts).encode() * 20, None)
    assert len(found) <= 50
    assert all(len(text) <= 200 for text in found)


@pytest.mark.parametrize("unit", [b"<h1>", b"<!--", b"<script", b"<h1 ", b"&#x", b"<title><", b"<!-", b"<h1></h", b"-"])
def test_headings_of_hostile_markup_cost_little(unit: bytes) -> None:
    """No repetition of a piece of markup takes more than a moment."""
    began = time.process_time()
    headings(unit * (1_000_000 // len(unit)), None)
    assert time.process_time() - began < 0.5


# --- __doc.txt

lines = st.text(max_size=40).map(lambda text: one_line(text, 40))
weights = st.integers(1, 99_999).map(lambda tenths: tenths / 10)
found_words = st.lists(st.text(max_size=12), max_size=8).map(lambda texts: list(words(" ".join(texts))))


@settings(deadline=None, max_examples=200)
@given(lines, lines, lines, st.lists(lines.filter(bool), max_size=MAX_SEEDS), found_words, st.data())
def test_document_round_trip(
    title: str, keywords: str, crawled: str, seeds: list[str], names: list[str], data: st.DataObject
) -> None:
    """What is written is read again: texts, seeds, and the words in their order with their weights."""
    held = {name: data.draw(weights) for name in names}
    made = KeyWords(title=title, keywords=keywords, crawled=crawled, seeds=tuple(seeds), words=held)
    assert read(render(made)) == made
    assert list(read(render(made)).words) == names


def test_document_as_a_person_sees_it() -> None:
    """The file is plain lines; texts of a site cannot add lines to it or steer a terminal."""
    made = KeyWords(
        title="A\nkeywords: evil\x1b[2J\u202e", seeds=("http://h/",), words={"sqlite": 12.34, "rare": 0.001}
    )
    written = [line for line in render(made).decode().splitlines() if not line.startswith("#")]
    assert written == ["title: A keywords: evil\ufffd[2J", "seed: http://h/", "12.3 sqlite", "0.1 rare"]
    assert read(render(made)).keywords == ""


def test_document_is_read_whole() -> None:
    """The longest file that can be written is within what is read."""
    wide = "\U00010428" * (MAX_WORD - 5)  # a letter of four bytes
    names = [f"{wide}{number:05}" for number in range(2 * MAX_WORDS)]
    made = KeyWords(
        title="\U0001f600" * 1000,
        keywords="\U0001f600" * 10_000,
        seeds=("http://h/" + "x" * 3000,) * 99,
        crawled="2026-11-30",
        words=dict.fromkeys(names, 9_999_999.0),
    )
    written = render(made)
    assert len(written) <= MAX_BYTES
    assert list(read(written).words) == names[:MAX_WORDS]


HOSTILE = [
    b"", b"\0" * 100_000, bytes(range(256)) * 4000, b"\n" * 1_000_000, b"title:" * 100_000, b"9 " * 400_000,
    b"seed: x\n" * 100_000, b"1 word\n" * 400_000, b"12345678901234567890 word\n", b"nan word\ninf word\n1e9 word\n",
    "".join(f"1.0 w{number}\n" for number in range(50_000)).encode(), b"keywords: " + b"a b " * 100_000, b"\xff\xfe1 x",
]  # fmt: skip


@pytest.mark.parametrize("data", HOSTILE, ids=range(len(HOSTILE)))
def test_document_that_is_none(data: bytes) -> None:
    """A huge, binary or damaged file is read in a moment to something bounded."""
    began = time.process_time()
    found = read(data)
    assert time.process_time() - began < 0.5
    assert len(found.words) <= MAX_WORDS + 1
    assert len(found.seeds) <= MAX_SEEDS
    assert len(found.title) <= 500
    assert len(found.keywords) <= 10_000
    assert all(0 <= weight < 1e8 for weight in found.words.values())


@settings(deadline=None, max_examples=200)
@given(st.binary(max_size=300))
def test_document_of_any_bytes(data: bytes) -> None:
    """Any bytes are read without an error, also among good lines, which are still found."""
    assert read(b"title: T\n" + data + b"\n5 sqlite\n").title == "T"
    assert "sqlite" in read(data + b"\n5 sqlite\n").words


def test_document_by_hand() -> None:
    """A file that a person has written by the same lines counts, with the user's words above all others."""
    made = read("Keywords are below\r\nkeywords: Öffentliche RÄUME\r\n7 Parks\r\n".encode())
    assert made.all_words() == {"parks": 7.0, "öffentliche": 1000.0, "räume": 1000.0}


# --- expressions

HELD = {"sqlite": 9.0, "backup": 5.0, "backups": 1.0, "restore": 2.0, "日本": 1.0, "本語": 1.0, "not": 1.0}
MEANT: dict[str, tuple[bool, list[str]]] = {
    "sqlite": (True, ["sqlite"]),
    "SQLite": (True, ["sqlite"]),
    "postgres": (False, []),
    "sqlite backup": (True, ["sqlite", "backup"]),
    "sqlite and postgres": (False, ["sqlite"]),
    "postgres or sqlite": (True, ["sqlite"]),
    "sqlite postgres or restore": (True, ["sqlite", "restore"]),
    "sqlite (postgres or restore)": (True, ["sqlite", "restore"]),
    "not postgres": (True, []),
    "sqlite not backup": (False, ["sqlite"]),
    "NOT (postgres OR mysql) AND sqlite": (True, ["sqlite"]),
    "not not sqlite": (True, ["sqlite"]),
    "back*": (True, ["backup", "backups"]),
    "post*": (False, []),
    "not back*": (False, []),
    '"restore, backup"': (True, ["restore", "backup"]),
    '"not"': (True, ["not"]),
    "日本語": (True, ["日本", "本語"]),
    "backup-api": (False, ["backup"]),
    "sqlite sqlite": (True, ["sqlite"]),
}


@pytest.mark.parametrize(("text", "expected"), MEANT.items())
def test_what_an_expression_means(text: str, expected: tuple[bool, list[str]]) -> None:
    """An expression says yes or no to a copy, and names the words of it that were asked for."""
    expression = Expression.parse(text)
    assert (expression.matches(HELD), expression.found(HELD)) == expected


WRONG = {
    "": 1, "   ": 4, "and": 1, "sqlite and": 11, "or sqlite": 1, "sqlite or or x1": 11, "(sqlite": 8, "sqlite)": 7,
    "()": 2, "not": 4, '"open': 1, "sqlite c": 8, "--": 1, '""': 1, "a*": 1, ")": 1, "sqlite and )": 12,
}  # fmt: skip


@pytest.mark.parametrize(("text", "column"), WRONG.items())
def test_what_is_no_expression(text: str, column: int) -> None:
    """A wrong expression is an error that names the argument and the column where something else should stand."""
    with pytest.raises(ArgumentError, match=rf"^EXPR=.*: expected at column {column} \S"):
        Expression.parse(text)


@pytest.mark.parametrize(
    "text",
    ["(" * 4000, "not " * 1000 + "sqlite", "x1 " * 2000, "(" * 50 + "sqlite" + ")" * 50],
    ids=["(", "not", "long", "()"],
)
def test_expressions_are_bounded(text: str) -> None:
    """What is too long or too deep is an error, never a crash."""
    with pytest.raises(ArgumentError, match=f"at most ({MAX_LENGTH} characters|{MAX_NESTING} levels)"):
        Expression.parse(text)
    assert Expression.parse("(" * MAX_NESTING + "sqlite" + ")" * MAX_NESTING).matches(HELD)


@settings(deadline=None, max_examples=300)
@given(st.lists(st.sampled_from(["sqlite", "post*", '"a b', '"', "(", ")", "and", "or", "not", " ", "水", "\0"])))
def test_anything_is_an_expression_or_an_argument_error(parts: list[str]) -> None:
    """Any text is understood or refused with one kind of error."""
    with suppress(ArgumentError):
        assert Expression.parse(" ".join(parts)).matches(HELD) in (True, False)


@settings(deadline=None, max_examples=100)
@given(
    st.recursive(
        st.sampled_from("abcd"), lambda part: st.tuples(st.sampled_from(["and", "or", "not"]), part, part), max_leaves=8
    )
)
def test_an_expression_is_logic(tree: object) -> None:
    """Written out, a tree of and, or and not says of every set of words what the tree says."""
    expression = Expression.parse(_written(tree))
    for size in range(5):
        for held in itertools.combinations("abcd", size):
            assert expression.matches({f"w{name}": 1.0 for name in held}) == _holds(tree, set(held))


def _written(tree: object) -> str:
    if isinstance(tree, tuple):
        operator, left, right = tree
        return f"not ({_written(left)})" if operator == "not" else f"(({_written(left)}) {operator} {_written(right)})"
    return f"w{tree}"


def _holds(tree: object, held: set[str]) -> bool:
    if isinstance(tree, tuple):
        operator, left, right = tree
        if operator == "not":
            return not _holds(left, held)
        both = (_holds(left, held), _holds(right, held))
        return all(both) if operator == "and" else any(both)
    return tree in held


def test_the_documented_language_is_the_modules() -> None:
    """docs/arguments.md has the table of the module's own description, and its examples are expressions."""
    described = re.findall(r"^(``.*?``) {2,}(.+)$", expression.__doc__ or "", re.MULTILINE)
    said = markdown.tables(markdown.section((ROOT / "docs/arguments.md").read_text(), "Topics"))[0]
    assert said == [[name.replace("``", "`"), " ".join(how.replace("``", "`").split())] for name, how in described]
    for sample in (span for row in said[:-1] for span in markdown.spans(row[0])):
        Expression.parse(sample.replace("a", "aa").replace("b", "bb") if len(sample) < 9 else sample)


# --- ranking


def test_the_best_copy_is_first() -> None:
    """A copy is the better the more a word weighs in it; a word that all copies have tells less than a rare one."""
    copies = {
        "many": {"site": 300.0, "sqlite": 200.0},
        "few": {"site": 300.0, "sqlite": 3.0},
        "none": {"site": 300.0},
        "rare": {"site": 1.0, "backup": 50.0},
    }

    def order(text: str) -> list[str]:
        documents = [(Path(name), KeyWords(words=held)) for name, held in copies.items()]
        return [str(match.copy) for match in ranked(Expression.parse(text), documents)]

    assert order("sqlite") == ["many", "few"]
    assert order("site") == ["few", "many", "none", "rare"]
    assert order("not sqlite") == ["none", "rare"]
    assert order("postgres") == []
    (best, _) = ranked(Expression.parse("sqlite site"), [(Path(n), KeyWords(words=h)) for n, h in copies.items()])
    assert list(best.words) == ["sqlite", "site"]


def test_the_users_words_come_first() -> None:
    """A word that the user gave for a copy outweighs any that the crawl has found."""
    given_words = (Path("given"), KeyWords(keywords="sqlite"))
    found = (Path("found"), KeyWords(words={"sqlite": 600.0}))
    assert [match.copy for match in ranked(Expression.parse("sqlite"), [found, given_words])] == [
        Path("given"),
        Path("found"),
    ]


# --- one line for a person


@settings(deadline=None, max_examples=300)
@given(st.text(), st.integers(10, 50))
@example("0\r\ue000\r0", 10)
def test_one_line_is_one_line(text: str, limit: int) -> None:
    """Whatever the text, what is shown is one line of bounded length that steers nothing."""
    shown = one_line(text, limit)
    assert len(shown) <= limit
    assert all(character.isprintable() or character in "\u200c\u200d" for character in shown)
    assert one_line(shown, limit) == shown


def test_one_line_of_megabytes() -> None:
    """Ten megabytes are cut before anything else is done with them, and the cut is shown."""
    began = time.process_time()
    assert one_line("\u202ex " * 5_000_000, 20) == "x x x x x x x x x..."[:20]
    assert time.process_time() - began < 0.1
