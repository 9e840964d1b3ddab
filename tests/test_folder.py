"""Store, bodies and lines go back to the last commit together."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

import pytest

from spiderproj.errors import DiskFullError, StoreDamagedError
from spiderproj.store import Folder

if TYPE_CHECKING:
    from pathlib import Path

PATH = "h/page.html"


def opened(out: Path, reserve: int = 0) -> Folder:
    """Return the folder *out*, brought back to its last commit."""
    folder = Folder(out, fsync=False, reserve=reserve)
    folder.recover()
    return folder


def put(folder: Folder, body: bytes, path: str = PATH) -> None:
    """Store *body* as the pipelines do, and a line about it."""
    digest = sha256(body).digest()
    folder.store(path, digest, body)
    folder.database.write("DELETE FROM contents WHERE path = ?", (path,))
    statement = "INSERT INTO contents (digest, links, size, path, url) VALUES (?, 0, ?, ?, 1)"
    folder.database.write(statement, (digest, len(body), path))
    folder.database.set_meta("state", "running")
    folder.lines["pages"].append(body + b"\n")


def content(out: Path) -> tuple[bytes, bytes]:
    """Return the body and the lines that are on disk."""
    return (out / "files" / PATH).read_bytes(), (out / "pages.jsonl").read_bytes()


@pytest.mark.parametrize("times", [1, 2])
def test_a_replaced_body_comes_back(tmp_path: Path, times: int) -> None:
    """A body that was replaced, once or more often, is back when no commit follows, and gone when one does."""
    folder = opened(tmp_path)
    put(folder, b"old")
    folder.commit()
    for number in range(times):
        put(folder, b"new %d" % number)
    assert content(tmp_path)[0] == b"new %d" % (times - 1)
    folder.close()  # without a commit, as a kill does
    folder = opened(tmp_path)
    assert content(tmp_path) == (b"old", b"old\n")
    put(folder, b"newer")
    folder.commit()
    folder.close()
    opened(tmp_path).close()
    assert content(tmp_path) == (b"newer", b"old\nnewer\n")
    assert list((tmp_path / ".spiderproj" / "kept").iterdir()) == []


def test_what_the_store_does_not_know_is_removed(tmp_path: Path) -> None:
    """A body and a line without a commit are gone; recovering twice is as good as once."""
    folder = opened(tmp_path)
    put(folder, b"known")
    folder.commit()
    put(folder, b"unknown", "h/other.html")
    folder.lines["pages"].flush()
    folder.recover()
    folder.recover()
    assert not (tmp_path / "files" / "h" / "other.html").exists()
    assert content(tmp_path) == (b"known", b"known\n")
    folder.close()


def test_sealed_lines_may_be_replaced(tmp_path: Path) -> None:
    """After ``seal`` the lines may have any length; before, what is beyond the last commit is cut off."""
    folder = opened(tmp_path)
    put(folder, b"one")
    folder.seal()
    folder.close()
    (tmp_path / "pages.jsonl").write_bytes(b"much longer\nthan before\n")
    opened(tmp_path).close()
    assert content(tmp_path)[1] == b"much longer\nthan before\n"


def test_lines_without_a_store_are_not_cut(tmp_path: Path) -> None:
    """Lines beside a store that knows of no crawl are kept, and the store is said to be damaged."""
    opened(tmp_path).close()
    (tmp_path / "pages.jsonl").write_bytes(b"a line\n")
    folder = Folder(tmp_path, fsync=False, reserve=0)
    with pytest.raises(StoreDamagedError, match="fresh=1"):
        folder.recover()
    folder.close()
    assert (tmp_path / "pages.jsonl").read_bytes() == b"a line\n"


def test_the_reserve(tmp_path: Path) -> None:
    """With less than the reserve free, the disk counts as full, and the message names the setting."""
    folder = opened(tmp_path)
    folder.check_room()
    folder.close()
    folder = opened(tmp_path, reserve=1 << 60)
    with pytest.raises(DiskFullError, match="SPIDERPROJ_DISK_RESERVE=1152921504606846976"):
        folder.check_room()
    folder.close()
