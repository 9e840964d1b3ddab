"""How long a host is left alone, on a clock that the tests move."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spiderproj.politeness import HostPoliteness, Learned, Wait, forecast, parse_retry_after

WALL = 784111777.0  # Sun, 06 Nov 1994 08:49:37 GMT
CAP = 3600.0
FAST = 0.1


class Clock:
    """A monotonic and a wall clock that move together."""

    def __init__(self) -> None:
        self.now = 1000.0

    @property
    def wall(self) -> float:
        """POSIX seconds."""
        return WALL + self.now - 1000.0


@pytest.fixture
def clock() -> Clock:
    """Return a clock at rest."""
    return Clock()


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let local time be UTC, so that the words hold known times."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def polite(base_delay: float = 1.0, *, jitter: float = 0.5, retry_after_max: float = CAP) -> HostPoliteness:
    """Return a host's state; a *jitter* of 0.5 changes no back-off."""
    return HostPoliteness(base_delay=base_delay, concurrency=8, retry_after_max=retry_after_max, jitter=lambda: jitter)


def answer(host: HostPoliteness, clock: Clock, *, status: int = 200, latency: float = FAST, times: int = 1) -> None:
    """Ask and be answered *times* times, each as soon as the host is ready."""
    for _ in range(times):
        clock.now = max(clock.now, host.ready_at())
        host.on_start(clock.now)
        clock.now += latency
        host.on_response(clock.now, clock.wall, status, latency)


def push_back(host: HostPoliteness, clock: Clock, retry_after: str | None = None, status: int = 429) -> Wait | None:
    """Ask as soon as the host is ready, and be refused."""
    clock.now = max(clock.now, host.ready_at())
    host.on_start(clock.now)
    return host.on_response(clock.now, clock.wall, status, FAST, retry_after)


# Retry-After


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7.0),
        (" 120 ", 120.0),
        ("0", 0.0),
        ("007", 7.0),
        ("3600", 3600.0),
        ("3601", CAP),
        ("94608000000", CAP),
        ("9" * 5000, CAP),
        ("Sun, 06 Nov 1994 08:49:47 GMT", 10.0),
        ("Sunday, 06-Nov-94 08:49:47 GMT", 10.0),
        ("Sun Nov  6 08:49:47 1994", 10.0),
        ("Sun Nov 06 08:49:47 1994", 10.0),
        ("sun, 06 nov 1994 08:49:60 GMT", 22.0),
        ("Thu, 01 Jan 4994 00:00:00 GMT", CAP),
        ("Sunday, 06-Nov-44 08:49:37 GMT", CAP),
        ("Sunday, 06-Nov-45 08:49:37 GMT", None),
        ("Sun, 06 Nov 1994 08:49:36 GMT", None),
        ("Sun, 06 Nov 1994 08:49:99 GMT", None),
        ("Sun, 31 Feb 1995 08:49:37 GMT", None),
        ("Sun, 06 Nix 1994 08:49:47 GMT", None),
        ("Sun, 06 Nov 0000 08:49:47 GMT", None),
        ("Sun, 06 Nov 1994 08:49:47 +0100", None),
        ("-5", None),
        ("1.5", None),
        ("+5", None),
        ("٣", None),
        ("", None),
        ("soon", None),
        ("7, 9", None),
    ],
)
def test_parse_retry_after(value: str, seconds: float | None) -> None:
    """Seconds and the three forms of dates are read and capped, anything else is ignored."""
    assert parse_retry_after(value, WALL, CAP) == seconds


@settings(deadline=None)
@given(st.one_of(st.text(max_size=40), st.from_regex(r"[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT")))
def test_any_retry_after(value: str) -> None:
    """Whatever the header says, the wait is none or lies between zero and the cap."""
    seconds = parse_retry_after(value, WALL, CAP)

    assert seconds is None or 0 <= seconds <= CAP


# The floor


