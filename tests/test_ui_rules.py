"""The rules of ``scrapy ui`` without a server: who may ask, which arguments, the filter as rows, types of pages."""

from __future__ import annotations

import contextlib
import itertools
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spiderproj.errors import ArgumentError
from spiderproj.filters import NAMES
from spiderproj.ui import choices, expression
from spiderproj.ui.access import Attempts, Guard, Head, Session
from spiderproj.ui.copies import Copies
from spiderproj.ui.families import family
from spiderproj.ui.pages import shown_as
from spiderproj.ui.progress import bars, rate_of
from spiderproj.ui.scrapyd import Scrapyd, ScrapydError
from spiderproj.ui.service import Place
from tests.page import large_store
from tests.routes import text
from tests.site import Site

HOSTS = ("127.0.0.1:1", "localhost:1", "evil.example:1", "127.0.0.1", "127.0.0.1:2", "")
ORIGINS = ("http://127.0.0.1:1", "", "null", "http://evil.example", "http://127.0.0.1:2")
SITES = ("same-origin", "", "same-site", "cross-site")
METHODS = ("GET", "POST", "PUT", "HEAD", "OPTIONS")
PATHS = ("/", "/app.js", "/api/state", "/api/start", "/api/enter", "/api/ticket")
SESSION = Session()


# --- who may ask


@pytest.mark.parametrize("path", PATHS)
def test_matrix_of_heads(path: str) -> None:
    """Of 6 Hosts, 5 Origins, 4 Sec-Fetch-Sites, 5 methods, with secrets and without, only the intended pass."""
    guard = Guard(frozenset({"127.0.0.1:1", "localhost:1"}), SESSION)
    for host, origin, site, method, knows in itertools.product(HOSTS, ORIGINS, SITES, METHODS, (0, 1, 2, 3)):
        cookie, key = SESSION.cookie if knows & 1 else "x", SESSION.key if knows & 2 else ""
        head = Head(method, path, host, origin, site, "application/json", cookie, key)
        is_data = path.startswith("/api/")
        is_own = host == "127.0.0.1:1" and site in ("same-origin", "") and origin in ("", "http://127.0.0.1:1")
        is_own |= host == "localhost:1" and site in ("same-origin", "") and not origin
        is_known = knows == 3 or not is_data or (path == "/api/enter" and method == "POST")
        if method == "POST":
            is_own &= bool(origin) and is_data
        passes = is_own and is_known and method in ("GET", "HEAD", "POST")
        assert (guard.refusal(head) is None) == passes, head


