"""The same crawl again, after its end: what has changed is told, and what looks like an accident replaces nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import pytest_twisted

from spiderproj.content import CALIBRATIONS, Noise
from spiderproj.errors import ArgumentError
from spiderproj.revisit import Seen, What, is_change, link_changes, main_digest, suspicion
from spiderproj.store.readings import read
from tests.crawling import crawl
from tests.recount import disagreements
from tests.requests_seen import ONE, asked
from tests.routes import link, page, redirect, text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from tests.answers import RouteSpec
    from tests.crawling import Crawled, Rows
    from tests.site import Site

    Factory = Callable[[Iterable[RouteSpec]], Site]

WORDS = "Some words about {0} that nobody else has written, enough of them for a paragraph of its own on {0}. "
NAMES = [f"/p{number}" for number in range(12)]
ACCEPT = {**ONE, "SPIDERPROJ_ACCEPT_CHANGES": "1"}


def article(path: str, *hrefs: str, more: str = "") -> dict[str, Any]:
    """Return the route of a page with a text of its own."""
    return page(path, f"<main><p>{WORDS.format(path)}</p>{more}</main><div>{link(*hrefs)}</div>")


def changes(done: Crawled) -> Rows:
    """Return the lines of ``changes.jsonl``."""
    return [json.loads(line) for line in (done.out / "changes.jsonl").read_bytes().splitlines()]


def found(done: Crawled) -> dict[str, str]:
    """Return what was found of each path."""
    base = done.spider.options.seeds[0].rstrip("/")
    return {row["url"].removeprefix(base): row["what"] for row in changes(done)}


async def twice(served: Site, out: Path, after: Iterable[RouteSpec], **arguments: str) -> Crawled:
    """Crawl a site, change it, and crawl it again."""
    arguments["requisites"] = "1"
    first = await crawl(f"{served.base}/", out, ONE, **arguments)
    assert not (out / "changes.jsonl").exists()
    assert (first.summary["held_back"], first.summary["changes"]) == (0, {})
    served.set_routes(after)
    return await crawl(f"{served.base}/", out, ONE, **arguments)


@pytest_twisted.ensureDeferred
async def test_each_kind_of_change(site: Factory, tmp_path: Path) -> None:
    """A change is told from a token, a time and a failure; what is gone or moved is marked, and stays stored."""
    names = ("/same", "/token", "/changed", "/gone", "/moves", "/redirects", "/fails")
    token = '<form><input type=hidden name=csrf value="{}"></form><p>Rendered at 2026-10-0{}T10:00:00Z</p>'
    shown = article("/same", more='<img src="/pic.png">')
    served = site([article("/", *names), shown, article("/token", more=token.format("a" * 32, 1)),
                   article("/changed", "/same", "/old"), article("/gone"), article("/moves"), article("/redirects"),
                   article("/fails"), article("/old"), text("/pic.png", "one", "image/png")])  # fmt: skip
    moved = {**article("/moves"), "path": "/moved"}
    done = await twice(served, tmp_path / "out", [
        article("/", *names, "/moved"), shown, article("/token", more=token.format("b" * 32, 2)),
        article("/changed", "/same", "/new", more="<p>And a paragraph that was not there before.</p>"), article("/new"),
        moved, redirect("/redirects", "/same", 301), text("/fails", "no", status=500), article("/old"),
        text("/pic.png", "two", "image/png")])  # fmt: skip
    rows = {row["url"].removeprefix(served.base): row for row in changes(done)}

    assert found(done) == {"/": "changed", "/changed": "changed", "/gone": "gone", "/moves": "moved", "/new": "new",
                           "/redirects": "moved", "/fails": "failed", "/pic.png": "changed"}  # fmt: skip
    assert done.summary["changes"] == {"new": 1, "changed": 3, "touched": 1, "moved": 2, "gone": 1, "held-back": 0,
                                       "failed": 1, "unchanged": 2, "skipped": 0}  # fmt: skip
    changed = rows["/changed"]
    assert (changed["added"], changed["removed"]) == ([f"{served.base}/new"], [f"{served.base}/old"])
    assert (changed["links_added"], changed["links_removed"]) == (1, 1)
    assert changed["old_digest"] != changed["new_digest"] == done.page(changed["url"])["digest"]
    assert changed["old_title"] == changed["new_title"] == "Page /changed"
    assert changed["previous_at"] < changed["fetched_at"]
    assert rows["/moves"]["to"] == f"{served.base}/moved"
    assert rows["/redirects"]["to"] == f"{served.base}/same"
    assert rows["/fails"]["error"] == "HTTP 500"
    assert done.page(f"{served.base}/fails")["status"] == 200
    assert b"/gone" in b"".join(path.read_bytes() for path in (done.out / "files").rglob("gone*"))
    assert "And a paragraph" in done.body(changed["url"]).decode()


@pytest_twisted.ensureDeferred
async def test_a_third_visit_begins_anew(site: Factory, tmp_path: Path) -> None:
    """Each visit tells of itself only; an unchanged one has nothing to tell."""
    routes = [article("/", *NAMES), *map(article, NAMES)]
    served = site(routes)
    second = await twice(served, tmp_path / "out", [article("/", *NAMES), article(NAMES[0], more="<p>New words.</p>"),
                                                    *map(article, NAMES[1:])])  # fmt: skip
    assert found(second) == {NAMES[0]: "changed"}
    third = await crawl(f"{served.base}/", tmp_path / "out", ONE, requisites="1")

    assert changes(third) == []
    assert third.summary["changes"]["unchanged"] == len(NAMES) + 1
    assert disagreements(third) == []


@pytest_twisted.ensureDeferred
@pytest.mark.parametrize("unique", ["off", "exact", "learn"])
@pytest.mark.parametrize("token", ["", '<input type="hidden" name="token" value="{}">'])
async def test_maintenance_everywhere(token: str, unique: str, site: Factory, tmp_path: Path) -> None:
    """One page instead of all others replaces nothing: not even the first five, which nobody could know for it."""
    leaves = [article("/leaf" + name) for name in NAMES]
    served = site([article("/", *NAMES), *(article(name, "/leaf" + name) for name in NAMES), *leaves])
    out = tmp_path / "out"
    closed = [page("/closed", "<p>We are being repaired. Please come back tomorrow.</p>" + link("/trap")
                   + token.format(f"{number:032x}")) | {"path": name} for number, name in enumerate(NAMES)]  # fmt: skip
    done = await twice(served, out, [article("/", *NAMES), *closed, *leaves], unique=unique)

    assert disagreements(done) == []
    assert [found(done)[name] for name in NAMES] == ["held-back"] * 12
    assert done.summary["held_back"] == 12
    for name in NAMES:
        assert WORDS.format(name).strip().encode() in done.body(served.base + name)
        assert done.page(served.base + name)["status"] == 200
        assert [row["target"] for row in done.links if row["source"] == served.base + name] == [
            f"{served.base}/leaf{name}"
        ]
    assert {row["error"] for row in changes(done) if row["what"] == "held-back"} == {"suspicious: same page everywhere"}
    report = (out / "report.html").read_text()
    assert "Held back" in report
    assert "SPIDERPROJ_ACCEPT_CHANGES=1" in report

    accepted = await crawl(f"{served.base}/", out, ACCEPT, requisites="1", unique=unique)

    assert accepted.summary["held_back"] == 0
    assert [found(accepted)[name] for name in NAMES] == ["changed"] * 12
    assert b"being repaired" in accepted.body(served.base + NAMES[3])


@pytest_twisted.ensureDeferred
@pytest.mark.parametrize("mirror", ["0", "1"])
async def test_a_visit_in_several_runs(mirror: str, site: Factory, tmp_path: Path) -> None:
    """A revisit that limits interrupt is one visit: what one run replaced, another puts back when it knows better."""
    served = site([article("/", *NAMES), *map(article, NAMES)])
    first = await crawl(f"{served.base}/", tmp_path / "out", ONE, mirror=mirror)
    before = [first.body(served.base + name) for name in NAMES]
    closed = [page("/closed", "<p>Closed today.</p>") | {"path": name} for name in NAMES]
    served.set_routes([article("/", *NAMES), *closed])
    for _ in range(10):
        done = await crawl(f"{served.base}/", tmp_path / "out", {**ONE, "CLOSESPIDER_PAGECOUNT": 3}, mirror=mirror)
        if done.summary["state"] == "finished":
            break

    assert [found(done)[name] for name in NAMES] == ["held-back"] * 12
    assert [done.body(served.base + name) for name in NAMES] == before
    assert done.summary["changes"]["unchanged"] == 1


@pytest_twisted.ensureDeferred
async def test_a_redirect_everywhere(site: Factory, tmp_path: Path) -> None:
    """Pages that all lead to one place at once, such as a login, stay what they were; a single one may have moved."""
    served = site([article("/", "/one", *NAMES), article("/one"), *map(article, NAMES)])
    done = await twice(served, tmp_path / "out", [article("/", "/one", *NAMES), redirect("/one", "/elsewhere"),
                                                  article("/elsewhere"), article("/login"),
                                                  *(redirect(name, "/login") for name in NAMES)])  # fmt: skip

    assert found(done)["/one"] == "moved"
    assert [found(done)[name] for name in NAMES] == ["held-back"] * 12
    assert {done.page(served.base + name)["status"] for name in NAMES} == {200}


@pytest_twisted.ensureDeferred
async def test_a_login_wall(site: Factory, tmp_path: Path) -> None:
    """A form to sign in is not what became of a page; one that asked for a password before may change."""
    wall = "<form><p>{}</p><input type=password name=p></form>"
    served = site([article("/", "/a", "/login"), article("/a"), page("/login", wall.format("Sign in here."))])
    done = await twice(served, tmp_path / "out", [article("/", "/a", "/login"), page("/a", wall.format("Sign in.")),
                                                  page("/login", wall.format("Sign in again, please."))])  # fmt: skip

    assert found(done) == {"/a": "held-back", "/login": "changed"}
    assert next(row["error"] for row in changes(done)) == "suspicious: login"
    assert WORDS.format("/a").strip().encode() in done.body(f"{served.base}/a")


@pytest_twisted.ensureDeferred
async def test_a_seed_that_lost_its_links(site: Factory, tmp_path: Path) -> None:
    """A start page that suddenly leads nowhere is held back, and the site behind it is visited all the same."""
    served = site([article("/", *NAMES), *map(article, NAMES)])
    done = await twice(served, tmp_path / "out", [article("/", more="<p>Welcome.</p>"), *map(article, NAMES)])

    assert found(done) == {"/": "held-back"}
    assert done.summary["changes"]["unchanged"] == len(NAMES)
    assert len([row for row in done.links if row["source"] == f"{served.base}/"]) == len(NAMES)


@pytest_twisted.ensureDeferred
async def test_an_edit_of_the_template(site: Factory, tmp_path: Path) -> None:
    """When most pages of a kind change at once, the report says so in one line, with samples."""
    names = [f"/posts/{number}.html" for number in range(20)]
    served = site([article("/", *names), *map(article, names)])
    done = await twice(served, tmp_path / "out", [article("/", *names),
                                                  *(article(name, more="<p>Vote!</p>") for name in names)])  # fmt: skip

    assert [found(done)[name] for name in names] == ["changed"] * 20
    assert "/posts/{n}.html" in (done.out / "report.html").read_text()
    assert {row["template"] for row in changes(done)} == {"/posts/{n}.html"}


@pytest_twisted.ensureDeferred
@pytest.mark.parametrize("status", [403, 500])
async def test_a_failure_replaces_nothing(status: int, site: Factory, tmp_path: Path) -> None:
    """The last good answer stays a page's row when a revisit brings an error."""
    served = site([article("/", "/a"), article("/a")])
    done = await twice(served, tmp_path / "out", [article("/", "/a"), text("/a", "no", status=status)])

    assert done.page(f"{served.base}/a")["error"] is None
    assert found(done) == {"/a": "failed"}


