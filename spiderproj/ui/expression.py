"""The ``filter`` as rows that a person can build by choosing, and as text; each made of the other.

A builder has one joint, ``and`` or ``or``, and rows: name, test, value. What is richer than that stays text.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from spiderproj.errors import ArgumentError
from spiderproj.filters import MAX_LENGTH, NAMES, Filter

MAX_PARTS: Final = 50

TESTS_OF_TEXT: Final = ("is", "is not", "contains", "does not contain", "begins with", "ends with", "matches",
                        "does not match", "is one of", "is none of")  # fmt: skip
TESTS_OF_NUMBERS: Final = ("is", "is not", "at most", "at least", "below", "above")

_COMPARISONS: Final[Mapping[type[ast.cmpop], str]] = {
    ast.Eq: "is", ast.NotEq: "is not", ast.LtE: "at most", ast.GtE: "at least", ast.Lt: "below", ast.Gt: "above",
}  # fmt: skip
_SIGNS: Final = {"is": "==", "is not": "!=", "at most": "<=", "at least": ">=", "below": "<", "above": ">"}
_METHODS: Final = {"startswith": "begins with", "endswith": "ends with", "matches": "matches"}
_NOT_METHODS: Final = {"matches": "does not match"}


class Part(NamedTuple):
    """One row of the builder; the *value* of a list is separated by blanks."""

    name: str
    test: str
    value: str


class Built(NamedTuple):
    """What a builder holds."""

    joint: str  # "and" or "or"
    parts: Sequence[Part]


def text_of(built: Built) -> str:
    """Return the filter that *built* says, "" for no rows; ArgumentError when a row says nothing."""
    if built.joint not in ("and", "or"):
        raise ArgumentError("joint", built.joint, "and, or")
    if len(built.parts) > MAX_PARTS:
        raise ArgumentError("filter", len(built.parts), f"at most {MAX_PARTS} rows; write it as text")
    text = f" {built.joint} ".join(map(_text, built.parts))
    if text:
        Filter.parse(text)
    return text


def built_of(text: str) -> Built | None:
    """Return the rows that say the same as *text*, None when it is richer than rows; ArgumentError when it is wrong."""
    if not text.strip():
        return Built("and", ())
    Filter.parse(text)
    tree = _parsed(text)
    match tree:
        case ast.BoolOp(op=operator, values=values):
            joint = "and" if isinstance(operator, ast.And) else "or"
        case _:
            joint, values = "and", [tree]
    parts = [_part(node) for node in values[: MAX_PARTS + 1]]
    whole = [part for part in parts if part is not None]
    return Built(joint, whole) if len(whole) == len(parts) <= MAX_PARTS else None


def _parsed(text: str) -> ast.expr:
    with warnings.catch_warnings(action="ignore"):  # Filter.parse has judged them
        return ast.parse(text[:MAX_LENGTH].replace("\n", " ").strip(), mode="eval").body


def _text(part: Part) -> str:
    """Return one row as an expression."""
    name, test, value = part
    if name not in NAMES:
        raise ArgumentError("filter", name, f"one of {' '.join(NAMES)}")
    if NAMES[name] is int:
        return f"{name} {_SIGNS[_known(test, TESTS_OF_NUMBERS)]} {_number(name, value)}"
    match _known(test, TESTS_OF_TEXT):
        case "is" | "is not":
            return f"{name} {_SIGNS[test]} {_quoted(value)}"
        case "contains" | "does not contain":
            return f"{_quoted(value)} {'in' if test == 'contains' else 'not in'} {name}"
        case "is one of" | "is none of":
            members = [_quoted(word) for word in value.split()]
            listed = ", ".join(members) + "," * (len(members) == 1)
            return f"{name} {'in' if test == 'is one of' else 'not in'} ({listed})"
        case "matches" | "does not match":
            return f"{'not ' * (test != 'matches')}{name}.matches({_quoted(value)})"
        case _:
            return f"{name}.{'startswith' if test == 'begins with' else 'endswith'}({_quoted(value)})"


def _known(test: str, tests: Sequence[str]) -> str:
    if test not in tests:
        raise ArgumentError("filter", test, f"one of {', '.join(tests)}")
    return test


def _number(name: str, value: str) -> str:
    digits = value.strip().replace("_", "")
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= 18):
        raise ArgumentError("filter", value, f"a whole number for {name}")
    return str(int(digits))


def _quoted(value: str) -> str:
    """Return *value* as text of the language, raw where that reads better."""
    if "\\" in value and value.isprintable() and '"' not in value and not value.endswith("\\"):
        return f'r"{value}"'
    plain = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{plain}"' if value.isprintable() else ascii(value)


def _part(node: ast.expr) -> Part | None:
    """Return the row that says what *node* does, None when none does."""
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=ast.Call(func=ast.Attribute(attr=method)) as call):
            return _called(call, _NOT_METHODS.get(method))
        case ast.Call(func=ast.Attribute(attr=method)):
            return _called(node, _METHODS.get(method))
        case ast.Compare(left=left, ops=[test], comparators=[right]):
            return _compared(left, test, right)
    return None


def _called(call: ast.Call, test: str | None) -> Part | None:
    match call:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name)), args=[ast.Constant(value=str(value))]) if test:
            return Part(name, test, value)
    return None


def _compared(left: ast.expr, test: ast.cmpop, right: ast.expr) -> Part | None:
    is_in = isinstance(test, ast.In)
    match left, test, right:
        case ast.Constant(value=str(value)), ast.In() | ast.NotIn(), ast.Name(id=name):
            return Part(name, "contains" if is_in else "does not contain", value)
        case ast.Name(id=name), ast.In() | ast.NotIn(), ast.Tuple(elts=members) | ast.List(elts=members):
            words = [member.value for member in members if isinstance(member, ast.Constant)]
            if len(words) == len(members) and all(isinstance(word, str) and word.split() == [word] for word in words):
                return Part(name, "is one of" if is_in else "is none of", " ".join(map(str, words)))
        case ast.Name(id=name), _, ast.Constant(value=str() | int() as value) if type(test) in _COMPARISONS:
            found = _COMPARISONS[type(test)]
            if isinstance(value, bool) or found not in (TESTS_OF_NUMBERS if NAMES[name] is int else TESTS_OF_TEXT):
                return None
            return Part(name, found, str(value))
    return None
