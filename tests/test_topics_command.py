"""``scrapy topics``: which copies it finds, what it prints, how it ends, and what it makes of a hostile disk."""

from __future__ import annotations

import json
import os
import time
from argparse import Namespace
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
import pytest_twisted

from spiderproj.commands.topics import Command
from spiderproj.files import copies
from spiderproj.topics import NAME, KeyWords, render
from tests.crawling import crawl
from tests.routes import link, page
from tests.warm import Starter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from tests.answers import RouteSpec
    from tests.site import Site

    Factory = Callable[[Iterable[RouteSpec]], Site]


class Said(NamedTuple):
    """What a command printed, and its status."""

    status: int
    lines: list[str]
    complaints: list[str]


@pytest.fixture
def topics(capfdbinary: pytest.CaptureFixture[bytes]) -> Callable[..., Said]:
    """Return a function that runs ``scrapy topics`` in this process."""

    def run(*args: str | Path, as_json: bool = False) -> Said:
        command = Command()
        command.run(list(map(str, args)), Namespace(json=as_json))
        printed = capfdbinary.readouterr()
        return Said(command.exitcode, printed.out.decode().splitlines(), printed.err.decode().splitlines())

    return run


def copy_of(folder: Path, title: str = "", **weights: float) -> Path:
    """Make *folder* a copy with these words, and return it."""
    folder.mkdir(parents=True)
    folder.joinpath(NAME).write_bytes(render(KeyWords(title=title, words=weights)))
    return folder


def names(said: Said) -> list[str]:
    """Return the names of the folders that were found, in order."""
    return [line.split("  ")[1].rpartition("/")[2] for line in said.lines]


@pytest_twisted.ensureDeferred
async def test_crawls_are_found_by_what_they_are_about(
    site: Factory, topics: Callable[..., Said], tmp_path: Path
) -> None:
    """Of several crawls those with the words are printed, the best first: of titles, headings, links, keywords."""
    with_words = {
        "title": site([{**page("/"), "body": "<title>Sailing boats</title>"}]),
        "heading": site([{**page("/"), "body": "<title>x</title><h2>On <i>sailing</i></h2>"}]),
        "link": site([page("/", '<a href="/a">About sailing</a>'), page("/a")]),
        "none": site([page("/", "<p>sailing in the text is no key word")]),
    }
    for name, served in with_words.items():
        assert (await crawl(f"{served.base}/", tmp_path / "crawls" / name)).status == 0
    given = site([page("/")])
    await crawl(f"{given.base}/", tmp_path / "crawls" / "given", keywords="Sailing, ropes")

    said = topics("sail*", tmp_path / "crawls")
    assert (said.status, names(said), said.complaints) == (0, ["given", "title", "heading", "link"], [])
    assert said.lines[1].endswith("/crawls/title  sailing  Sailing boats")
    assert names(topics("sailing not (boats or ropes)", tmp_path / "crawls")) == ["heading", "link"]


def test_lines_of_json(topics: Callable[..., Said], tmp_path: Path) -> None:
    """With --json each copy is a line of JSON with its words and their weights."""
    copy_of(tmp_path / "a\udcffb", "A title", sqlite=3.0, backup=2.0)
    said = topics("sqlite or restore", tmp_path, as_json=True)
    (row,) = map(json.loads, said.lines)
    assert row.pop("score") > 0
    assert row == {
        "copy": f"{tmp_path}/a\ufffdb", "words": {"sqlite": 3.0}, "title": "A title", "keywords": None, "seeds": [],
        "crawled": None,
    }  # fmt: skip


