"""The rules of one robots.txt that bind one product token.

The file is read here, line by line and within bounds, and only the group that binds us is handed to Protego, which
matches URLs against it. Every bound errs towards more restriction: what it cuts can only forbid more.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from protego import Protego

from spiderproj.robots.lines import Rule, read_group
from spiderproj.urls import origin

MAX_BYTES = 500 * 1024
"""How much of a robots.txt counts: the least that RFC 9309, 2.5 lets a parser read."""

MAX_RULES = 5_000
"""Most rules kept as written. Protego takes about 8 µs to build one: 5,000 hold the event loop for 40 ms."""

MAX_WILDCARDS = 1_500
"""Most "*" in all rules together: each is a search through every URL asked about, at 0.8 µs."""

MAX_RULE_WILDCARDS = 16
"""Most "*" that count in one rule."""

_LETTERS = re.compile(r"[A-Za-z0-9/._-]*")
_AGENT = "us"  # the group handed to Protego has this one agent, so its own choice of a group never matters


@dataclass(frozen=True, slots=True, kw_only=True)
class RobotsRules:
    """What a robots.txt says to us.

    ``crawl_delay`` is in seconds, already capped; ``sitemaps`` are the values of the Sitemap lines as written;
    ``problems`` are short sentences on what was cut or capped, for the log and the report.
    """

    rules: tuple[Rule, ...]
    crawl_delay: float | None
    sitemaps: tuple[str, ...]
    problems: tuple[str, ...]
    _matcher: Protego
    _single: dict[Rule, Protego] = field(default_factory=dict)

    def allows(self, url: str) -> bool:
        """Return whether the canonical *url* may be fetched: the longest matching rule decides, Allow wins a tie.

        Beyond RFC 9309, "Allow: /dir/index.html" allows "/dir/" too, as Google reads it.
        """
        return self._matcher.can_fetch(_shielded(url), _AGENT)

    def rule_for(self, url: str) -> str | None:
        """Return the line that decides on *url*, e.g. "Disallow: /private/"; None when no rule matches it."""
        kind = "Allow" if self.allows(url) else "Disallow"
        head = url[len(origin(url)) :].partition("%")[0]
        shielded = _shielded(url)
        matching = (
            rule
            for rule in self.rules
            if rule.kind == kind and _may_match(rule, head) and self._matches(rule, shielded)
        )
        longest = max(matching, key=lambda rule: len(rule.pattern), default=None)
        return None if longest is None else str(longest)

    def _matches(self, rule: Rule, shielded_url: str) -> bool:
        """Whether *rule* alone matches: Protego does not tell which of several rules decided."""
        single = self._single.get(rule)
        if single is None:
            rules = [rule] if rule.kind == "Disallow" else [Rule("Disallow", "/"), rule]
            single = self._single[rule] = _matcher(rules)
        return single.can_fetch(shielded_url, _AGENT) == (rule.kind == "Allow")


def parse(body: bytes, token: str) -> RobotsRules:
    """Return the rules in *body* for the product *token* (RFC 9309, 2.2.1: compared whole, without regard to case).

    Never raises: what cannot be read counts for nothing, as in RFC 9309, 2.3.1.5.
    """
    group = read_group(body, token, MAX_BYTES)
    problems = list(group.problems)
    rules = _fit(group.rules, problems)
    return RobotsRules(
        rules=tuple(rules),
        crawl_delay=group.crawl_delay,
        sitemaps=group.sitemaps,
        problems=tuple(problems),
        _matcher=_matcher(rules),
    )


def _fit(rules: Iterable[Rule], problems: list[str]) -> list[Rule]:
    """Return *rules* within the bounds; where they do not fit, coarser ones that forbid at least as much."""
    bounded = [kept for rule in rules if (kept := _bounded(rule)) is not None]
    if _fits(bounded):
        return bounded
    problems.append(
        f"{len(bounded)} rules with {_wildcards(bounded)} wildcards are too many: "
        "Allow lines are ignored, Disallow lines are cut to their first directory"
    )
    coarse = list(dict.fromkeys(Rule("Disallow", _top(rule.pattern)) for rule in bounded if rule.kind == "Disallow"))
    if _fits(coarse):
        return coarse
    problems.append(f"{len(coarse)} directories are too many: everything is disallowed")
    return [Rule("Disallow", "/")]


def _fits(rules: list[Rule]) -> bool:
    """Whether *rules* are few enough to be built and asked quickly."""
    return len(rules) <= MAX_RULES and _wildcards(rules) <= MAX_WILDCARDS


def _wildcards(rules: list[Rule]) -> int:
    """How many "*" in *rules* cost a search; the run that _bounded() appends costs none."""
    return sum(min(rule.pattern.count("*"), MAX_RULE_WILDCARDS) for rule in rules)


def _bounded(rule: Rule) -> Rule | None:
    """Return *rule* with at most MAX_RULE_WILDCARDS that cost anything; None for an Allow line with more.

    The rest of a Disallow line becomes a run of "*", which matches all that the rest did, and keeps its rank.
    """
    if rule.pattern.count("*") <= MAX_RULE_WILDCARDS:
        return rule
    if rule.kind == "Allow":
        return None
    kept = "*".join(rule.pattern.split("*", MAX_RULE_WILDCARDS)[:-1])
    return Rule(rule.kind, kept.ljust(len(rule.pattern), "*"))


def _may_match(rule: Rule, head: str) -> bool:
    """Whether *rule* can match a path that begins with *head*, going by the letters before any sign in the pattern."""
    found = _LETTERS.match(rule.pattern)
    letters = found[0] if found else ""
    return head.startswith(letters) or letters.startswith(head)


def _top(pattern: str) -> str:
    """Return *pattern* up to its second slash or first "*": it matches whatever the whole did."""
    plain = pattern.partition("*")[0].removesuffix("$")
    slash = plain.find("/", 1)
    return plain[: slash + 1] if slash > 0 else plain or "/"


def _matcher(rules: Iterable[Rule]) -> Protego:
    """Return Protego's matcher for one group of *rules*."""
    lines = [f"User-agent: {_AGENT}"]
    for rule in rules:
        anchor = "$" if rule.pattern.endswith("$") else ""
        lines.append(f"{rule.kind}: {_shielded(rule.pattern.removesuffix('$'))}{anchor}")
    return Protego.parse("\n".join(lines))


def _shielded(text: str) -> str:
    """Escape what Protego would read too freely, in URLs and patterns alike.

    It takes "%3F" for "?", so that the common "Disallow: /*?" would close "/Who%3F", and it lets "Allow: /a$" allow
    "/a$b" as well; RFC 9309, 2.2.2 and 2.2.3 do neither.
    """
    if "%" in text:
        text = text.replace("%3F", "%253F").replace("%3f", "%253F").replace("%24", "$")
    return text.replace("$", "%2524") if "$" in text else text
