"""Links, commands, arguments and settings in every Markdown file are ones that there are."""

from __future__ import annotations

import re
import shlex
from itertools import pairwise
from pathlib import Path
from pkgutil import iter_modules

import pytest
import scrapy.commands
from scrapy.settings import default_settings as scrapys
from scrapy.spiderloader import SpiderLoader

from spiderproj import default_settings, settings
from spiderproj.arguments import ARGUMENTS, parse_arguments
from tests import markdown
from tests.crawling import project_settings
from tests.source_code import ROOT, command_names

DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("[!.]*/*.md")])
COMMANDS = markdown.section((ROOT / "docs/arguments.md").read_text(), "Commands")
SEED = "https://example.org/"
NAMES = {argument.name for argument in ARGUMENTS}
OURS = command_names()
SPIDERS = set(SpiderLoader(project_settings()).list())

each_document = pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))


def codes(text: str) -> list[str]:
    """Return all code of a document: spans, indented lines and fenced ones."""
    return [*markdown.spans(text), *markdown.indented(text), *"\n".join(markdown.fenced(text)).splitlines()]


def words(line: str) -> list[str]:
    """Return the words of a command as a shell splits them; none when it is no whole command."""
    try:
        return shlex.split(line)
    except ValueError:
        return []


def given_with(option: str, text: str) -> list[tuple[str, str]]:
    """Return name and value of each *option* (-a, -s) in the code of a document."""
    found = []
    for line in codes(text):
        split_line = words(line.replace('ARGS="', "").replace("'\"", "'"))
        found += [word for before, word in pairwise(split_line) if before == option]
    given = [word.partition("=")[::2] for word in found]
    return [(name, value) for name, value in given if value and name.lower() != "name"]


@each_document
def test_links_lead_somewhere(path: Path) -> None:
    """Each relative link of a Markdown file leads to a file, and its anchor to a heading of it."""
    for link in markdown.links(path.read_text()):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        assert target.exists(), link
        if anchor:
            assert anchor in {heading.slug for heading in markdown.headings(target.read_text())}, link


@each_document
def test_commands_exist(path: Path) -> None:
    """Each ``scrapy NAME`` of a document is a command of Scrapy's or ours, each ``scrapy crawl NAME`` a spider."""
    known = OURS | {module.name for module in iter_modules(scrapy.commands.__path__)}
    for line in codes(path.read_text()):
        for command, spider in re.findall(r"(?<![\w.@-])scrapy ([a-z]+)(?: ([a-z]+))?", line):
            assert command in known, line
            assert command != "crawl" or not spider or spider in SPIDERS, line


def test_our_commands_are_documented() -> None:
    """The table of commands has ours, and none of those is said to be not yet there."""
    assert set(markdown.table(COMMANDS)) == OURS
    not_yet = re.search(r"^Not yet: (.*?)\. ", COMMANDS, re.MULTILINE | re.DOTALL)
    assert not_yet is None or not set(markdown.spans(not_yet[1])) & (OURS | SPIDERS)


@each_document
def test_arguments_given_in_examples_are_right(path: Path, tmp_path: Path) -> None:
    """Each ``-a name=value`` of a document is an argument, and its value one that the argument takes."""
    for name, value in given_with("-a", path.read_text()):
        assert name.partition(".")[0] in NAMES, name
        if not re.search(r"[A-Z]{3}|^@|\$", value):  # a placeholder, or a file that is not here
            parse_arguments({"seed": SEED, name: value}, tmp_path)


@pytest.mark.parametrize("name", ["arguments", "settings", "stats"])
def test_arguments_quoted_in_prose_are_right(name: str, tmp_path: Path) -> None:
    """Each `` `name=value` `` of these documents is one that the argument takes."""
    for code in markdown.spans((ROOT / f"docs/{name}.md").read_text()):
        argument, equals, value = code.partition("=")
        if equals and argument in NAMES and not re.search(r"[A-Z]{3}|^@", value):
            parse_arguments({"seed": SEED, argument: value}, tmp_path)


@each_document
def test_settings_given_in_examples_exist(path: Path) -> None:
    """Each ``-s NAME=VALUE`` of a document is a setting of Scrapy's or ours."""
    for name, _ in given_with("-s", path.read_text()):
        assert any(hasattr(module, name) for module in (scrapys, default_settings, settings)), name


def test_the_code_refers_to_sections_that_exist() -> None:
    """Each ``docs/arguments.md, "Section"`` in the code, and the like for the other references, is a section."""
    for source in sorted((ROOT / "spiderproj").rglob("*.py")):
        text = " ".join(source.read_text().split())
        for name, title in re.findall(r'docs/(arguments|settings|stats)\.md, "([^"]+)"', text):
            document = (ROOT / f"docs/{name}.md").read_text()
            assert title in {heading.text for heading in markdown.headings(document)}, source
