"""Figures for Prometheus: off unless asked for, on loopback only, for who gives the right Host; bounded, no URLs."""

from __future__ import annotations

import asyncio
import re
import socket
from typing import TYPE_CHECKING, Any

import pytest
import pytest_twisted
from prometheus_client.parser import text_string_to_metric_families

from spiderproj.errors import ArgumentError
from spiderproj.extensions import metrics
from spiderproj.models import Reason
from tests import markdown
from tests.crawling import crawl
from tests.routes import link, page
from tests.source_code import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from tests.answers import RouteSpec
    from tests.site import Site

    Factory = Callable[[Iterable[RouteSpec]], Site]

WORLD = [page("/", link(*(f"/p{n}" for n in range(30)), "/gone", "/x.pdf")), *(page(f"/p{n}") for n in range(30)),
         {"path": "/x.pdf", "headers": {"Content-Type": "application/pdf"}, "body": "%PDF"}]  # fmt: skip


def free_port() -> int:
    """Return a port of loopback that nobody has."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        number: int = listener.getsockname()[1]
        return number


def ask(port: int, head: str) -> tuple[int, str]:
    """Send a request; return status and body, 0 when it was hung up on."""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        connection.sendall(head.replace("\n", "\r\n").encode() + b"\r\n\r\n")
        received = b""
        try:
            while part := connection.recv(1 << 16):
                received += part
        except ConnectionResetError:
            return 0, ""
    status = int(received.split(b" ", 2)[1]) if received else 0
    return status, received.partition(b"\r\n\r\n")[2].decode()


class Asking:
    """Sends the *heads* at the end of a crawl, before nobody listens any more, and keeps what came."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, port: int, heads: list[str]) -> None:
        self.answers: list[tuple[int, str]] = []
        self._port, self._heads = port, heads
        before = metrics.Metrics.spider_closed

        async def closed(extension: metrics.Metrics) -> None:
            self.answers = await asyncio.to_thread(lambda: [ask(self._port, head) for head in self._heads])
            await before(extension)

        monkeypatch.setattr(metrics.Metrics, "spider_closed", closed)


def get(port: int, path: str = "/metrics", *, method: str = "GET", host: str = "127.0.0.1:{}", more: str = "") -> str:
    """Return the head of a request."""
    return f"{method} {path} HTTP/1.1\nHost: {host.format(port)}\nConnection: close{more}"


@pytest_twisted.ensureDeferred
async def test_what_is_served(tmp_path: Path, site: Factory, monkeypatch: pytest.MonkeyPatch) -> None:
    """The metrics are those of docs/stats.md, with the numbers of the crawl, labels of fixed sets and no URL."""
    port, served = free_port(), site(WORLD)
    asking = Asking(monkeypatch, port, [get(port)])
    done = await crawl(f"{served.base}/", tmp_path / "out", {"SPIDERPROJ_METRICS_PORT": port, "RETRY_TIMES": 0},
                       select="page,child:html")  # fmt: skip
    ((status, body),) = asking.answers
    assert status == 200
    samples = [sample for family in text_string_to_metric_families(body) for sample in family.samples]
    table = markdown.table(markdown.section((ROOT / "docs/stats.md").read_text(), "Metrics"))
    families = {f"{family.name}_total" if family.type == "counter" else family.name
                for family in text_string_to_metric_families(body)}  # fmt: skip
    assert families == set(table)
    found = {(sample.name, *sample.labels.values()): sample.value for sample in samples}
    assert found["spiderproj_pages_total",] == done.summary["pages"]
    assert found["spiderproj_pending",] == 0
    assert found["spiderproj_requests_total", "GET"] == done.summary["requests"]["GET"]
    assert found["spiderproj_connections_total", "opened"] == done.summary["connections"]
    assert found["spiderproj_outcomes_total", "answer", "2xx"] == 31
    assert found["spiderproj_outcomes_total", "refused", "type"] == 1
    assert found["spiderproj_outcomes_total", "answer", "4xx"] == 1
    values = [value for sample in samples for value in sample.labels.values()]
    assert all(re.fullmatch(r"[A-Za-z0-9_ /-]{0,40}", value) for value in values)
    assert not [value for value in values if "127." in value or "http" in value]
    which = {sample.labels["which"] for sample in samples if sample.labels.get("outcome") == "refused"}
    assert which <= {*Reason}


@pytest_twisted.ensureDeferred
async def test_who_may_ask(tmp_path: Path, site: Factory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only GET /metrics under the name of this machine is answered; a body is hung up on, unread."""
    port, served = free_port(), site(WORLD)
    cases: list[tuple[str, int]] = [
        (get(port), 200), (get(port, host="LOCALHOST:{}"), 200), (get(port, host="evil.example:{}"), 421),
        (get(port, host="127.0.0.1"), 421), (get(port, host="evil.example", method="POST"), 421), (get(port, "/"), 404),
        (get(port, "/metrics/x"), 404), (get(port, "/%6detrics"), 404), (get(port, method="POST"), 405),
        (get(port, method="HEAD"), 405), (get(port, method="POST", more="\nContent-Length: 99999999999"), 0),
        (get(port, method="POST", more="\nTransfer-Encoding: chunked"), 0), (get(port, "http://evil/metrics"), 404),
    ]  # fmt: skip
    asking = Asking(monkeypatch, port, [head for head, _ in cases])
    await crawl(f"{served.base}/", tmp_path / "out", {"SPIDERPROJ_METRICS_PORT": port})
    assert [status for status, _ in asking.answers] == [status for _, status in cases]


@pytest_twisted.ensureDeferred
async def test_it_listens_on_loopback_while_it_crawls(
    tmp_path: Path, site: Factory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The address is 127.0.0.1, nobody listens behind a crawl, nor without the setting; a taken port costs no crawl."""
    served, addresses = site(WORLD), list[Any]()
    opened = metrics.Metrics.spider_opened

    def note(extension: metrics.Metrics) -> None:
        opened(extension)
        addresses.append(extension._listening and extension._listening.getHost())

    monkeypatch.setattr(metrics.Metrics, "spider_opened", note)
    await crawl(f"{served.base}/", tmp_path / "off")
    assert addresses == []
    port = free_port()
    await crawl(f"{served.base}/", tmp_path / "on", {"SPIDERPROJ_METRICS_PORT": port})
    assert (addresses[0].host, addresses[0].port) == ("127.0.0.1", port)
    with socket.create_server(("127.0.0.1", port)):  # nobody has it any more
        done = await crawl(f"{served.base}/", tmp_path / "taken", {"SPIDERPROJ_METRICS_PORT": port})
    assert (done.status, addresses[1:]) == (0, [None])


@pytest_twisted.ensureDeferred
async def test_what_cannot_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A port that there is not, and a library that there is not, are said before anything is fetched."""
    with pytest.raises(ArgumentError, match="1 to 65535"):
        await crawl("http://127.0.0.1:9/", tmp_path / "out", {"SPIDERPROJ_METRICS_PORT": 70000})
    monkeypatch.setattr(metrics, "find_spec", lambda _: None)
    with pytest.raises(ArgumentError, match="make metrics-deps"):
        await crawl("http://127.0.0.1:9/", tmp_path / "out", {"SPIDERPROJ_METRICS_PORT": 9410})