def test_where_copies_are_looked_for(
    topics: Callable[..., Said], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Below ./crawls, or the folders given, each copy once: not inside a copy or an unfinished one, not by symlinks."""
    monkeypatch.chdir(tmp_path)
    copy = copy_of(tmp_path / "crawls/group/inner", sqlite=1)
    copy_of(copy / "files/h/inside", sqlite=1)
    (tmp_path / "crawls/unfinished/.spiderproj").mkdir(parents=True)
    copy_of(tmp_path / "crawls/unfinished/files", sqlite=1)
    copy_of(tmp_path / "elsewhere/other", sqlite=1)
    (tmp_path / "crawls/link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "crawls/loop").symlink_to(tmp_path / "crawls")

    assert names(topics("sqlite")) == ["inner"]
    assert names(topics("sqlite", copy, "crawls", "crawls/group")) == ["inner"]
    assert names(topics("sqlite", "crawls", "elsewhere")) == ["inner", "other"]


def test_nothing_found_is_no_fault(topics: Callable[..., Said], tmp_path: Path) -> None:
    """Without a match nothing is printed but one line on standard error, and the status is 0."""
    copy_of(tmp_path / "a", sqlite=1)
    said = topics("postgres", tmp_path)
    assert said == (0, [], [f"spiderproj: no copy below {tmp_path} has these words"])


@pytest.mark.parametrize("args", [("(",), ("sqlite", "and", "backup"), ("sqlite", "no\0thing"), ("x" * 5000,), ("",)])
def test_wrong_arguments(topics: Callable[..., Said], args: tuple[str, ...], tmp_path: Path) -> None:
    """A wrong expression and a folder that is none are one line that says what was expected, and status 2."""
    said = topics(*args, *([] if len(args) > 1 else [tmp_path]))
    assert (said.status, said.lines, len(said.complaints)) == (2, [], 1)
    assert said.complaints[0].startswith(("spiderproj: EXPR=", "spiderproj: DIR="))
    assert ": expected " in said.complaints[0]


def hostile(folder: Path) -> None:
    """Make files of every kind that have the name of the key words."""
    for name, data in {
        "binary": os.urandom(100_000),
        "huge": b"\n" * 3_000_000 + b"9 sqlite\n",
        "escape": b"title: \x1b[31m\xe2\x80\xaeevil\n3 sqlite\n",
    }.items():
        (folder / name).mkdir()
        (folder / name / NAME).write_bytes(data)
    (folder / "folder" / NAME).mkdir(parents=True)
    for name in ("fifo", "link"):
        (folder / name).mkdir()
    os.mkfifo(folder / "fifo" / NAME)
    (folder / "link" / NAME).symlink_to("/etc/passwd")


def test_a_hostile_disk(topics: Callable[..., Said], tmp_path: Path) -> None:
    """Key words that are huge, binary, a folder, a FIFO or a link are passed over in a moment, the good are found."""
    hostile(tmp_path)
    copy_of(tmp_path / "zebra\x1b[2J\n\u202e", "\x1b[31mred", sqlite=9)
    began = time.process_time()
    said = topics("sqlite", tmp_path)

    assert time.process_time() - began < 1
    assert said.status == 0
    assert sorted(line.split("  ")[1].removeprefix(str(tmp_path)) for line in said.lines) == [
        "/escape",
        "/zebra\ufffd[2J",
    ]
    assert sorted(line.split("/")[-2] for line in said.complaints) == ["fifo", "folder", "link"]
    printed = "".join(said.lines + said.complaints)
    assert printed.isprintable()


def test_walks_are_bounded(topics: Callable[..., Said], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tree that is too deep is not gone through, and one with too many entries is left with a word about it."""
    deep = tmp_path / "deep"
    copy_of(deep.joinpath(*"12345678"), sqlite=1)
    copy_of(deep.joinpath(*"abcdefghi"), sqlite=1)
    assert names(topics("sqlite", deep)) == ["8"]
    wide = tmp_path / "wide"
    for number in range(20):
        copy_of(wide / f"{number:02}", sqlite=1)
    monkeypatch.setattr(copies, "_ENTRIES", 25)
    said = topics("sqlite", wide)
    assert names(said) == ["00", "01", "02", "03"]
    assert "more than 25 entries" in said.complaints[0]


def test_a_folder_that_may_not_be_read(topics: Callable[..., Said], tmp_path: Path, monkeypatch: Any) -> None:
    """A folder that cannot be read is named, and the others are searched."""
    copy_of(tmp_path / "b", sqlite=1)
    (tmp_path / "a").mkdir()
    scandir = os.scandir

    def refuse(path: Path) -> Any:
        if path == tmp_path / "a":
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    said = topics("sqlite", tmp_path)
    assert names(said) == ["b"]
    assert said.complaints == [f"spiderproj: {tmp_path / 'a'} cannot be read: Permission denied"]


def test_as_a_user_types_it(tmp_path: Path) -> None:
    """The command is there, takes --json behind its arguments, says how it is used, and shows no traceback."""
    copy_of(tmp_path / "copies" / "one", sqlite=1)
    with Starter() as starter:
        runs = {
            "found": (["topics", "sqlite", str(tmp_path / "copies"), "--json"], 0, '{"copy":'),
            "usage": (["topics"], 2, "scrapy: error: give an expression"),
            "wrong": (
                ["topics", "sqlite and", str(tmp_path)],
                2,
                "EXPR='sqlite and': expected at column 11",
            ),
            "help": (["topics", "-h"], 0, "scrapy topics [options] EXPR [DIR ...]"),
        }
        for name, (argv, status, part) in runs.items():
            output = tmp_path / f"{name}.txt"
            assert starter.start(argv, output).wait(60) == status, name
            printed = output.read_text()
            assert part in printed
            assert "Traceback" not in printed


@pytest_twisted.ensureDeferred
async def test_the_file_follows_the_crawl(site: Factory, tmp_path: Path) -> None:
    """Run again, the file has the keywords of that run and the words that the site has now."""
    served = site([{**page("/", link("/a")), "body": "<title>Old words</title>"}, page("/a")])
    out = tmp_path / "out"
    await crawl(f"{served.base}/", out, keywords="first thing")
    before = (out / NAME).read_text()
    served.set_routes([{**page("/"), "body": "<title>New words</title>"}])
    await crawl(f"{served.base}/", out, keywords="second thing")
    after = (out / NAME).read_text()

    assert "keywords: first thing\n" in before
    assert " old\n" in before
    assert "keywords: second thing\n" in after
    assert " new\n" in after
    assert "first" not in after
    assert " old\n" not in after