@pytest.mark.parametrize("media_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_forms_change_nothing(media_type: str) -> None:
    """A POST that a form of another site could send is refused, whatever else it knows."""
    guard = Guard(frozenset({"h:1"}), SESSION)
    head = Head("POST", "/api/start", "h:1", "http://h:1", "same-origin", media_type, SESSION.cookie, SESSION.key)
    refusal = guard.refusal(head)
    assert refusal is not None
    assert refusal.status == 415


def test_guessing_is_slow() -> None:
    """After five failures there is one attempt in two seconds; who comes in makes all be forgotten."""
    now = [0.0]
    attempts = Attempts(lambda: now[0])
    for _ in range(5):
        assert attempts.is_open()
        attempts.failed()
    assert not attempts.is_open()
    now[0] = 2.0
    assert attempts.is_open()
    attempts.succeeded()
    attempts.failed()
    assert attempts.is_open()


def test_others_need_a_password() -> None:
    """An address that others can reach is served with a password only; loopback needs none."""
    with pytest.raises(ArgumentError, match="password"):
        Place("0.0.0.0", 1, (), "").check()
    Place("0.0.0.0", 1, (), "a long password").check()
    for address in ("127.0.0.1", "::1"):
        Place(address, 1, (), "").check()
    assert Session(password="a long password").opens("a long password")
    assert not Session().opens("")


# --- arguments, filters, families


@pytest.mark.parametrize(
    ("value", "field"),
    [
        ({"seed": "@/etc/passwd"}, "seed"),
        ({"seed": "http://h/ @x"}, "seed"),
        ({"deny": "a\n@/etc/passwd"}, "deny"),
        ({"login": "x"}, "login"),
        ({"out": "/x"}, "out"),
        ({"fresh": "1"}, "fresh"),
        ({"seed": 1}, "seed"),
        ({"seed": "x" * 40_000}, "seed"),
        ({"filter": "a\0"}, "filter"),
        ([], "arguments"),
        (None, "arguments"),
        ({"pages": -1}, "pages"),
        ({"pages": "1.5"}, "pages"),
        ({"delay": float("nan")}, "delay"),
        ({"delay": True}, "delay"),
        ({"ITEM_PIPELINES": "x"}, "ITEM_PIPELINES"),
        ({"allow": "a\n" * 101}, "allow"),
    ],
)
def test_arguments_by_allow_list(value: object, field: str) -> None:
    """What names a file, a folder or a setting, or is no text, is refused, and the field is named."""
    with pytest.raises(ArgumentError) as caught:
        choices.read(value)
    assert caught.value.name == field


def test_command_line_says_the_same() -> None:
    """The line to copy is the one that is run, quoted; patterns are numbered, settings kept apart."""
    chosen = choices.read({"seed": "http://h/ http://i/", "deny": "a b\n'", "pages": "9", "delay": 0.5, "depth": ""})
    argv = chosen.argv(Path("/x y"))
    assert argv == [
        "crawl",
        "site",
        "-a",
        "seed=http://h/ http://i/",
        "-a",
        "deny=a b",
        "-a",
        "deny.1='",
        "-a",
        "out=/x y",
        "-s",
        "CLOSESPIDER_PAGECOUNT=9",
        "-s",
        "DOWNLOAD_DELAY=0.5",
    ]
    assert choices.shown(argv).startswith("scrapy crawl site -a 'seed=http://h/ http://i/'")
    again = choices.read(choices.texts_of(chosen.options(Path("/x y"))))
    assert again.options(Path("/x y")) == chosen.options(Path("/x y"))


@pytest.mark.parametrize(
    ("text_", "parts"),
    [
        ("", []),
        ('ext == "pdf"', [("ext", "is", "pdf")]),
        ("depth <= 2 and size < 10", [("depth", "at most", "2"), ("size", "below", "10")]),
        ('"a" in text', [("text", "contains", "a")]),
        ('ext in ("pdf", "ps")', [("ext", "is one of", "pdf ps")]),
        ('not path.matches(r"\\d")', [("path", "does not match", "\\d")]),
        ('host.endswith(".org")', [("host", "ends with", ".org")]),
    ],
)
def test_filter_as_rows(text_: str, parts: list[tuple[str, str, str]]) -> None:
    """A flat filter is rows, and the rows are that filter."""
    built = expression.built_of(text_)
    assert built is not None
    assert [tuple(part) for part in built.parts] == parts
    assert expression.text_of(built) == text_


@pytest.mark.parametrize(
    "rich", ["depth < 2 or ext == 'a' and size > 1", "1 < depth <= 3", "not (depth < 2)", "text.lower() == 'a'", "True"]
)
def test_richer_filters_stay_text(rich: str) -> None:
    """What rows cannot say is no rows, and no error."""
    assert expression.built_of(rich) is None


PARTS = st.one_of(
    st.tuples(
        st.sampled_from([name for name, kind in NAMES.items() if kind is str and name not in ("level", "type")]),
        st.sampled_from(["is", "is not", "contains", "does not contain", "begins with", "ends with"]),
        st.text(max_size=20),
    ),
    st.tuples(
        st.sampled_from(["depth", "size"]),
        st.sampled_from(expression.TESTS_OF_NUMBERS),
        st.integers(0, 10**15).map(str),
    ),
)


@settings(deadline=None, max_examples=40)
@given(st.lists(PARTS, max_size=5), st.sampled_from(["and", "or"]))
def test_rows_survive_their_text(rows: list[tuple[str, str, str]], joint: str) -> None:
    """Any rows become a filter that parses, and come back from it as they were."""
    built = expression.Built(joint, [expression.Part(*row) for row in rows])
    again = expression.built_of(expression.text_of(built))
    assert again is not None
    assert list(again.parts) == list(built.parts)
    assert again.joint == joint or len(rows) < 2


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=60))
def test_any_text_is_rows_or_an_error_of_ours(text_: str) -> None:
    """Whatever is typed as a filter is rows, richer than rows, or refused with a column."""
    with contextlib.suppress(ArgumentError):
        built = expression.built_of(text_)
        assert built is None or expression.text_of(built) is not None


