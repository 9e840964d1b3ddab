"""Files of JSON lines: no torn line, no line without its transaction, no byte that is not JSON (A75, A98)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import UserDict
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spiderproj.errors import DiskFullError, OutputError
from spiderproj.files import LineFile, json_line
from spiderproj.models import Reason

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the path of a file of lines that does not exist yet."""
    return tmp_path / "links.jsonl"


def test_flush_returns_the_size_of_the_file(path: Path) -> None:
    """What flush returns is where the lines end on disk; lines wait in memory until then."""
    lines = LineFile(path)
    lines.append(b'{"a":1}\n')
    assert path.read_bytes() == b""
    assert lines.flush() == 8
    lines.append(b'{"a":2}\n{"a":3}\n')
    assert lines.flush() == lines.flush() == 24
    assert path.read_bytes() == b'{"a":1}\n{"a":2}\n{"a":3}\n'


def test_memory_is_bounded(path: Path) -> None:
    """A crawl that flushes late writes before two megabytes wait."""
    lines = LineFile(path)
    for _ in range(4):
        lines.append(b"x" * (1 << 19) + b"\n")
    assert path.stat().st_size >= 2 << 20
    lines.close()


def test_close_writes_what_waits(path: Path) -> None:
    """Nothing that was appended is lost by closing, and a new file goes on behind it."""
    for number in (b"1\n", b"2\n"):
        lines = LineFile(path, fsync=True)
        lines.append(number)
        lines.close()
    assert path.read_bytes() == b"1\n2\n"


@pytest.mark.parametrize(
    ("content", "offset", "kept", "missing"),
    [
        (b"1\n2\n3\n", 4, b"1\n2\n", 0),
        (b"1\n2\n3\n", 6, b"1\n2\n3\n", 0),
        (b"1\n2\n3\n", 0, b"", 0),
        (b"1\n2\n", 10, b"1\n2\n", 6),
        (b"1\n2", 10, b"1\n", 8),
        (b"", 10, b"", 10),
        (b"1\n2", None, b"1\n", 0),
        (b"1\n2\n", None, b"1\n2\n", 0),
        (b"torn", None, b"", 0),
        (b"", None, b"", 0),
        (b"1\n" + b"x" * 200_000, None, b"1\n", 0),
        (b"1\n" + b"x" * 65_536, None, b"1\n", 0),
        (b"x" * 65_535 + b"\n" + b"y" * 65_536, None, b"x" * 65_535 + b"\n", 0),
    ],
)
def test_truncate_to(path: Path, content: bytes, offset: int | None, kept: bytes, missing: int) -> None:
    """A file is cut where its transaction ended, or behind its last whole line, and goes on from there."""
    path.write_bytes(content)
    lines = LineFile(path)
    assert lines.truncate_to(offset) == missing
    assert path.read_bytes() == kept
    lines.append(b"new\n")
    assert lines.flush() == len(kept) + 4
    assert path.read_bytes() == kept + b"new\n"


PLANTS: dict[str, Callable[[Path, Path], object]] = {
    "symlink": lambda path, target: path.symlink_to(target),
    "dangling symlink": lambda path, target: path.symlink_to(target.with_name("absent")),
    "hard link": lambda path, target: path.hardlink_to(target),
    "folder": lambda path, target: path.mkdir(),
    "FIFO": lambda path, target: os.mkfifo(path),
}


@pytest.mark.parametrize("plant", PLANTS)
def test_only_a_plain_file_is_written_to(path: Path, tmp_path: Path, plant: str) -> None:
    """Anything else in the file's place ends the crawl at once, and what it leads to is not changed."""
    target = tmp_path / "precious"
    target.write_bytes(b"precious, without newline")
    PLANTS[plant](path, target)
    with pytest.raises(OutputError, match=r"links\.jsonl"):
        LineFile(path)
    assert target.read_bytes() == b"precious, without newline"
    assert not target.with_name("absent").exists()


