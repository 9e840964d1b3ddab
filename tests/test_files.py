"""Bodies on disk and the folder they lie in: A19 to A21, A73 to A76, A80."""

from __future__ import annotations

import errno
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pytest

from spiderproj.errors import DiskFullError, LockedError, OutputError, UnsafePathError
from spiderproj.files import FileStore, Lock, free_space, prepare

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BODY = b"<p>whole</p>" * 100


@pytest.fixture
def out(tmp_path: Path) -> Iterator[Path]:
    """Return an output folder, made and locked."""
    folder = tmp_path / "out"
    with prepare(folder):
        yield folder


@pytest.fixture
def store(out: Path) -> Iterator[FileStore]:
    """Return a store of bodies in *out*."""
    opened = FileStore(out / "files")
    yield opened
    opened.close()


def temporary(out: Path) -> list[str]:
    """Return the names of what is half written in *out*."""
    return names(out / ".spiderproj" / "tmp")


def names(folder: Path) -> list[str]:
    """Return the names in *folder*."""
    return sorted(entry.name for entry in folder.iterdir())


def descriptors() -> int:
    """Return how many files this process has open."""
    return len(names(Path("/proc/self/fd")))


def make(out: Path, _: Path) -> None:
    """Make the folder *out*."""
    out.mkdir()


def make_engine(out: Path, _: Path) -> None:
    """Make the folder *out* with an engine folder."""
    out.mkdir()
    (out / ".spiderproj").mkdir(0o700)


def steps(*actions: Callable[[Path, Path], object]) -> Callable[[Path, Path], None]:
    """Return one action that takes *actions* in order."""

    def take(place: Path, outside: Path) -> None:
        for action in actions:
            action(place, outside)

    return take


def put(store: FileStore, path: str, body: bytes) -> None:
    """Store *body* at once."""
    store.put(path, body)


def spool(store: FileStore, path: str, body: bytes) -> None:
    """Store *body* in pieces."""
    spooled = store.spool()
    for start in range(0, len(body), 7):
        spooled.write(body[start : start + 7])
    assert (spooled.size, spooled.digest()) == (len(body), sha256(body).digest())
    spooled.commit(path)


both_ways = pytest.mark.parametrize("save", [put, spool])
Save: TypeAlias = "Callable[[FileStore, str, bytes], None]"


@both_ways
@pytest.mark.parametrize("body", [b"", b"x", BODY])
@pytest.mark.parametrize("path", ["h/index.html", "h/a/b/c~.html", "top.html"])
def test_a_body_is_stored_whole(out: Path, store: FileStore, save: Save, path: str, body: bytes) -> None:
    """A body is at its path, readable by others and not executable, and nothing half written is left."""
    save(store, path, body)
    file = out / "files" / path
    assert file.read_bytes() == body
    assert stat.S_IMODE(file.stat().st_mode) == 0o644 & ~umask()
    assert temporary(out) == []
    assert store.exists(path)
    with store.open_read(path) as opened:
        assert opened.read() == body
    assert store.verify(path, len(body), sha256(body).digest())


