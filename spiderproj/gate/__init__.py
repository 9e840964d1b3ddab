"""The content-type gate: whether to ask with a HEAD, to get, or to refuse, and what the answers teach."""

from spiderproj.gate.families import Family
from spiderproj.gate.headers import Head, HeadAnswer, judge_head, stop_at_headers
from spiderproj.gate.policy import AUDIT_EVERY, Advice, Ask, Gate, GateCounts, GateMode

__all__ = [
    "AUDIT_EVERY",
    "Advice",
    "Ask",
    "Family",
    "Gate",
    "GateCounts",
    "GateMode",
    "Head",
    "HeadAnswer",
    "judge_head",
    "stop_at_headers",
]
