"""Whole crawls of hostile sites and on broken ground: bounded, nothing lost silently, and every error in one line."""

from __future__ import annotations

import logging
import os
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import pytest_twisted
from twisted.internet.defer import DeferredList, ensureDeferred

from spiderproj.errors import ArgumentError, LockedError, OutputError, SpiderprojError, StoreDamagedError
from tests.crawling import crawl
from tests.recount import disagreements, listing
from tests.requests_seen import LOOPBACK, ONE, asked
from tests.routes import link, page, redirect, text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.answers import RouteSpec
    from tests.site import Site

    Factory = Callable[[Iterable[RouteSpec]], Site]


def leftovers(out: Path) -> list[Path]:
    """Return what half-written bodies lie about."""
    return list((out / ".spiderproj" / "tmp").iterdir())


@pytest_twisted.ensureDeferred
async def test_page_with_200000_links(site: Factory, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Of a page with too many links as many as SPIDERPROJ_MAX_LINKS are kept, and the log says that it is not all."""
    many = "".join(f"<a href=/{number}>" for number in range(200_000))
    served = site([page("/", many)])
    with caplog.at_level(logging.WARNING):
        done = await crawl(f"{served.base}/", tmp_path / "out", {"SPIDERPROJ_MAX_LINKS": 2000}, depth="0")

    assert done.summary["links_total"] == 2000
    assert done.summary["refused"] == {"depth": 2000}
    assert [row["target"].rpartition("/")[2] for row in done.links] == [str(number) for number in range(2000)]
    assert f"{served.base}/: not all of its links are read: links over 2000" in caplog.text


@pytest.mark.parametrize("framing", [{}, {"fault": "chunked"}, {"fault": "until_close"}, {"coding": "gzip"}])
@pytest_twisted.ensureDeferred
async def test_largest_page(site: Factory, tmp_path: Path, framing: dict[str, Any]) -> None:
    """A page of DOWNLOAD_MAXSIZE bytes is kept, one of a byte more is refused for good, in every framing."""

    def sized(path: str, size: int) -> dict[str, Any]:
        body = {"prefix": "<p>", "unit": "x", "count": size - 3}
        return {"path": path, "headers": {"Content-Type": "text/html"}, "body_repeat": body, **framing}

    served = site([page("/", link("/fits", "/over")), sized("/fits", 50_000), sized("/over", 50_001)])
    done = await crawl(f"{served.base}/", tmp_path / "out", {"DOWNLOAD_MAXSIZE": 50_000})

    assert done.page(f"{served.base}/fits")["size"] == 50_000
    assert done.reasons() == {f"{served.base}/over": "error"}
    assert done.refused[0]["rule"] == "too-large"
    assert served.hits("GET /over") == 1
    assert disagreements(done) == []


@pytest_twisted.ensureDeferred
async def test_16_mib_are_the_limit_of_a_page(site: Factory, tmp_path: Path) -> None:
    """Unless it is set, a page may have 16 MiB: an announced body of more is not even begun."""
    huge = {"path": "/", "headers": {"Content-Type": "text/html", "Content-Length": str(16 * 2**20 + 1)}, "body": "x",
            "fault": "hang", "send_bytes": 1}  # fmt: skip
    served = site([huge])
    done = await crawl(f"{served.base}/", tmp_path / "out")

    assert (done.status, done.reasons()) == (10, {f"{served.base}/": "error"})
    assert done.summary["errors"] == {"too-large": 1}


@pytest_twisted.ensureDeferred
async def test_large_file_goes_to_disk(site: Factory, tmp_path: Path) -> None:
    """A file over SPIDERPROJ_STREAM_ABOVE is streamed and whole; SPIDERPROJ_FILE_MAXSIZE ends one that does not end."""

    def archive(path: str, size: int, **keys: Any) -> dict[str, Any]:
        body = {"prefix": path, "unit": "z", "count": size}
        return {"path": path, "headers": {"Content-Type": "application/zip"}, "body_repeat": body, **keys}

    routes = [archive("/a.zip", 300_000), archive("/b.zip", 300_000, fault="chunked"),
              archive("/endless.zip", 3_000_000, fault="until_close"), archive("/cut.zip", 300_000, send_bytes=200_000),
              archive("/announced.zip", 3_000_000)]  # fmt: skip
    served = site([page("/", link(*(each["path"] for each in routes))), *routes])
    settings = {"SPIDERPROJ_STREAM_ABOVE": 100_000, "SPIDERPROJ_FILE_MAXSIZE": 1_000_000, "RETRY_TIMES": 0,
                "DOWNLOAD_MAXSIZE": 1000}  # fmt: skip
    done = await crawl(f"{served.base}/", tmp_path / "out", settings, select="page:all")

    assert done.body(f"{served.base}/a.zip") == b"/a.zip" + b"z" * 300_000
    assert done.body(f"{served.base}/b.zip") == b"/b.zip" + b"z" * 300_000
    assert {row["url"].rpartition("/")[2]: row["rule"] for row in done.refused} == {
        "endless.zip": "too-large", "announced.zip": "too-large", "cut.zip": "dataloss",
    }  # fmt: skip
    assert leftovers(done.out) == []
    assert disagreements(done) == []


@pytest.mark.parametrize("how", ["redirect", "refresh", "hosts"])
@pytest_twisted.ensureDeferred
async def test_redirects_without_end(site: Factory, tmp_path: Path, how: str) -> None:
    """A chain of redirects or refreshes that never ends is left after ten, at the depth where it began."""
    endless = {
        "redirect": redirect("", "/hop{{HIT}}"),
        "refresh": page("", '<meta http-equiv="refresh" content="0; url=/hop{{HIT}}">'),
        "hosts": redirect("", "{{ALT}}/hop{{HIT}}"),
    }[how]
    chain = {**endless, "path_re": r"/hop\d+"}
    del chain["path"]
    served = site([page("/", link("/hop0", "/a")), page("/a"), chain])
    done = await crawl(f"{served.base}/", tmp_path / "out", LOOPBACK, mode="all", gate="get", depth="1")

    assert len(asked(served)) == 2 + 11
    assert set(done.reasons().values()) == {"trap"}
    assert done.refused[0]["rule"] == "more than 10 redirects in a row"
    assert max(row["depth"] for row in done.pages) == 1
    assert disagreements(done) == []


@pytest_twisted.ensureDeferred
async def test_redirects_that_lead_back(site: Factory, tmp_path: Path) -> None:
    """A redirect to itself, and the last one of a ring, is one failure; none of them is asked for twice."""
    ring = [redirect("/a", "/b"), redirect("/b", "/c"), redirect("/c", "/a"), redirect("/self", "/self#x")]
    served = site([page("/", link("/a", "/self", "/b")), *ring])
    done = await crawl(f"{served.base}/", tmp_path / "out")

    errors = [row["url"] for row in done.pages if row["error"] == "redirect-loop"]
    assert f"{served.base}/self" in errors
    assert len(errors) == 2
    assert sorted(asked(served)) == ["/", "/a", "/b", "/c", "/self"]
    assert done.summary["errors"] == {"redirect-loop": 2}
    assert disagreements(done) == []


@pytest_twisted.ensureDeferred
async def test_a_page_that_looks_for_cookies(site: Factory, tmp_path: Path) -> None:
    """A page that sets a cookie and redirects to itself is asked again with the cookie."""
    asks = {**redirect("/in", "/in"), "headers": {"Location": "/in", "Set-Cookie": "seen=1"}}
    served = site([page("/", link("/in")), {**page("/in"), "when": {"Cookie": "seen=1"}}, asks])
    done = await crawl(f"{served.base}/", tmp_path / "out")

    assert done.page(f"{served.base}/in")["status"] == 200
    assert asked(served).count("/in") == 2


@pytest_twisted.ensureDeferred
async def test_seed_that_redirects_for_ever(site: Factory, tmp_path: Path) -> None:
    """5,000 hops are cut at ten; the seed is no page, so the status says that nothing could be fetched."""
    chain = {"path_re": r"/\d*", "status": 301, "headers": {"Location": "/{{HIT}}"}}
    served = site([chain])
    done = await crawl(f"{served.base}/", tmp_path / "out")

    assert len(asked(served)) == 11
    assert done.status == 10
    assert disagreements(done) == []


@pytest_twisted.ensureDeferred
async def test_shorter_way_to_a_long_chain(site: Factory, tmp_path: Path) -> None:
    """A shorter way to a chain of pages brings each of them closer, however long it is: nothing recurses on it."""
    length = 500
    chain = [page(f"/c{number}", link(f"/c{number + 1}")) for number in range(length)]
    detour = [page(f"/x{number}", link(f"/x{number + 1}")) for number in range(4)]
    served = site([page("/", link("/x0", "/y")), *detour, page("/x4", link("/c0")), *chain, page(f"/c{length}"),
                   page("/y", link("/c0", "/only-here")), page("/only-here")])  # fmt: skip
    done = await crawl(f"{served.base}/", tmp_path / "out", ONE, order="depth")

    depths = {row["url"].rpartition("/")[2]: row["depth"] for row in done.pages}
    assert (depths["c0"], depths[f"c{length}"], depths["only-here"]) == (2, length + 2, 2)
    assert len(asked(served)) == length + 9
    assert disagreements(done) == []


@pytest_twisted.ensureDeferred
async def test_shorter_way_lets_in_what_was_too_deep(site: Factory, tmp_path: Path) -> None:
    """What depth refused at the end of a long way is fetched when a shorter way turns up, without asking twice."""
    served = site([page("/", link("/1", "/late")), page("/1", link("/2")), page("/2", link("/p")),
                   page("/p", link("/q")), page("/q"), page("/late", link("/p"))])  # fmt: skip
    done = await crawl(f"{served.base}/", tmp_path / "out", ONE, order="depth", depth="3")

    assert asked(served) == ["/", "/1", "/2", "/p", "/late", "/q"]
    assert done.page(f"{served.base}/q")["depth"] == 3
    assert done.refused == []


@pytest_twisted.ensureDeferred
async def test_two_crawls_at_once(site: Factory, tmp_path: Path) -> None:
    """Two crawls in one process and two folders know nothing of each other."""
    served = site([page("/", link(*(f"/{n}" for n in range(20)))), *(page(f"/{n}") for n in range(20))])
    other = site([page("/", link(*(f"/z{n}" for n in range(30)))), *(page(f"/z{n}") for n in range(30))])
    crawls = [ensureDeferred(crawl(f"{each.base}/", tmp_path / str(each.port))) for each in (served, other)]
    (_, one), (_, two) = await DeferredList(crawls, fireOnOneErrback=True)

    assert (one.summary["pages"], two.summary["pages"]) == (21, 31)
    assert (len(asked(served)), len(asked(other))) == (21, 31)
    assert disagreements(one) == disagreements(two) == []


@pytest_twisted.ensureDeferred
async def test_users_function_that_fails(site: Factory, tmp_path: Path) -> None:
    """An exception of SPIDERPROJ_FILTER costs the page whose links it judged, with a reason, and not the crawl."""
    served = site([page("/", link("/good", "/bad")), page("/bad", link("/fatal")), page("/good", link("/more")),
                   page("/more")])  # fmt: skip
    done = await crawl(f"{served.base}/", tmp_path / "out", {**ONE, "SPIDERPROJ_FILTER": f"{__name__}.fails"})

    assert asked(served) == ["/", "/good", "/bad", "/more"]
    assert done.reasons() == {f"{served.base}/bad": "error"}
    assert done.refused[0]["rule"] == "internal: KeyError"
    assert done.summary["pages"] == 3


def fails(values: dict[str, Any]) -> bool:
    """Fail at /fatal."""
    return bool({"/fatal": {}}.get(str(values["path"]), {"": True})[""])


@pytest_twisted.ensureDeferred
async def test_something_in_the_place_of_a_file(site: Factory, tmp_path: Path) -> None:
    """A folder where a body should go costs that page alone; a symbolic link there is replaced, never followed."""
    served = site([page("/", link("/a.html", "/b.html", "/c.html")), *(page(f"/{name}.html") for name in "abc")])
    first = await crawl(f"{served.base}/", tmp_path / "out")
    precious = tmp_path / "precious"
    precious.write_text("mine")
    places = {name: first.out / first.page(f"{served.base}/{name}.html")["path"] for name in "ab"}
    for place in places.values():
        place.unlink()
    places["a"].mkdir()
    (places["a"] / "in").write_text("x")
    places["b"].symlink_to(precious)
    served.set_routes([page("/", link("/a.html", "/b.html", "/c.html")), *(page(f"/{n}.html", "new") for n in "abc")])
    second = await crawl(f"{served.base}/", tmp_path / "out")

    assert precious.read_text() == "mine"
    assert not places["b"].is_symlink()
    assert second.page(f"{served.base}/a.html")["error"]
    assert b"new" in second.body(f"{served.base}/b.html")
    assert b"new" in second.body(f"{served.base}/c.html")
    assert second.status == 0
    assert leftovers(second.out) == []


async def refused(error: type[SpiderprojError], seed: str, out: Path, *parts: str, **arguments: Any) -> SpiderprojError:
    """Return the *error*, one line with all *parts*, that a crawl cannot begin for."""
    settings = arguments.pop("settings", None)
    with pytest.raises(error) as caught:
        await crawl(seed, out, settings, **arguments)
    message = str(caught.value)
    assert "\n" not in message
    assert [part for part in parts if part not in message] == []
    return caught.value


WRONG: list[tuple[dict[str, Any], tuple[str, ...]]] = [
    ({"filter": "depth <"}, ("filter=", "depth <")),
    ({"filter": "nobody == 1"}, ("filter=", "nobody")),
    ({"allow": "("}, ("allow=",)),
    ({"deny.3": "a)"}, ("deny",)),
    ({"login": "/nowhere/login.toml"}, ("login=", "/nowhere/login.toml")),
    ({"mode": "al"}, ("mode='al'", "all")),
    ({"sede": "x"}, ("sede", "seed")),
    ({"depth": "-1"}, ("depth='-1'",)),
    ({"warc": "yes"}, ("warc='yes'", "0")),
    ({"settings": {"SPIDERPROJ_FILTER": "no.such"}}, ("SPIDERPROJ_FILTER", "no.such")),
    ({"settings": {"SPIDERPROJ_ORDER": "os.sep"}}, ("SPIDERPROJ_ORDER", "os.sep")),
    ({"settings": {"SPIDERPROJ_ALLOWED_NETWORKS": "10.0.0.0/8 fd00::/8"}}, ("SPIDERPROJ_ALLOWED_NETWORKS", "fd00::/8")),
]


@pytest.mark.parametrize(("wrong", "parts"), WRONG, ids=[str(wrong) for wrong, _ in WRONG])
@pytest_twisted.ensureDeferred
async def test_wrong_argument_writes_nothing(
    site: Factory, tmp_path: Path, wrong: dict[str, Any], parts: tuple[str, ...]
) -> None:
    """A wrong argument or setting is one line that names it, before anything is asked for, made or set aside."""
    served = site([page("/")])
    error = await refused(ArgumentError, f"{served.base}/", tmp_path / "out", *parts, "expected", **dict(wrong))

    assert error.exit_status == 2
    assert listing(tmp_path) == []
    await crawl(f"{served.base}/", tmp_path / "out")
    before = listing(tmp_path)
    await refused(ArgumentError, f"{served.base}/", tmp_path / "out", *parts, fresh="1", **dict(wrong))
    assert listing(tmp_path) == before
    assert served.hits("GET /") == 1


@pytest_twisted.ensureDeferred
async def test_folders_that_cannot_be_written(site: Factory, tmp_path: Path) -> None:
    """A file, something below a file, a place where nothing can be made, somebody's own folder: status 3, untouched."""
    served = site([page("/")])
    file, own = tmp_path / "file", tmp_path / "own"
    file.write_text("mine")
    own.mkdir()
    (own / "letter.txt").write_text("mine")
    (tmp_path / "link").symlink_to(own)
    for out in (file, file / "below", Path("/proc/spiderproj"), own, tmp_path / "link", Path("/")):
        error = await refused(OutputError, f"{served.base}/", out, str(out))
        assert error.exit_status == 3

    assert file.read_text() == "mine"
    assert listing(own) == ["letter.txt"]
    assert served.log == []


@pytest_twisted.ensureDeferred
async def test_folder_of_a_running_crawl(site: Factory, tmp_path: Path) -> None:
    """A second crawl in a folder is refused with 4 and harms the first in nothing, with fresh=1 either."""
    served = site([page("/", link("/1", "/2")), page("/1", delay_s=0.3), page("/2", link("/3")), page("/3")])
    first = ensureDeferred(crawl(f"{served.base}/", tmp_path / "out", ONE))
    for fresh in ("0", "1"):
        error = await refused(LockedError, f"{served.base}/", tmp_path / "out", str(os.getpid()), fresh=fresh)
        assert error.exit_status == 4
    done = await first

    assert (done.status, done.summary["pages"]) == (0, 4)
    assert listing(tmp_path) == ["out"]
    assert disagreements(done) == []
    again = await crawl(f"{served.base}/", tmp_path / "out")
    assert again.status == 0


@pytest.mark.parametrize("damage", ["garbage", "empty", "tables", "version"])
@pytest_twisted.ensureDeferred
async def test_damaged_store(site: Factory, tmp_path: Path, damage: str) -> None:
    """A store that cannot be read is status 8 and words on what to save; the files stay; fresh=1 starts over."""
    served = site([page("/", link("/a")), page("/a")])
    done = await crawl(f"{served.base}/", tmp_path / "out")
    store = done.out / "crawl.db"
    for log in done.out.glob("crawl.db-*"):
        log.unlink()
    if damage in ("garbage", "empty"):
        store.write_bytes(b"not a database " * 500 if damage == "garbage" else b"")
    else:
        with sqlite3.connect(store) as connection:
            connection.execute("DROP TABLE frontier" if damage == "tables" else "PRAGMA user_version = 99")
        connection.close()
    bodies = sorted(path.name for path in (done.out / "files").rglob("*"))
    error = await refused(StoreDamagedError, f"{served.base}/", done.out, "crawl.db", "fresh=1")

    assert error.exit_status == 8
    assert sorted(path.name for path in (done.out / "files").rglob("*")) == bodies
    again = await crawl(f"{served.base}/", done.out, fresh="1")
    assert (again.status, again.summary["pages"]) == (0, 2)


@pytest_twisted.ensureDeferred
async def test_no_seed_can_be_fetched(site: Factory, tmp_path: Path) -> None:
    """Refused, forbidden, gone and redirected away: 10 when no seed gives a page, 0 when one of them does."""
    served = site([redirect("/away", "{{ALT}}/far"), page("/far", host="localhost"), page("/secret"), page("/good"),
                   text("/robots.txt", "User-agent: *\nDisallow: /secret"), text("/gone", "", status=410)])  # fmt: skip
    for name in ("/missing", "/secret", "/gone", "/away"):
        done = await crawl(f"{served.base}{name}", tmp_path / name.strip("/"), LOOPBACK)

        assert (done.status, done.summary["state"]) == (10, "finished")
        assert disagreements(done) == []
    done = await crawl(f"{served.base}/missing {served.base}/good", tmp_path / "out")
    assert done.status == 0
