"""The promise of ``gate=auto``, measured on simulated hosts: few HEADs, few wrong downloads, hardly a page missed."""

from __future__ import annotations

import random
from dataclasses import astuple, dataclass
from typing import NamedTuple

import pytest

from spiderproj.gate import Ask, Gate, Head, HeadAnswer, judge_head
from spiderproj.models import ResourceType
from spiderproj.urls import URLParts, split, url_key

HTML = frozenset({ResourceType.HTML})
HOST = "example.org"
HEAD_BYTES, PAGE, CUT = 600, 30_000, 65_536  # of a HEAD, of a page, of a GET that is stopped at its headers


class Kind(NamedTuple):
    """URLs of one form, the share of the links that lead there, and how many of them are files and not pages."""

    form: str
    links: int  # in a hundred
    unwanted: float
    head: Head | None = None  # what HEAD says in place of the truth


KINDS = [
    Kind("/post-{0}.html", 18, 0.001),
    Kind("/topic/{0}", 16, 0.002),
    Kind("/index.php?topic={0}", 14, 0.004),
    Kind("/section-{0}/", 10, 0.005),
    Kind("/wiki/Name_{0}", 8, 0.003),
    Kind("/wiki/File:{0}.png", 5, 0.01),
    Kind("/show.asp?id={0}", 6, 0.002),
    Kind("/pictures/{0}.jpg", 7, 0.995),
    Kind("/papers/{0}.pdf", 5, 0.99),
    Kind("/pub/{0}.zip", 5, 0.995),
    Kind("/get.php?file={0}", 3, 0.9),
    Kind("/attachment/{0}", 3, 0.5),
]
LIES = [Head(405), Head(500, ["text/html"]), Head(200, ["text/plain"])]


@dataclass
class Count:
    """What a crawl came to."""

    urls: int = 0
    heads: int = 0
    wrong: int = 0  # unwanted bodies begun
    missed: int = 0  # pages refused
    files: int = 0
    bytes: int = 0

    def __add__(self, other: Count) -> Count:
        """Return both together."""
        return Count(*map(sum, zip(astuple(self), astuple(other), strict=True)))

    def share(self, number: int) -> float:
        """Return *number* as a share of the URLs."""
        return number / self.urls


def crawl(mode: str, kinds: list[Kind], urls: int, seed: int, gate: Gate | None = None) -> Count:
    """Return what a crawl of so many *urls* comes to; three paths lie to HEAD."""
    rng, gate, count = random.Random(seed), gate or Gate(mode), Count(urls)
    lies = dict(zip(rng.sample(range(urls), len(LIES)), LIES, strict=True))
    for number, kind in enumerate(rng.choices(kinds, [kind.links for kind in kinds], k=urls)):
        parts = split(f"https://{HOST}{kind.form.format(number)}")
        liar = kind._replace(head=lies.get(number, kind.head))
        _fetch(gate, parts, liar, rng.random() < kind.unwanted, count)
    return count


def _fetch(gate: Gate, parts: URLParts, kind: Kind, is_file: bool, count: Count) -> None:
    count.files += is_file
    truth = ResourceType.ARCHIVE if is_file else ResourceType.HTML
    advice = gate.before(parts, HOST, None, HTML, url_key(f"{parts.path}?{parts.query}"))
    head = None
    if advice.ask is Ask.HEAD:
        head = kind.head or Head(200, ["application/zip" if is_file else "text/html"])
        count.heads += 1
        count.bytes += HEAD_BYTES
        gate.on_head(parts, HOST, head)
    if advice.ask is Ask.REFUSE or (head is not None and judge_head(head, HTML) is HeadAnswer.UNWANTED):
        count.missed += not is_file
        return
    count.bytes += CUT if is_file else PAGE
    count.wrong += is_file
    gate.on_get(parts, HOST, truth, HTML, head)


@pytest.mark.parametrize(("urls", "seeds"), [(2000, 20), pytest.param(20_000, 3, marks=pytest.mark.nightly)])
def test_the_promise(urls: int, seeds: int) -> None:
    """Of 2,000 URLs and more at most 15 % get a HEAD and 0.5 % are wrong, for the bytes that asking for each takes."""
    total, asked = Count(0), Count(0)
    for seed in range(seeds):
        total += crawl("auto", KINDS, urls, seed)
        asked += crawl("head", KINDS, urls, seed)
    print(f"{urls} URLs: HEADs {total.share(total.heads):.1%}, wrong {total.share(total.wrong):.2%}, missed"
          f" {total.share(total.missed):.2%}, {total.bytes / asked.bytes:.3f} of the bytes of gate=head")  # fmt: skip
    assert 0.2 < total.share(total.files) < 0.24
    assert total.share(total.heads) <= 0.15
    assert total.share(total.wrong) <= 0.005
    assert total.bytes <= 1.05 * asked.bytes
    assert total.share(total.missed) <= 0.0015


def test_what_was_learned_is_not_asked_again() -> None:
    """A gate with the rows of an earlier run asks only where there is doubt for good, and to test itself."""
    gate = Gate("auto")
    first = crawl("auto", KINDS, 2000, 1, gate)
    second = crawl("auto", KINDS, 2000, 2, Gate("auto", gate.rows()))
    assert second.heads <= first.heads / 2
    assert second.share(second.wrong) <= 0.005


@pytest.mark.parametrize("lie", [*LIES, Head(None)], ids=["405", "500", "type", "nothing"])
def test_a_lying_host_is_found_out(lie: Head) -> None:
    """A host whose HEADs are of no use gets at most 100 of them, with however many families."""
    kinds = [kind._replace(head=lie) for kind in KINDS]
    odd = [Kind(f"/odd{number}/get-{{0}}.bin", 1, 0.5, lie) for number in range(60)]
    gate = Gate("auto")
    count = crawl("auto", [*kinds, *odd], 3000, 1, gate)
    assert count.heads <= 100
    assert gate.counts.hosts_without_head == 1


def test_only_a_lying_family_is_given_up() -> None:
    """Where three families lie the others are still asked for."""
    liars = dict(zip(("/attachment/{0}", "/get.php?file={0}", "/wiki/File:{0}.png"), LIES, strict=True))
    kinds = [kind._replace(head=liars.get(kind.form)) for kind in KINDS]
    gate = Gate("auto")
    count = crawl("auto", kinds, 20_000, 1, gate)
    assert gate.counts.hosts_without_head == 0
    assert gate.head_usable(split(f"https://{HOST}/pub/1.zip"), HOST)
    assert not gate.head_usable(split(f"https://{HOST}/attachment/1"), HOST)
    assert count.share(count.wrong) <= 0.05  # what HEAD does not tell
    assert count.share(count.missed) <= 0.0015
