"""The page's server as a whole: two ports, who may reach them, and what they share."""

from __future__ import annotations

import ipaddress
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from twisted.web import server

from spiderproj.errors import ArgumentError
from spiderproj.ui.access import Guard, Session
from spiderproj.ui.answers import Answers
from spiderproj.ui.context import Context
from spiderproj.ui.deeds import Deeds
from spiderproj.ui.pages import Pages
from spiderproj.ui.server import BoundedRequest, Page
from spiderproj.ui.tickets import Tickets

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from spiderproj.ui.copies import Copies
    from spiderproj.ui.scrapyd import Scrapyd

_IDLE = 60  # seconds that a connection may say nothing


class Place(NamedTuple):
    """Where the server listens, the names it answers to besides, and the password, "" for none."""

    address: str
    port: int
    names: tuple[str, ...]
    password: str

    @property
    def is_loopback(self) -> bool:
        """Whether only programs of this machine can reach it."""
        return ipaddress.ip_address(self.address).is_loopback

    def check(self) -> None:
        """Raise ArgumentError when others could come in without a password."""
        if not self.is_loopback and not self.password:
            expected = "127.0.0.1, or --password-file too: others than you can reach this address"
            raise ArgumentError("--host", self.address, expected)

    def hosts(self, port: int) -> frozenset[str]:
        """Return what a Host field may say at *port*."""
        name = f"[{self.address}]" if ":" in self.address else self.address
        names = {name} if self.is_loopback else {name, *self.names}
        return frozenset(f"{one.lower()}:{port}" for one in names)


class Service:
    """The server for *copies* at *place*; ``listen``, then ``run``."""

    def __init__(self, copies: Copies, settings: BaseSettings, scrapyds: list[Scrapyd], place: Place) -> None:
        from twisted.internet import reactor  # noqa: PLC0415 - importing it installs one

        self._reactor: Any = reactor
        self._copies = copies
        self._settings = settings
        self._scrapyds = scrapyds
        self._place = place
        self._session = Session(password=place.password)

    def listen(self) -> str:
        """Open both ports and return the address to open; OSError when one is taken."""
        place, tickets = self._place, Tickets[Any]()
        ports = [self._open(place.port), self._open(place.port and place.port + 1)]
        main, other = (port.getHost().port for port in ports)
        # Another host name than the page's own: no cookie of the page is sent there.
        shown = place.names[0] if place.names else place.address
        shown = f"[{shown}]" if ":" in shown else shown
        origin = f"http://{'localhost' if place.is_loopback else shown}:{other}"
        beside = tempfile.TemporaryDirectory(prefix="spiderproj-ui-", ignore_cleanup_errors=True)
        files = f"{origin}/{self._session.files}/"
        context = Context(self._copies, self._settings, self._scrapyds, Path(beside.name), tickets.submit)
        guard = Guard(place.hosts(main), self._session)
        reads, writes = Answers(context, files).routes, Deeds(context).routes
        cookie = f"spiderproj-{main}"  # other ports of a host share its cookies
        page = Page(reads, writes, tickets, guard, self._session, cookie=cookie, reactor=self._reactor)
        pages = Pages(self._copies, self._session.files, place.hosts(other) | {origin.removeprefix("http://")}, origin)
        for port, resource in zip(ports, (page, pages), strict=True):
            port.factory.resource = resource
        for close in (tickets.close, context.children.end_replays, beside.cleanup):
            self._reactor.addSystemEventTrigger("after", "shutdown", close)
        return f"http://{shown}:{main}/#token={self._session.token}"

    def run(self) -> None:
        """Serve until a signal ends it."""
        self._reactor.run()

    def _open(self, port: int) -> Any:  # noqa: ANN401 - Twisted's port
        from twisted.internet.error import CannotListenError  # noqa: PLC0415 - as the reactor
        from twisted.web.resource import NoResource  # noqa: PLC0415

        site = server.Site(NoResource(), requestFactory=BoundedRequest, timeout=_IDLE)
        site.displayTracebacks = False
        try:
            return self._reactor.listenTCP(port, site, interface=self._place.address)
        except CannotListenError as error:
            raise OSError(str(error.socketError)) from error
