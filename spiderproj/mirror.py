"""The copy that opens from disk: files rewritten when it is known which there are, and put back when asked to.

It can end at any moment and be done again: an original is moved away, not changed, and what the form of a file depends
on is noted with it, so that only files whose form would change are touched.
"""

from __future__ import annotations

import logging
import os
import time
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

import orjson
import xxhash

from spiderproj import mediatype
from spiderproj.assistant import Assistant
from spiderproj.files.originals import Originals
from spiderproj.files.output import FILES
from spiderproj.models import ResourceType
from spiderproj.rewrite import Form, Rewriter, Task
from spiderproj.store import Folder
from spiderproj.store.destinations import Destination, Destinations, Kind
from spiderproj.store.renderings import Renderings
from spiderproj.store.rewrites import Document, References, Rewrites

logger = logging.getLogger(__name__)

_VERSION: Final = 1  # of what rewriting does: another number has all files rewritten again
_COMMIT_SECONDS: Final = 0.2
_KEPT_FILES: Final = 50_000
_WORTH_ASSISTANCE: Final = 200  # documents after which another process is started
_BATCH: Final = 16  # documents more, in one hand-over ...
_BATCH_BYTES: Final = 1024 * 1024  # ... of about this size
_KINDS: Final = {ResourceType.HTML: "html", ResourceType.STYLE: "css", ResourceType.IMAGE: "svg"}
_ABSENT: Final = [f"/{kind.name}" for kind in Kind]  # no path begins with a slash
_SVG: Final = ".svg"
_XHTML: Final = (".xhtml", ".xht", ".xml")


def write_mirror(folder: Folder, *, fsync: bool) -> References:
    """Rewrite the files of the copy so that they lead to each other; return the audit of their references."""
    originals = Originals(folder.files, folder.out, fsync=fsync)
    try:
        _Mirror(folder, originals).write()
    finally:
        originals.close()
    return Rewrites(folder.database).references()


def undo_mirror(folder: Folder, *, fsync: bool) -> None:
    """Put every file back as it was received."""
    rewrites = Rewrites(folder.database)
    if next(rewrites.rewritten(), None) is None:
        return
    originals = Originals(folder.files, folder.out, fsync=fsync)
    commits = _Commits(folder)
    try:
        for path, digest in rewrites.rewritten():
            original = originals.read(path, digest, kept_first=True)
            if original is None:
                logger.warning("%s stays rewritten: its original is gone", path)
                continue
            if original.is_kept:
                folder.journal.note(path)
                folder.files.remove(path)
                folder.files.put(path, original.body)
            rewrites.forget(path)
            commits.now_and_then()
        folder.commit()
        originals.prune(rewrites.uses)
    finally:
        originals.close()