def umask() -> int:
    """Return the process's file mode creation mask."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def test_verify_finds_every_difference(out: Path, store: FileStore) -> None:
    """A file that is absent, cut, changed, or reached through a symlink is not what was stored."""
    store.put("h/a.html", BODY)
    digest = sha256(BODY).digest()
    (out / "files" / "h" / "link.html").symlink_to("a.html")
    (out / "files" / "l").symlink_to("h")
    assert store.verify("h/a.html", len(BODY), digest)
    assert not store.verify("h/a.html", len(BODY) - 1, digest)
    assert not store.verify("h/a.html", len(BODY), sha256(b"").digest())
    assert not store.verify("h/b.html", len(BODY), digest)
    assert not store.verify("h/link.html", len(BODY), digest)
    assert not store.verify("l/a.html", len(BODY), digest)
    assert not store.verify("h", len(BODY), digest)
    (out / "files" / "h" / "a.html").write_bytes(b"?" + BODY[1:])
    assert not store.verify("h/a.html", len(BODY), digest)


def test_a_spool_that_is_discarded_leaves_nothing(out: Path, store: FileStore) -> None:
    """A body that was given up is nowhere, and giving up twice does no harm."""
    spooled = store.spool()
    spooled.write(BODY)
    assert len(temporary(out)) == 1
    spooled.discard()
    spooled.discard()
    assert temporary(out) == []
    assert names(out / "files") == []


def test_a_removed_file_is_gone(store: FileStore) -> None:
    """Removing is final, and removing what is not there is no error."""
    store.put("h/a.html", BODY)
    store.remove("h/a.html")
    store.remove("h/a.html")
    store.remove("nowhere/a.html")
    assert not store.exists("h/a.html")
    with pytest.raises(OutputError, match="No such file"):
        store.open_read("h/a.html")


@both_ways
@pytest.mark.parametrize(
    "path", ["../x", "/etc/x", "h/../../x", "h/./x", "h//x", "h/..", "h/.", "h/", "", ".", "..", "h/a\0b", "h\0/a", "/"]
)
def test_no_path_leads_out(out: Path, store: FileStore, save: Save, path: str) -> None:
    """A path that is not plainly below the root is refused, even from our own code."""
    with pytest.raises(UnsafePathError):
        save(store, path, BODY)
    assert temporary(out) == []
    assert names(out.parent) == ["out"]
    assert not store.exists(path)


LEAVES: dict[str, Callable[[Path, Path], object]] = {
    "symlink to a file": lambda place, outside: place.symlink_to(outside / "precious"),
    "symlink to a folder": lambda place, outside: place.symlink_to(outside),
    "dangling symlink": lambda place, outside: place.symlink_to(outside / "absent"),
    "symlink to itself": lambda place, outside: place.symlink_to(place),
    "FIFO": lambda place, outside: os.mkfifo(place),
    "hard link": lambda place, outside: place.hardlink_to(outside / "precious"),
    "read-only file": steps(lambda place, _: place.write_bytes(b"old"), lambda place, _: place.chmod(0o400)),
    "socket": lambda place, outside: bind(place),
}


def bind(place: Path) -> None:
    """Make a socket at *place*; its address is short enough when it is seen from its folder."""
    before = Path.cwd()
    os.chdir(place.parent)
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(place.name)
    finally:
        os.chdir(before)


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """Return a folder beside the output folder, with one file in it."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "precious").write_bytes(b"precious")
    return folder


def assert_untouched(outside: Path) -> None:
    """Fail when anything in *outside* was made, changed or removed."""
    assert names(outside) == ["precious"]
    assert (outside / "precious").read_bytes() == b"precious"


@both_ways
@pytest.mark.parametrize("plant", LEAVES)
def test_what_is_in_a_files_place_is_replaced(
    out: Path, store: FileStore, outside: Path, save: Save, plant: str
) -> None:
    """Whatever stands where a file should go is never written to: the new file takes its place."""
    store.put("h/other.html", BODY)
    place = out / "files" / "h" / "a.html"
    LEAVES[plant](place, outside)
    save(store, "h/a.html", BODY)
    assert stat.S_ISREG(place.lstat().st_mode)
    assert place.read_bytes() == BODY
    assert_untouched(outside)


@both_ways
def test_a_folder_in_a_files_place_costs_one_file(out: Path, store: FileStore, save: Save) -> None:
    """A folder is not replaced: that file is refused, the folder's content stays, and other files go on."""
    store.put("h/a.html/b.html", BODY)
    with pytest.raises(UnsafePathError, match="directory"):
        save(store, "h/a.html", BODY)
    assert store.exists("h/a.html/b.html")
    assert temporary(out) == []
    save(store, "h/c.html", BODY)


