"""What robots.txt lets us fetch: its rules for our product token, and what stands when it cannot be read (RFC 9309)."""

from spiderproj.robots.lines import Rule
from spiderproj.robots.rules import MAX_BYTES, RobotsRules, parse
from spiderproj.robots.state import MAX_REDIRECTS, Access, RobotsState, redirect_target

__all__ = [
    "MAX_BYTES",
    "MAX_REDIRECTS",
    "Access",
    "RobotsRules",
    "RobotsState",
    "Rule",
    "parse",
    "redirect_target",
]