@settings(deadline=None, max_examples=50)
@given(st.text(max_size=100))
def test_every_url_has_a_family(url: str) -> None:
    """A family is short and the same for numbers alike."""
    assert len(family(url)) <= len(url) + 33
    assert family(f"https://h/a/{len(url)}/x/y") == "h/a/#/"


# --- what pages of a copy are shown as


@pytest.mark.parametrize(
    ("received", "shown"),
    [
        ("text/html; charset=utf-8", "text/html; charset=utf-8"),
        ('text/html; charset="a\r\nb"', "text/html"),
        ("text/javascript", "text/plain"),
        ("image/svg+xml", "image/svg+xml"),
        ("application/pdf", "application/octet-stream"),
        ("application/x-shockwave-flash", "application/octet-stream"),
        ("", "application/octet-stream"),
        ("text/html, text/css", "text/css"),
        ("image/x\r\nSet-Cookie: a", "application/octet-stream"),
    ],
)
def test_types_of_the_copies_pages(received: str, shown: str) -> None:
    """A file is sent as a type of the list, or as a download; its header reaches nobody as it was received."""
    headers = shown_as(received)
    assert headers["Content-Type"] == shown
    assert ("Content-Disposition" in headers) == (shown == "application/octet-stream")


# --- rates


def test_rates() -> None:
    """Rates are over the last ten seconds, bars over the last minute."""
    times = [100.0 - number / 10 for number in range(100)]
    assert rate_of(times, 100.0) == pytest.approx(10.0, rel=0.05)
    assert rate_of(times, 200.0) == 0
    assert sum(bars(times, 100.0)) == 100
    assert max(bars(times, 100.0)) <= 11


# --- crawls on the disk


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "../x", "/etc", "a\0b", "x" * 300])
def test_names_lead_nowhere_else(name: str, tmp_path: Path) -> None:
    """What is no plain name of a folder is refused before anything is looked up."""
    with pytest.raises(ArgumentError):
        Copies(tmp_path).folder(name)


def test_symlinks_are_no_crawls(tmp_path: Path) -> None:
    """A symlink among the crawls is neither listed nor opened, and one crawl alone shows no other."""
    outside, root = tmp_path / "outside", tmp_path / "root"
    large_store(outside, 3)
    root.mkdir()
    (root / "link").symlink_to(outside)
    assert Copies(root).names() == []
    with pytest.raises(ArgumentError):
        Copies(root).known("link")
    alone = Copies.at(outside)
    assert alone.names() == ["outside"]
    with pytest.raises(ArgumentError):
        alone.folder("root")


# --- Scrapyd


def test_scrapyd_is_asked_and_misbehaves() -> None:
    """Jobs are listed, started and cancelled; a refusal, an error page and silence are one sentence each."""
    running = {"id": "a", "spider": "site", "start_time": "now"}
    job = json.dumps({"status": "ok", "pending": [], "running": [running], "finished": [1]})
    routes = [
        text("/listjobs.json?project=spiderproj", job, "application/json"),
        text("/schedule.json", '{"status": "ok"}', method="POST"),
        text("/cancel.json", '{"status": "error", "message": "no such job"}', method="POST"),
    ]
    with Site(routes) as site:
        server = Scrapyd.at(site.base, None)
        assert server.jobs() == {"pending": [], "running": [running | {"end_time": ""}], "finished": [{}]}
        server.schedule({"seed": "http://h/", "out": "/x"}, {"DOWNLOAD_DELAY": "2"}, "job-1")
        (sent,) = site.requests("POST /schedule.json")
        assert b"jobid=job-1" in sent.body
        assert b"setting=DOWNLOAD_DELAY%3D2" in sent.body
        with pytest.raises(ScrapydError, match="no such job"):
            server.cancel("job-1")
        with pytest.raises(ScrapydError, match="404"):
            Scrapyd.at(f"{site.base}/elsewhere", None).jobs()
    with pytest.raises(ScrapydError, match="see whether it runs"):
        server.jobs()


def test_account_of_a_scrapyd(tmp_path: Path) -> None:
    """The account comes from a netrc file, for its own host only; a URL with a password in it is refused."""
    accounts = tmp_path / "netrc"
    accounts.write_text("machine 127.0.0.1 login u password secret\n")
    assert Scrapyd.at("http://127.0.0.1:1/", accounts).authorization.startswith("Basic ")
    assert not Scrapyd.at("http://h:1/", accounts).authorization
    with pytest.raises(ArgumentError):
        Scrapyd.at("http://u:p@127.0.0.1/", None)
