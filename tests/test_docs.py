"""The documentation says what the code does: nothing undocumented, nothing documented that is gone."""

from __future__ import annotations

import re
import sqlite3
import tomllib
from dataclasses import fields
from enum import StrEnum
from inspect import cleandoc
from pathlib import Path

import pytest
from scrapy.settings import default_settings as scrapys

from spiderproj import scope
from spiderproj.arguments import Gate, Mode, Sitemap, Unique, markdown_table, parse_arguments
from spiderproj.arguments.values import Given, level_types
from spiderproj.filters import NAMES, Filter, language
from spiderproj.items import LinkItem
from spiderproj.levels import home_of, level
from spiderproj.login import file as login_file
from spiderproj.login import read_login
from spiderproj.mediatype import predict, resource_type
from spiderproj.models import Level, Reason, ResourceType
from spiderproj.order import Order
from spiderproj.store import schema
from spiderproj.urls import canonical, split
from tests import markdown
from tests.source_code import ROOT, exit_statuses, texts, texts_given_to

ARGUMENTS_MD = (ROOT / "docs/arguments.md").read_text()
STORAGE_MD = (ROOT / "docs/storage.md").read_text()
SEED = "https://example.org/docs/guide/intro.html"


def part(title: str) -> str:
    """Return a section of docs/arguments.md."""
    return markdown.section(ARGUMENTS_MD, title)


# --- arguments


def test_argument_table_is_the_codes() -> None:
    """The table of arguments is, to the letter, the one that the code gives."""
    assert markdown_table().strip() in ARGUMENTS_MD


@pytest.mark.parametrize(
    ("title", "kind"),
    [
        ("Levels", Level),
        ("Types", ResourceType),
        ("Modes", Mode),
        ("Order", Order),
        ("Gate", Gate),
        ("Sitemaps", Sitemap),
        ("Duplicates", Unique),
        ("Reasons", Reason),
    ],
)
def test_every_word_has_its_row(title: str, kind: type[StrEnum]) -> None:
    """The section's table has a row, with something in it, for each word of the enumeration."""
    rows = markdown.table(part(title))
    assert set(rows) == {member.value for member in kind}
    assert all(all(cells) for cells in rows.values())


@pytest.mark.parametrize("mode", list(Mode))
def test_default_select_of_a_mode(mode: Mode, tmp_path: Path) -> None:
    """The ``select`` beside a mode is the one it has by default."""
    text = markdown.spans(markdown.table(part("Modes"))[mode][1])[0]
    assert (
        level_types(Given("select", text, tmp_path)) == parse_arguments({"seed": SEED, "mode": mode}, tmp_path).select
    )


def test_examples_of_levels_and_types_are_right() -> None:
    """Each example URL lies on its level; each example of a media type or an ending is of its type."""
    assert SEED in markdown.spans(part("Levels"))
    for name, (_, example) in markdown.table(part("Levels")).items():
        url = canonical(markdown.spans(example)[0])
        assert level(split(url), [home_of(SEED)]) == name, url
    for name, (media_types, endings) in markdown.table(part("Types")).items():
        assert {resource_type(essence) for essence in markdown.spans(media_types)} == {name}
        assert {predict(f"/a.{ending}", None) for ending in markdown.spans(endings)} == {name}


def test_examples_of_select_are_right(tmp_path: Path) -> None:
    """Each example of ``select`` is one that the argument takes."""
    for text in markdown.table(part("Select")):
        assert level_types(Given("select", text, tmp_path))


def test_filter_section_is_the_modules() -> None:
    """Names, operators and examples of ``filter`` are those of the language's own description, and parse."""
    described = cleandoc(language.__doc__ or "")
    _, body, _ = re.split(r"^=+ +=+\n", described, flags=re.MULTILINE)
    rows = re.findall(r"^(\S.*?) {2,}(.*(?:\n {20,}.*)*)", body, re.MULTILINE)
    said = [(name, " ".join(how.replace("``", "`").split())) for name, how in rows]
    assert said
    assert markdown.tables(part("Filter"))[0] == [list(row) for row in said]

    examples = re.findall(r"^    (.+)$", described.partition("Examples::")[2], re.MULTILINE)
    assert markdown.indented(part("Filter")) == examples
    for example in examples:
        assert Filter.parse(example).names


