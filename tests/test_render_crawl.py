"""Crawls that draw pages: what is found only so, what is kept of it, and that every rule of the crawl holds for it."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

import pytest
import pytest_twisted

from spiderproj.errors import ArgumentError
from spiderproj.store import schema
from tests.browsing import data, needs_browser, script
from tests.crawling import Crawled, crawl
from tests.routes import link, page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from tests.answers import RouteSpec
    from tests.site import Site

    MakeSite = Callable[[Iterable[RouteSpec]], Site]

SHELL = '<div id="root"></div><script src="/app.js"></script>'
APP = """
const views = {
  '/': ['Start', ['/one', '/two']], '/one': ['One', ['/deep']], '/two': ['Two', []], '/deep': ['Deep', []],
};
setTimeout(async () => {
  const [title, links] = views[location.pathname];
  const extra = await (await fetch('/api.json')).json();
  document.title = title;
  document.getElementById('root').innerHTML = `<h1>${title}</h1><p>${extra.motto}</p><img src=/pixel.png>` +
    links.map(to => `<a href="${to}">to ${to}</a>`).join('');
}, 50);
"""
APPLICATION = [
    *(page(path, SHELL) for path in ("/", "/one", "/two", "/deep")),
    script("/app.js", APP),
    data("/api.json", '{"motto": "Draw me"}'),
]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have pages be quiet sooner: what these do, they do at once."""
    monkeypatch.setattr("spiderproj.browser.page.QUIET_SECONDS", 0.2)


def rows(done: Crawled, statement: str) -> list[Any]:
    """Return the rows that the crawl's store gives for *statement*."""
    with sqlite3.connect(done.out / "crawl.db") as connection:
        return connection.execute(statement).fetchall()


def paths(done: Crawled) -> set[str]:
    """Return the paths of the pages of a crawl."""
    return {"/" + row["url"].split("/", 3)[3] for row in done.pages}


@pytest_twisted.ensureDeferred
async def test_never_draws_nothing(tmp_path: Path, site: MakeSite) -> None:
    """Without ``render`` an application has one page, nothing of its scripts is fetched and nothing is counted."""
    where = site(APPLICATION)
    done = await crawl(f"{where.base}/", tmp_path / "out")
    assert paths(done) == {"/"}
    assert where.hits("GET /app.js") == 0
    assert (done.summary["script_pages"], done.summary["rendered"], done.summary["unrendered"]) == (0, 0, {})
    assert "drawn by script" not in (done.out / "report.html").read_text()


@needs_browser
@pytest.mark.parametrize("render", ["auto", "always"])
@pytest_twisted.ensureDeferred
async def test_links_that_exist_after_script(tmp_path: Path, site: MakeSite, render: str) -> None:
    """An application is found whole, with its titles; its script is fetched once, its pictures never."""
    where = site(APPLICATION)
    done = await crawl(f"{where.base}/", tmp_path / "out", render=render)
    assert done.status == 0
    assert paths(done) == {"/", "/one", "/two", "/deep"}
    assert {row["title"] for row in done.pages} == {"Start", "One", "Two", "Deep"}
    assert not any(row["duplicate_of"] for row in done.pages)
    assert (where.hits("GET /app.js"), where.hits("GET /api.json"), where.hits("GET /pixel.png")) == (1, 4, 0)
    assert b"Draw me" not in done.body(f"{where.base}/")
    assert (done.summary["script_pages"], done.summary["rendered"], done.summary["unrendered"]) == (4, 4, {})
    report = (done.out / "report.html").read_text()
    assert report.count('<bdi lang="">empty-root</bdi>') == 4
    assert "Pages drawn by script</a> 4" in report
    signs = rows(done, "SELECT u.url, r.sign, r.failure FROM renderings AS r JOIN urls AS u ON u.id = r.url")
    assert {(url, sign, failure) for url, sign, failure in signs} == {
        (row["url"], "empty-root", None) for row in done.pages
    }