def test_disk_full_leaves_whole_lines(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write that fails half way leaves the file as it was, and the lines go out when there is room again."""
    lines = LineFile(path)
    lines.append(b"1\n")
    lines.flush()
    real_pwrite = os.pwrite
    room = [3]

    def pwrite(descriptor: int, data: bytes, offset: int) -> int:
        if not room[0]:
            raise OSError(28, "No space left on device")
        length = real_pwrite(descriptor, bytes(data[: room[0]]), offset)
        room[0] -= length
        return length

    with monkeypatch.context() as patched:
        patched.setattr(os, "pwrite", pwrite)
        lines.append(b"second\n")
        with pytest.raises(DiskFullError, match="free"):
            lines.flush()
        assert path.read_bytes() == b"1\n"
        room[0] = 3
        with pytest.raises(DiskFullError):
            lines.flush()
    assert lines.flush() == 9
    assert path.read_bytes() == b"1\nsecond\n"


def test_fsync_error_is_fatal(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of fsync is never passed over."""

    def fsync(_descriptor: int) -> None:
        raise OSError(5, "Input/output error")

    lines = LineFile(path, fsync=True)
    lines.append(b"1\n")
    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(OutputError, match="Input/output error"):
        lines.flush()


WRITER = """
import sys
from pathlib import Path
from spiderproj.files import LineFile, json_line
lines = LineFile(Path(sys.argv[1]))
for number in range(10**9):
    lines.append(json_line({"n": number, "text": "x" * (number % 9000)}) * 3)
    print(lines.flush(), flush=True)
"""


@pytest.mark.parametrize("after", [1, 40, 300])
def test_a_kill_leaves_no_torn_line(path: Path, after: int) -> None:
    """Killed at any moment, the file has every line up to the last offset told, and whole lines behind it at most."""
    with subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        offset = [int(child.stdout.readline()) for _ in range(after)][-1]
        child.send_signal(signal.SIGKILL)
    lines = LineFile(path)
    assert lines.truncate_to(None) == 0
    assert all(json.loads(line) for line in path.read_bytes().splitlines())
    assert lines.truncate_to(offset) == 0
    assert path.stat().st_size == offset
    assert path.read_bytes().endswith(b"\n")


@pytest.mark.parametrize(
    ("record", "line"),
    [
        ({}, b"{}\n"),
        ({"url": "http://h/", "depth": 0, "reason": None}, b'{"url":"http://h/","depth":0,"reason":null}\n'),
        ({"reason": Reason.SCOPE}, b'{"reason":"scope"}\n'),
        ({"t": "\u00e9\u2028\x00\n"}, '{"t":"\u00e9\u2028\\u0000\\n"}\n'.encode()),
        ({"t": "a\ud800b"}, '{"t":"a\ufffdb"}\n'.encode()),
        ({"\udfff": ["\ud83d\ude00"], "r": Reason.SCOPE}, '{"\ufffd":["\ufffd\ufffd"],"r":"scope"}\n'.encode()),
        (UserDict({"a": 1.5}), b'{"a":1.5}\n'),
    ],
)
def test_json_line(record: dict[str, object], line: bytes) -> None:
    """A record is one line of strict JSON, also where Python's text is not UTF-8's."""
    assert json_line(record) == line


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize(
    "wrap", [lambda x: x, lambda x: [1, [x]], lambda x: {"b": (None, {"c": x})}, lambda x: [x, "\ud800"]]
)
def test_json_line_makes_null_of_what_is_not_finite(number: float, wrap: object) -> None:
    """NaN and the infinities, which JSON does not know, are null at any depth."""
    assert callable(wrap)
    line = json_line({"a": wrap(number)})

    assert b"null" in line
    json.loads(line, parse_constant=pytest.fail)


def test_json_line_refuses_bytes() -> None:
    """What JSON cannot say is an error of the caller."""
    with pytest.raises(TypeError):
        json_line({"a": b"x"})


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(codec=None)), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(st.dictionaries(st.text(st.characters(codec=None), max_size=5), VALUES, max_size=4))
@settings(deadline=None, max_examples=80)
def test_every_line_is_strict_json(record: dict[str, object]) -> None:
    """Any record is one line of UTF-8, read back the same but for its lone surrogates."""
    line = json_line(record)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert json.loads(line.decode()) == json.loads(
        "".join(
            "\ufffd" if "\ud800" <= letter <= "\udfff" else letter for letter in json.dumps(record, ensure_ascii=False)
        )
    )
