"""An explanation as text for a terminal, and as plain values for JSON."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from spiderproj.display import one_line
from spiderproj.explanation.rules import Answer, Rule

if TYPE_CHECKING:
    from spiderproj.explanation.records import Explanation, Fetched, Linked
    from spiderproj.store.linkers import Linker

_URL: Final = 300  # characters
_TEXT: Final = 60
_RULE: Final = max(map(len, Rule))
_ANSWER: Final = max(map(len, Answer))
_ORIGINS: Final = {
    "seed": "a seed: you named it",
    "sitemap": "found in a sitemap, or a seed of an earlier run",
    "link": "found by a link",
    "nobody": "nothing in this crawl links to it",
}


def as_text(told: Explanation) -> str:
    """Return the explanation as lines for a person; nothing in them moves a terminal's cursor."""
    return "\n".join([*_head(told), "", *_rules(told), *_linked(told), *_fetches(told), ""])


def as_values(told: Explanation) -> dict[str, object]:
    """Return the explanation as values that JSON can say (docs/arguments.md, "Explain")."""
    decision = told.decision
    return {
        "url": told.url,
        "verdict": decision.verdict if decision is not None else None,
        "reason": decision.reason if decision is not None else None,
        "rule": decision.rule if decision is not None else None,
        "decided_by": told.decided_by,
        "level": told.level,
        "depth": told.depth,
        "type": told.type,
        "answered": told.is_answered,
        "found": told.origin,
        "asked_of": _link_values(told.asked_of) if told.asked_of is not None else None,
        "rules": [{"rule": step.rule, "answer": step.answer, "value": step.value} for step in told.steps],
        "note": told.note,
        "links": [
            {**_link_values(each.linker), "verdict": each.decision.verdict, "reason": each.decision.reason,
             "rule": each.decision.rule}
            for each in told.linked
        ],
        "links_total": told.linked_total,
        "fetches": [fetch._asdict() for fetch in told.fetches],
    }  # fmt: skip


def _link_values(linker: Linker) -> dict[str, object]:
    link = linker.link
    return {"source": linker.source.url, "tag": link.tag, "attribute": link.attribute, "text": link.text}


def _head(told: Explanation) -> Iterator[str]:
    yield one_line(told.url, _URL)
    if told.decision is None:
        yield "not known: nothing in this crawl links to it"
    elif told.decision.reason is not None:
        yield f"{told.decision.verdict}: {told.decision.reason} ({one_line(told.decision.rule, _URL)})"
    else:
        yield str(told.decision.verdict)
    kind = "not known" if told.type is None else told.type if told.is_answered else f"{told.type} (predicted)"
    yield f"level {told.level}, depth {told.depth}, type {kind}; {_ORIGINS[told.origin]}"


def _rules(told: Explanation) -> Iterator[str]:
    if told.decision is None:
        yield "What the rules would say of a link to it on the first seed:"
    elif told.asked_of is not None and told.asked_of.source.url:
        yield f"The rules, in their order, asked of {_link(told.asked_of)}:"
    else:
        yield "The rules, in their order:"
    for step in told.steps:
        decided = "  <- decided" if step.rule is told.decided_by and step.answer is Answer.REFUSES else ""
        value = one_line(step.value, _URL)
        yield f"  {step.rule:{_RULE}}  {step.answer:{_ANSWER}}  {value}{decided}".rstrip()
    if told.note is not None:
        yield f"  The decision is older than these rules: {one_line(told.note, _URL)}"


def _linked(told: Explanation) -> Iterator[str]:
    if told.decision is None:
        return
    yield ""
    yield f"Links to it: {told.linked_total:,}"
    yield from map(_linked_line, told.linked)
    if told.linked_total > len(told.linked):
        yield f"  and {told.linked_total - len(told.linked):,} more"


def _linked_line(each: Linked) -> str:
    decision = each.decision
    said = "let in" if decision.reason is None else f"{decision.reason} ({one_line(decision.rule, _TEXT)})"
    return f"  {_link(each.linker)}: {said}"


def _link(linker: Linker) -> str:
    link = linker.link
    text = f' "{one_line(link.text, _TEXT)}"' if link.text else ""
    return f"{one_line(linker.source.url, _URL)} <{one_line(link.tag, _TEXT)} {one_line(link.attribute, _TEXT)}>{text}"


def _fetches(told: Explanation) -> Iterator[str]:
    if told.decision is None:
        return
    yield ""
    yield "Fetches:" if told.fetches else "Fetches: none"
    yield from map(_fetch, told.fetches)


def _fetch(fetch: Fetched) -> str:
    when = f"{datetime.fromtimestamp(fetch.fetched_at, UTC):%Y-%m-%d %H:%M:%S} UTC"
    parts = [f"HTTP {fetch.status}" if fetch.status else "no answer", f"{fetch.seconds:.2f} s", f"{fetch.size:,} bytes"]
    for name, value in (("", fetch.content_type), ("leads to ", fetch.final_url), ("error: ", fetch.error),
                        ("stored in files/", fetch.path)):  # fmt: skip
        if value is not None:
            parts.append(f"{name}{one_line(value, _URL)}")
    return f"  {when}  {', '.join(parts)}"
