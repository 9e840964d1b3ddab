"""What the page can ask: the GETs, none of which changes anything."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final

import orjson

from spiderproj import explanation
from spiderproj.configuration import build_scope
from spiderproj.errors import ArgumentError, SpiderprojError
from spiderproj.store.linkers import Linkers
from spiderproj.stored import opened, options_of
from spiderproj.ui import found_out, tables
from spiderproj.ui.choices import field_of
from spiderproj.ui.copies import STORE, owner, survey_of
from spiderproj.ui.progress import progress
from spiderproj.ui.runs import REPLAY
from spiderproj.urls import url_key

if TYPE_CHECKING:
    from spiderproj.ui.context import Context, Handler, Values

_SOURCES: Final = 3  # pages with a broken link that are named


class Answers:
    """The answers, ``routes`` from path to function; *files* is the address of the copies' pages."""

    def __init__(self, context: Context, files: str) -> None:
        self._context = context
        self._files = files
        self.routes: Mapping[str, Handler] = {
            "/api/state": self._state,
            "/api/facets": self._facets,
            "/api/urls": self._urls,
            "/api/changes": self._changes,
            "/api/why": self._why,
            "/api/linkers": self._linkers,
            "/api/progress": self._progress,
            "/api/replay": self._replay_answer,
            "/api/survey": self._survey,
            "/api/scrapyd": self._scrapyd_jobs,
        }

    def _state(self, _: Values) -> dict[str, Any]:
        return {
            "root": str(self._context.copies.root),
            "files": self._files,
            "copies": list(self._context.copies.listed()),
            "scrapyds": [{"url": one.url, "is_here": one.is_here} for one in self._context.scrapyds],
        }

    def _facets(self, query: Values) -> dict[str, Any]:
        snapshot = self._context.snapshot(query)
        return {"preparing": True} if snapshot is None else tables.facets(snapshot)

    def _urls(self, query: Values) -> dict[str, Any]:
        wanted = tables.asked({name: field_of(query, name) for name in query})
        snapshot = self._context.snapshot(query)
        return {"preparing": True} if snapshot is None else tables.page(snapshot, wanted)

    def _why(self, query: Values) -> dict[str, Any]:
        url = field_of(query, "url", 16_384)
        with closing(opened(self._context.readable(query))) as database:
            options = options_of(database)
            obeys = self._context.settings.getbool("ROBOTSTXT_OBEY")
            token = self._context.settings.get("ROBOTSTXT_USER_AGENT") if obeys else None
            inquiry = explanation.Inquiry(database, options, build_scope(options, self._context.settings), token)
            with database.reading():
                told = explanation.as_values(inquiry.explain(url))
            found = (url_key(str(told["url"])), told["url"])
            number = database.scalar("SELECT id FROM urls WHERE key = ? AND url = ?", found)
        return {**told, "id": number}

    def _changes(self, query: Values) -> dict[str, Any]:
        offset = tables.offset_of(field_of(query, "offset") or "0")
        with closing(opened(self._context.known(query))) as database, database.reading():
            return found_out.changes(database, field_of(query, "what"), offset)

    def _linkers(self, query: Values) -> dict[str, list[str]]:
        """Return, for the URLs with these ids, the first pages that link to each, and how many do."""
        ids = [int(word) for word in field_of(query, "ids").split(",") if word.isascii() and word.isdecimal()]
        with closing(opened(self._context.readable(query))) as database:
            counts, first = Linkers(database).of_many(ids[: tables.A_PAGE], _SOURCES)
            url = "SELECT url FROM urls WHERE id = ?"
            return {str(number): [str(counts[number]), *(database.scalar(url, (page,)) for page in first[number])]
                    for number in first}  # fmt: skip

    def _progress(self, query: Values) -> dict[str, Any]:
        name = field_of(query, "name")
        folder = self._context.copies.folder(name)
        child = self._context.children.get(f"crawl {name}")
        told: dict[str, Any] = {"state": "starting", "child": None}
        is_new = child is not None and child.status is None
        try:
            told |= progress(folder) if (folder / STORE).is_file() else {}
        except SpiderprojError:
            if not is_new and owner(folder) is None:  # a store that is being made is no damaged one
                raise
        if child is not None:
            told["child"] = {"status": child.status, "said": child.complaints()}
            if is_new and told["state"] != "running":
                told["state"] = "starting"
        return told

    def _survey(self, query: Values) -> dict[str, Any]:
        name = field_of(query, "name")
        child = self._context.children.get(f"survey {name}")
        shown = None if child is None else {"status": child.status, "said": child.complaints()}
        return {"survey": survey_of(self._context.copies.surveyed(name)), "child": shown}

    def _replay_answer(self, query: Values) -> dict[str, Any]:
        job = field_of(query, "job")
        child = self._context.children.get(job) if job.startswith(REPLAY) else None
        if child is None:
            raise ArgumentError("job", job, "a replay that was started here")
        if child.status is None:
            return {"preparing": True}
        return {"status": child.status, "said": child.complaints(),
                "answer": orjson.loads(child.answer()) if child.status == 0 else None}  # fmt: skip

    def _scrapyd_jobs(self, query: Values) -> dict[str, Any]:
        return {"jobs": self._context.scrapyd(query).jobs()}
