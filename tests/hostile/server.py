"""The server: carries out answers, on as many ports as the cases need, and keeps what was asked."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from typing import NamedTuple, Self
from urllib.parse import parse_qsl

from tests.hostile.answers import Answer, Ask, Move, Step, page, whole
from tests.hostile.cases import Case, Way
from tests.hostile.catalogue import CASES
from tests.hostile.cookies import echo

_STREAM_BYTES = 4 << 30  # most bytes of one answer, and the longest life of one
_STREAM_SECONDS = 900.0
_HEAD_BYTES = 1 << 20  # longest request head read


class Asked(NamedTuple):
    """A request as it arrived; ``place`` is the port's name."""

    place: str
    method: str
    target: str
    cookie: str
    authorization: str
    seconds: float  # since the server began


class Places:
    """Where the ``cases`` of a running server are: ``at`` is the origin of each place."""

    def __init__(self, cases: Mapping[str, Case] = CASES) -> None:
        self.at: dict[str, str] = {}
        self.cases = cases

    def url(self, case: Case) -> str:
        """Return the seed of *case*."""
        return self.at[case.name] + case.target

    def seeds(self, case: Case) -> list[str]:
        """Return what a crawl that meets *case* begins with."""
        return [self.url(case)]

    def prepare(self, case: Case) -> None:
        """Make ready what would take a crawl's time."""

    def whose(self, case: Case) -> set[str]:
        """Return the places whose requests *case* is judged by."""
        return {case.name, "twin"}

    def fine(self, count: int) -> list[str]:
        """Return so many ordinary pages, on the second origin."""
        return [f"{self.at['twin']}/fine/ordinary-{i}" for i in range(count)]


class HostileServer(Places):
    """A running hostile server, in a thread of its own; a context manager that ends it."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[Asked] = []
        self._began = time.monotonic()
        self._closed = socket.socket()  # bound and never listening: its port refuses
        self._closed.bind(("127.0.0.1", 0))
        self._loop = asyncio.new_event_loop()
        listening: Future[None] = Future()
        self._thread = threading.Thread(target=self._run, args=(listening,), name="hostile", daemon=True)
        self._thread.start()
        listening.result()

    def close(self) -> None:
        """Drop every connection and end the thread."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._closed.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self, listening: Future[None]) -> None:
        self._loop.run_until_complete(self._listen())
        listening.set_result(None)
        self._loop.run_forever()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()

    async def _listen(self) -> None:
        for place in ["twin", "inside", *CASES]:
            server = await asyncio.start_server(
                lambda reader, writer, place=place: self._serve(_Line(reader, writer, place)),
                "127.0.0.1", 0, limit=_HEAD_BYTES, backlog=512,
            )  # fmt: skip
            self.at[place] = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        self.at["ports.closed"] = f"http://127.0.0.1:{self._closed.getsockname()[1]}"

    async def _serve(self, line: _Line) -> None:
        """Answer what comes on one connection until one side ends it."""
        case = CASES.get(line.place)
        failures = (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.CancelledError)
        with contextlib.suppress(*failures):
            if case is not None and case.way is Way.PORT:
                await line.play(case.answer(_nothing(self.at)))
            while (ask := await line.read(self.at)) is not None:
                self.asked.append(_asked(line.place, ask, time.monotonic() - self._began))
                steps = await asyncio.to_thread(_answer(line.place, ask), ask)
                if not await line.play(steps, quiet=ask.method == "HEAD"):
                    break
        line.writer.close()


class _Line:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, place: str) -> None:
        self.reader = reader
        self.writer = writer
        self.place = place

    async def read(self, at: dict[str, str]) -> Ask | None:
        """Return the next request, None when there is none."""
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.split("\r\n")
        method, _, rest = first.partition(" ")
        target = rest.rpartition(" ")[0]
        fields = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        path, _, query = target.partition("?")
        return Ask(method, target, path, dict(parse_qsl(query, keep_blank_values=True)), fields, at[self.place], at)

    async def play(self, steps: Iterable[Step], *, quiet: bool = False) -> bool:
        """Carry out *steps*, each made beside the loop: it may be work; return whether to go on.

        *quiet* sends no more than the head: the answer to a HEAD.
        """
        iterator, sent, began = iter(steps), 0, time.monotonic()
        while sent < _STREAM_BYTES and time.monotonic() - began < _STREAM_SECONDS:
            step = await asyncio.to_thread(next, iterator, None)
            if step is None:
                return True
            if isinstance(step, Move):
                await self._move(step)
                return False
            if isinstance(step, float):
                await asyncio.sleep(step)
                continue
            self.writer.write(step.partition(b"\r\n\r\n")[0] + b"\r\n\r\n" if quiet else step)
            sent += len(step)
            await self.writer.drain()
            if quiet:
                return True
        return False

    async def _move(self, move: Move) -> None:
        if move is Move.HOLD:
            await self.reader.read(1)
        elif move is Move.RESET:
            sock = self.writer.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.writer.transport.abort()


def _answer(place: str, ask: Ask) -> Answer:
    """Return what answers a request at *place*."""
    if place == "inside":
        return lambda _: whole(page("INSIDE-SECRET"))
    if ask.path == "/echo":
        return echo
    if ask.path.startswith(("/fine/", "/open/", "/shut/")):
        return lambda ask: whole(page(ask.target[:60]))
    attack = _attack(CASES[place], ask) if place in CASES else None
    return attack or (lambda _: whole("none", "404 Not Found"))


def _attack(case: Case, ask: Ask) -> Answer | None:
    """Return what answers *ask* on the origin of *case*, None for what is not there."""
    is_robots, is_named = ask.path == "/robots.txt", ask.path == "/map.xml"
    if case.way is Way.SEED:
        return None if is_robots else case.answer
    if ask.path == "/":
        return lambda _: whole(page("start", "/open/1", "/shut/1"))
    if case.way is Way.SITEMAP and is_robots and case.kind == "sitemaps":
        return lambda _: whole(f"User-agent: *\nAllow: /\nSitemap: {ask.here}/map.xml\n", "200 OK", "text/plain")
    return case.answer if is_named == (case.kind == "sitemaps") and (is_robots or is_named) else None


def _asked(place: str, ask: Ask, seconds: float) -> Asked:
    cookie, authorization = ask.fields.get("cookie", ""), ask.fields.get("authorization", "")
    return Asked(place, ask.method, ask.target, cookie, authorization, round(seconds, 3))


def _nothing(at: dict[str, str]) -> Ask:
    return Ask("", "", "", {}, {}, "", at)


def serve() -> None:
    """Serve until interrupted; print where each place is, then every request, a JSON line each."""
    with HostileServer() as server, contextlib.suppress(KeyboardInterrupt):
        print(json.dumps(server.at), flush=True)
        number = 0
        while True:
            for entry in server.asked[number:]:
                print(json.dumps(entry), flush=True)
                number += 1
            time.sleep(0.02)


class HostileProcess(Places):
    """The server as a program of its own, so that its work holds nobody up; a context manager that ends it."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[Asked] = []
        command = [sys.executable, "-m", "tests.hostile", "--serve"]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        output = self._process.stdout
        if output is None:
            raise RuntimeError("a pipe was asked for")
        self.at = json.loads(output.readline())
        self._thread = threading.Thread(target=self._follow, args=(output,), name="asked", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        self._thread.join()

    def _follow(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.asked.append(Asked(*json.loads(line)))