@needs_browser
@pytest_twisted.ensureDeferred
async def test_auto_leaves_other_pages_alone(tmp_path: Path, site: MakeSite) -> None:
    """``auto`` draws the shell and not the article, ``always`` both; what script adds to an article is then found."""
    text = "<p>" + "There is much to read here, and it was here from the beginning. " * 20
    adds = "<script>document.body.insertAdjacentHTML('beforeend', '<a href=/added>a</a>')</script>"
    routes = [page("/", f"{text}{link('/shell')}{adds}"), page("/shell", SHELL), script("/app.js", ""), page("/added")]
    where = site(routes)
    auto = await crawl(f"{where.base}/", tmp_path / "auto", render="auto")
    assert paths(auto) == {"/", "/shell"}
    assert auto.summary["rendered"] == 1
    always = await crawl(f"{where.base}/", tmp_path / "always", render="always")
    assert paths(always) == {"/", "/shell", "/added"}
    assert (always.summary["rendered"], always.summary["script_pages"]) == (3, 1)


@needs_browser
@pytest_twisted.ensureDeferred
async def test_mirror_shows_the_page_as_drawn(tmp_path: Path, site: MakeSite) -> None:
    """A mirror shows pages as drawn, quiet, with links that work; the received bytes come back without a request."""
    where = site([*APPLICATION, {"path": "/pixel.png", "headers": {"Content-Type": "image/png"}, "body": "x"}])
    out = tmp_path / "out"
    drawn = await crawl(f"{where.base}/", out, render="auto", mirror="1")
    shown = drawn.body(f"{where.base}/").decode()
    assert shown.startswith('<!DOCTYPE html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy"')
    assert "<h1>Start</h1><p>Draw me</p>" in shown
    assert 'href="one~.html"' in shown
    assert 'src="pixel.png"' in shown
    assert drawn.summary["references"]["missing"] == 0
    received = next(spec["body"] for spec in APPLICATION if spec["path"] == "/").encode()
    before = len(where.log)
    back = await crawl(f"{where.base}/", out, render="auto", mirror="0", depth="0")
    assert back.body(f"{where.base}/") == received
    assert not [entry for entry in where.log[before:] if entry.target in ("/one", "/two", "/deep", "/app.js")]


LOADS = """
for (const name of ['search.js', 'index' + '.js'])
  document.body.append(Object.assign(document.createElement('script'), {src: root + name}));
document.images[0].src = document.images[0].src.replace('minus', 'plus');
"""


@needs_browser
@pytest_twisted.ensureDeferred
async def test_mirror_keeps_what_a_script_loads(tmp_path: Path, site: MakeSite) -> None:
    """What the scripts of a page put into it, by names that only they make, is in the copy as its requisites are."""
    where = site([page("/", "<img src=/minus.png><script>var root = '/'</script><script src=/script.js></script>"),
                  script("/script.js", LOADS), script("/search.js", ""), script("/index.js", "index = [];"),
                  *({"path": f"/{name}.png", "headers": {"Content-Type": "image/png"}, "body": name}
                    for name in ("minus", "plus"))])  # fmt: skip
    done = await crawl(f"{where.base}/", tmp_path / "out", render="always", mirror="1")
    stored = {row["url"].removeprefix(where.base) for row in done.pages if row["path"]}
    assert {"/script.js", "/search.js", "/index.js", "/minus.png", "/plus.png"} <= stored
    assert 'src="plus.png"' in done.body(f"{where.base}/").decode()
    assert done.summary["references"]["missing"] == 0


