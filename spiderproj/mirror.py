"""The copy that opens from disk: files rewritten when it is known which there are, and put back when asked to.

It can end at any moment and be done again: an original is moved away, not changed, and what the form of a file depends
on is noted with it, so that only files whose form would change are touched.
"""

from __future__ import annotations

import logging
import os
import time
from collections import Counter
from typing import Final

import orjson
import xxhash

from spiderproj import mediatype
from spiderproj.files.originals import Originals
from spiderproj.files.output import FILES
from spiderproj.models import ResourceType
from spiderproj.rewrite import Known, Relative, rewrite_css, rewrite_html, rewrite_svg
from spiderproj.store import Folder
from spiderproj.store.destinations import Destination, Destinations, Kind
from spiderproj.store.rewrites import Document, References, Rewrites

logger = logging.getLogger(__name__)

_VERSION: Final = 1  # of what rewriting does: another number has all files rewritten again
_COMMIT_SECONDS: Final = 0.2
_KEPT_REFERENCES: Final = 50_000
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


class _Mirror:
    """One pass over all documents."""

    def __init__(self, folder: Folder, originals: Originals) -> None:
        self._folder = folder
        self._originals = originals
        self._rewrites = Rewrites(folder.database)
        self._root = f"{folder.out / FILES}/"
        self._exists = _Existing(self._root)
        self._destinations = Destinations(folder.database, self._exists)
        self._references = _References("")
        self._resolved = Known()

    def write(self) -> None:
        """Bring every document into its form."""
        commits = _Commits(self._folder)
        self._rewrites.forget_strangers()
        self._bring_back()
        for document in self._rewrites.documents():
            if document.type != ResourceType.IMAGE or document.path.lower().endswith(_SVG):
                self._write_one(document)
                commits.now_and_then()
        self._folder.commit()
        self._originals.prune(self._rewrites.uses)

    def _bring_back(self) -> None:
        """Put back what a kill has caught out of the tree: others may lead there, and are judged before it."""
        for path, digest in self._rewrites.uncertain():
            if os.path.isfile(self._root + path):  # noqa: PTH113 - a tenth of the time
                continue
            if (original := self._originals.read(path, digest, kept_first=True)) is not None:
                self._folder.files.put(path, original.body)

    def _write_one(self, document: Document) -> None:
        links = orjson.loads(document.links) if document.links else []
        known = self._destinations.of([row[0] for row in links])
        signature = _signature(document, known)
        if signature == document.signature and self._exists(document.path):
            return
        original = self._originals.read(document.path, document.digest, kept_first=document.form is not None)
        if original is None:
            logger.warning("%s is not what was received: it stays as it is", document.path)
            self._rewrites.forget(document.path)
            return
        page = _Page(known, self._destinations, self._references_from(document.path))
        made = _rewritten(document, original.body, page, self._resolved)
        form = xxhash.xxh3_128_digest(made) if made != original.body else None
        if form != document.form or (original.is_kept and not self._exists(document.path)):
            self._put(document, made, is_kept=original.is_kept)
        self._rewrites.keep(document.path, signature, form, page.found, page.missing)

    def _references_from(self, path: str) -> _References:
        """Return the references from the file at *path*."""
        folder = path[: path.rfind("/")]
        if folder != self._references.folder or len(self._references) >= _KEPT_REFERENCES:
            self._references = _References(folder)
        return self._references

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
            if len(self._known) >= _KEPT_REFERENCES:
                self._known.clear()
            known = self._known[path] = os.path.isfile(self._root + path)  # noqa: PTH113 - a tenth of the time
        return known


class _References(dict[str, str]):
    """References from the files of one *folder*, by the path they lead to: most of them its next file needs too."""

    def __init__(self, folder: str) -> None:
        super().__init__()
        self.folder = folder
        self._relative = Relative(folder)

    def __missing__(self, target: str) -> str:
        found = self[target] = self._relative(target)
        return found


class _Page:
    """Says where the references of one document lead, and counts them."""

    def __init__(self, known: dict[str, Destination], destinations: Destinations, references: _References) -> None:
        self._known = known
        self._destinations = destinations
        self._references = references
        self.found = [0] * len(Kind)
        self.missing: Counter[str] = Counter()

    def __call__(self, target: str) -> str:
        """Return the reference to the file that *target* is in the copy, or *target* itself."""
        destination = self._known.get(target)
        if destination is None:
            destination = self._known[target] = self._destinations.of_url(target)
        kind, path, reason = destination
        self.found[kind] += 1
        if path is not None:
            return self._references[path]
        if kind is Kind.MISSING:
            self.missing[reason] += 1
        return target


def _rewritten(document: Document, body: bytes, page: _Page, known: Known) -> bytes:
    content_type = document.content_type
    charset = mediatype.parse([content_type]).charset if content_type else None
    if document.type == ResourceType.HTML:
        is_xml = document.path.endswith(_XHTML)
        return rewrite_html(body, document.url, header_charset=charset, is_xml=is_xml, resolve=page, known=known)
    rewrite = rewrite_css if document.type == ResourceType.STYLE else rewrite_svg
    return rewrite(body, document.url, header_charset=charset, resolve=page)


def _signature(document: Document, known: dict[str, Destination]) -> int:
    """Return a number for all that a document's form depends on."""
    leads = [path or _ABSENT[kind] for kind, path, _ in known.values()]
    text = "\n".join((str(_VERSION), document.digest.hex(), document.content_type or "", *known, *leads))
    value = xxhash.xxh3_64_intdigest(text.encode("utf-8", "replace"))
    return value - (1 << 64) if value >> 63 else value
