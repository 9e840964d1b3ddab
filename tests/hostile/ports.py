"""What answers on a port, and is no web server; the server's own part says how each port behaves."""

from __future__ import annotations

from tests.hostile.answers import Move, fixed
from tests.hostile.cases import Case, Fate, Way

CASES = [
    Case(
        name="ports.ssh",
        attack="another protocol speaks first",
        fate=Fate.FAILED,
        error="unreachable",
        answer=fixed(b"SSH-2.0-OpenSSH_9.6\r\n"),
        way=Way.PORT,
    ),
    Case(
        name="ports.mute",
        attack="a port that accepts and says nothing",
        fate=Fate.FAILED,
        error="unreachable",
        answer=lambda _: [Move.HOLD],
        way=Way.PORT,
        seconds=200,
    ),
    Case(
        name="ports.reset",
        attack="a port that resets every connection",
        fate=Fate.FAILED,
        error="unreachable",
        answer=lambda _: [Move.RESET],
        way=Way.PORT,
    ),
    Case(
        name="ports.closed",
        attack="a port where nobody listens",
        fate=Fate.FAILED,
        error="unreachable",
        answer=lambda _: [],
        way=Way.PORT,
    ),
]
