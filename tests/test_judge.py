"""The judges of the black-box cases see what falls short, and nothing else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.connection import Logged
from tests.judge_output import Ended, judge_output
from tests.judge_requests import Seen, judge_requests
from tests.run_cases import command

if TYPE_CHECKING:
    from pathlib import Path

BASE, ALT = "http://127.0.0.1:80", "http://localhost:80"


def logged(*requests: str, every_s: float = 1.0) -> Seen:
    """Return a log of *requests* ("GET /x", "GET localhost:80/x"), one each *every_s* seconds, answered 200."""
    log = []
    for number, request in enumerate(requests):
        method, _, rest = request.partition(" ")
        host, slash, target = rest.partition("/")
        log.append(Logged(number * every_s, method, slash + target, host or "127.0.0.1:80", [], b"", 1, 80, 200, 0))
    return Seen(log, BASE)


LOG = logged("GET /robots.txt", "HEAD /a", "GET /a", "GET /b", "GET localhost:80/a", "GET /a")
REQUESTS: list[tuple[dict[str, Any], bool]] = [
    ({"fetched": ["/a", "HEAD /a", "ANY /b", f"{ALT}/a"]}, True),
    ({"fetched": ["HEAD /b"]}, False),
    ({"not_fetched": ["HEAD /b", f"ANY {ALT}/b"]}, True),
    ({"not_fetched": ["ANY /a"]}, False),
    ({"not_fetched_re": ["^/c"]}, True),
    ({"not_fetched_re": ["^/b"]}, False),
    ({"hits": {"GET /a": [2, 2], "ANY /a": [3, 3]}}, True),
    ({"hits": {"GET /a": [3, 3]}}, False),
    ({"max_requests": 6}, True),
    ({"max_requests": 5}, False),
    ({"refetched_max": 1}, True),
    ({"refetched_max": 0}, False),
    ({"order": ["/a", "/b"]}, True),
    ({"order": ["/b", "/a"]}, False),
    ({"order": ["/a", "/b", "/never"]}, False),
    ({"order_any": [["/b", "/a"], ["/a", "/b"]]}, True),
    ({"statuses": {"GET /a": [200, 200]}}, True),
    ({"statuses": {"GET /a": [200, 304]}}, False),
    ({"gap_s": {"/a": 1.5}}, True),
    ({"gap_s": {"/a": 3.5}}, False),
    ({"request_gap_s": 0.9}, True),
    ({"request_gap_s": 1.1}, False),
    ({"quiet_after_s": {"GET /b": 0.9}}, True),
    ({"quiet_after_s": {"GET /b": 1.1}}, False),
]


@pytest.mark.parametrize(("expect", "holds"), REQUESTS, ids=[f"{expect}" for expect, _ in REQUESTS])
def test_requests(expect: dict[str, Any], holds: bool) -> None:
    """Each expectation of requests holds and fails as it should."""
    assert (list(judge_requests(expect, LOG)) == []) is holds


def test_advice_is_marked() -> None:
    """What only should be begins with (should)."""
    wrong = list(judge_requests({"fetched_should": ["/c"], "not_fetched_should": ["/a"]}, LOG))
    assert [text.startswith("(should)") for text in wrong] == [True, True]


@pytest.fixture
def ended(tmp_path: Path) -> Ended:
    """Return a small finished crawl."""
    out = tmp_path / "out"
    (out / "files" / "h").mkdir(parents=True)
    (out / "files" / "h" / "index.html").write_text('<a href="two.html#x">MARK</a><a href="http://h/y">y</a>')
    (out / "files" / "h" / "two.html").write_text("TWO")
    rows: dict[str, list[dict[str, Any]]] = {
        "links.jsonl": [{"source": "http://h/", "target": "http://h/two", "text": "MARK"}],
        "pages.jsonl": [{"url": "http://h/", "status": 200}, {"url": "http://h/two", "status": 500, "error": "500"}],
        "refused.jsonl": [{"url": "http://h/no", "reason": "robots"}],
    }
    for name, lines in rows.items():
        (out / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    (out / "summary.json").write_text('{"state": "finished", "duplicates": 0}')
    return Ended(out, codes=[0], stopped=[6], messages="depth=x: expected a number")


OUTPUT: list[tuple[dict[str, Any], bool]] = [
    ({"exit": "ok"}, True),
    ({"exit_status": [3, 10]}, False),
    ({"stopped_exit_status": 6}, True),
    ({"stopped_exit_status": 0}, False),
    ({"stderr": ["depth", "number"]}, True),
    ({"stderr": ["dept="]}, False),
    ({"files": [{"path": "**", "contains": ["MARK"], "count": 1}, {"path": "h/*.html"}]}, True),
    ({"files": [{"path": "**", "contains": ["MARK"], "count": 0}]}, False),
    ({"files": [{"path": "**/none*"}]}, False),
    ({"files": [{"path": "**/none*", "optional": True}]}, True),
    ({"files": [{"path": "**/index*", "not_contains": ["two"]}]}, False),
    ({"files": [{"path": "**/two*", "name_not_re": "html$"}]}, False),
    ({"offline_links_resolve": ["**/index*"]}, True),
    ({"links": ["http://h/two", {"from": "http://h/", "url": "http://h/two"}]}, True),
    ({"links": [{"from": "http://h/x", "url": "http://h/two"}]}, False),
    ({"not_links": ["http://h/two"]}, False),
    ({"links_unique": True, "pages_once": True, "inside_output_only": True}, True),
    ({"link_rows": [{"target": "http://h/two", "text": ["MARK", "other"]}]}, True),
    ({"link_rows": [{"target": "http://h/two", "text": "other"}]}, False),
    ({"pages": [{"url": "http://h/", "status": 200}]}, True),
    ({"refused": [{"url": "http://h/no", "reason": ["scope", "level"]}]}, False),
    ({"incomplete_flagged": ["/two", "/no"]}, True),
    ({"incomplete_flagged": ["/"]}, False),
    ({"summary": {"state": "finished"}, "summary_keys": ["duplicates"]}, True),
    ({"summary": {"state": "stopped"}}, False),
    ({"summary": {}, "summary_keys": ["pages"]}, False),
]


@pytest.mark.parametrize(("expect", "holds"), OUTPUT, ids=[f"{expect}" for expect, _ in OUTPUT])
def test_output(expect: dict[str, Any], holds: bool, ended: Ended) -> None:
    """Each expectation of output holds and fails as it should."""
    assert (list(judge_output(expect, ended)) == []) is holds


BROKEN = [
    ("links.jsonl", b'{"source": "a", "target": "b"}\n{"source": "a", "tar', "line 2"),
    ("pages.jsonl", b'{"url": "http://h/", "title": "\\ud800"}\n', "line 1"),
    ("refused.jsonl", b'{"url": "\xff"}\n', "line 1"),
    ("links.jsonl", b'{"source": "a", "target": "b"}\n' * 2, "1 links twice"),
    ("pages.jsonl", b'{"url": "http://h/"}\n' * 2, "1 URLs twice"),
]


@pytest.mark.parametrize(("name", "content", "said"), BROKEN)
def test_broken_lines(name: str, content: bytes, said: str, ended: Ended) -> None:
    """A torn line, a lone surrogate, wrong bytes and doubled rows are seen."""
    (ended.out / name).write_bytes(content)
    wrong = list(judge_output({"links_unique": True, "pages_once": True}, ended))
    assert [said in text for text in wrong] == [True]


def test_what_is_not_there_is_seen(ended: Ended) -> None:
    """A link into nothing, a file beside the output and a missing line file are seen."""
    (ended.out / "files" / "h" / "two.html").unlink()
    (ended.out.parent / "stray").touch()
    (ended.out / "links.jsonl").unlink()
    wrong = list(judge_output({"offline_links_resolve": ["**/index*"], "inside_output_only": True}, ended))
    assert wrong == ["offline h/index.html -> two.html#x", "no links.jsonl", "outside the output folder: stray"]


def test_command_line(tmp_path: Path) -> None:
    """Neutral words become arguments and settings; those of the case and of the run win."""
    words = {"scope": "dir", "convert": True, "robots": True, "depth": 0, "arguments": {"depth": "2"}}
    line = command({"seed": "s", "args": words}, {"arguments": {"fresh": "1"}}, tmp_path / "out")
    assert line[:2] == ["crawl", "site"]
    given = set(line[3::2])
    assert {"seed=s", "mode=directory", "select=page:all child:all", "mirror=1", "depth=2", "fresh=1"} <= given
    assert {"ROBOTSTXT_OBEY=True", "DOWNLOAD_DELAY=0", f"out={tmp_path / 'out'}"} <= given