FOLDERS: dict[str, tuple[Callable[[Path, Path], object], str]] = {
    "symlink out": (lambda place, outside: place.symlink_to(outside), "symlink"),
    "symlink in": (
        steps(lambda place, _: place.with_name("x").mkdir(), lambda place, _: place.symlink_to("x")),
        "symlink",
    ),
    "dangling symlink": (lambda place, outside: place.symlink_to(outside / "absent"), "symlink"),
    "symlink to the root": (lambda place, outside: place.symlink_to("/"), "symlink"),
    "file": (lambda place, outside: place.write_bytes(b"old"), "a file"),
    "FIFO": (lambda place, outside: os.mkfifo(place), "special file"),
}


@both_ways
@pytest.mark.parametrize("plant", FOLDERS)
@pytest.mark.parametrize("level", ["h", "h/a", "h/a/b"])
def test_what_is_in_a_folders_place_is_not_entered(
    out: Path, store: FileStore, outside: Path, save: Save, plant: str, level: str
) -> None:
    """A symlink or a file where a folder should be costs the files below it, with the reason, and is left alone."""
    place = out / "files" / level
    place.parent.mkdir(parents=True, exist_ok=True)
    plant_at, reason = FOLDERS[plant]
    plant_at(place, outside)
    with pytest.raises(UnsafePathError, match=reason):
        save(store, "h/a/b/c.html", BODY)
    assert not store.exists("h/a/b/c.html")
    assert not stat.S_ISDIR(place.lstat().st_mode)
    assert temporary(out) == []
    assert_untouched(outside)


def test_a_folder_that_is_replaced_during_the_crawl_is_noticed(out: Path, store: FileStore, outside: Path) -> None:
    """A folder in use that becomes a symlink is not written through, nor where it was moved; a new one is used."""
    folder = out / "files" / "h"
    store.put("h/1.html", BODY)
    folder.rename(folder.with_name("moved"))
    folder.symlink_to(outside)
    with pytest.raises(UnsafePathError, match="symlink"):
        store.put("h/2.html", BODY)
    folder.unlink()
    store.put("h/3.html", BODY)
    assert names(folder) == ["3.html"]
    assert names(folder.with_name("moved")) == ["1.html"]
    assert_untouched(outside)


def test_symlink_race(out: Path, store: FileStore, outside: Path) -> None:
    """Ten thousand swaps of a folder for a symlink while files are written: nothing outside changes."""
    folder = out / "files" / "h" / "d"
    aside = out / "files" / "h" / "aside"
    store.put("h/d/0.html", BODY)
    swaps = 0
    stop = threading.Event()

    def swap() -> None:
        nonlocal swaps
        while not stop.is_set() and swaps < 10_000:
            with suppress(OSError):
                folder.rename(aside)
                folder.symlink_to(outside)
                folder.unlink()
                aside.rename(folder)
            with suppress(OSError):  # the store made a folder in between: back to the beginning
                folder.unlink()
            swaps += 1

    swapper = threading.Thread(target=swap)
    swapper.start()
    stored = refused = 0
    while swapper.is_alive() and stored + refused < 20_000:
        try:
            store.put(f"h/d/{stored % 50}.html", BODY)
            stored += 1
        except (UnsafePathError, OutputError):
            refused += 1
    stop.set()
    swapper.join()
    assert swaps > 100
    assert stored
    assert_untouched(outside)
    assert temporary(out) == []


def test_many_folders_need_few_descriptors(store: FileStore) -> None:
    """A crawl through any number of folders keeps a bounded number of them open."""
    before = descriptors()
    for number in range(200):
        store.put(f"h/{number}/a/b.html", BODY)
    assert descriptors() - before <= 32
    for number in range(200):
        assert store.exists(f"h/{number}/a/b.html")


def test_closing_gives_every_descriptor_back(out: Path) -> None:
    """A store that was used and closed, with failures on the way, leaves nothing open."""
    before = descriptors()
    store = FileStore(out / "files", fsync=True)
    for number in range(40):
        store.put(f"h/{number}/a.html", BODY)
        store.spool().discard()
        with pytest.raises(UnsafePathError):
            store.put(f"h/{number}/a.html/b/c.html", BODY)
        with pytest.raises(UnsafePathError):
            store.put(f"h/{number}", BODY)
    store.close()
    assert descriptors() == before