@pytest_twisted.ensureDeferred
async def test_only_what_is_due(site: Factory, tmp_path: Path) -> None:
    """After four visits of everything one leaves out what never changed; seeds, new pages and failures are asked."""
    served = site([])
    careful = {**ONE, "SPIDERPROJ_REVISIT_COVERAGE": 0.7}
    for number in range(4):
        changing = [article(name, more=f"<p>Edition {'abcdefg'[number]}</p>") for name in NAMES[:2]]
        last = [text(NAMES[11], "no", status=403)] if number == 3 else [article(NAMES[11])]
        served.set_routes([article("/", *NAMES), *changing, *map(article, NAMES[2:11]), *last])
        served.log.clear()
        done = await crawl(f"{served.base}/", tmp_path / "out", careful)
        assert len(asked(served)) == 13
    served.log.clear()
    served.set_routes([article("/", "/fresh", *NAMES), article("/fresh"), *map(article, NAMES)])
    done = await crawl(f"{served.base}/", tmp_path / "out", careful)

    assert {"/", "/fresh", *NAMES[:2], NAMES[11]} <= set(asked(served))
    assert len(asked(served)) < 10
    assert done.summary["changes"]["skipped"] == 14 - len(asked(served))
    assert done.summary["pages"] == 14
    assert disagreements(done) == []


