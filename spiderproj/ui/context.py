"""What all answers and deeds of the page are about: the crawls, their snapshots, the commands that run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spiderproj.arguments.seeds import folder_name
from spiderproj.configuration import check
from spiderproj.errors import ArgumentError
from spiderproj.ui import choices
from spiderproj.ui.choices import field_of
from spiderproj.ui.copies import STORE, owner
from spiderproj.ui.estimate import Sample
from spiderproj.ui.runs import Children
from spiderproj.ui.snapshot import Snapshot, Snapshots

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from spiderproj.arguments import CrawlOptions
    from spiderproj.ui.copies import Copies
    from spiderproj.ui.scrapyd import Scrapyd

Values = Mapping[str, Any]
"""A query, or the object in a body."""
Handler = Callable[[Values], Any]
"""Returns what JSON can say; its errors are ours."""


class Context:
    """The crawls *copies*; *run* runs a function in a thread, *place* is a folder for what lies beside."""

    def __init__(
        self,
        copies: Copies,
        settings: BaseSettings,
        scrapyds: list[Scrapyd],
        place: Path,
        run: Callable[[Callable[[], None]], object],
    ) -> None:
        self.copies = copies
        self.settings = settings
        self.scrapyds = scrapyds
        self.children = Children(place)
        self._snapshots = Snapshots(place, run)
        self._samples: dict[str, tuple[Snapshot, Sample]] = {}

    def known(self, values: Values) -> Path:
        """Return the folder of the crawl that *values* name; ArgumentError when there is none."""
        return self.copies.known(field_of(values, "name"))

    def readable(self, values: Values) -> Path:
        """Return the folder of the crawl that *values* name, or of its survey; ArgumentError without both."""
        return self.copies.readable(field_of(values, "name"))

    def snapshot(self, values: Values) -> Snapshot | None:
        """Return the snapshot of the crawl that *values* name, None while it is being built."""
        folder = self.readable(values)
        return self._snapshots.of(folder / STORE, is_still=owner(folder) is None)

    def sample(self, name: str, snapshot: Snapshot) -> Sample:
        """Return the sample of a *snapshot*, drawn once."""
        kept = self._samples.get(name)
        if kept is None or kept[0] is not snapshot:
            kept = self._samples[name] = (snapshot, Sample(snapshot))
        return kept[1]

    def chosen(self, body: Values, folder: Path) -> tuple[choices.Choices, CrawlOptions]:
        """Return the choices in *body* and what they mean; ArgumentError names the field that is wrong."""
        chosen = choices.read(body.get("arguments"))
        options = chosen.options(folder)
        check(options, self.settings)
        return chosen, options

    def new_name(self, body: Values) -> str:
        """Return the name that a crawl from the seeds in *body* has by itself."""
        chosen = choices.read(body.get("arguments"))
        return folder_name(chosen.options(self.copies.root / "new").seeds[0])

    def scrapyd(self, values: Values) -> Scrapyd:
        """Return the Scrapyd that *values* name."""
        url = field_of(values, "url")
        for server in self.scrapyds:
            if server.url == url:
                return server
        raise ArgumentError("url", url, "a Scrapyd that was named with --scrapyd")
