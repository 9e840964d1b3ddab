"""The arguments of the ``site`` spider: every right value is read, every wrong one is one clear line."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spiderproj.arguments import (
    ARGUMENTS,
    CrawlOptions,
    Mode,
    PatternText,
    differences,
    markdown_table,
    parse_arguments,
)
from spiderproj.errors import ArgumentError, StoreDamagedError
from spiderproj.models import Level, ResourceType
from spiderproj.order import Order

HTML, IMAGE = ResourceType.HTML, ResourceType.IMAGE
EVERY = frozenset(ResourceType)
SEED = "https://example.org/docs/"


def parse(tmp_path: Path, seed: str = SEED, /, **raw: str) -> CrawlOptions:
    """Return the options that *raw* means beside a seed."""
    return parse_arguments({"seed": seed, **raw}, tmp_path)


def refusal(tmp_path: Path, raw: dict[str, str]) -> ArgumentError:
    """Return the error that *raw* raises, known to be one short line."""
    with pytest.raises(ArgumentError) as caught:
        parse_arguments({"seed": SEED, **raw}, tmp_path)
    message = str(caught.value)
    assert message.isprintable()
    assert message.isascii()
    assert len(message) <= 400
    assert caught.value.exit_status == 2
    return caught.value


HOSTILE = ["", " ", "\n", "1\n0", "\0", "$(id); `id` | x", "x" * 1_000_000, "\ud800", "\x1b[31mred"]

WRONG: dict[str, list[str]] = {
    "seed": ["", " \n", "ftp://h/", "mailto:a@b.c", "http://", "http://h:99999/", "https://u:p@h/", "@", "@nothing.txt",
             "http://h/" + "x" * 2100, "a @list", "https://h/\x01", "http://[::1", "javascript:alert(1)", "data:,x"],
    "mode": [*HOSTILE, "Local", "directories"],
    "select": ["", " ;", "page", "page:", "pgae:html", "page:htm", "page:none", ":html", "page:html,", "page:html,none",
               "page: html", "\0:html", "page:html other:" + "x" * 1_000_000],
    "near": [*HOSTILE, "true", "yes", "2", "01"],
    "requisites": [*HOSTILE, "on"],
    "depth": [*HOSTILE, "-1", "1.5", "٣", "1e3", "9999999999", "+1"],
    "allow": ["", "  ", "a\nb", "\0", "x" * 10_001, "\ud800", "@", "@nothing.txt", "@."],
    "deny": ["", "  ", "a\nb", "\0", "x" * 10_001, "\ud800", "@", "@nothing.txt", "@."],
    "deny_types": [*HOSTILE, "vidoe", "html,none", ",", "all"],
    "filter": ["", "  ", "a\nb", "\0", "x" * 1_000_000, "\x1b[0m", "\ud800"],
    "order": [*HOSTILE, "depht", "random"],
    "gate": [*HOSTILE, "HEAD", "heads"],
    "sitemap": [*HOSTILE, "1", "yes"],
    "unique": [*HOSTILE, "1", "extact"],
    "mirror": [*HOSTILE, "yes"],
    "warc": [*HOSTILE, "yes"],
    "render": [*HOSTILE, "1", "allways"],
    "window": [*HOSTILE, "22:00", "24:00-06:00", "22:60-06:00", "+0h", "+h", "8h", "22:00-22:00", "+8h\n",
               "٢٢:00-06:00"],
    "window_end": [*HOSTILE, "end"],
    "login": ["", " ", "nothing.toml", ".", "\0", "x" * 300, "x" * 1_000_000, "a\nb", "~nobody-of-that-name/x"],
    "keywords": ["", "  ", "a\nb", "\0", "x" * 1_000_000, "\ud800", "\x9b31m"],
    "out": ["", "  ", "a\nb", "\0", "x" * 1_001, "\ud800", "\x1b", "~nobody-of-that-name/x"],
    "fresh": [*HOSTILE, "yes"],
}  # fmt: skip


def test_every_argument_has_wrong_values() -> None:
    """The table of wrong values covers each argument of the product with five at least."""
    assert set(WRONG) == {argument.name for argument in ARGUMENTS}
    assert min(map(len, WRONG.values())) >= 5


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in WRONG.items() for value in values],
                         ids=lambda text: ascii(text)[:30])  # fmt: skip
def test_a_wrong_value_is_one_line(tmp_path: Path, name: str, value: str) -> None:
    """A wrong value raises ArgumentError that names the argument, shows the value and says what is expected."""
    error = refusal(tmp_path, {name: value})
    assert error.name == name
    assert str(error).startswith(f"{name}='")
    assert error.expected


RIGHT: list[tuple[dict[str, str], str, object]] = [
    ({}, "mode", Mode.LOCAL),
    ({"mode": "files"}, "mode", "files"),
    ({}, "near", False),
    ({"near": "1"}, "near", True),
    ({}, "requisites", False),
    ({"mirror": "1"}, "requisites", True),
    ({"requisites": "1"}, "requisites", True),
    ({}, "depth", None),
    ({"depth": "0"}, "depth", 0),
    ({"depth": "12"}, "depth", 12),
    ({"deny_types": "video, audio"}, "deny_types", frozenset({"video", "audio"})),
    ({"deny_types": "none"}, "deny_types", frozenset()),
    ({}, "filter", None),
    ({"filter": "depth < 3 and host == 'a'"}, "filter", "depth < 3 and host == 'a'"),
    ({}, "order", Order.BREADTH),
    ({"mode": "directory"}, "order", Order.SECTION),
    ({"mode": "directory", "order": "files"}, "order", Order.FILES),
    ({}, "gate", "auto"),
    ({"sitemap": "only"}, "sitemap", "only"),
    ({"unique": "learn"}, "unique", "learn"),
    ({"render": "auto"}, "render", "auto"),
    ({"window": "22:00-06:30"}, "window", "22:00-06:30"),
    ({"window": "+8h", "window_end": "stop"}, "window_end", "stop"),
    ({"keywords": "öffentliche Räume"}, "keywords", "öffentliche Räume"),
    ({"fresh": "1"}, "fresh", True),
    ({"_job": "6f2", "_version": "3"}, "fresh", False),
]


@pytest.mark.parametrize(("raw", "field", "expected"), RIGHT)
def test_a_right_value_is_read(tmp_path: Path, raw: dict[str, str], field: str, expected: object) -> None:
    """A right value, and what holds without one, arrive typed."""
    assert getattr(parse(tmp_path, **raw), field) == expected


SELECTS: list[tuple[dict[str, str], dict[str, set[str]]]] = [
    ({}, {"page": {"html"}, "child": {"html"}, "parent": {"html"}, "host": {"html"}}),
    ({"mode": "all"}, {level: {"html"} for level in Level}),
    ({"mode": "directory"}, {"page": set(EVERY), "child": {"html"}, "parent": {"image"}}),
    ({"mode": "files"}, {level: set(EVERY - {HTML}) for level in Level}),
    ({"select": "page:all child:html,document parent:image"},
     {"page": set(EVERY), "child": {"html", "document"}, "parent": {"image"}}),
    ({"select": "page,child:html;child:image ; host:none"}, {"page": {"html"}, "child": {"html", "image"}}),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "expected"), SELECTS)
def test_select(tmp_path: Path, raw: dict[str, str], expected: dict[str, set[str]]) -> None:
    """Every level has its types: by mode, or exactly those that select names, a level named twice getting both."""
    assert parse(tmp_path, **raw).select == {level: expected.get(level, set()) for level in Level}


SEEDS: list[tuple[str, list[str], dict[str, str]]] = [
    ("http://Example.org:80/a#b", ["http://example.org/a"], {}),
    ("example.org/a", ["https://example.org/a"], {"https://example.org/a": "http://example.org/a"}),
    ("localhost:8000", ["https://localhost:8000/"], {"https://localhost:8000/": "http://localhost:8000/"}),
    (" http://a/\n\thttp://b/  http://a ", ["http://a/", "http://b/"], {}),
    ("http:\\\\a\\b", ["http://a/b"], {}),
    ("http://h/@user", ["http://h/@user"], {}),
]


@pytest.mark.parametrize(("text", "urls", "fallbacks"), SEEDS)
def test_seeds(tmp_path: Path, text: str, urls: list[str], fallbacks: dict[str, str]) -> None:
    """Seeds become canonical, each once and in order; one without a scheme is https first, http second."""
    options = parse(tmp_path, text)
    assert options.seeds == tuple(urls)
    assert options.seed_fallbacks == fallbacks


def test_seed_file(tmp_path: Path) -> None:
    """A seed list may have a BOM, CR LF, blank lines, comments, bare hosts and the lines of refused.jsonl."""
    rows = [{"url": "http://c/", "reason": "robots"}, {"url": "mailto:x@y", "reason": "scheme"}]
    lines = ["\ufeffhttp://a/  # the first", "", "# all of it", "b/#top", "  ", *map(json.dumps, rows), "http://a/"]
    (tmp_path / "my list.txt").write_bytes("\r\n".join(lines).encode())
    assert parse(tmp_path, "@my list.txt").seeds == ("http://a/", "https://b/", "http://c/")


BAD_LINES = [b"ftp://h/", b"not a url", b"http://h:x/", b"\x89PNG\r", b"http://h/\0", b"{", b"{}", b'{"url": 3}',
             b"[" * 60_000, b'{"url":' * 9_000, b"x" * 70_000, "http://h/".encode("utf-16"),
             b"http://u:p@h/"]  # fmt: skip


@pytest.mark.parametrize("line", BAD_LINES, ids=lambda line: ascii(line)[:20])
def test_a_bad_line_is_named_by_its_number(tmp_path: Path, line: bytes) -> None:
    """A line that is no URL ends the command, with its number; it is never passed over."""
    (tmp_path / "seeds").write_bytes(b"http://a/\n# two\n" + line + b"\nhttp://b/\n")
    assert "line 3" in str(refusal(tmp_path, {"seed": "@seeds"}))


def test_a_seed_file_without_seeds(tmp_path: Path) -> None:
    """A list of nothing but comments is no seed."""
    (tmp_path / "seeds").write_text("# nothing\n\n")
    assert refusal(tmp_path, {"seed": "@seeds"}).name == "seed"


def test_a_long_seed_file_takes_little_memory(tmp_path: Path) -> None:
    """Comments cost nothing, however many; a seed costs about as much as its text."""
    (tmp_path / "seeds").write_text("# a comment of some length, of no use\n" * 50_000 + "http://h/\n" * 1_000)
    tracemalloc.start()
    assert parse(tmp_path, "@seeds").seeds == ("http://h/",)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 500_000


@pytest.mark.parametrize(
    "seed",
    ["https://user:hunter2@h/", "user:hunter2@h", "http://user:hun/ter2@h/", "http:\\\\u:hunter2@h", "hunter2@h"],
)
def test_a_password_in_a_seed_is_refused_and_not_shown(tmp_path: Path, seed: str) -> None:
    """A seed with user and password is an error that points to login and does not repeat the secret."""
    message = str(refusal(tmp_path, {"seed": f"http://ok/ {seed}"}))
    assert "hun" not in message
    assert "login=" in message or "a URL such as" in message


def test_patterns_are_collected_in_order(tmp_path: Path) -> None:
    """Patterns given again come in the order of their numbers; those of a file know their line."""
    (tmp_path / "deny.txt").write_text("/a # why\n\n# none\n/b\n")
    options = parse(tmp_path, **{"allow.10": "z", "allow": "x", "allow.2": "y", "deny.1": "@deny.txt"})
    assert [pattern.text for pattern in options.allow] == ["x", "y", "z"]
    assert options.deny == (
        PatternText("deny.1 (line 1 of the file)", "/a"),
        PatternText("deny.1 (line 4 of the file)", "/b"),
    )


@pytest.mark.parametrize("content", [b"", b"# none\n", b"\xff\n", b"a\0b\n", b"x" * 20_000, b"x\n" * 10_001])
def test_a_bad_pattern_file(tmp_path: Path, content: bytes) -> None:
    """A pattern file that is empty, binary or absurdly large is an error."""
    (tmp_path / "deny.txt").write_bytes(content)
    assert refusal(tmp_path, {"deny.3": "@deny.txt"}).name.startswith("deny.3")


UNKNOWN = [("dept", "depth"), ("Mode", "mode"), ("deny.x", "deny"), ("allow.01", "allow"), ("allow.", "allow"),
           ("denytypes", "deny_types"), ("seeds", "seed"), ("windowend", "window_end"),
           ("mirror.1", "mirror")]  # fmt: skip


@pytest.mark.parametrize(("name", "nearest"), UNKNOWN)
def test_an_unknown_argument_gets_the_nearest_name(tmp_path: Path, name: str, nearest: str) -> None:
    """An unknown argument is an error that names it and the right name nearest to it."""
    error = refusal(tmp_path, {name: "x"})
    assert error.name == name
    assert error.expected.endswith(f" {nearest}")


@pytest.mark.parametrize("name", ["", "x" * 1_000_000, "a\nb", "\0", "\ud800", "é" * 999])
def test_a_hostile_name_is_one_line(tmp_path: Path, name: str) -> None:
    """Any name at all gives one short line."""
    refusal(tmp_path, {name: "1"})


AT_ODDS: list[tuple[dict[str, str], str]] = [
    ({"mode": "files", "depth": "2"}, "depth"),
    ({"mode": "all", "near": "1"}, "near"),
    ({"mode": "files", "sitemap": "only"}, "sitemap"),
    ({"mirror": "1", "requisites": "0"}, "requisites"),
    ({"deny_types": "html"}, "deny_types"),
    ({"window_end": "stop"}, "window_end"),
]


@pytest.mark.parametrize(("raw", "name"), AT_ODDS)
def test_contradictions(tmp_path: Path, raw: dict[str, str], name: str) -> None:
    """Arguments that cannot hold together are an error that names one of them."""
    assert refusal(tmp_path, raw).name == name


def test_the_seed_is_required(tmp_path: Path) -> None:
    """Without a seed there is no crawl."""
    with pytest.raises(ArgumentError, match=r"^seed="):
        parse_arguments({}, tmp_path)


FOLDERS = [("http://h/a", "h"), ("http://h:8080/", "h_8080"), ("http://[::1]:8080/", "___1__8080"),
           ("http://../", "_."), ("http://a$b;c/", "a_b_c"), ("http://-x/", "_x"),
           ("http://" + "a." * 500, ("a." * 500)[:200]),
           ("http://bücher.example/", "xn--bcher-kva.example")]  # fmt: skip


@pytest.mark.parametrize(("seed", "name"), FOLDERS)
def test_the_default_folder_is_one_safe_name(tmp_path: Path, seed: str, name: str) -> None:
    """Without ``out`` everything goes to one folder below crawls, whatever the seed's host looks like."""
    assert parse(tmp_path, seed).out == tmp_path / "crawls" / name