@pytest.mark.parametrize("coverage", ["0", "1.5", "most"])
@pytest_twisted.ensureDeferred
async def test_coverage_is_checked(coverage: str, tmp_path: Path) -> None:
    """A share that is none is said before anything is asked for."""
    with pytest.raises(ArgumentError, match="SPIDERPROJ_REVISIT_COVERAGE"):
        await crawl("http://127.0.0.1:9/", tmp_path / "out", {"SPIDERPROJ_REVISIT_COVERAGE": coverage})


# --- the rules


def seen(html: str, *links: str) -> Seen:
    """Return a page as it is compared."""
    return Seen(html.encode()[:32].ljust(32), read(html.encode(), "utf-8"), links, is_page=True)


LONG = (
    "<main>" + "".join(f"<p>Sentence {number} of a long text with many words.</p>" for number in range(40)) + "</main>"
)
LINKS = tuple(f"http://h/{number}" for number in range(20))


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (seen("<p>One text here.</p>"), seen("<p>One text here.</p><script>1</script>"), False),
        (seen("<p>One text here.</p>"), seen("<p>Another text here.</p>"), True),
        (seen("<p>Price 10</p>"), seen("<p>Price 11</p>"), True),
        (seen("<p>Posted 2026-01-02</p>"), seen("<p>Posted 2026-01-03</p>"), False),
        (seen("<script>1</script>", "a"), seen("<script>2</script>", "a"), False),
        (seen("<script>1</script>", "a"), seen("<script>2</script>", "b"), True),
        (Seen(b"1"), Seen(b"2"), True),
    ],
)
def test_is_change(before: Seen, after: Seen, *, expected: bool) -> None:
    """What a page says counts, not its bytes; without a reading the bytes do."""
    assert is_change(before, after) is expected