@needs_browser
@pytest_twisted.ensureDeferred
async def test_revisit_draws_what_was_not_drawn(tmp_path: Path, site: MakeSite) -> None:
    """A revisit that draws asks for whole pages; one without drawing forgets what was drawn of another body."""
    tagged = [{**spec, "headers": {**spec["headers"], "ETag": '"1"'}} for spec in APPLICATION if spec["path"] == "/"]
    conditional = [{"path": "/", "when": {"If-None-Match": '"1"'}, "status": 304, "headers": {"ETag": '"1"'}}]
    where = site([*conditional, *tagged, *APPLICATION[1:]])
    out = tmp_path / "out"
    assert paths(await crawl(f"{where.base}/", out)) == {"/"}
    assert paths(await crawl(f"{where.base}/", out, render="auto")) == {"/", "/one", "/two", "/deep"}
    again = await crawl(f"{where.base}/", out, render="auto")
    assert again.page(f"{where.base}/")["status"] == 304
    assert again.summary["rendered"] == 4
    where.set_routes([page("/", "<p>plain</p>")])
    plain = await crawl(f"{where.base}/", out)
    assert b"plain" in plain.body(f"{where.base}/")
    assert rows(plain, "SELECT count(*) FROM renderings AS r JOIN urls AS u ON u.id = r.url WHERE u.id = 1") == [(0,)]


RULES = """
const log = [];
const ask = async (name, url, options) => {
  try { const r = await fetch(url, options); log.push(name + '=' + r.status + ':' + (await r.text()).slice(0, 20)); }
  catch (error) { log.push(name + '=failed'); }
};
(async () => {
  await ask('allowed', '/api/open', {headers: {'X-Page': 'yes', 'Accept': 'application/json'}});
  await ask('robots', '/private/data');
  await ask('denied', '/denied/data');
  await ask('post', '/api/open', {method: 'POST', body: 'x'});
  await ask('redirected', '/hop');
  await ask('redirected-denied', '/hop-denied');
  await ask('looping', '/loop');
  await ask('cross', '{{ALT}}/cross', {headers: {'X-Page': 'yes'}});
  await ask('no-cors', '{{ALT}}/not-shared');
  await ask('gone', '/nothing-here');
  document.body.innerHTML = '<pre id=log></pre><a href=/next>next</a>';
  document.getElementById('log').textContent = log.join('|');
  location.href = '/wanted-by-script';
})();
"""


@needs_browser
@pytest_twisted.ensureDeferred
async def test_requests_of_a_page_keep_the_rules(tmp_path: Path, site: MakeSite) -> None:
    """Robots, deny patterns, methods, redirects, other origins and cookies: as for any requisite of the crawl."""
    share = {"Content-Type": "text/plain", "Access-Control-Allow-Origin": "*"}
    where = site([
        {"path": "/robots.txt", "host": "localhost", "headers": {"Set-Cookie": "other=8"}, "body": ""},
        {"path": "/robots.txt", "body": "User-agent: *\nDisallow: /private/"},
        page("/", '<script src="/rules.js"></script>', headers={"Content-Type": "text/html", "Set-Cookie": "id=7"}),
        script("/rules.js", RULES),
        data("/api/open", "open"),
        {"path": "/hop", "status": 302, "headers": {"Location": "/api/open"}},
        {"path": "/hop-denied", "status": 302, "headers": {"Location": "/denied/data"}},
        {"path": "/loop", "status": 302, "headers": {"Location": "/loop"}},
        {"path": "/cross", "host": "localhost", "headers": share, "body": "shared"},
        {"path": "/not-shared", "host": "localhost", "body": "secret"},
        page("/next"), page("/wanted-by-script"),
    ])  # fmt: skip
    done = await crawl(
        f"{where.base}/", tmp_path / "out", {"SPIDERPROJ_ALLOWED_NETWORKS": "127.0.0.0/8,::1/128"}, render="auto",
        deny="/denied/", mirror="1",
    )  # fmt: skip
    shown = done.body(f"{where.base}/").decode()
    found = dict(part.split("=", 1) for part in shown.partition('<pre id="log">')[2].partition("</pre>")[0].split("|"))
    assert found == {
        "allowed": "200:open", "robots": "failed", "denied": "failed", "post": "failed", "redirected": "200:open",
        "redirected-denied": "failed", "looping": "failed", "cross": "200:shared", "no-cors": "failed",
        "gone": "404:&lt;!doctype html&gt;&lt;titl",
    }  # fmt: skip
    for never in ("GET /private/data", "ANY /denied/data", "POST /api/open", "OPTIONS /api/open"):
        assert where.hits(never) == 0, never
    assert where.hits(f"GET {where.alt}/robots.txt") == 1
    (first, *_) = where.requests("GET /api/open")
    fields = {name.lower(): value for name, value in first.headers}
    assert (fields["x-page"], fields["accept"], fields["cookie"]) == ("yes", "application/json", "id=7")
    (other,) = where.requests(f"GET {where.alt}/cross")
    told = {name.lower(): value for name, value in other.headers}
    assert told["origin"] == where.base
    assert not told.keys() & {"cookie", "authorization", "x-page"}
    assert {"/next", "/wanted-by-script"} <= paths(done)
    wanted = [row for row in done.links if row["target"].endswith("/wanted-by-script")]
    assert [(row["tag"], row["attribute"]) for row in wanted] == [("script", "location")]
    assert done.crawler.stats is not None
    count = done.crawler.stats.get_value
    assert count("spiderproj/render/refused/robots") == 1
    assert count("spiderproj/render/refused/deny") == 2
    assert count("spiderproj/render/refused/method") == 1
    assert count("spiderproj/render/refused/navigation") == 1