def test_paths_are_seen_from_the_working_folder(tmp_path: Path) -> None:
    """Relative paths begin at the working folder, absolute ones stand."""
    (tmp_path / "in.toml").touch()
    options = parse(tmp_path, out="copies/one", login="in.toml")
    assert (options.out, options.login) == (tmp_path / "copies/one", tmp_path / "in.toml")
    assert parse(tmp_path, out="/srv/copy").out == Path("/srv/copy")


BELONGING: list[dict[str, str]] = [
    {"select": "page:all"}, {"near": "1"}, {"requisites": "1"}, {"depth": "3"}, {"allow": "a"}, {"deny": "a"},
    {"deny_types": "image"}, {"filter": "x"}, {"sitemap": "on"}, {"mode": "files", "select": "page:all"},
]  # fmt: skip
OTHERS: list[dict[str, str]] = [{"order": "depth"}, {"gate": "get"}, {"out": "elsewhere"}, {"fresh": "1"},
                                {"unique": "off"}]  # fmt: skip


@pytest.mark.parametrize("raw", [*BELONGING, *OTHERS])
def test_differences(tmp_path: Path, raw: dict[str, str]) -> None:
    """Differences and fingerprint see exactly the arguments that change which URLs belong."""
    old, new = parse(tmp_path), parse(tmp_path, **raw)
    expected = list(raw) if raw in BELONGING else []
    assert differences(old, new) == expected
    assert (old.fingerprint() != new.fingerprint()) is bool(expected)