def test_starts_are_a_delay_apart(clock: Clock) -> None:
    """The next request may start one delay after the last one started, however quick the answer was."""
    host = polite(2.0)
    assert host.ready_at() <= clock.now

    host.on_start(clock.now)
    host.on_response(clock.now + 0.1, clock.wall, 200, 0.1)

    assert host.ready_at() == clock.now + 2.0


@pytest.mark.parametrize(
    ("base", "crawl_delay", "delay", "words"),
    [
        (1.0, None, 1.0, "delay 1 s"),
        (1.0, 0.5, 1.0, "delay 1 s"),
        (1.0, 5.0, 5.0, "crawl-delay 5 s"),
        (0.0, 2.5, 2.5, "crawl-delay 2.5 s"),
        (0.0, None, 0.0, "concurrency 8"),
        (1.0, 60.0, 60.0, "crawl-delay 60 s"),
    ],
)
def test_crawl_delay(clock: Clock, base: float, crawl_delay: float | None, delay: float, words: str) -> None:
    """The greater of the setting and the Crawl-delay is the delay, and the words say which."""
    host = polite(base)
    host.set_crawl_delay(crawl_delay)

    assert host.delay == host.floor == delay
    assert host.limited_by(clock.now) == words


def test_crawl_delay_that_changes(clock: Clock) -> None:
    """A Crawl-delay taken back lowers the delay again, unless the host's behaviour had raised it."""
    host = polite(1.0)
    host.set_crawl_delay(5.0)
    host.set_crawl_delay(None)
    assert host.delay == 1.0

    push_back(host, clock)
    host.set_crawl_delay(1.5)
    assert host.delay == 2.0


# 429 and 503


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("base", [0.0, 1.0])
def test_retry_after_stops_the_whole_host(clock: Clock, status: int, base: float) -> None:
    """After a refusal with Retry-After no request starts for that long, at any delay, and the words say until when."""
    host = polite(base)
    refused_at = clock.now

    assert push_back(host, clock, "7", status) == Wait(7.0, f"{status}: Retry-After until 08:49:44")
    assert host.ready_at() == refused_at + 7.0
    assert host.limited_by(clock.now) == "Retry-After until 08:49:44"
    assert host.limited_by(refused_at + 7.0).startswith("adaptive delay")


def test_retry_after_as_a_date(clock: Clock) -> None:
    """A date is measured by the wall clock, whatever the monotonic one shows."""
    host = polite()
    push_back(host, clock, "Sun, 06 Nov 1994 08:50:37 GMT")

    assert host.ready_at() == clock.now + 60.0


@pytest.mark.parametrize(("value", "seconds"), [("94608000000", 3600.0), ("-5", 10.0), ("x", 10.0), (None, 10.0)])
def test_retry_after_hostile(clock: Clock, value: str | None, seconds: float) -> None:
    """Three thousand years are an hour; what is no time at all leaves our own back-off."""
    wait = push_back(polite(), clock, value)

    assert wait is not None
    assert wait.seconds == seconds


def test_retry_after_cap_is_a_setting(clock: Clock) -> None:
    """The cap given holds for Retry-After and for our own back-off."""
    host = polite(retry_after_max=10.0)

    assert [push_back(host, clock, value) for value in ("99", None)] == [
        Wait(10.0, "429: Retry-After until 08:49:47"),
        Wait(10.0, "429: back-off until 08:49:57"),
    ]


def test_retry_after_zero_still_waits_the_delay(clock: Clock) -> None:
    """Retry-After: 0 does not invite the next request at once."""
    host = polite(1.0)

    assert push_back(host, clock, "0") == Wait(2.0, "429: Retry-After until 08:49:39")


def test_back_off_doubles(clock: Clock) -> None:
    """Without Retry-After the waits double from 10 s to 11 minutes, and the delay doubles to its limit."""
    host = polite(1.0)
    waits, delays = [], []
    for _ in range(9):
        wait = push_back(host, clock)
        assert wait is not None
        waits.append(wait.seconds)
        delays.append(host.delay)

    assert waits == [10, 20, 40, 80, 160, 320, 640, 640, 640]
    assert delays == [2, 4, 8, 16, 30, 30, 30, 30, 30]


