"""The archive that viewers open: WARC files, index and list of pages in one ZIP (WACZ 1.1.1, specs.webrecorder.net)."""

from __future__ import annotations

import hashlib
import os
import time
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Final, NamedTuple
from zipfile import ZIP_STORED, ZipFile, ZipInfo

import orjson

from spiderproj.failpoints import failpoint
from spiderproj.files.failures import failure
from spiderproj.warc import cdxj
from spiderproj.warc.record import warc_date
from spiderproj.warc.writer import SOFTWARE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

_PIECE: Final = 1024 * 1024
_PAGES: Final = {"format": "json-pages-1.0", "id": "pages", "title": "All pages"}


class Page(NamedTuple):
    """A page that a viewer lists."""

    url: str
    stamp: str  # 14 digits: of its latest record
    title: str


class Contents(NamedTuple):
    """What goes into an archive."""

    title: str
    main: Page | None  # the page to begin with
    warcs: Sequence[tuple[Path, int]]  # each with the size up to its last whole record
    captures: Iterable[cdxj.Capture]  # sorted by key and stamp
    pages: Iterable[Page]


def write_wacz(path: Path, contents: Contents) -> None:
    """Write the archive of *contents* to *path*; on an error, such as DiskFullError, it stays as it was.

    Nothing is held in memory but a block of the index and a line for each of its blocks.
    """
    temporary = path.with_name(f".{path.name}.new")
    try:
        failpoint("wacz.write")
        with ZipFile(temporary, "w", ZIP_STORED) as archive:
            _Writer(archive).write(contents)
        failpoint("wacz.rename")
        os.replace(temporary, path)  # noqa: PTH105 - the plain name of the call that makes it whole or nothing
        failpoint("wacz.renamed")
    except OSError as error:
        raise failure(error, path) from error
    finally:
        with suppress(OSError):  # it has its name by now, if all went well
            temporary.unlink()


class _Writer:
    """Writes the members of an *archive*, noting what datapackage.json tells of them."""

    def __init__(self, archive: ZipFile) -> None:
        self._archive = archive
        self._now = time.gmtime()
        self._resources: list[dict[str, object]] = []

    def write(self, contents: Contents) -> None:
        """Write everything."""
        for path, size in contents.warcs:
            self._add(f"archive/{path.name}", _pieces(path, size), size)
        heads = [cdxj.HEADER]
        self._add("indexes/index.cdx.gz", _index(contents.captures, heads))
        self._add("indexes/index.idx", heads)
        self._add("pages/pages.jsonl", _page_lines(contents.pages))
        package = _json(self._package(contents))
        self._put("datapackage.json", [package])
        digest = {"path": "datapackage.json", "hash": f"sha256:{hashlib.sha256(package).hexdigest()}"}
        self._put("datapackage-digest.json", [_json(digest)])

    def _package(self, contents: Contents) -> dict[str, object]:
        main = contents.main
        begin = {"mainPageUrl": main.url, "mainPageDate": warc_date(main.stamp)} if main is not None else {}
        return {
            "profile": "data-package",
            "title": contents.title,
            "wacz_version": "1.1.1",
            "software": SOFTWARE,
            "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", self._now),
            **begin,
            "resources": self._resources,
        }

    def _add(self, name: str, pieces: Iterable[bytes], size: int = 0) -> None:
        """Write a member and note it as a resource; *size* as far as it is known."""
        digest, written = self._put(name, pieces, size)
        label = name.rpartition("/")[2]
        self._resources.append(
            {"name": label.lower(), "path": name, "hash": f"sha256:{digest}", "bytes": written},
        )

    def _put(self, name: str, pieces: Iterable[bytes], size: int = 0) -> tuple[str, int]:
        """Write a member; return its SHA-256 and its size."""
        digest, written = hashlib.sha256(), 0
        entry = ZipInfo(name, self._now[:6])
        entry.external_attr = 0o644 << 16
        entry.file_size = size
        with self._archive.open(entry, "w", force_zip64=size >= 1 << 31 or not size) as member:
            for piece in pieces:
                written += _write(member, piece, digest)
        return digest.hexdigest(), written


def _write(member: IO[bytes], piece: bytes, digest: hashlib._Hash) -> int:
    digest.update(piece)
    return member.write(piece)


def _pieces(path: Path, size: int) -> Iterator[bytes]:
    """Yield the first *size* bytes of the file at *path*."""
    with path.open("rb") as file:
        while size > 0 and (piece := file.read(min(size, _PIECE))):
            size -= len(piece)
            yield piece


def _index(captures: Iterable[cdxj.Capture], heads: list[bytes]) -> Iterator[bytes]:
    """Yield the members of the index, and add to *heads* the line of each."""
    for member, head in cdxj.members(captures):
        heads.append(head)
        yield member


def _page_lines(pages: Iterable[Page]) -> Iterator[bytes]:
    yield _json(_PAGES)
    for number, page in enumerate(pages, 1):
        yield _json({"id": f"{number}", "url": page.url, "ts": warc_date(page.stamp), "title": page.title})


def _json(value: object) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)