def test_the_order_of_lists_is_no_difference(tmp_path: Path) -> None:
    """The same seeds and patterns in another order are the same crawl."""
    old = parse(tmp_path, "http://a/ http://b/", **{"deny": "x", "deny.1": "y"})
    new = parse(tmp_path, "http://b/ http://a/", **{"deny": "y", "deny.7": "x"})
    assert differences(old, new) == []
    assert differences(old, parse(tmp_path, "http://a/")) == ["seed", "deny"]


def test_json_gives_the_options_back(tmp_path: Path) -> None:
    """What is stored is read back equal, types included, on one line."""
    (tmp_path / "in.toml").touch()
    options = parse(
        tmp_path, "example.org http://b/", mode="directory", allow="ä", deny="b", deny_types="video", filter="x",
        depth="3", window="+8h", login="in.toml", keywords="k", near="1", mirror="1",
    )  # fmt: skip
    text = options.to_json()
    again = CrawlOptions.from_json(text)
    assert again == options
    assert list(map(type, vars(again).values())) == list(map(type, vars(options).values()))
    assert again.to_json() == text
    assert "\n" not in text


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "null", "{}", '{"x":1}', "[" * 100_000, '{"mode":"x"}'])
def test_damaged_json_is_said_to_be_damaged(text: str) -> None:
    """Stored text that is something else raises StoreDamagedError, nothing else."""
    with pytest.raises(StoreDamagedError):
        CrawlOptions.from_json(text)