@pytest.mark.parametrize(("jitter", "seconds"), [(0.0, 8.0), (0.5, 10.0), (0.999999, 12.0)])
def test_back_off_jitter(clock: Clock, jitter: float, seconds: float) -> None:
    """Our own back-off is spread by a fifth either way."""
    wait = push_back(polite(jitter=jitter), clock)

    assert wait is not None
    assert wait.seconds == pytest.approx(seconds, rel=1e-5)


def test_back_off_is_forgiven(clock: Clock) -> None:
    """After ten answers in a row the next back-off is the shortest again, after nine it is not."""
    host = polite(0.0)
    push_back(host, clock)
    answer(host, clock, times=9)
    second = push_back(host, clock)
    answer(host, clock, status=404, times=10)
    third = push_back(host, clock)

    assert second is not None
    assert third is not None
    assert (second.seconds, third.seconds) == (20.0, 10.0)


def test_refusals_in_flight_count_once(clock: Clock) -> None:
    """Eight refusals of requests in flight together begin one wait and double the delay once."""
    host = polite(1.0)
    waits = [host.on_response(clock.now, clock.wall, 429, FAST) for _ in range(8)]

    assert [wait is not None for wait in waits] == [True] + [False] * 7
    assert host.delay == 2.0
    assert host.ready_at() == clock.now + 10.0


def test_the_longest_retry_after_holds(clock: Clock) -> None:
    """A refusal in flight that asks for longer lengthens the wait; one that asks for less does not shorten it."""
    host = polite(1.0)
    for value in ("20", "50", "10"):
        host.on_response(clock.now, clock.wall, 429, FAST, value)

    assert host.ready_at() == clock.now + 50.0


def test_answers_in_flight_do_not_end_a_wait(clock: Clock) -> None:
    """Good answers to requests sent before the refusal change nothing."""
    host = polite(0.0)
    push_back(host, clock, "60")
    for _ in range(100):
        host.on_response(clock.now + 1, clock.wall, 200, 0.001)

    assert host.ready_at() == clock.now + 60.0
    assert host.delay == 0.1


def test_refusing_for_ever_parks(clock: Clock) -> None:
    """A host that answers nothing but 503 after ten full waits is given up; the crawl ends."""
    host = polite(0.0)
    waits = [push_back(host, clock, "0", 503) for _ in range(11)]

    assert waits[-1] == Wait(math.inf, "parked: 10 answers 503 in a row")
    assert host.parked
    assert host.ready_at() == math.inf
    assert host.limited_by(clock.now) == "parked: 10 answers 503 in a row"


def test_other_answers_keep_a_host(clock: Clock) -> None:
    """A host that serves other URLs between its refusals is never parked."""
    host = polite(0.0)
    for _ in range(30):
        push_back(host, clock, "1")
        answer(host, clock)

    assert not host.parked


# Recovery


def test_recovery(clock: Clock) -> None:
    """Fast answers bring the delay back to the floor and no lower."""
    host = polite(1.0)
    host.set_crawl_delay(2.0)
    for _ in range(3):
        push_back(host, clock)
    assert host.delay == 16.0

    answer(host, clock, times=49)
    assert host.delay == 16.0
    answer(host, clock, times=20)
    assert 2.0 < host.delay < 16.0
    answer(host, clock, times=1500)
    assert host.delay == host.floor == 2.0


def test_recovery_is_gentle_where_the_host_refused(clock: Clock) -> None:
    """Below the delay at which the host refused last, the delay falls once in fifty answers."""
    host = polite(1.0)
    push_back(host, clock)
    push_back(host, clock)
    answer(host, clock, times=65)
    reached = host.delay
    answer(host, clock, times=34)

    assert host.delay == reached == pytest.approx(2.0, rel=0.06)
    answer(host, clock)
    assert host.delay == pytest.approx(reached * 0.95)


@pytest.mark.parametrize("status", [404, 500, 301])
def test_quick_errors_do_not_speed_up(clock: Clock, status: int) -> None:
    """Only good answers lower the delay."""
    host = polite(1.0)
    push_back(host, clock)
    answer(host, clock, status=status, times=500)

    assert host.delay == 2.0


