"""Where a Location or a refresh leads: other schemes, the inside in every spelling, for ever, nowhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tests.hostile.answers import HTML, Ask, moved, page, whole
from tests.hostile.cases import Case, Fate

if TYPE_CHECKING:
    from tests.hostile.answers import Answer

Location = str | bytes | Callable[[Ask], "str | bytes"]


def _to(location: Location) -> Answer:
    return lambda ask: moved(location(ask) if callable(location) else location)


def _inside(host: str, start: str = "http://") -> Callable[[Ask], str]:
    return lambda ask: f"{start}{host}:{ask.port('inside')}/secret?{host}{start}"


_PRIVATE, _SCHEME, _INVALID = "private-address", "scheme", "invalid"

_REFUSED: dict[str, tuple[str, Location, str]] = {
    # name: attack, Location, the reason why its target is refused (localhost. is no name everywhere)
    "file": ("a local file", "file:///etc/passwd", _SCHEME),
    "data": ("a document in the URL", "data:text/html,<script>1</script>", _SCHEME),
    "javascript": ("a script in the URL", "javascript:alert(1)", _SCHEME),
    "ftp": ("another protocol", lambda ask: f"ftp://127.0.0.1:{ask.port('inside')}/x", _SCHEME),
    "gopher": ("commands for Redis", "gopher://127.0.0.1:6379/_FLUSHALL", _SCHEME),
    "inside": ("the inside", _inside("127.0.0.1"), _PRIVATE),
    "inside-decimal": ("the inside, in decimal", _inside("2130706433"), _PRIVATE),
    "inside-short": ("the inside, in short", _inside("127.1"), _PRIVATE),
    "inside-octal": ("the inside, in octal", _inside("0177.0.0.1"), _PRIVATE),
    "inside-wide": ("the inside, in full-width digits", _inside("%EF%BC%91%EF%BC%92%EF%BC%97.0.0.1"), _PRIVATE),
    "inside-name": ("the inside, by name", _inside("localhost"), _PRIVATE),
    "inside-dot": ("the inside, with a final dot", _inside("localhost."), ""),
    "inside-mapped": ("the inside, as IPv6", _inside("[::ffff:127.0.0.1]"), _PRIVATE),
    "inside-two-slashes": ("the inside, without scheme", _inside("127.0.0.1", "//"), _PRIVATE),
    "inside-three-slashes": ("three slashes", _inside("127.0.0.1", "///"), _PRIVATE),
    "metadata": ("the cloud's metadata", "http://169.254.169.254/latest/meta-data/", _PRIVATE),
    "backslash": (
        "a host that is read in two ways",
        lambda ask: f"{ask.here}\\@127.0.0.1:{ask.port('inside')}/secret",
        "",
    ),
    "bad-port": ("port 99999", "http://127.0.0.1:99999/x", _INVALID),
    "long": ("a Location of 15 kB", "/fine/" + "a" * 15_000, "too-long"),
}


def _refusal(name: str, attack: str, location: Location, reason: str) -> Case:
    refuses = {"": reason} if reason else {}
    return Case(name=f"redirects.{name}", attack=f"a redirect to {attack}", fate=Fate.MOVED, answer=_to(location),
                refuses=refuses)  # fmt: skip


def _next(ask: Ask) -> str:
    return f"{ask.path}?hop={ask.number('hop') + 1}"


def _other_name(ask: Ask) -> str:
    """Return where a cookie of ours must not follow to."""
    return f"{ask.at['twin']}/echo?after=redirect"


CASES = [
    *(_refusal(name, *row) for name, row in _REFUSED.items()),
    Case(
        name="redirects.self",
        attack="a redirect to itself",
        fate=Fate.FAILED,
        error="redirect-loop",
        answer=lambda ask: moved(ask.target),
    ),
    Case(
        name="redirects.two",
        attack="two pages that redirect to each other",
        fate=Fate.MOVED,
        answer=lambda ask: moved(ask.path if ask.query else ask.path + "?other=1"),
    ),
    Case(
        name="redirects.endless",
        attack="a chain of URLs never seen before",
        fate=Fate.MOVED,
        answer=_to(_next),
        refuses={"hop=11": "trap"},
        spares=("/?hop=11",),
    ),
    Case(name="redirects.empty", attack="a redirect to nothing", fate=Fate.FAILED, error="HTTP 302", answer=_to("")),
    Case(
        name="redirects.userinfo",
        attack="a password in the Location",
        fate=Fate.MOVED,
        answer=_to(lambda ask: ask.here.replace("//", "//user:hunter2@") + "/fine/redirects.userinfo"),
        asks=("/fine/redirects.userinfo",),
    ),
    Case(
        name="redirects.controls",
        attack="encoded line ends and a raw control byte",
        fate=Fate.MOVED,
        answer=_to(b"/fine/controls%0d%0aX-Injected:%201?a=\x0bb"),
        asks=("/fine/controls%0d%0aX-Injected:%201?a=%0Bb",),
    ),
    Case(
        name="redirects.bytes",
        attack="raw bytes that are no UTF-8",
        fate=Fate.MOVED,
        answer=_to(b"/fine/caf\xe9/\xff\xfe?q=\xe2\x82\xac"),
        asks=("/fine/caf%E9/%FF%FE?q=%E2%82%AC",),
    ),
    Case(
        name="redirects.ssh",
        attack="a port that speaks another protocol",
        fate=Fate.MOVED,
        answer=_to(lambda ask: ask.at["ports.ssh"] + "/"),
        refuses={"": _PRIVATE},
    ),
    Case(
        name="redirects.cookie",
        attack="a cookie, then another origin",
        fate=Fate.MOVED,
        answer=lambda ask: moved(_other_name(ask), "Set-Cookie: sid=TOPSECRET; Path=/"),
        asks=("/echo?after=redirect",),
    ),
    Case(
        name="redirects.refresh-endless",
        attack="a meta refresh to a URL never seen before, for ever",
        fate=Fate.STORED,
        answer=lambda ask: whole(f'<meta http-equiv=refresh content="0;url={_next(ask)}">x'),
        refuses={"hop=11": "trap"},
        spares=("/?hop=11",),
    ),
    Case(
        name="redirects.refresh-inside",
        attack="a meta refresh to the inside",
        fate=Fate.STORED,
        answer=lambda ask: whole(f'<meta http-equiv=refresh content="0;url={ask.at["inside"]}/secret?refresh">x'),
        refuses={"": _PRIVATE},
    ),
    Case(
        name="redirects.refresh-field",
        attack="a Refresh field with a script",
        fate=Fate.STORED,
        answer=lambda _: whole(page("refresh"), "200 OK", HTML, "Refresh: 0;url=javascript:alert(1)"),
        refuses={"javascript:": "scheme"},
    ),
]
