"""WARC files and archives as other tools read them: records by warcio, digests by ``warcio check``."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple
from zipfile import ZipFile

from warcio.archiveiterator import ArchiveIterator

TOOLS = Path(sys.executable).parent


class Read(NamedTuple):
    """A record as warcio reads it."""

    kind: str
    fields: dict[str, str]
    block: bytes
    offset: int
    length: int

    @property
    def head(self) -> bytes:
        """The HTTP head in the block."""
        return self.block.partition(b"\r\n\r\n")[0]

    @property
    def body(self) -> bytes:
        """What follows it."""
        return self.block.partition(b"\r\n\r\n")[2]


def read(path: Path) -> list[Read]:
    """Return the records of the file at *path*."""
    found = []
    with path.open("rb") as file:
        iterator = ArchiveIterator(file, no_record_parse=True)
        for record in iterator:
            fields = dict(record.rec_headers.headers)
            block = record.raw_stream.read()
            iterator.read_to_end()
            place = iterator.get_record_offset(), iterator.get_record_length()
            found.append(Read(record.rec_type, fields, block, *place))
    return found


def read_all(out: Path) -> list[Read]:
    """Return the records of a crawl's WARC files, in their order."""
    return [record for path in files(out) for record in read(path)]


def files(out: Path) -> list[Path]:
    """Return the WARC files of a crawl."""
    return sorted((out / "warc").glob("*.warc.gz"))


def check(*paths: Path) -> None:
    """Check by ``warcio check`` that every digest is right and was looked at."""
    command = [str(TOOLS / "warcio"), "check", "-v", *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no digest to check" not in done.stdout


def validate(archive: Path) -> None:
    """Check by ``wacz validate`` that *archive* is a WACZ."""
    command = [str(TOOLS / "wacz"), "validate", "-f", str(archive)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def index_of(archive: Path) -> list[tuple[str, str, dict[str, str]]]:
    """Return key, stamp and fields of each line of an archive's index."""
    import gzip

    with ZipFile(archive) as wacz:
        lines = gzip.decompress(wacz.read("indexes/index.cdx.gz")).decode().splitlines()
    return [(key, stamp, json.loads(fields)) for key, stamp, fields in (line.split(" ", 2) for line in lines)]


def pages_of(archive: Path) -> list[dict[str, str]]:
    """Return the lines of an archive's list of pages, without the first."""
    with ZipFile(archive) as wacz:
        return [json.loads(line) for line in wacz.read("pages/pages.jsonl").splitlines()][1:]