def test_a_filter_has_the_values_of_its_names() -> None:
    """Filters and hooks get a value for each name of the section "Filter", and no other."""
    table = markdown.table(part("Filter"))
    named = {name for row in ("names of text", "names of numbers") for name in markdown.spans(table[row][0])}
    assert named == set(NAMES) == set(scope.values(SEED, Level.PAGE, None, 0))


def test_example_of_the_hooks_runs() -> None:
    """The functions of the example take what a hook is given, before and after the size is known."""
    own: dict[str, object] = {}
    (example,) = markdown.fenced(part("Your own functions"), "python")
    exec(example, own)
    functions = [value for name, value in own.items() if callable(value) and not name.startswith("_")]
    assert len(functions) == 2
    for size in (None, 1):
        values = scope.values(SEED, Level.PAGE, None, 0, size=size)
        assert all(isinstance(function(values), bool | int) for function in functions)
    for name in ("SPIDERPROJ_FILTER", "SPIDERPROJ_ORDER"):
        assert name in markdown.spans(part("Your own functions"))


def test_example_of_login_is_read(tmp_path: Path) -> None:
    """The example login file parses, and shows every key that there is."""
    (text,) = markdown.fenced(part("Login"), "toml")
    for name in re.findall(r'"(?:file:)?([\w.]+\.(?:txt|png))"', text):
        (tmp_path / name).write_text("x")
    (tmp_path / "login.toml").write_text(text)
    login = read_login(tmp_path / "login.toml", dict.fromkeys(re.findall(r'"env:(\w+)"', text), "secret"))
    assert login.form is not None
    assert login.form.files
    assert login.cookies

    shown = set(re.findall(r"\w+", re.sub(r"\s#.*|\"[^\"]*\"", "", text)))
    assert texts_given_to("check_keys", login_file) <= shown
    assert tomllib.loads(text)


# --- what a crawl leaves


def test_links_of_a_feed_have_the_fields_of_the_file() -> None:
    """``-O`` gives the fields of links.jsonl."""
    assert [field.name for field in fields(LinkItem)] == list(markdown.table(part("links.jsonl")))


def test_exit_statuses() -> None:
    """The table of exit statuses has those that the code can end with, and no other."""
    said = {int(row[0]) for row in markdown.tables(part("Exit status"))[0]}
    assert said == exit_statuses()


def test_scrapys_settings_have_scrapys_names() -> None:
    """The settings that keep their names are Scrapy's; our code does not read those said to have no effect."""
    kept, dropped = markdown.tables(part("Scrapy settings that keep their names"))
    for name in [markdown.spans(row[0])[0] for row in kept + dropped]:
        assert hasattr(scrapys, name), name
    assert not {markdown.spans(row[0])[0] for row in dropped} & texts()


# --- storage


def test_storage_has_every_table_and_column() -> None:
    """docs/storage.md names each table with all its columns, each view, and no table that is gone."""
    database = sqlite3.connect(":memory:")
    database.executescript(schema.TABLES)
    query = "SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
    kinds = dict(database.execute(query).fetchall())
    said = markdown.table(markdown.section(STORAGE_MD, "The store"))
    assert set(said) == {name for name, kind in kinds.items() if kind == "table"}
    for name, (_, columns) in said.items():
        wanted = {column for (column,) in database.execute("SELECT name FROM pragma_table_info(?)", (name,))}
        assert wanted <= set(markdown.spans(re.sub(r"\([^)]*\)", "", columns))), name
    assert {name for name, kind in kinds.items() if kind == "view"} <= set(markdown.spans(STORAGE_MD))