class _Commits:
    """Commits now and then, so that a kill costs little and a commit too."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._last = time.monotonic()

    def now_and_then(self) -> None:
        """Commit when the last time is long enough ago."""
        if (now := time.monotonic()) - self._last > _COMMIT_SECONDS:
            self._folder.commit()
            self._last = now


class _Work(NamedTuple):
    """A document whose form has to be made."""

    document: Document
    known: dict[str, Destination]
    signature: int
    received: bytes
    is_kept: bool  # what was received is beside the tree already
    task: Task


class _Mirror:
    """One pass over all documents."""

    def __init__(self, folder: Folder, originals: Originals) -> None:
        self._folder = folder
        self._originals = originals
        self._rewrites = Rewrites(folder.database)
        self._renderings = Renderings(folder.database)
        self._root = f"{folder.out / FILES}/"
        self._exists = _Existing(self._root)
        self._destinations = Destinations(folder.database, self._exists)
        self._rewriter = Rewriter()

    def write(self) -> None:
        """Bring every document into its form."""
        self._rewrites.forget_strangers()
        self._bring_back()
        with Assistant() as assistant:
            self._write_each(filter(None, map(self._work, self._rewrites.documents())), assistant)
        self._folder.commit()
        self._originals.prune(self._rewrites.uses)

    def _write_each(self, waiting: Iterator[_Work], assistant: Assistant) -> None:
        """Write the form of each document; while the assistant makes some of many, others are made here."""
        commits = _Commits(self._folder)
        given: list[_Work] = []
        for number, work in enumerate(waiting):
            if not given and number >= _WORTH_ASSISTANCE and not assistant.fails:
                given = [work, *_batch(waiting)]
                assistant.give([each.task for each in given])
                continue
            self._finish(work, self._rewriter(work.task))
            if given and assistant.is_done():
                self._take_back(given, assistant)
                given = []
            commits.now_and_then()
        self._take_back(given, assistant)

    def _take_back(self, given: list[_Work], assistant: Assistant) -> None:
        forms = (assistant.take() if given else None) or [self._rewriter(work.task) for work in given]
        for work, form in zip(given, forms, strict=True):
            self._finish(work, form)

    def _bring_back(self) -> None:
        """Put back what a kill has caught out of the tree: others may lead there, and are judged before it."""
        for path, digest in self._rewrites.uncertain():
            if os.path.isfile(self._root + path):  # noqa: PTH113 - a tenth of the time
                continue
            if (original := self._originals.read(path, digest, kept_first=True)) is not None:
                self._folder.files.put(path, original.body)

    def _work(self, document: Document) -> _Work | None:
        """Return what is to be done about a document, None when it has its form or none can be made."""
        if document.type == ResourceType.IMAGE and not document.path.lower().endswith(_SVG):
            return None
        links = orjson.loads(document.links) if document.links else []
        known = self._destinations.of([row[0] for row in links])
        signature = _signature(document, known)
        if signature == document.signature and self._exists(document.path):
            return None
        original = self._originals.read(document.path, document.digest, kept_first=document.form is not None)
        if original is None:
            logger.warning("%s is not what was received: it stays as it is", document.path)
            self._rewrites.forget(document.path)
            return None
        is_drawn = document.drawn is not None and not document.path.endswith(_XHTML)
        drawn = self._renderings.of(document.source) if is_drawn else None
        task = _task(document, original.body, drawn, {url: found.path for url, found in known.items()})
        return _Work(document, known, signature, original.body, original.is_kept, task)

    def _finish(self, work: _Work, form: Form) -> None:
        """Put a document's *form* in its place, and count where it leads."""
        document, known = work.document, work.known
        if form.unknown:
            known |= {url: self._destinations.of_url(url) for url in form.unknown}
            form = self._rewriter(work.task._replace(leads={url: found.path for url, found in known.items()}))
        kept = xxhash.xxh3_128_digest(form.body) if form.body != work.received else None
        if kept != document.form or (work.is_kept and not self._exists(document.path)):
            self._put(document, form.body, is_kept=work.is_kept)
        found, missing = [0] * len(Kind), Counter[str]()
        for url, count in form.uses.items():
            kind, path, reason = known[url]
            found[kind] += count
            if kind is Kind.MISSING and path is None:
                missing[reason] += count
        self._rewrites.keep(document.path, work.signature, kept, found, missing)

    def _put(self, document: Document, body: bytes, *, is_kept: bool) -> None:
        """Put *body* in the place of a document's file; until the next commit its form is uncertain."""
        path = document.path
        self._folder.journal.note(path)
        if is_kept:
            self._folder.files.remove(path)
        else:
            self._originals.take(path, document.digest)
        self._folder.files.put(path, body)


class _Existing:
    """Knows which files are there, each asked once."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._known: dict[str, bool] = {}

    def __call__(self, path: str) -> bool:
        known = self._known.get(path)
        if known is None:
            if len(self._known) >= _KEPT_FILES:
                self._known.clear()
            known = self._known[path] = os.path.isfile(self._root + path)  # noqa: PTH113 - a tenth of the time
        return known


def _batch(waiting: Iterator[_Work]) -> Iterator[_Work]:
    """Yield what is worth being handed over in one go, in bounded memory."""
    size = 0
    for work in islice(waiting, _BATCH):
        yield work
        size += len(work.task.body)
        if size > _BATCH_BYTES:
            return


def _task(document: Document, received: bytes, drawn: bytes | None, leads: dict[str, str | None]) -> Task:
    charset = mediatype.parse([document.content_type]).charset if document.content_type else None
    kind = _KINDS[ResourceType(document.type)]
    if kind == "html" and document.path.endswith(_XHTML):
        kind = "xhtml"
    body = received if drawn is None else drawn
    return Task(
        path=document.path, url=document.url, kind=kind, charset=charset if drawn is None else "utf-8",
        body=body, is_drawn=drawn is not None, leads=leads,
    )  # fmt: skip


def _signature(document: Document, known: dict[str, Destination]) -> int:
    """Return a number for all that a document's form depends on."""
    leads = [path or _ABSENT[kind] for kind, path, _ in known.values()]
    form = (str(_VERSION), document.digest.hex(), document.content_type or "", str(document.drawn or ""))
    text = "\n".join((*form, *known, *leads))
    value = xxhash.xxh3_64_intdigest(text.encode("utf-8", "replace"))
    return value - (1 << 64) if value >> 63 else value
