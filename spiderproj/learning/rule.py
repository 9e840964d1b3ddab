"""The sequential test by which a rewrite becomes a rule, and by which a rule falls again (Wald, 1945)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import ceil, log

from spiderproj.learning.rewrites import Kind, Rewrite

_NEUTRAL_BY_CHANCE, _NEUTRAL = 0.5, 0.98  # theta 0 and theta 1: how often a trial succeeds
_FALSE_ALARM, _MISS = 1e-3, 0.05  # alpha and beta
_ACCEPT = log((1 - _MISS) / _FALSE_ALARM)
_REJECT = log(_MISS / (1 - _FALSE_ALARM))
_SUCCESS = log(_NEUTRAL / _NEUTRAL_BY_CHANCE)  # 11 in a row decide
_FAILURE = log((1 - _NEUTRAL) / (1 - _NEUTRAL_BY_CHANCE))

_PRIOR = 0.7 * _ACCEPT
_MIN_BASES = 3
_MIN_ON_ONE_BASE = 8
_HOPELESS, _HOPELESS_TRIALS = 0.8, 5  # failures of a rewrite that is not even worth a trial on each base
_WORN_OUT, _WORN_OUT_TRIALS = 0.5, 20  # the same for a rule that has held on some bases
TRIALS_A_BASE = 2
"""Trials on one base that count: more of it say little about others ..."""

TRIALS_ON_FEW_BASES = 11
"""... but that has to do when there are no others."""

FIRST_AUDITS = 3
"""Skips of a rule that are fetched all the same before any is skipped."""

_NEUTRAL_NAMES = frozenset(
    {"fbclid", "gclid", "msclkid", "dclid", "mc_cid", "mc_eid", "igshid", "_ga", "sid", "phpsessid", "jsessionid",
     "sessionid", "session_id", "replytocom", "share", "toggle", "toggleopen", "widgettype", "action_widget"}
)  # fmt: skip
_NEUTRAL_PREFIXES = ("utm_", "toggle")
_CONTENT_NAMES = frozenset({"id", "p", "page", "q", "s", "query", "search", "lang", "hl", "article", "post", "topic"})
_CONTENT_START = -2.0


class State(StrEnum):
    """How far a rewrite has got."""

    LEARN = "learn"  # on trial
    ON = "on"  # holds everywhere on its template
    CLASS = "class"  # holds on each base that has proved it once
    OFF = "off"


class Pin(StrEnum):
    """What the user has said about a rule."""

    KEEP = "keep"  # it holds, whatever the evidence
    FORBID = "forbid"  # it does not


class Trial(StrEnum):
    """Why a URL that a rule could have covered is fetched."""

    PROBE = "probe"
    AUDIT = "audit"


_STATES = {
    State.LEARN: "on trial",
    State.ON: "holds",
    State.CLASS: "holds where it is proved",
    State.OFF: "does not hold",
}
_PINS = {Pin.KEEP: "pinned", Pin.FORBID: "forbidden"}


@dataclass(slots=True)
class Rule:
    """One rewrite on one template of one host, with its evidence. ``bases`` are the classes that were tried."""

    id: int
    host: int
    template: str  # "*" for a rewrite that holds for a whole host
    rewrite: Rewrite
    state: State = State.LEARN
    score: float = 0.0  # the log likelihood ratio
    trials: int = 0
    failures: int = 0
    bases: int = 0
    on_one_base: int = 0  # most successes on a single base
    skipped: int = 0
    audits: int = 0
    audit_failures: int = 0
    certified: int = 0  # audits since the last skip
    pin: Pin | None = None

    @classmethod
    def new(cls, rule_id: int, host: int, template: str, rewrite: Rewrite, *, strict: bool) -> Rule:
        """Return a rule that begins its trial, with the start that its names give it; *strict*: for each base alone."""
        state = State.CLASS if strict else State.LEARN
        return cls(rule_id, host, template, rewrite, state, _start(rewrite))

    @property
    def is_hinted(self) -> bool:
        """Whether its names are known to be neutral: one base is enough."""
        return _start(self.rewrite) > 0

    @property
    def wanted_trials(self) -> int:
        """How many successes it is away from holding: as many trials may go on at once without one too many."""
        return max(1, ceil((_ACCEPT - self.score) / _SUCCESS))

    @property
    def most_wrong(self) -> float | None:
        """Share of its skips that is wrong at most, at 95 %, by audits that all agreed; None when one did not."""
        if not self.audits or self.audit_failures:
            return None
        return float(1 - 0.05 ** (1 / self.audits))

    @property
    def is_promising(self) -> bool:
        """Whether it is on trial, and URLs are worth being held back for that: not for a parameter like ``page``."""
        return self.state is State.LEARN and self.pin is None and _start(self.rewrite) >= 0

    def holds_back(self, good: int, bad: int) -> bool:
        """Say whether URLs of a class with *good* and *bad* trials wait for what comes of another."""
        return self.is_promising or (self.state is State.CLASS and not (good or bad) and not self.is_off)

    @property
    def has_evidence(self) -> bool:
        """Whether there is anything to say about it."""
        return bool(self.trials or self.skipped or self.pin)

    @property
    def where(self) -> str:
        """The template it holds on, empty for a whole host."""
        return "" if self.template == "*" else self.template

    @property
    def standing(self) -> str:
        """How far it has got, for people."""
        return _PINS[self.pin] if self.pin else _STATES[self.state]

    def describe(self) -> str:
        """Return what it says, for people."""
        where = f" of {self.where}" if self.where else ""
        return f"rule {self.id}: {self.rewrite}{where} never changes the content"

    @property
    def holds(self) -> bool:
        """Whether it covers URLs of bases that have not been tried."""
        return self.pin is Pin.KEEP or (self.state is State.ON and self.pin is None)

    @property
    def is_off(self) -> bool:
        """Whether it covers nothing."""
        return self.pin is Pin.FORBID or (self.state is State.OFF and self.pin is None)

    def covers(self, good: int, bad: int) -> bool:
        """Say whether it covers the rest of a class with *good* and *bad* trials."""
        if self.is_off or (bad and self.pin is None):
            return False
        return self.holds or (self.state is State.CLASS and good > 0)

    def observe(
        self,
        *,
        success: bool,
        counts: bool,
        good: int,
        is_new_base: bool,
        trial: Trial | None,
        is_confirmed: bool = False,
    ) -> State:
        """Take in the outcome of one trial and return the state that held before.

        *counts*: it is independent enough of earlier ones to move the score; *good*: successes on its base so far,
        with this one; *is_confirmed*: the page itself names the other as canonical, which counts as another success,
        but never for a page that differs. One counter-example ends ON: from then on each base has to prove it.
        """
        before = self.state
        if trial is Trial.AUDIT:
            self.audits += 1
            self.audit_failures += not success
            self.certified = self.certified + 1 if success else 0
        if counts or trial is Trial.AUDIT:
            self.trials += 1
            self.failures += not success
            self.bases += is_new_base
            self.score = min(_ACCEPT, self.score + (_SUCCESS * (1 + is_confirmed) if success else _FAILURE))
        self.on_one_base = max(self.on_one_base, good)
        self.state = self._next(success=success)
        return before

    def _next(self, *, success: bool) -> State:
        share = self.failures / self.trials if self.trials else 0.0
        if self.state is State.LEARN:
            if self.score >= _ACCEPT and self._is_broad:
                return State.ON
            if self.score <= _REJECT:
                return State.CLASS
        if self.state is State.ON and not success:
            return State.CLASS
        if self.state is State.CLASS and (
            (self.trials >= _HOPELESS_TRIALS and share >= _HOPELESS)
            or (self.trials >= _WORN_OUT_TRIALS and share > _WORN_OUT)
        ):
            return State.OFF
        return self.state

    @property
    def _is_broad(self) -> bool:
        return self.bases >= (1 if self.is_hinted else _MIN_BASES) or self.on_one_base >= _MIN_ON_ONE_BASE

    def begin_anew(self, *, strict: bool) -> None:
        """Go into another crawl: what held has to be proved again, from a better start."""
        self.certified = 0
        if self.state is State.ON:
            self.state, self.score = State.CLASS if strict else State.LEARN, _PRIOR

    def give_up_breadth(self) -> None:
        """Go on base by base: there are too few bases to say anything about others."""
        self.state = State.CLASS


def _start(rewrite: Rewrite) -> float:
    if rewrite.kind is Kind.SESSION:
        return _PRIOR
    names = [name.lower() for name in rewrite.group]
    if names and all(name in _NEUTRAL_NAMES or name.startswith(_NEUTRAL_PREFIXES) for name in names):
        return _PRIOR
    return _CONTENT_START if any(name in _CONTENT_NAMES for name in names) else 0.0
