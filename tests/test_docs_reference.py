"""docs/settings.md and docs/stats.md, and the fields of the output files, are those of the code and of a crawl."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from dataclasses import fields
from importlib import import_module
from typing import TYPE_CHECKING, get_type_hints

import pytest
import pytest_twisted
from scrapy.settings import BaseSettings
from scrapy.settings import default_settings as scrapys
from scrapy.utils.misc import load_object

from spiderproj import default_settings, settings
from spiderproj.addon import Addon
from spiderproj.downloader import errors, pool
from spiderproj.gate import GateCounts
from spiderproj.pipelines.ledger import REDIRECT_LOOP
from spiderproj.store.figures import Figures
from tests import markdown
from tests.crawling import Crawled, crawl
from tests.routes import link, page
from tests.site import Site
from tests.source_code import ROOT, stats_published, texts, texts_given_to

if TYPE_CHECKING:
    from types import ModuleType

ARGUMENTS_MD = (ROOT / "docs/arguments.md").read_text()
SETTINGS_MD = (ROOT / "docs/settings.md").read_text()
STATS_MD = (ROOT / "docs/stats.md").read_text()
ENTRIES = {
    name: " ".join(text.split())
    for title in ("Ours", "Scrapy's, to be changed", "Scrapy's, that the engine needs")
    for name, text in markdown.subsections(SETTINGS_MD, title).items()
}
UNITS = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "h": 3600}
MISSING = object()

each_setting = pytest.mark.parametrize("name", [name for name in vars(default_settings) if name.isupper()])


def stats_of(title: str) -> set[str]:
    """Return the stats in the table of a section of docs/stats.md."""
    return set(markdown.table(markdown.section(STATS_MD, title)))


# --- settings


def test_every_setting_has_an_entry() -> None:
    """The entries of docs/settings.md are the settings of ``default_settings``, ours under "Ours"."""
    assert set(ENTRIES) == {name for name in vars(default_settings) if name.isupper()}
    ours = markdown.subsections(SETTINGS_MD, "Ours")
    assert set(ours) == {name for name in ENTRIES if name.startswith("SPIDERPROJ_")}


@each_setting
def test_default_of_a_setting(name: str) -> None:
    """An entry begins with the default, and with Scrapy's where that is another."""
    entry, value = ENTRIES[name], getattr(default_settings, name)
    found = re.match(r"Default `([^`]+)`(?: \((\d+) ([KMG]iB)\b)?", entry)
    assert found is not None
    assert repr(ast.literal_eval(found[1])) == repr(value)
    assert not found[2] or int(found[2]) * UNITS[found[3]] == value
    scrapys_own = getattr(scrapys, name, MISSING)
    assert ("Scrapy: " in entry.partition(" Read by")[0]) == (scrapys_own is not MISSING and scrapys_own != value)
    if said := re.search(r"Scrapy: `([^`]+)`", entry):
        assert ast.literal_eval(said[1]) == scrapys_own


@each_setting
def test_reader_of_a_setting(name: str) -> None:
    """An entry names what reads the setting, or says that nothing does yet."""
    entry = ENTRIES[name]
    if "Not read yet" in entry:
        assert name not in texts()
        return
    readers = re.match(r".*? Read by (`[^`]+`(?: and `[^`]+`)*)", entry)
    assert readers is not None
    for path in markdown.spans(readers[1]):
        modules = _modules_of(load_object(path))
        assert any(f'"{name}"' in inspect.getsource(module) for module in modules), path


def test_the_code_reads_no_other_setting_of_ours() -> None:
    """A name of ours in the code is a setting with a default, or a variable of the section "Environment"."""
    read = {name for name in texts() if re.fullmatch("SPIDERPROJ_[A-Z_]+", name)}
    assert set(markdown.table(markdown.section(SETTINGS_MD, "Environment"))) == read - set(ENTRIES)


def test_settings_of_the_project_are_documented() -> None:
    """The table of the project's own settings file has its settings and values."""
    rows = markdown.table(markdown.section(SETTINGS_MD, "This project's own settings file"))
    said = {name: ast.literal_eval(markdown.spans(row[0])[0]) for name, row in rows.items()}
    assert said == {name: value for name, value in vars(settings).items() if name.isupper()}


def test_components_are_documented() -> None:
    """The table of components has those that the add-on puts in, at their places."""
    empty = BaseSettings()
    Addon().update_settings(empty)
    names = ("DOWNLOADER_MIDDLEWARES", "SPIDER_MIDDLEWARES", "ITEM_PIPELINES", "EXTENSIONS")
    placed = {path: place for name in names for path, place in empty.getdict(name).items() if place is not None}
    rows = markdown.table(markdown.section(SETTINGS_MD, "Components"))
    assert {path: int(row[0]) for path, row in rows.items()} == placed


