"""One document to be rewritten, as a value: it can be done here or in another process."""

from __future__ import annotations

from collections import Counter
from typing import Final, NamedTuple

from spiderproj.rendering.still import still
from spiderproj.rewrite.documents import rewrite_css, rewrite_html, rewrite_svg
from spiderproj.rewrite.edits import Known, Resolve
from spiderproj.rewrite.relative import Relative

_KEPT_REFERENCES: Final = 50_000


class Task(NamedTuple):
    """A *body* that is to lead to other files than it was written for."""

    path: str  # of its file
    url: str
    kind: str  # "html", "xhtml", "svg" or "css"
    charset: str | None  # as its header told
    body: bytes
    is_drawn: bool  # by a browser: it must not draw itself again
    leads: dict[str, str | None]  # URL → the path of the file it leads to, None: the URL itself


class Form(NamedTuple):
    """What became of a task."""

    body: bytes
    uses: dict[str, int]  # how often it refers to each URL
    unknown: list[str]  # the URLs that ``leads`` should have told of


class Rewriter:
    """Rewrites documents, quicker when those of one folder come one after the other."""

    def __init__(self) -> None:
        self._known = Known()
        self._references = _References("")

    def __call__(self, task: Task) -> Form:
        """Return the form of *task*; what is ``unknown`` stays an absolute URL in it."""
        folder = task.path[: task.path.rfind("/")]
        if folder != self._references.folder or len(self._references) >= _KEPT_REFERENCES:
            self._references = _References(folder)
        uses: Counter[str] = Counter()
        unknown: list[str] = []
        leads, references = task.leads, self._references

        def resolve(target: str) -> str:
            uses[target] += 1
            path = leads.get(target)
            if path is not None:
                return references[path]
            if target not in leads:
                unknown.append(target)
            return target

        return Form(self._made(task, resolve), uses, unknown)

    def _made(self, task: Task, resolve: Resolve) -> bytes:
        if task.kind == "css":
            return rewrite_css(task.body, task.url, header_charset=task.charset, resolve=resolve)
        if task.kind == "svg":
            return rewrite_svg(task.body, task.url, header_charset=task.charset, resolve=resolve)
        made = rewrite_html(
            task.body, task.url,
            header_charset=task.charset, is_xml=task.kind == "xhtml", resolve=resolve, known=self._known,
        )  # fmt: skip
        return (
            still(made) if task.is_drawn else made
        )  # only now: rewriting takes policies away, which speak of a server


class _References(dict[str, str]):
    """References from the files of one *folder*, by the path they lead to: most of them its next file needs too."""

    def __init__(self, folder: str) -> None:
        super().__init__()
        self.folder = folder
        self._relative = Relative(folder)

    def __missing__(self, target: str) -> str:
        found = self[target] = self._relative(target)
        return found
