"""The store: strict order, leases that a kill gives back, one verdict a URL that only gets better."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from spiderproj.errors import StoreDamagedError
from spiderproj.levels import home_of
from spiderproj.models import CrawlURL, Decision, Level, Link, LinkRole, Reason, ResourceType, Verdict
from spiderproj.order import Order, OrderKey, Place, key_function
from spiderproj.scope import Judgement, Scope, Source
from spiderproj.store import Database, Decisions, Frontier, Ledger, Outcome
from spiderproj.urls import split

SEED = "http://h/"
HTML = frozenset({ResourceType.HTML})


class Crawl:
    """A database with a frontier and a ledger under the rules of ``mode=local``."""

    def __init__(self, path: Path, *, order: Order = Order.BREADTH, depth: int | None = None) -> None:
        self.database = Database(path)
        select: dict[Level, frozenset[ResourceType]] = {level: HTML for level in Level if level is not Level.OTHER}
        self.scope = Scope(mode="local", homes=[home_of(SEED)], select=select, depth=depth)
        self.frontier = Frontier(self.database, "tester")
        self._key = key_function(order, self.scope.homes)
        self.decisions = Decisions(self.database, self.frontier, self.scope.judge, self.rank)
        self.ledger = Ledger(self.database, self.decisions)
        self.decisions.add_seed(SEED, self.scope.judge_seed(SEED))

    def rank(self, judgement: Judgement, url: str) -> OrderKey:
        """Return the place of *url* in the order."""
        return self._key(Place(split(url), judgement.level, judgement.depth, is_file=False))

    def lease(self, now: float = 0.0) -> CrawlURL | None:
        """Lease the next URL of a host that is always ready."""
        return self.frontier.lease(now, lambda _: 0.0)

    def fetch(self, *paths: str) -> str:
        """Lease the next URL and record that it links to *paths*; return its URL."""
        url = self.lease()
        assert url is not None
        self.ledger.record(url, Outcome(status=200, fetched_at=1.0), [anchor(path) for path in paths])
        return url.url

    def verdict(self, url: str) -> tuple[str, str | None]:
        """Return decision and reason of *url* as the table holds them."""
        row = self.database.execute("SELECT verdict, reason FROM urls WHERE url = ?", (url,)).fetchone()
        return (row[0], row[1])


def anchor(path: str, **changes: object) -> Link:
    """Return a link to *path* on the seed's host, or to a whole URL."""
    target = path if "://" in path else f"http://h{path}"
    return Link(target, "", "a", "href", "", LinkRole.NAVIGATION, None)._replace(**changes)  # type: ignore[arg-type]


@pytest.fixture
def crawl(tmp_path: Path) -> Iterator[Crawl]:
    """Return a new crawl, closed in the end."""
    made = Crawl(tmp_path / "crawl.db")
    yield made
    made.database.close()


def test_breadth_first_is_strict(crawl: Crawl) -> None:
    """URLs come by depth, then in the order in which they were found."""
    order = [crawl.fetch("/a", "/b"), crawl.fetch("/c", "/d"), crawl.fetch("/e"), *(crawl.fetch() for _ in range(3))]

    assert [f"http://h{path}" for path in ("/", "/a", "/b", "/c", "/d", "/e")] == order


def test_depth_first_takes_the_newest_depth(tmp_path: Path) -> None:
    """order=depth goes down before it goes on."""
    crawl = Crawl(tmp_path / "crawl.db", order=Order.DEPTH)
    order = [crawl.fetch("/a", "/b"), crawl.fetch("/a1", "/a2"), crawl.fetch(), crawl.fetch(), crawl.fetch()]

    assert [f"http://h{path}" for path in ("/", "/a", "/a1", "/a2", "/b")] == order


def test_order_holds_across_a_restart(tmp_path: Path) -> None:
    """A new process goes on where the old one would have."""
    first = Crawl(tmp_path / "crawl.db")
    first.fetch("/a", "/b", "/c")
    first.fetch("/a/1")
    first.database.commit()
    first.database.close()
    second = Crawl(tmp_path / "crawl.db")

    assert [second.fetch() for _ in range(3)] == ["http://h/b", "http://h/c", "http://h/a/1"]


def test_busy_host_is_passed_over_until_it_is_unblocked(tmp_path: Path) -> None:
    """A host that may not be asked does not hold up another, and comes back when told."""
    crawl = Crawl(tmp_path / "crawl.db")
    crawl.scope.mode = "all"
    crawl.scope.select = dict.fromkeys(Level, HTML)
    crawl.fetch("/a", "http://other/x")
    busy = crawl.frontier.lease(0.0, lambda host: float(host == "h"))

    assert busy is not None
    assert busy.url == "http://other/x"
    assert crawl.lease() is None
    crawl.frontier.unblock("h")
    assert (crawl.lease() or busy).url == "http://h/a"


def test_released_url_waits_for_its_time_and_counts_its_attempts(crawl: Crawl) -> None:
    """A retry is handed out again, not before its time, with one attempt more."""
    url = crawl.lease()
    assert url is not None
    crawl.frontier.release(url.id, 100.0, failed=True)

    assert crawl.lease(99.0) is None
    assert crawl.frontier.next_time() == 100.0
    again = crawl.lease(100.0)
    assert again is not None
    assert (again.url, again.attempts) == (SEED, 1)