def test_recovery_from_no_delay(clock: Clock) -> None:
    """A host without a delay gets one by a refusal, and loses it again."""
    host = polite(0.0)
    push_back(host, clock)
    assert host.delay == 0.1

    answer(host, clock, times=200)
    assert host.delay == 0.0


# Latency


def test_slow_answers_lengthen_the_delay(clock: Clock) -> None:
    """Latency over twice the best decile raises the delay step by step, to at most five latencies."""
    host = polite(1.0)
    answer(host, clock, latency=0.2, times=50)
    assert host.delay == 1.0

    answer(host, clock, latency=3.0, times=20)
    assert host.delay == pytest.approx(2.25)
    assert host.limited_by(clock.now + 60) == "adaptive delay 2.25 s"
    answer(host, clock, latency=3.0, times=80)
    assert 10.0 < host.delay <= 15.0


def test_slightly_slow_answers_are_borne(clock: Clock) -> None:
    """Five latencies below the delay are no reason to lengthen it."""
    host = polite(1.0)
    answer(host, clock, latency=0.02, times=50)
    answer(host, clock, latency=0.15, times=50)

    assert host.delay == 1.0


def test_latency_never_delays_a_host_without_delay(clock: Clock) -> None:
    """A delay of zero stays zero however slow the host becomes."""
    host = polite(0.0)
    answer(host, clock, latency=0.001, times=50)
    answer(host, clock, latency=5.0, times=200)

    assert host.delay == 0.0
    assert host.limited_by(clock.now) == "concurrency 8"


def test_slow_answers_interrupt_the_calm(clock: Clock) -> None:
    """Fifty fast answers lower the delay only when no slow one came between them."""
    host = polite(1.0)
    push_back(host, clock)
    answer(host, clock, times=45)
    answer(host, clock, latency=1.5)
    answer(host, clock, times=14)
    assert host.delay == 2.0

    answer(host, clock, times=40)
    assert host.delay < 2.0


def test_slower_for_good_is_accepted(clock: Clock) -> None:
    """A host that has become slower for good is taken as it is in the end, and the delay comes back."""
    host = polite(1.0)
    answer(host, clock, latency=0.2, times=50)
    answer(host, clock, latency=1.0, times=200)
    assert host.delay > 2.0

    answer(host, clock, latency=1.0, times=1000)
    assert host.delay == 1.0


# Connection failures


def test_failures_put_the_host_to_sleep(clock: Clock) -> None:
    """Five failures in a row: 5, 10, 20, 40 minutes of sleep, then the host is parked."""
    host = polite(1.0)
    waits = []
    for _ in range(5):
        clock.now = max(clock.now, host.ready_at())
        assert [host.on_failure(clock.now, clock.wall, "timeout") for _ in range(4)] == [None] * 4
        wait = host.on_failure(clock.now, clock.wall, "timeout")
        assert wait is not None
        waits.append(wait.seconds)

    assert waits == [300, 600, 1200, 2400, math.inf]
    assert host.parked
    assert host.limited_by(clock.now) == "parked: 5 connection failures in a row (timeout)"


def test_sleep_is_told(clock: Clock) -> None:
    """A sleep says its cause and its end."""
    host = polite(1.0)
    waits = [host.on_failure(clock.now, clock.wall, "dns") for _ in range(5)]

    assert waits[-1] == Wait(300.0, "5 connection failures in a row (dns): asleep until 08:54:37")
    assert host.limited_by(clock.now) == "asleep until 08:54:37"
    assert host.ready_at() == clock.now + 300.0


def test_an_answer_wakes(clock: Clock) -> None:
    """Any answer begins the count of failures, and of sleeps, anew."""
    host = polite(1.0)
    for _ in range(20):
        for _ in range(4):
            host.on_failure(clock.now, clock.wall, "reset")
        answer(host, clock, status=500)

    assert host.ready_at() < clock.now + 2