CALLS = ["write", "fsync", "rename", "mkdir"]
ERRORS = [
    (errno.ENOSPC, DiskFullError, 5),
    (errno.EDQUOT, DiskFullError, 5),
    (errno.EROFS, OutputError, 3),
    (errno.EACCES, OutputError, 3),
    (errno.EIO, OutputError, 3),
]


@both_ways
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(("number", "expected", "status"), ERRORS)
def test_a_failing_call_leaves_no_half_file(
    out: Path,
    monkeypatch: pytest.MonkeyPatch,
    save: Save,
    call: str,
    number: int,
    expected: type[OutputError],
    status: int,
) -> None:
    """Whichever call fails, the old body stays, nothing half written is left, and the exit status says why."""
    store = FileStore(out / "files", fsync=True)
    save(store, "h/a.html", b"old")

    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patched:
        patched.setattr(os, call, fail)
        with pytest.raises(expected, match="files") as raised:
            save(store, "h/new/a.html" if call == "mkdir" else "h/a.html", BODY)
    assert raised.value.exit_status == status
    assert store.verify("h/a.html", 3, sha256(b"old").digest())
    assert temporary(out) == []
    save(store, "h/a.html", BODY)
    assert store.verify("h/a.html", len(BODY), sha256(BODY).digest())
    store.close()


@both_ways
def test_short_writes_are_continued(monkeypatch: pytest.MonkeyPatch, store: FileStore, save: Save) -> None:
    """A system that takes a few bytes at a time still gets the whole body."""
    real_write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: real_write(descriptor, bytes(data[:5])))
    save(store, "h/a.html", BODY)
    monkeypatch.undo()
    assert store.verify("h/a.html", len(BODY), sha256(BODY).digest())


def test_fsync_covers_file_and_folders(monkeypatch: pytest.MonkeyPatch, out: Path) -> None:
    """With fsync the body, its name and the names of its new folders are made to last; without it nothing is."""
    synced: list[str] = []
    monkeypatch.setattr(
        os, "fsync", lambda descriptor: synced.append(str(Path(f"/proc/self/fd/{descriptor}").readlink()))
    )
    FileStore(out / "files").put("g/a.html", BODY)
    assert synced == []
    FileStore(out / "files", fsync=True).put("h/a.html", BODY)
    root = str(out / "files")
    assert [Path(place).parent.name == "tmp" or place for place in synced] == [True, root, f"{root}/h"]


def test_a_folder_that_was_removed_is_made_again(out: Path, store: FileStore) -> None:
    """Removing a folder of the copy during the crawl loses what was in it, and no more."""
    store.put("h/d/a.html", BODY)
    (out / "files" / "h" / "d" / "a.html").unlink()
    (out / "files" / "h" / "d").rmdir()
    store.put("h/d/b.html", BODY)
    assert names(out / "files" / "h" / "d") == ["b.html"]


@both_ways
def test_a_folder_that_vanishes_at_the_last_moment_is_made_again(
    out: Path, monkeypatch: pytest.MonkeyPatch, store: FileStore, save: Save
) -> None:
    """A folder that is removed between its look-up and the rename costs nothing."""
    real_rename = os.rename
    folder = out / "files" / "h" / "d"

    def rename(old: str, new: str, *, src_dir_fd: int, dst_dir_fd: int) -> None:
        monkeypatch.undo()
        folder.rmdir()
        real_rename(old, new, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)

    monkeypatch.setattr(os, "rename", rename)
    save(store, "h/d/a.html", BODY)
    assert (folder / "a.html").read_bytes() == BODY
    assert temporary(out) == []