def test_pending_counts_what_is_queued_leased_and_waiting(crawl: Crawl) -> None:
    """Pending falls only when an outcome is recorded."""
    crawl.fetch("/a", "/b")
    url = crawl.lease()
    assert url is not None
    crawl.frontier.release(url.id, 5.0, failed=False)

    assert crawl.frontier.pending == 2
    assert crawl.database.scalar("SELECT count(*) FROM frontier") == 2


def test_lease_of_a_killed_process_is_given_back(tmp_path: Path) -> None:
    """What was leased and what was written since the last commit is as if it had never been."""
    script = (
        "import os, signal, sys; sys.path.insert(0, '.')\n"
        "from pathlib import Path; from tests.test_store import Crawl\n"
        f"crawl = Crawl(Path({str(tmp_path / 'crawl.db')!r}))\n"
        "crawl.fetch('/a', '/b'); crawl.database.commit(); crawl.fetch('/lost'); crawl.lease()\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    killed = subprocess.run([sys.executable, "-c", script], check=False)
    crawl = Crawl(tmp_path / "crawl.db")

    assert killed.returncode == -signal.SIGKILL
    assert [crawl.fetch("/found"), crawl.fetch()] == ["http://h/a", "http://h/b"]
    assert crawl.decisions.known("http://h/lost") is None


def test_second_link_lets_in_what_the_first_could_not(crawl: Crawl) -> None:
    """A URL refused on one page is queued when another page may link to it."""
    crawl.decisions.decide(Source(None, SEED, 0, LinkRole.NAVIGATION), [anchor("/x", nofollow=True)])
    assert crawl.verdict("http://h/x") == ("refused", "nofollow")

    crawl.fetch("/x")

    assert crawl.verdict("http://h/x") == ("queued", None)


def test_type_told_by_a_server_is_not_asked_again(crawl: Crawl) -> None:
    """A URL refused for its answered type stays refused for every further link."""
    crawl.fetch("/x")
    url = crawl.lease()
    assert url is not None
    crawl.ledger.refuse(url, Decision(Verdict.REFUSED, Reason.TYPE, "HEAD"), ResourceType.IMAGE)
    crawl.decisions.decide(Source(None, SEED, 0, LinkRole.NAVIGATION), [anchor("/x")])

    assert crawl.verdict("http://h/x") == ("refused", "type")
    assert crawl.frontier.pending == 0


def test_shorter_way_lets_in_what_lies_behind(tmp_path: Path) -> None:
    """With a depth limit, a page found again nearer the seed gets its links judged again."""
    crawl = Crawl(tmp_path / "crawl.db", order=Order.DEPTH, depth=2)
    crawl.fetch("/a", "/near")  # both at depth 1
    crawl.fetch("/far")  # /a: /far at depth 2
    crawl.fetch("/beyond")  # /far: /beyond would be at depth 3
    assert crawl.verdict("http://h/beyond") == ("refused", "depth")

    crawl.decisions.decide(Source(None, SEED, 0, LinkRole.NAVIGATION), [anchor("/far")])

    assert crawl.verdict("http://h/beyond") == ("queued", None)


def test_equal_content_needs_equal_links(crawl: Crawl) -> None:
    """The same bytes whose references resolve elsewhere are another content."""
    url = crawl.lease()
    assert url is not None
    crawl.ledger.add_content(url, b"d" * 32, 7, 10, "h/index.html")

    found = crawl.ledger.content(b"d" * 32, 7)
    assert found is not None
    assert (found.path, found.url) == ("h/index.html", SEED)
    assert crawl.ledger.content(b"d" * 32, 8) is None


def test_links_are_readable_with_plain_sql(crawl: Crawl) -> None:
    """The view gives a row a link in document order."""
    crawl.fetch("/b", "/a", "/b")
    rows = crawl.database.execute(
        "SELECT t.url, l.tag, l.role FROM links AS l JOIN urls AS t ON t.id = l.target ORDER BY source, position"
    ).fetchall()

    assert rows == [
        ("http://h/b", "a", "navigation"),
        ("http://h/a", "a", "navigation"),
        ("http://h/b", "a", "navigation"),
    ]


def test_requeue_brings_back_what_was_fetched(crawl: Crawl) -> None:
    """A finished crawl run again asks for its pages again, in order."""
    crawl.fetch("/a")
    crawl.fetch()

    assert crawl.ledger.requeue(everything=True) == 2
    assert [crawl.fetch(), crawl.fetch()] == [SEED, "http://h/a"]


@pytest.mark.parametrize("content", [b"no database", b"SQLite format 3\x00" + b"x" * 500])
def test_damaged_file_is_told_plainly(tmp_path: Path, content: bytes) -> None:
    """A store that is none ends with our error, which says what is whole and how to save rows."""
    path = tmp_path / "crawl.db"
    path.write_bytes(content)

    with pytest.raises(StoreDamagedError, match=r"fresh=1"):
        Database(path)


def test_newer_schema_is_refused(tmp_path: Path) -> None:
    """A store of a later version is not touched."""
    database = Database(tmp_path / "crawl.db")
    database.write("PRAGMA user_version = 99")
    database.commit()
    database.close()

    with pytest.raises(StoreDamagedError, match="schema version 99"):
        Database(tmp_path / "crawl.db")