@pytest.mark.parametrize("row", markdown.tables(markdown.section(SETTINGS_MD, "Limits that are no settings"))[0])
def test_limits_are_the_constants(row: list[str]) -> None:
    """A limit's value is that of the constant beside it."""
    _, value, constant = row
    number, _, unit = value.partition(" ")
    module, _, name = markdown.spans(constant)[0].rpartition(".")
    assert int(number.replace(",", "")) * UNITS.get(unit, 1) == getattr(import_module(module), name)


def _modules_of(reader: type) -> list[ModuleType]:
    """Return the modules in which *reader* and its bases are defined, Python's own left out."""
    owners = inspect.getmro(reader) if isinstance(reader, type) else (reader,)
    return [sys.modules[owner.__module__] for owner in owners if owner.__module__.startswith(("spiderproj", "scrapy"))]


# --- stats


def test_figures_are_documented() -> None:
    """Each figure of the store that is a number, and each group of them, has its row."""
    numbers = {f"spiderproj/{name}" for name, kind in get_type_hints(Figures).items() if kind is int}
    assert {name for name in stats_of("The crawl") if "<" not in name} == numbers


def test_counts_of_the_gate_are_documented() -> None:
    """Each count of the gate has its row."""
    assert stats_of("The gate") == {f"spiderproj/gate/{field.name}" for field in fields(GateCounts)}


def test_events_of_connections_are_documented() -> None:
    """Each event that the pool of connections counts has its row."""
    assert stats_of("Connections") == {f"spiderproj/connections/{name}" for name in texts_given_to("_count", pool)}


def test_kinds_of_errors_are_documented() -> None:
    """Each kind of failure of a fetch has its row."""
    classes = [one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, errors.FetchError)]
    assert stats_of("Kinds of errors") == {one.kind for one in classes} | {REDIRECT_LOOP}


def test_every_stat_in_the_code_is_documented() -> None:
    """Each stat that the code names is one of docs/stats.md, and each of its groups is published somewhere."""
    said = {name for rows in markdown.tables(STATS_MD) for row in rows for name in markdown.spans(row[0])}
    said = {name for name in said if name.startswith("spiderproj/")}
    published = stats_published()
    for name in published:
        assert any(re.fullmatch(name.replace("<>", ".+"), stat) for stat in said), name
    for stat in said:
        assert any(re.fullmatch(name.replace("<>", ".+"), stat) for name in published), stat


# --- a crawl


@pytest_twisted.async_fixture(scope="module")
async def crawled(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    """Return a crawl with a page, a link that is refused, a page that is not there and a HEAD."""
    with Site([page("/", link("/a", "/gone", "/data.json", "mailto:a@b")), page("/a")]) as site:
        return await crawl(f"{site.base}/", tmp_path_factory.mktemp("docs") / "out", mirror="1")


@pytest.mark.parametrize("name", ["links", "pages", "refused"])
def test_fields_of_the_lines(crawled: Crawled, name: str) -> None:
    """Every line of a file has the fields of its table, in its order."""
    rows = getattr(crawled, name)
    assert rows
    for row in rows:
        assert list(row) == list(markdown.table(markdown.section(ARGUMENTS_MD, f"{name}.jsonl")))


def test_fields_of_the_summary(crawled: Crawled) -> None:
    """The summary has the fields of its table, in its order, and so has its audit of a mirror."""
    assert list(crawled.summary) == list(markdown.table(markdown.section(ARGUMENTS_MD, "summary.json")))
    assert list(crawled.summary["references"]) == list(markdown.table(markdown.section(ARGUMENTS_MD, "Mirror")))


def test_stats_of_a_crawl(crawled: Crawled) -> None:
    """The stats that a crawl publishes are documented; the figures, the gate's and some of each group are published."""
    assert crawled.crawler.stats is not None
    published = {name for name in crawled.crawler.stats.get_stats() if name.startswith("spiderproj/")}
    said = {name for rows in markdown.tables(STATS_MD) for row in rows for name in markdown.spans(row[0])}
    shapes = {stat: re.sub("<[^>]+>", ".+", stat) for stat in said if stat.startswith("spiderproj/")}
    for name in published:
        assert any(re.fullmatch(shape, name) for shape in shapes.values()), name
    for stat in stats_of("The crawl") | stats_of("The gate") | stats_of("The event loop"):
        assert any(re.fullmatch(shapes[stat], name) for name in published), stat
