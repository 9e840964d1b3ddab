"""The table of arguments: name, reader, default and the words that the documentation shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from spiderproj.arguments.lists import patterns
from spiderproj.arguments.options import Gate, Mode, Render, Sitemap, Unique, WindowEnd
from spiderproj.arguments.seeds import seeds
from spiderproj.arguments.values import (
    Given,
    existing_file,
    flag,
    level_types,
    one_of,
    path,
    prose,
    types,
    whole_number,
    window,
)
from spiderproj.order import Order

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, kw_only=True)
class Argument:
    """One argument. ``default`` is the value as a user would write it, None when ``otherwise`` tells what holds."""

    name: str
    read: Callable[[Given], object]
    values: str
    meaning: str
    default: str | None = None
    otherwise: str = "none"

    @property
    def shown_default(self) -> str:
        """The default as the documentation shows it."""
        return self.otherwise if self.default is None else f"`{self.default}`"


ARGUMENTS: tuple[Argument, ...] = (
    Argument(
        name="seed",
        read=seeds,
        values="URL, several separated by white space, or `@FILE` (a URL a line, `#` comments)",
        otherwise="required",
        meaning="Where the crawl begins; a missing scheme means `https://` with `http://` as second try.",
    ),
    Argument(
        name="mode",
        read=one_of(Mode),
        values="`local`, `all`, `directory`, `files`",
        default="local",
        meaning="Which URLs belong to the crawl.",
    ),
    Argument(
        name="select",
        read=level_types,
        values="`LEVEL:TYPES` pairs, e.g. `page:all child:html,document,archive parent:image`",
        otherwise="by mode",
        meaning="Which types are fetched at which level.",
    ),
    Argument(
        name="near",
        read=flag,
        values="`0`, `1`",
        default="0",
        meaning="Also fetch non-HTML files on other hosts that an in-scope page links to; follow nothing from them.",
    ),
    Argument(
        name="requisites",
        read=flag,
        values="`0`, `1`",
        otherwise="`0`; `1` with `mirror`",
        meaning="Also fetch what a kept page needs to be shown (images, styles, scripts, fonts), wherever it is.",
    ),
    Argument(
        name="depth",
        read=whole_number,
        values="whole number",
        otherwise="no limit",
        meaning="Hops from the seed; requisites do not count as a hop.",
    ),
    Argument(
        name="allow",
        read=patterns,
        values="regular expression (RE2), or `@FILE` (one a line); more with `allow.1=`, `allow.2=` ...",
        meaning="Only URLs in which one of these is found.",
    ),
    Argument(
        name="deny",
        read=patterns,
        values="regular expression (RE2), or `@FILE` (one a line); more with `deny.1=`, `deny.2=` ...",
        meaning="Never URLs in which one of these is found; `deny` beats `allow`.",
    ),
    Argument(
        name="deny_types",
        read=types,
        values="types, e.g. `video,audio`",
        default="none",
        meaning="Types that are never fetched, at any level.",
    ),
    Argument(
        name="filter",
        read=prose,
        values="expression",
        meaning="One condition for everything that the other arguments cannot say.",
    ),
    Argument(
        name="order",
        read=one_of(Order),
        values="`section`, `breadth`, `depth`, `files`",
        otherwise="`section` in `directory`, else `breadth`",
        meaning="What is fetched first, so that a crawl cut short at any moment holds the best part.",
    ),
    Argument(
        name="gate",
        read=one_of(Gate),
        values="`auto`, `head`, `get`, `extension`",
        default="auto",
        meaning="How the content type is learned before a body is downloaded.",
    ),
    Argument(
        name="sitemap",
        read=one_of(Sitemap),
        values="`off`, `on`, `only`",
        default="off",
        meaning="Read the sitemaps that robots.txt names and `/sitemap.xml`; `only`: exactly their URLs, no links.",
    ),
    Argument(
        name="unique",
        read=one_of(Unique),
        values="`off`, `exact`, `strict`, `learn`",
        default="exact",
        meaning="What counts as a duplicate, and whether duplicates cease to be fetched.",
    ),
    Argument(
        name="mirror",
        read=flag,
        values="`0`, `1`",
        default="0",
        meaning="Rewrite links so that the copy works from disk, offline, in a browser.",
    ),
    Argument(
        name="warc",
        read=flag,
        values="`0`, `1`",
        default="0",
        meaning="Also write `warc/*.warc.gz` and a WACZ.",
    ),
    Argument(
        name="render",
        read=one_of(Render),
        values="`never`, `auto`, `always`",
        default="never",
        meaning="Draw pages in a real browser before reading them; `auto`: only those that look drawn by script.",
    ),
    Argument(
        name="window",
        read=window,
        values="`HH:MM-HH:MM` local time, `+Nh`",
        meaning="The only hours in which it fetches; outside them the crawl is saved and waits.",
    ),
    Argument(
        name="window_end",
        read=one_of(WindowEnd),
        values="`wait`, `stop`",
        default="wait",
        meaning="What the crawl does when its window closes.",
    ),
    Argument(
        name="login",
        read=existing_file,
        values="`FILE.toml`",
        meaning="A form to post first, headers, cookies and passwords; secrets never stand on the command line.",
    ),
    Argument(
        name="keywords",
        read=prose,
        values="text",
        meaning="Goes into `__doc.txt` of the copy, beside the words of the crawl; `scrapy topics` searches them.",
    ),
    Argument(
        name="out",
        read=path,
        values="folder",
        otherwise="`crawls/<seed host>`",
        meaning="Where everything goes; the same folder given again resumes, or revisits what is complete.",
    ),
    Argument(
        name="fresh",
        read=flag,
        values="`0`, `1`",
        default="0",
        meaning="Start over: the old crawl is kept aside, never deleted.",
    ),
)


def markdown_table() -> str:
    """Return the arguments as the Markdown table of docs/arguments.md."""
    rows = (f"| `{one.name}` | {one.values} | {one.shown_default} | {one.meaning} |" for one in ARGUMENTS)
    return "\n".join(("| argument | values | default | meaning |", "| --- | --- | --- | --- |", *rows, ""))