@pytest.mark.parametrize(
    "plant", [make, lambda place, _: os.mkfifo(place), lambda place, _: place.symlink_to("a.html")]
)
def test_only_plain_files_are_read(out: Path, store: FileStore, plant: Callable[[Path, Path], object]) -> None:
    """Reading neither waits for a FIFO nor follows a symlink, and says what is there."""
    store.put("h/a.html", BODY)
    place = out / "files" / "h" / "b.html"
    plant(place, out)
    with pytest.raises(UnsafePathError, match=r"b\.html"):
        store.open_read("h/b.html")
    assert not store.exists("h/b.html")


@both_ways
def test_an_output_folder_that_was_moved_away_ends_the_crawl(out: Path, save: Save) -> None:
    """When the tree is gone the crawl ends with status 3, and nothing appears in its place."""
    store = FileStore(out / "files")
    (out / "files").rmdir()
    with pytest.raises(OutputError, match="No such file") as raised:
        save(store, "h/a.html", BODY)
    assert raised.value.exit_status == 3
    assert not (out / "files").exists()
    assert temporary(out) == []
    store.close()


WRITER = """
import sys
from pathlib import Path
from spiderproj.files import FileStore, prepare
out = Path(sys.argv[1])
lock = prepare(out)
store = FileStore(out / "files")
for number in range(10**9):
    body = (b"%d " % number) * 20_000
    store.put(f"h/{number % 7}/{number % 40}.html", body)
    spooled = store.spool()
    for start in range(0, len(body), 20_000):
        spooled.write(body[start : start + 20_000])
    spooled.commit(f"h/s/{number % 40}.html")
    print(number, flush=True)
"""