def test_the_markdown_table_has_every_argument_and_one_sentence() -> None:
    """The table for the documentation has a row of four cells for each argument, its meaning one sentence."""
    rows = markdown_table().splitlines()[2:]
    assert [row.split("`")[1] for row in rows] == [argument.name for argument in ARGUMENTS]
    assert all(row.count(" | ") == 3 for row in rows)
    assert all(argument.meaning.endswith(".") for argument in ARGUMENTS)


NAMES = st.sampled_from([argument.name for argument in ARGUMENTS]) | st.text(max_size=20)
WORDS = st.sampled_from(
    ["page", "html", "all", "none", "0", "1", ":", ",", ";", "http://", "@", "h", "#", "+", "22:00-"]
)
TEXTS = st.text(max_size=60) | st.lists(WORDS, max_size=8).map("".join)


@settings(deadline=None, max_examples=200)
@given(st.dictionaries(NAMES, TEXTS, max_size=4))
def test_any_text_is_read_or_refused_in_one_line(raw: dict[str, str]) -> None:
    """Whatever is given, it is understood and survives storing, or it raises one printable line."""
    message = ""
    try:
        options = parse_arguments({"seed": SEED, **raw}, Path("/nowhere"))
        assert CrawlOptions.from_json(options.to_json()) == options
    except ArgumentError as error:
        message = str(error)
    assert message.isprintable()
    assert len(message) <= 400
