"""``scrapy explain``: the rule it names is the one that decided, for every URL; and what it prints is harmless."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest
import pytest_twisted
from scrapy.exceptions import UsageError

from spiderproj import windows
from spiderproj.commands.explain import Command
from spiderproj.explanation.rules import OF_LINK, Answer, Rule, rule_of, steps
from spiderproj.filters import Filter
from spiderproj.levels import home_of
from spiderproj.models import Level, Link, LinkRole, Reason, ResourceType, Verdict
from spiderproj.patterns import Patterns
from spiderproj.scope import MAX_HOPS, Scope, Source
from tests import duplicate_sites
from tests.crawling import Crawled, crawl
from tests.routes import link, page, redirect, text
from tests.site import Site
from tests.stored import Said, run
from tests.test_crawl_learning import routes

if TYPE_CHECKING:
    from pathlib import Path

ESCAPE = "\x1b]0;owned\x07"
WORLD = [
    text("/robots.txt", "User-agent: *\nDisallow: /closed/\n"),
    page("/d/", link("a.html", "mailto:a@b", "http://[", "/closed/x", "private/y", "filtered.html", "x.pdf",
                     "../up.html", "{{ALT}}/o.html", "http://127.0.0.2:9/none", "moved", "r0", "x" * 2100, "large.html",
                     "gone")
         + '<a rel="nofollow" href="no.html">no</a><img src="i.png"><form action="post"></form>'
         + f'<a href="evil%1b.html">{ESCAPE}</a>'),
    page("/d/a.html", link("b.html", "x.pdf")), page("/d/b.html", link("c.html", "a/a/a/a/a/")),
    page("/d/c.html", link("d.html")), page("/d/d.html"), page("/d/no.html"), page("/up.html"),
    page("/d/filtered.html"), page("/d/large.html", "x" * 5000), page("/d/private/y"), page("/d/evil%1b.html"),
    text("/d/x.pdf", "%PDF", "application/pdf"), text("/d/i.png", "\x89PNG", "image/png"),
    redirect("/d/moved", "/d/b.html"), *(redirect(f"/d/r{n}", f"/d/r{n + 1}") for n in range(13)),
]  # fmt: skip
"""A site with a URL for each reason."""

ARGUMENTS = {"select": "page,child:html", "depth": "3", "deny": "/private/",
             "filter": 'not path.endswith("filtered.html") and (type != "html" or size < 3000)'}  # fmt: skip
EXPECTED = {
    "mailto:a@b": Rule.URL, "http://[": Rule.URL, "/closed/x": Rule.PLACE, "/d/private/y": Rule.PATTERNS,
    "/d/filtered.html": Rule.FILTER, "/d/x.pdf": Rule.HEAD, "/up.html": Rule.PLACE, "/d/no.html": Rule.NOFOLLOW,
    "/d/i.png": Rule.TYPE, "/d/post": Rule.PLACE, "/d/r11": Rule.REDIRECTS, "/d/large.html": Rule.SIZE,
    "/d/d.html": Rule.DEPTH,
}  # fmt: skip


class Stored:
    """A crawl with every kind of refusal, kept for several tests."""

    def __init__(self, site: Site, crawled: Crawled) -> None:
        self.base, self.out = site.base, crawled.out
        with sqlite3.connect(self.out / "crawl.db") as database:
            rows = database.execute("SELECT url, verdict, reason, rule FROM urls").fetchall()
        self.rows = {url: tuple(decision) for url, *decision in rows}


@pytest_twisted.async_fixture(scope="module")
async def stored(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    """Return a crawl of WORLD."""
    with Site(WORLD) as site:
        out = tmp_path_factory.mktemp("explain") / "out"
        return Stored(site, await crawl(f"{site.base}/d/", out, {"RETRY_TIMES": 0}, **ARGUMENTS))


def explained(capture: pytest.CaptureFixture[bytes], out: Path, url: str) -> dict[str, Any]:
    """Return what ``scrapy explain --json`` says of *url*."""
    said = run(Command, capture, out, url, json=True)
    assert (said.status, said.complaints) == (0, [])
    answer: dict[str, Any] = json.loads(said.output)
    return answer


def test_the_rule_named_is_the_one_that_decided(stored: Stored, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """For every URL the decision is the stored one, and the one rule that refuses says the stored rule."""
    reasons = {reason for _, reason, _ in stored.rows.values()}
    assert reasons >= {None, "scheme", "invalid", "too-long", "deny", "filter", "type", "level", "scope", "nofollow",
                       "trap", "depth"}  # fmt: skip
    for url, decision in stored.rows.items():
        told = explained(capfdbinary, stored.out, url)
        assert (told["verdict"], told["reason"], told["rule"]) == decision
        refusing = [step for step in told["rules"] if step["answer"] == Answer.REFUSES]
        assert [(step["rule"], step["value"]) for step in refusing] == (
            [(told["decided_by"], decision[2])] if decision[0] == Verdict.REFUSED else []
        ), url
        assert told["note"] is None
        assert [step["rule"] for step in told["rules"]] == list(Rule)


@pytest.mark.parametrize(("path", "rule"), EXPECTED.items())
def test_each_kind_of_refusal(stored: Stored, capfdbinary: pytest.CaptureFixture[bytes], path: str, rule: Rule) -> None:
    """A URL of each kind is refused by the rule that it was made for."""
    url = f"{stored.base}{path}" if path.startswith("/") else path
    told = explained(capfdbinary, stored.out, url)
    assert told["decided_by"] == rule
    order = [step["answer"] for step in told["rules"]]
    assert set(order[order.index(Answer.REFUSES) + 1 :]) <= {Answer.NOT_ASKED}
    assert Answer.NOT_ASKED not in order[: order.index(Answer.REFUSES)]


VIOLATIONS: dict[Rule, tuple[dict[str, Any], dict[str, Any], dict[str, Any], ResourceType | None]] = {
    Rule.URL: ({}, {"problem": Reason.INVALID}, {}, None),
    Rule.REDIRECTS: ({}, {"tag": "redirect"}, {"hops": MAX_HOPS}, None),
    Rule.NOFOLLOW: ({}, {"nofollow": True}, {}, None),
    Rule.PATTERNS: ({"patterns": Patterns.parse([], ["x"])}, {}, {}, None),
    Rule.FILTER: ({"conditions": [("filter=...", Filter.parse('"x" not in url'))]}, {}, {}, None),
    Rule.PLACE: ({"select": {}}, {}, {}, None),
    Rule.DEPTH: ({"depth": 0}, {}, {}, None),
    Rule.TRAP: ({}, {"target": "http://h/x/x/x/x/"}, {"url": "http://h/x/x/x/"}, None),
    Rule.TYPE: ({}, {}, {}, ResourceType.IMAGE),
}
"""For each rule what it refuses: changes of the scope, the link and its source, and the answered type."""


@pytest.mark.parametrize("first", [*VIOLATIONS, None])
def test_rules_are_listed_in_the_order_of_asking(first: Rule | None) -> None:
    """Of a link that breaks a rule and all behind it in the list, the judgement is that rule's."""
    scope: dict[str, Any] = {"mode": "local", "homes": [home_of("http://h/")],
                             "select": dict.fromkeys(Level, frozenset({ResourceType.HTML}))}  # fmt: skip
    judged = Link("http://h/x", "", "a", "href", "", LinkRole.NAVIGATION, None)
    source, answered = Source(1, "http://h/y", 3, LinkRole.NAVIGATION), None
    order = [rule for rule in Rule if rule in VIOLATIONS]
    for rule in order[order.index(first) :] if first is not None else []:
        scope_changes, link_changes, source_changes, kind = VIOLATIONS[rule]
        scope |= scope_changes
        judged, source = judged._replace(**link_changes), source._replace(**source_changes)
        answered = kind or answered
    judgement = Scope(**scope).judge(judged, source, answered)
    assert rule_of(judgement.decision, judged, source) is first
    said = {step.rule: step.answer for step in steps(Scope(**scope), judged, source, judgement)}
    assert list(said) == list(OF_LINK)
    assert [rule for rule, answer in said.items() if answer is Answer.REFUSES] == ([first] if first else [])


