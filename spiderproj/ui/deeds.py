"""What the page can have done: the POSTs. Estimates and expressions are among them, since they have a body."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final

import orjson

from spiderproj.configuration import build_scope
from spiderproj.errors import ArgumentError, LockedError
from spiderproj.levels import Home, homes_of
from spiderproj.stored import opened, options_of
from spiderproj.ui import asked, choices, expression, found_out
from spiderproj.ui.choices import field_of
from spiderproj.ui.copies import interrupt, owner
from spiderproj.ui.estimate import estimate
from spiderproj.ui.runs import REPLAY

if TYPE_CHECKING:
    from pathlib import Path

    from spiderproj.ui.context import Context, Handler, Values

_CHANGES: Final = ("pin", "forbid", "release", "drop")  # of what was learned
_SECONDS: Final = 60  # for `scrapy rules` and `scrapy traps`
_BELIEVED: Final = ("-s", "SPIDERPROJ_ACCEPT_CHANGES=1")
_OF_SURVEY: Final = ("seed", "allow", "deny", "filter")
_SAMPLES: Final = 200  # URLs of a replay that are shown of each side


class Deeds:
    """The deeds, ``routes`` from path to function."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self.routes: Mapping[str, Handler] = {
            "/api/name": lambda body: {"name": context.new_name(body)},
            "/api/expression": _expression,
            "/api/estimate": self._estimate,
            "/api/replay": self._replay,
            "/api/start": self._start,
            "/api/stop": self._stop,
            "/api/fetch": self._fetch,
            "/api/rules": self._rules,
            "/api/traps": self._traps,
            "/api/scrapyd": self._scrapyd_do,
        }

    def _estimate(self, body: Values) -> dict[str, Any]:
        name = field_of(body, "name")
        folder = self._context.copies.folder(name)
        chosen, options = self._context.chosen(body, folder)
        argv = choices.shown(chosen.argv(folder))
        try:
            snapshot = self._context.snapshot(body)
        except ArgumentError:
            return {"command": argv, "takes": None}  # nothing is known yet
        if snapshot is None:
            return {"command": argv, "preparing": True}
        scope = build_scope(options, self._context.settings)
        with closing(opened(self._context.readable(body))) as database, database.reading():
            moved = [Home(*stored) for stored in orjson.loads(database.meta("homes") or "[]")]
        scope.homes[:] = homes_of(options.seeds, moved)
        return {"command": argv, **estimate(self._context.sample(name, snapshot), scope, frozenset(options.seeds))}

    def _replay(self, body: Values) -> dict[str, str]:
        """Start the exact answer as a process of its own."""
        folder = self._context.known(body)
        chosen, _ = self._context.chosen(body, folder)
        given = dict.fromkeys((name for name in choices.NAMES if name != "seed"), "") | chosen.arguments
        apply = ["--apply"] if body.get("apply") is True else []
        argv = ["replay", str(folder), "--json", "--samples", str(_SAMPLES), *apply, *choices.given(given)]
        key = f"{REPLAY}{folder.name} {secrets.token_hex(4)}"
        self._context.children.end_all(f"{REPLAY}{folder.name} ")
        self._context.children.start(key, argv)
        return {"job": key}

    def _start(self, body: Values) -> dict[str, Any]:
        kind = field_of(body, "kind") or "crawl"
        name = field_of(body, "name") or self._context.new_name(body)
        folder = self._context.copies.folder(name)
        chosen, _ = self._context.chosen(body, folder)
        if owner(folder) is not None:
            raise LockedError(f"{name}: a crawl runs there; pause it first")
        argv = [*chosen.argv(folder), *(_BELIEVED if body.get("believe") is True else ())]
        if kind == "survey":
            asked_for = {name: text for name, text in chosen.arguments.items() if name.partition(".")[0] in _OF_SURVEY}
            argv = ["crawl", "survey", *choices.given(asked_for), "-a", f"out={self._context.copies.surveyed(name)}"]
        elif kind != "crawl":
            raise ArgumentError("kind", kind, "crawl or survey")
        self._context.children.start(f"{kind} {name}", argv)
        return {"name": name, "command": choices.shown(argv)}

    def _stop(self, body: Values) -> dict[str, Any]:
        return {"stopped": interrupt(self._context.known(body))}

    def _fetch(self, body: Values) -> dict[str, Any]:
        """Queue what was refused, and crawl on: only these where nothing else was queued."""
        folder, ids = self._context.known(body), body.get("ids")
        if not isinstance(ids, list) or len(ids) > asked.MOST or not all(type(one) is int for one in ids):
            raise ArgumentError("ids", ids, f"at most {asked.MOST} numbers of URLs")
        if (child := self._context.children.get(f"crawl {folder.name}")) is not None and child.status is None:
            raise LockedError(f"{folder.name}: a crawl runs there; pause it first")
        found = asked.ask_for(folder, ids, self._context.settings)
        if found.queued:
            with closing(opened(folder)) as database:
                stored = choices.read(choices.texts_of(options_of(database)))
            only = ["-s", f"SPIDERPROJ_FILTER={asked.NOTHING_MORE}"] if found.is_all else []
            self._context.children.start(f"crawl {folder.name}", [*stored.argv(folder), *only])
        return found._asdict()

    def _rules(self, body: Values) -> dict[str, Any]:
        """Return what was learned about URLs, after one of the rules was changed, if that is asked for."""
        folder, action, number = self._context.known(body), field_of(body, "action"), body.get("rule")
        if action:
            if action not in _CHANGES or type(number) is not int:
                raise ArgumentError("action", action, f"one of {' '.join(_CHANGES)}, and the number of a rule")
            self._command(folder, "rules", [f"--{action}", str(number)])
        with closing(opened(folder)) as database, database.reading():
            return {"rules": list(found_out.rules(database))}

    def _traps(self, body: Values) -> dict[str, Any]:
        """Return the families of URLs that are set aside, after one of them, or all, was released, if asked for."""
        folder, released = self._context.known(body), field_of(body, "release")
        if released and released != "all" and not (released.isascii() and released.isdecimal()):
            raise ArgumentError("release", released, "'all', or the number of a family")
        if released:
            self._command(folder, "traps", ["--release", released])
        with closing(opened(folder)) as database, database.reading():
            return {"traps": list(found_out.traps(database))}

    def _command(self, folder: Path, name: str, change: list[str]) -> None:
        """Have a command of ours change what a crawl has found out; it takes the crawl's lock."""
        child = self._context.children.start(f"{name} {folder.name}", [name, str(folder), *change])
        if child.process.wait(_SECONDS) != 0:
            raise LockedError(child.complaints().removeprefix("spiderproj: "))

    def _scrapyd_do(self, body: Values) -> dict[str, Any]:
        server = self._context.scrapyd(body)
        if job := field_of(body, "cancel"):
            server.cancel(job)
            return {"job": job}
        name = field_of(body, "name") or self._context.new_name(body)
        folder = self._context.copies.folder(name)
        chosen, _ = self._context.chosen(body, folder)
        out = str(folder) if server.is_here else f"crawls/{name}"
        job = f"{name}-{secrets.token_hex(4)}"
        server.schedule({**chosen.arguments, "out": out}, chosen.settings, job)
        return {"job": job, "name": name}


def _expression(body: Values) -> dict[str, Any]:
    """Return a filter as text and as rows, made of whichever is given; rows are null where the text is richer."""
    if "parts" in body:
        given = body["parts"]
        if not isinstance(given, list) or not all(isinstance(one, list) and len(one) == 3 for one in given):
            raise ArgumentError("parts", given, "rows of a name, a test and a value")
        if not all(isinstance(cell, str) for one in given for cell in one):
            raise ArgumentError("parts", given, "rows of texts")
        built: expression.Built | None = expression.Built(
            field_of(body, "joint") or "and", [expression.Part(*one) for one in given]
        )
        text = expression.text_of(built)  # type: ignore[arg-type]  # it was just made
    else:
        text = field_of(body, "text")
        built = expression.built_of(text)
    shown = None if built is None else {"joint": built.joint, "parts": [list(part) for part in built.parts]}
    return {"text": text, "built": shown}