@pytest.mark.parametrize("after", [1, 25, 150])
def test_a_kill_leaves_no_half_file(tmp_path: Path, after: int) -> None:
    """Killed at any moment, every file is whole, and what was half written is removed by the next crawl."""
    folder = tmp_path / "killed"
    with subprocess.Popen([sys.executable, "-c", WRITER, str(folder)], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        for _ in range(after):
            child.stdout.readline()
        with pytest.raises(LockedError, match=f"process {child.pid} on "):
            prepare(folder)
        child.send_signal(signal.SIGKILL)
    (folder / ".spiderproj" / "tmp" / "half").write_bytes(b"<p>ha")
    files = [file for file in (folder / "files").rglob("*") if file.is_file()]
    assert len(files) >= min(after, 40)
    for file in files:
        body = file.read_bytes()
        number = body.partition(b" ")[0]
        assert body == (number + b" ") * 20_000
    with prepare(folder):
        assert temporary(folder) == []


def test_prepare_makes_a_folder(tmp_path: Path) -> None:
    """A new folder has a private engine folder and nothing else that is visible but the tree."""
    out = tmp_path / "crawls" / "example.org"
    with prepare(out):
        assert names(out) == [".spiderproj", "files"]
        assert stat.S_IMODE((out / ".spiderproj").stat().st_mode) == 0o700
        assert stat.S_IMODE(out.stat().st_mode) == 0o755 & ~umask()
        assert names(out / "files") == []
        assert free_space(out) > 0
    with prepare(out):
        pass


def test_prepare_takes_an_empty_folder(tmp_path: Path) -> None:
    """A folder that a person made for the crawl is taken, also when a crawl was killed while it prepared it."""
    (tmp_path / ".spiderproj").mkdir(mode=0o700)
    prepare(tmp_path).release()
    prepare(tmp_path).release()


REFUSED: dict[str, tuple[Callable[[Path, Path], object], str]] = {
    "symlink": (lambda out, outside: out.symlink_to(outside), "symlink"),
    "dangling symlink": (lambda out, outside: out.symlink_to(outside / "absent"), "symlink"),
    "file": (lambda out, outside: out.write_bytes(b""), "not a folder"),
    "FIFO": (lambda out, outside: os.mkfifo(out), "not a folder"),
    "not empty": (steps(make, lambda out, _: (out / "x").write_bytes(b"")), "empty folder"),
    "hidden file": (steps(make, lambda out, _: (out / ".x").write_bytes(b"")), "empty folder"),
    "open engine folder": (steps(make_engine, lambda out, _: (out / ".spiderproj").chmod(0o777)), "written by others"),
    "group's engine folder": (
        steps(make_engine, lambda out, _: (out / ".spiderproj").chmod(0o770)),
        "written by others",
    ),
    "engine folder is a symlink": (
        steps(make, lambda out, outside: (out / ".spiderproj").symlink_to(outside)),
        "not a folder",
    ),
    "tree is a symlink": (
        steps(make_engine, lambda out, outside: (out / "files").symlink_to(outside)),
        "cannot be used",
    ),
    "lock is a symlink": (
        steps(make_engine, lambda out, outside: (out / ".spiderproj" / "lock").symlink_to(outside / "precious")),
        "cannot be used",
    ),
    "below a file": (lambda out, outside: None, "cannot be used"),
}


@pytest.mark.parametrize("plant", REFUSED)
def test_prepare_refuses_what_is_not_ours(tmp_path: Path, outside: Path, plant: str) -> None:
    """A place that could be somebody's is refused with status 3 and one line, and is left as it was."""
    out = outside / "precious" / "out" if plant == "below a file" else tmp_path / "out"
    plant_at, reason = REFUSED[plant]
    plant_at(out, outside)
    with pytest.raises(OutputError, match=reason) as raised:
        prepare(out)
    assert raised.value.exit_status == 3
    assert "\n" not in str(raised.value)
    assert str(out) in str(raised.value)
    assert_untouched(outside)


def test_prepare_refuses_root_and_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The root and the home folder are refused, even when they are empty and however they are spelled."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for out in (Path("/"), home, home / "x" / "..", Path("/tmp/..")):
        with pytest.raises(OutputError, match="root or your home"):
            prepare(out)
    assert names(home) == []


def test_a_short_file_system_is_found_at_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where our longest names cannot be stored, the crawl does not begin, and the lock is let go (A22)."""

    def rename(*_: object, **__: object) -> None:
        raise OSError(errno.ENAMETOOLONG, "File name too long")

    out = tmp_path / "out"
    with monkeypatch.context() as patched:
        patched.setattr(os, "rename", rename)
        with pytest.raises(OutputError, match="127 bytes"):
            prepare(out)
    prepare(out).release()


def test_the_lock_names_its_owner(out: Path) -> None:
    """A second crawl is told who holds the folder, with status 4; after the first it may go on."""
    with pytest.raises(LockedError, match=f"process {os.getpid()} on '{socket.gethostname()}'") as raised:
        Lock(out)
    assert raised.value.exit_status == 4
    with pytest.raises(LockedError):
        prepare(out)


@pytest.mark.parametrize(
    "record", [b"", b"{", b"[]", b'{"pid":"x"}', b'{"pid":1,"host":"h","started":"s"}\n', b"x" * 9000]
)
def test_the_record_of_a_dead_process_is_replaced(tmp_path: Path, record: bytes) -> None:
    """A lock file without its process means nothing, whatever it says; one half written names nobody."""
    out = tmp_path / "out"
    prepare(out).release()
    file = out / ".spiderproj" / "lock"
    file.write_bytes(record)
    lock = prepare(out)
    assert json.loads(file.read_bytes())["pid"] == os.getpid()
    file.write_bytes(b"{")
    with pytest.raises(LockedError, match="another process"):
        prepare(out)
    lock.release()


RACER = """
import sys
from pathlib import Path
from spiderproj.errors import LockedError
from spiderproj.files import prepare
try:
    lock = prepare(Path(sys.argv[1]))
except LockedError:
    print("locked", flush=True)
else:
    print("won", flush=True)
sys.stdin.read()
"""


def test_one_of_many_crawls_wins(tmp_path: Path) -> None:
    """Of crawls started at once in one new folder exactly one goes on."""
    out = tmp_path / "out"
    command = [sys.executable, "-c", RACER, str(out)]
    racers = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(6)]
    results = [racer.stdout.readline().strip() for racer in racers if racer.stdout]
    for racer in racers:
        racer.communicate("")
    assert sorted(results) == ["locked"] * 5 + ["won"]
