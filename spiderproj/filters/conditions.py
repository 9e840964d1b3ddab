"""Conditions on values some of which may not be known yet: Kleene's three-valued logic as functions.

A condition is a function from named values to True, False, or None, "cannot be told yet". What the expression
language of ``filter`` says is built of these; the language itself is in filters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

Values = Mapping[str, object]
Condition = Callable[[Values], bool | None]


class Operand(NamedTuple):
    """Something with a value: a name, a constant, or what a method makes of one. None is a value not yet known."""

    kind: type
    read: Callable[[Values], Any]
    constant: object = None  # None for what is only known with the values
    choices: Sequence[str] = ()  # what it can be, where that is a fixed list


def constant(value: object) -> Operand:
    """Return the operand that is always *value*."""
    return Operand(type(value), lambda _: value, value)


def comparison(compare: Callable[[Any, Any], bool], first: Operand, second: Operand) -> Condition:
    """Return the condition that compares two operands."""
    read, fixed, read_second = first.read, second.constant, second.read

    def with_constant(values: Values) -> bool | None:
        found = read(values)
        return None if found is None else compare(found, fixed)

    def with_value(values: Values) -> bool | None:
        found, other = read(values), read_second(values)
        return None if found is None or other is None else compare(found, other)

    return with_value if fixed is None else with_constant


def every(parts: Sequence[Condition]) -> Condition:
    """Return the condition that all *parts* hold."""

    def conjunction(values: Values) -> bool | None:
        answer: bool | None = True
        for part in parts:
            found = part(values)
            if not found:
                if found is False:
                    return False
                answer = None
        return answer

    return conjunction


def either(parts: Sequence[Condition]) -> Condition:
    """Return the condition that one of *parts* holds."""

    def disjunction(values: Values) -> bool | None:
        answer: bool | None = False
        for part in parts:
            found = part(values)
            if found:
                return True
            if found is None:
                answer = None
        return answer

    return disjunction


def negation(part: Condition) -> Condition:
    """Return the condition that *part* does not hold."""
    return lambda values: None if (found := part(values)) is None else not found