def test_rules_that_let_in() -> None:
    """A requisite is let in before its place is asked for; a near file is not refused for its place."""
    scope = Scope(mode="local", homes=[home_of("http://h/")], select={}, near=True, requisites=True, depth=3)
    source = Source(1, "http://h/y", 3, LinkRole.NAVIGATION)
    needed = Link("http://o/x.png", "", "img", "src", "", LinkRole.REQUISITE, ResourceType.IMAGE)
    said = {step.rule: step.answer for step in steps(scope, needed, source, scope.judge(needed, source))}
    assert (said[Rule.REQUISITES], said[Rule.PLACE], said[Rule.DEPTH]) == (Answer.ADMITS, *[Answer.NOT_ASKED] * 2)
    near = Link("http://o/x.pdf", "", "a", "href", "", LinkRole.NAVIGATION, None)
    said = {step.rule: step.answer for step in steps(scope, near, source, scope.judge(near, source))}
    assert (said[Rule.PLACE], said[Rule.NEAR], said[Rule.DEPTH]) == (Answer.DIFFERS, Answer.PASSES, Answer.REFUSES)


def test_robots_and_errors(stored: Stored, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """What robots.txt and the server say is told with the rule that it was."""
    told = explained(capfdbinary, stored.out, f"{stored.base}/d/gone")
    said = {step["rule"]: (step["answer"], step["value"]) for step in told["rules"]}
    assert said[Rule.ROBOTS] == (Answer.PASSES, "no line is about it")
    assert said[Rule.FETCH] == (Answer.PASSES, "HTTP 404")
    assert [fetch["status"] for fetch in told["fetches"]] == [404]
    copy = shutil.copytree(stored.out, tmp_path / "copy")
    for reason, rule, expected in (("robots", "robots.txt: Disallow: /d/gone", Rule.ROBOTS),
                                   ("error", "timeout", Rule.FETCH), ("private-address", "10.0.0.1", Rule.FETCH),
                                   ("budget", "limit", Rule.LIMITS)):  # fmt: skip
        with sqlite3.connect(copy / "crawl.db") as database:
            database.execute("UPDATE urls SET verdict = 'refused', reason = ?, rule = ? WHERE url LIKE '%/d/gone'",
                             (reason, rule))  # fmt: skip
        told = explained(capfdbinary, copy, f"{stored.base}/d/gone")
        assert told["decided_by"] == expected
        assert {"rule": expected, "answer": "refuses", "value": rule} in told["rules"]


def test_a_seed_and_a_stranger(stored: Stored, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """A seed was let in for being one; of a URL that nobody links to it is said what a link would come to."""
    told = explained(capfdbinary, stored.out, f"{stored.base}/d/")
    assert (told["found"], told["verdict"], told["rules"][0]["answer"]) == ("seed", "fetched", Answer.ADMITS)
    told = explained(capfdbinary, stored.out, f"{stored.base}/d/private/stranger#fragment")
    assert (told["found"], told["verdict"], told["decided_by"]) == ("nobody", None, Rule.PATTERNS)
    assert told["url"] == f"{stored.base}/d/private/stranger"
    said = run(Command, capfdbinary, stored.out, "\udcff\x1b[2J://", json=False)
    assert (said.status, "\x1b" in said.output) == (0, False)


def test_links_and_fetches(stored: Stored, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """The pages that link to a URL are listed with what each link comes to."""
    told = explained(capfdbinary, stored.out, f"{stored.base}/d/b.html")
    assert [(each["source"].removeprefix(stored.base), each["tag"]) for each in told["links"]] == [
        ("/d/a.html", "a"), ("/d/moved", "redirect")]  # fmt: skip
    assert (told["links_total"], told["asked_of"]["source"]) == (2, f"{stored.base}/d/a.html")
    assert all(each["verdict"] == "queued" for each in told["links"])


def test_text_for_a_terminal(stored: Stored, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """The text names decision and rule; what a page has sent moves no cursor."""
    said = run(Command, capfdbinary, stored.out, f"{stored.base}/d/evil%1b.html", json=False)
    assert said.status == 0
    assert "\nfetched\n" in said.output
    assert "owned" in said.output
    assert not set(said.output) & set(map(chr, range(32))) - {"\n"}
    said = run(Command, capfdbinary, stored.out, f"{stored.base}/d/d.html", json=False)
    assert "refused: depth (depth=3)" in said.output
    assert "depth               refuses         depth=3  <- decided" in said.output


def wrong(capture: pytest.CaptureFixture[bytes], folder: Path | str) -> Said:
    """Return what is said when the crawl in *folder* is asked about."""
    return run(Command, capture, folder, "http://h/", json=False)


def test_a_folder_that_is_none(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """A folder without a crawl is one line and status 2; too few arguments are an error of usage."""
    tmp_path.joinpath("stranger").mkdir()
    tmp_path.joinpath("stranger/crawl.db").write_bytes(b"not ours")
    for folder in (tmp_path, tmp_path / "none", "a\0b", "", tmp_path / "stranger"):
        said = wrong(capfdbinary, folder)
        assert (said.status, said.output, len(said.complaints)) == (2, "", 1)
        assert said.complaints[0].startswith("spiderproj: DIR=")
    with pytest.raises(UsageError, match="a URL"):
        run(Command, capfdbinary, tmp_path, json=False)


DAMAGE = [
    "UPDATE meta SET value = '[' WHERE name = 'arguments'", "UPDATE page_links SET links = replace(links, ']', '')",
    "UPDATE urls SET reason = 'none such', verdict = 'refused'", "UPDATE urls SET type = 'none such'",
    "UPDATE fetches SET fetched_at = 1e300", "INSERT OR REPLACE INTO meta VALUES ('homes', '[[1]]')", "",
]  # fmt: skip
"""What is done to a store; nothing: its bytes are overwritten."""


def test_a_damaged_store(stored: Stored, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """A store whose bytes or whose values are damaged is one line and status 8."""
    for number, damage in enumerate(DAMAGE):
        copy = shutil.copytree(stored.out, tmp_path / str(number))
        with sqlite3.connect(copy / "crawl.db") as database:
            database.execute(damage)
        if not damage:
            (copy / "crawl.db").write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
        said = run(Command, capfdbinary, copy, f"{stored.base}/d/b.html", json=False)
        assert (said.status, said.output, len(said.complaints)) == (8, "", 1), damage


PER_REASON = [
    "{base}/up{n}.html", "{base}/d/private/{n}", "{base}/d/{n}filtered.html", "{base}/d/closed/{n}", "{base}/other/{n}",
    "http://o{n}.invalid/", "mailto:a{n}@b", "http://[{n}", "{base}/d/{n}.pdf", "{base}/d/r{n}_0",
]  # fmt: skip
"""Links of a page, each refused for a reason of its own."""


def every_reason(base: str, most: int) -> list[Any]:
    """Return the routes of a site with *most* links for each reason that a link can be refused for."""
    links = [form.format(base=base, n=n) for form in PER_REASON for n in range(most)]
    links += [f"{base}/d/{n}{'x' * 2100}" for n in range(most)]
    unfollowed = "".join(f'<a rel="nofollow" href="no{n}">x</a>' for n in range(most))
    return [
        text("/robots.txt", "User-agent: *\nDisallow: /d/closed/\n"),
        page("/d/", link(*links, "next") + unfollowed),
        page("/d/next", link(*(f"deep/{n}" for n in range(most)))),
        *(text(f"/d/{n}.pdf", "%PDF-1.4", "application/pdf") for n in range(most)),
        *(redirect(f"/d/r{n}_{hop}", f"/d/r{n}_{hop + 1}") for n in range(most) for hop in range(MAX_HOPS + 1)),
    ]


async def stores(folder: Path, most: int, clock: pytest.MonkeyPatch) -> dict[Path, dict[str, object]]:
    """Return crawls that have refused *most* URLs or more for every reason, with the settings they were made with."""
    made: dict[Path, dict[str, object]] = {}

    async def one(seed: str, settings: dict[str, object], **arguments: str) -> None:
        out = folder / str(len(made))
        made[out] = {"RETRY_TIMES": 0, **settings}
        await crawl(seed, out, made[out], **arguments)

    with Site([]) as site:
        site.set_routes(every_reason(site.base, most))
        await one(f"{site.base}/d/", {}, select="page,child:html", depth="1", deny="/private/",
                  allow="/d/|/up|[.]invalid", filter='not path.endswith("filtered.html")')  # fmt: skip
    far = [f"http://10.9.{n}.1/" for n in range(most)] + [f"http://127.0.0.1:25/{n}" for n in range(most)]
    with Site([page("/", link(*far))]) as site:
        await one(f"{site.base}/", {"ROBOTSTXT_OBEY": 0}, mode="all", depth="1")
    with Site(routes(duplicate_sites.blog(posts=6, toggles=12 + most))) as site:
        await one(f"{site.base}/", {}, unique="learn")
    paths = [f"/p{n}" for n in range(most + 20)]
    with Site([page("/", link(*paths)), *map(page, paths)]) as site:
        await one(f"{site.base}/", {"CLOSESPIDER_PAGECOUNT": 2})
        site.log.clear()
        clock.setattr(windows, "second_of_day", lambda: 3600 * (7 if len(site.log) >= 3 else 23))
        await one(f"{site.base}/", {}, window="22:00-06:00", window_end="stop")
    return made


@pytest_twisted.ensureDeferred
@pytest.mark.parametrize("most", [3, pytest.param(100, marks=[pytest.mark.nightly, pytest.mark.slow])])
async def test_every_reason_is_explained(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """Of random URLs of each reason that there is, the one rule that decided is named, and says what the lines say."""
    explained_: dict[str, int] = {}
    for out, settings in (await stores(tmp_path, most, monkeypatch)).items():
        by_reason: dict[str, list[dict[str, Any]]] = {}
        for line in (out / "refused.jsonl").read_bytes().splitlines():
            row = json.loads(line)
            by_reason.setdefault(row["reason"], []).append(row)
        for reason, rows in by_reason.items():
            for row in random.Random(reason).sample(rows, min(most, len(rows))):
                said = run(Command, capfdbinary, out, row["url"], json=True, settings=settings)
                told = json.loads(said.output)
                refusing = [(step["rule"], step["value"]) for step in told["rules"] if step["answer"] == Answer.REFUSES]
                assert (said.status, told["reason"], told["rule"], told["note"]) == (0, reason, row["rule"], None), row
                assert refusing == [(told["decided_by"], row["rule"])], row
                assert told["decided_by"] in [*Rule]
                explained_[reason] = explained_.get(reason, 0) + 1
    assert set(explained_) == {*Reason} - {
        Reason.DUPLICATE
    }  # which nothing gives: a duplicate is fetched, and stored once
    assert min(explained_.values()) >= most
