"""The scripted web server keeps HTTP/1.1 and does what its routes say."""

from __future__ import annotations

import gzip
import http.client
import socket
from typing import TYPE_CHECKING, Any
from urllib.request import urlopen

import pytest

from tests.routes import link, page, redirect, text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.answers import RouteSpec
    from tests.site import Site

    MakeSite = Callable[[Iterable[RouteSpec]], Site]


def ask(site: Site, *requests: tuple[str, str], **headers: str) -> list[tuple[int, bytes]]:
    """Return status and body of each (method, target), all asked on one connection."""
    client = http.client.HTTPConnection("127.0.0.1", site.port, timeout=5)
    answers = []
    for method, target in requests:
        client.request(method, target, headers=headers)
        response = client.getresponse()
        answers.append((response.status, response.read()))
    client.close()
    return answers


def raw(site: Site, request: bytes) -> bytes:
    """Return everything the server sends until it closes."""
    with socket.create_connection(("127.0.0.1", site.port), timeout=5) as client:
        client.sendall(request)
        return b"".join(iter(lambda: client.recv(65536), b""))


def test_one_connection_serves_many_requests(site: MakeSite) -> None:
    """Connections are kept alive, HEAD has no body, and what no route names is 404."""
    server = site([page("/", link("/a")), text("/a", "A")])
    answers = ask(server, ("HEAD", "/"), ("GET", "/a"), ("GET", "/none"), ("GET", "/a"))
    assert [(status, body) for status, body in answers[:2]] == [(200, b""), (200, b"A")]
    assert answers[2][0] == 404
    assert {entry.connection for entry in server.log} == {1}
    assert [server.hits(x) for x in ("HEAD /", "GET /", "GET /a", "ANY /", "GET /none")] == [1, 0, 2, 1, 1]
    assert server.log[0].route == 0
    assert server.log[2].route is None


def test_pipelined_requests_are_answered_in_order(site: MakeSite) -> None:
    """Two requests in one packet get two answers, the delayed one first."""
    server = site([text("/slow", "SLOW", delay_s=0.02), text("/fast", "FAST")])
    answer = raw(
        server, b"GET /slow HTTP/1.1\r\nHost: h\r\n\r\nGET /fast HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
    )
    assert 0 < answer.index(b"SLOW") < answer.index(b"FAST")


def test_sequence_and_placeholders(site: MakeSite) -> None:
    """The n-th hit takes the n-th answer, the last repeats; placeholders are filled at every hit."""
    server = site(
        [
            {"path": "/once", "sequence": [{"status": 503}, {"body": "hit {{HIT}}"}]},
            {"path_re": r"/item/(\d+)", "body": "{{BASE}} {{1}}"},
        ]
    )
    answers = ask(server, ("GET", "/once"), ("GET", "/once"), ("GET", "/once"), ("GET", "/item/7"), ("GET", "/item/8"))
    assert [status for status, _ in answers] == [503, 200, 200, 200, 200]
    assert [body.decode() for _, body in answers[1:]] == ["hit 2", "hit 3", f"{server.base} 7", f"{server.base} 8"]


def test_conditions_choose_the_route(site: MakeSite) -> None:
    """Host, second port, method and request fields narrow a route; the first that fits answers."""
    server = site(
        [
            text("/", "alt", host="localhost"),
            text("/", "other", port="other"),
            text("/", "head", method="POST"),
            text("/", "agent", when={"User-Agent": "^bot"}),
            text("/", "plain"),
        ]
    )
    assert [urlopen(base + "/").read() for base in (server.alt, server.other, server.base)] == [
        b"alt",
        b"other",
        b"plain",
    ]
    assert ask(server, ("GET", "/"), **{"User-Agent": "bot/1"}) == [(200, b"agent")]
    assert ask(server, ("POST", "/")) == [(200, b"head")]
    assert [server.hits(f"GET {base}/") for base in (server.alt, server.other)] == [1, 1]


BODY = "x" * 2000
FAULTS: list[tuple[dict[str, Any], type[Exception] | None]] = [
    ({"fault": "close"}, http.client.RemoteDisconnected),
    ({"fault": "reset"}, ConnectionResetError),
    ({"send_bytes": 100}, http.client.IncompleteRead),
    ({"send_bytes": 100, "fault": "reset"}, ConnectionResetError),
    ({"fault": "chunked_cut"}, http.client.IncompleteRead),
    ({"fault": "hang"}, TimeoutError),
    ({"send_bytes": 100, "fault": "hang"}, TimeoutError),
    ({"fault": "chunked"}, None),
    ({"fault": "until_close"}, None),
    ({"add_headers": False, "fault": "until_close"}, None),
]


@pytest.mark.parametrize(("keys", "error"), FAULTS, ids=[str(keys) for keys, _ in FAULTS])
def test_faults(site: MakeSite, keys: dict[str, Any], error: type[Exception] | None) -> None:
    """Each fault looks to a client like what it stands for, and whole framings give the whole body."""
    server = site([text("/", BODY, **keys)])
    client = http.client.HTTPConnection("127.0.0.1", server.port, timeout=0.2)
    client.request("GET", "/")
    if error:
        with pytest.raises(error):
            client.getresponse().read()
    else:
        assert client.getresponse().read() == BODY.encode()
    client.close()


def test_bodies(site: MakeSite) -> None:
    """Raw bytes, repeats, gzip files and content codings arrive as they are described."""
    server = site(
        [
            text("/gz", "packed", pack="gzip"),
            {"path": "/repeat", "body_repeat": {"prefix": "<", "unit": "ab", "count": 3, "suffix": ">"}},
            {"path": "/bytes", "body": "\udcff\udcfe"},
            {"path": "/b64", "body_base64": "AAE="},
            text("/coded", "coded", coding="gzip"),
            redirect("/moved", "/\xd0\xbd"),
        ]
    )
    bodies = [body for _, body in ask(server, ("GET", "/gz"), ("GET", "/repeat"), ("GET", "/bytes"), ("GET", "/b64"))]
    assert [gzip.decompress(bodies[0]), *bodies[1:]] == [b"packed", b"<ababab>", b"\xff\xfe", b"\0\1"]
    assert b"\r\nContent-Encoding: gzip\r\n" in raw(server, b"GET /coded HTTP/1.0\r\n\r\n")
    assert b"\r\nLocation: /\xd0\xbd\r\n" in raw(server, b"GET /moved HTTP/1.0\r\n\r\n")


def test_the_site_can_change_and_be_waited_for(site: MakeSite) -> None:
    """New routes answer from then on; a condition on the log is told at once."""
    server = site([text("/", "old")])
    assert ask(server, ("GET", "/")) == [(200, b"old")]
    server.set_routes([text("/", "new")])
    assert ask(server, ("GET", "/")) == [(200, b"new")]
    assert server.wait_for(lambda site: site.hits("GET /") == 2)
    assert not server.wait_for(lambda site: site.hits("GET /") == 3, timeout_s=0.01)