@pytest_twisted.ensureDeferred
async def test_a_store_from_before_goes_on(tmp_path: Path, site: MakeSite) -> None:
    """A store that was made before pages could be drawn gets the table it lacks."""
    where = site([page("/", link("/a")), page("/a")])
    done = await crawl(f"{where.base}/", tmp_path / "out")
    with sqlite3.connect(done.out / "crawl.db") as connection:
        connection.executescript("DROP TABLE renderings; PRAGMA user_version = 1")
    again = await crawl(f"{where.base}/", tmp_path / "out")
    assert (again.status, again.summary["pages"]) == (0, 2)
    assert rows(again, "PRAGMA user_version") == [(schema.VERSION,)]


@needs_browser
@pytest_twisted.ensureDeferred
async def test_received_links_are_not_lost(tmp_path: Path, site: MakeSite) -> None:
    """A page whose scripts empty it keeps the links and the title it was received with."""
    where = site([
        page("/", f"{link('/kept')}<script>document.head.innerHTML = document.body.innerHTML = ''</script>"),
        page("/kept"),
    ])  # fmt: skip
    done = await crawl(f"{where.base}/", tmp_path / "out", render="always")
    assert paths(done) == {"/", "/kept"}
    assert done.page(f"{where.base}/")["title"] == "Page /"


@pytest.mark.parametrize("render", ["auto", "always"])
@pytest_twisted.ensureDeferred
async def test_without_a_browser(tmp_path: Path, render: str) -> None:
    """Where there is no browser the crawl does not begin, and says what to do; no folder is made."""
    with pytest.raises(ArgumentError, match="make render-deps") as caught:
        await crawl("http://127.0.0.1:9/", tmp_path / "out", {"SPIDERPROJ_CHROMIUM": "/nowhere"}, render=render)
    assert caught.value.exit_status == 2
    assert not (tmp_path / "out").exists()


@needs_browser
@pytest_twisted.ensureDeferred
async def test_a_browser_that_does_not_start(tmp_path: Path, site: MakeSite) -> None:
    """A browser that ends at once ends the crawl with status 2 before any request."""
    where = site(APPLICATION)
    done = await crawl(f"{where.base}/", tmp_path / "out", {"SPIDERPROJ_CHROMIUM": "/bin/false"}, render="auto")
    assert done.status == 2
    assert not where.log