def test_noise_is_no_change() -> None:
    """What is known to vary by itself on pages of a kind is no change; the text beside it is one."""
    html = "<main><p>A text that stays as it is, whoever looks.</p><div class=views>seen {} times{}</div></main>"
    noise = Noise()
    for number in range(CALIBRATIONS):
        noise.calibrate(*(read(html.format(views, "").encode(), "utf-8") for views in (number, number + 100)))

    assert is_change(seen(html.format(1, "")), seen(html.format(2, "")))
    assert not is_change(seen(html.format(1, "")), seen(html.format(2, "")), noise)
    assert is_change(seen(html.format(1, "")), seen(html.format(1, "").replace("stays", "was")), noise)


@pytest.mark.parametrize(
    ("before", "after", "is_seed", "expected"),
    [
        (seen(LONG, *LINKS), seen("<p>Back soon.</p>"), False, "suspicious: text and links are gone"),
        (seen(LONG, *LINKS), seen("<p>Back soon.</p>", *LINKS[:5]), False, None),
        (seen(LONG, *LINKS[:4]), seen("<p>Moved.</p>"), False, None),
        (seen("<p>Hub</p>", *LINKS), seen("<p>Hub</p>", *LINKS[:2]), True, "suspicious: the seed's links are gone"),
        (seen("<p>Hub</p>", *LINKS), seen("<p>Hub</p>", *LINKS[:3]), True, None),
        (seen("<p>Hub</p>", *LINKS), seen("<p>Hub</p>"), False, None),
        (Seen(b"1"), seen("<p>An error.</p>"), False, "suspicious: a page instead of a file"),
        (Seen(b"1"), Seen(b"2"), True, None),
    ],
)
def test_suspicion(before: Seen, after: Seen, *, is_seed: bool, expected: str | None) -> None:
    """What collapses is held back, what shrinks is not."""
    assert suspicion(before, after, is_seed=is_seed) == expected


def test_link_changes_are_bounded() -> None:
    """Each link counts once; of very many the first are named."""
    found = link_changes(["a", "b", "b"], ["b", "c", "c", *LINKS, "d"])

    assert (found.added, found.removed, found.lost) == (22, 1, ["a"])
    assert len(found.new) == 20
    assert found.new[0] == "c"


def test_main_digest_is_never_nothing() -> None:
    """Two empty pages with other bytes are not taken for one and the same."""
    assert main_digest(Seen(b"12345678")) != main_digest(Seen(b"12345679"))
    assert main_digest(seen("<p>Words.</p>")) == main_digest(seen("<p>Words.</p><script>x</script>"))


def test_words_of_the_output() -> None:
    """What is found has the names of docs/arguments.md."""
    assert [*What] == ["new", "changed", "touched", "moved", "gone", "held-back"]