def test_failures_in_flight_count_once(clock: Clock) -> None:
    """Failures of requests sent before the sleep do not count towards the next one."""
    host = polite(1.0)
    for _ in range(40):
        host.on_failure(clock.now, clock.wall, "timeout")

    assert host.ready_at() == clock.now + 300.0
    assert not host.parked


# Memory


def test_learned_is_taken_up(clock: Clock) -> None:
    """Another run begins at the learned delay, and goes on waiting where the host still asked for it."""
    host = polite(1.0)
    push_back(host, clock)
    push_back(host, clock, "100")
    learned = host.learned(clock.now + 40, clock.wall + 40)
    later = polite(1.0)
    later.restore(Learned(*learned), 5.0, clock.wall + 50)

    assert learned == Learned(4.0, 2.0, 0.0, 0.0, clock.wall + 100)
    assert later.delay == 4.0
    assert later.ready_at() == 55.0
    assert later.learned(5.0, clock.wall + 50) == learned


def test_a_wait_long_over_is_not_taken_up(clock: Clock) -> None:
    """A wait that ended between the runs is over."""
    host = polite(1.0)
    host.restore(Learned(1.0, 0.0, 0.2, 0.1, clock.wall - 1), clock.now, clock.wall)

    assert host.ready_at() <= clock.now


@pytest.mark.parametrize("wild", [math.nan, math.inf, -math.inf, -1.0, 1e300])
def test_wild_memories_are_harmless(clock: Clock, wild: float) -> None:
    """Numbers that make no sense leave a delay between floor and limit, and a wait within the cap."""
    host = polite(1.0)
    host.restore(Learned(wild, wild, wild, wild, wild), clock.now, clock.wall)

    assert 1.0 <= host.delay <= 30.0
    assert host.ready_at() <= clock.now + CAP
    assert all(math.isfinite(number) for number in host.learned(clock.now, clock.wall))


EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["answer", "fail", "idle"]),
        st.sampled_from([200, 301, 404, 429, 500, 503]),
        st.floats(0, 100),
        st.sampled_from([None, "0", "7", "99999999", "-1", "x", "Sun, 06 Nov 1994 08:59:37 GMT"]),
    ),
    max_size=60,
)


@settings(deadline=None, max_examples=150)
@given(st.sampled_from([0.0, 0.25, 1.0, 60.0]), EVENTS)
def test_any_history(base: float, events: list[tuple[str, int, float, str | None]]) -> None:
    """Whatever happens, the delay stays between the floor and the limit, and no wait is longer than the cap."""
    clock, host = Clock(), polite(base)
    for what, status, seconds, header in events:
        clock.now += seconds
        if what == "answer":
            host.on_response(clock.now, clock.wall, status, seconds, header)
        elif what == "fail":
            host.on_failure(clock.now, clock.wall, "timeout")

        assert base <= host.delay <= max(30.0, base)
        assert host.parked or host.ready_at() <= clock.now + CAP
        assert host.limited_by(clock.now)


# Forecast


@pytest.mark.parametrize(
    ("delay", "concurrency", "latency", "pages"),
    [
        (1.0, 8, 0.2, 3600.0),
        (0.0, 8, 0.2, 144_000.0),
        (0.01, 1, 1.0, 3600.0),
        (5.0, 8, 0.0, 720.0),
        (0.0, 8, 0.0, math.inf),
    ],
)
def test_forecast(delay: float, concurrency: int, latency: float, pages: float) -> None:
    """The slower of delay and latency decides how many pages an hour brings."""
    assert forecast(delay, concurrency, latency) == pytest.approx(pages)


def test_delay_without_a_floor_goes_as_it_came(clock: Clock) -> None:
    """Where nothing asks for a delay, what a refusal began is gone after some thirty fast answers."""
    host = polite(0.0)
    host.on_response(clock.now, clock.wall, 429, FAST, "0")
    assert host.delay > 0
    clock.now += 60
    for _ in range(30):
        host.on_response(clock.now, clock.wall, 200, FAST)

    assert host.delay == 0
