r"""The ``filter`` expression: one condition on a URL for everything the other arguments cannot say.

The language is a small part of Python's expressions, so that nothing new has to be learned:

====================  =============================================================================================
names of text         ``url`` ``scheme`` ``host`` ``path`` ``query`` ``ext`` (without the dot) ``level`` ``type``
                      ``text`` (the link's) ``source`` (URL of the page that links); "" where there is none
names of numbers      ``depth`` ``size`` (bytes, once known)
values                ``"text"``, ``r"text"`` (backslashes kept), ``1_000_000``, ``True``, ``False``
comparing             ``==`` ``!=`` ``<`` ``<=`` ``>`` ``>=``, also chained: ``1 < depth <= 3``
containing            ``"a" in text``, ``ext in ("pdf", "ps")``, and ``not in``
methods of text       ``.startswith("a")`` ``.endswith("a")``, both also with several: ``("a", "b")``; ``.lower()``;
                      ``.matches(r"regular expression")`` (RE2, searched anywhere in the text)
joining               ``and`` ``or`` ``not`` ``( )``
====================  =============================================================================================

Examples::

    ext in ("pdf", "ps") or depth <= 2
    not path.startswith(("/cgi-bin/", "/search"))
    path.matches(r"/20(19|2\d)/")
    "download" in text.lower() and level != "other"
    type != "video" or size < 50_000_000
    host.endswith(".example.org") and source.matches("/(index|toc)")

``type`` and ``size`` may not be known yet. What then cannot be told is None ("ask again when they are known"), and
``and``, ``or`` and ``not`` treat it as in Kleene's three-valued logic: ``depth > 9 or size < 10`` is true for a URL at
depth 10 of any size.

Only Python's parser is used, never its evaluation: each node of the tree is checked against the table above (its kinds
of value too) and made into a function, so that what is accepted cannot fail later, and nothing else can be said.
"""

from __future__ import annotations

import ast
import operator
import warnings
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any

from spiderproj.errors import ArgumentError
from spiderproj.filters import conditions
from spiderproj.filters.conditions import Condition, Operand, Values
from spiderproj.models import Level, ResourceType
from spiderproj.patterns import searcher

MAX_LENGTH = 4096
MAX_NESTING = 32


NAMES: Mapping[str, type] = {
    **dict.fromkeys(("url", "scheme", "host", "path", "query", "ext", "level", "type", "text", "source"), str),
    **dict.fromkeys(("depth", "size"), int),
}
"""Every name an expression may use, with what it stands for: text or a whole number."""

_CHOICES = {"level": tuple(map(str, Level)), "type": tuple(map(str, ResourceType))}
_KINDS = {str: "text", int: "number"}
_COMPARISONS: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


class Filter:
    """One parsed expression; ``names`` are the names it asks about."""

    __slots__ = ("_condition", "names", "text")

    def __init__(self, text: str, names: frozenset[str], condition: Condition) -> None:
        self.text = text
        self.names = names
        self._condition = condition

    @classmethod
    def parse(cls, text: str) -> Filter:
        """Return the filter that *text* says, or raise ArgumentError with the column and what could stand there."""
        compiler = _Compiler(text)
        return cls(text, frozenset(compiler.names), compiler.answer)

    def decide(self, values: Values) -> bool | None:
        """Return whether *values*, one for each of NAMES, pass; None when an unknown type or size decides.

        An unknown value is None, for ``type`` also "".
        """
        return self._condition(values)


class _Compiler:
    """Checks the syntax tree of one expression and makes nested functions of it; notes the names on the way."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._line = text.replace("\n", " ").strip()
        self.names: set[str] = set()
        self.answer = self._condition(self._parse(), 0)

    def _parse(self) -> ast.expr:
        if len(self._text) > MAX_LENGTH:
            raise ArgumentError("filter", self._text, f"at most {MAX_LENGTH} characters")
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # Python only warns of "\.pdf", whose backslash stays by chance
            try:
                return ast.parse(self._line, mode="eval").body
            except SyntaxError as error:
                hint = '; write text with backslashes as r"..."' if "escape" in error.msg else ""
                raise self._wrong(
                    error.offset or len(self._line) + 1, f"a condition such as depth <= 3, but {error.msg}{hint}"
                ) from error
            except (ValueError, RecursionError, MemoryError) as error:
                raise ArgumentError("filter", self._text, f"a condition such as depth <= 3, but {error}") from error

    def _condition(self, node: ast.expr, nesting: int) -> Condition:
        self._check_nesting(node, nesting)
        match node:
            case ast.BoolOp(op=ast.And()):
                return conditions.every([self._condition(value, nesting + 1) for value in node.values])
            case ast.BoolOp():
                return conditions.either([self._condition(value, nesting + 1) for value in node.values])
            case ast.UnaryOp(op=ast.Not()):
                return conditions.negation(self._condition(node.operand, nesting + 1))
            case ast.Compare():
                return self._comparisons(node, nesting)
            case ast.Call(func=ast.Attribute(value=owner, attr=method), args=[argument], keywords=[]):
                return self._method(node, self._text_operand(owner, nesting), method, argument)
            case ast.Constant(value=bool(answer)):
                return lambda _: answer
        raise self._error(node, 'a condition such as depth <= 3 or ext == "pdf"')

    def _comparisons(self, node: ast.Compare, nesting: int) -> Condition:
        sides = [node.left, *node.comparators]
        tests = [
            self._comparison(left, test, right, nesting)
            for left, test, right in zip(sides, node.ops, sides[1:], strict=False)
        ]
        return tests[0] if len(tests) == 1 else conditions.every(tests)

    def _comparison(self, left: ast.expr, test: ast.cmpop, right: ast.expr, nesting: int) -> Condition:
        first = self._operand(left, nesting)
        if isinstance(test, ast.In | ast.NotIn):
            found = self._membership(first, right, nesting)
            return found if isinstance(test, ast.In) else conditions.negation(found)
        second = self._operand(right, nesting)
        compare = _COMPARISONS.get(type(test))
        if compare is None:
            raise self._error(left, "== or != to compare, not is")
        self._check_kind(right, second, first.kind)
        self._check_choice(right, first, second)
        self._check_choice(left, second, first)
        return conditions.comparison(compare, first, second)

    def _membership(self, first: Operand, right: ast.expr, nesting: int) -> Condition:
        if isinstance(right, ast.Tuple | ast.List | ast.Set):
            members = [self._operand(item, nesting) for item in right.elts]
            for item, member in zip(right.elts, members, strict=True):
                self._check_constant(item, member, first.kind)
                self._check_choice(item, first, member)
            values = frozenset(member.constant for member in members)
            return conditions.comparison(lambda found, among: found in among, first, conditions.constant(values))
        if first.kind is not str:
            raise self._error(right, "a list of numbers such as (1, 2)")
        return conditions.comparison(operator.contains, self._text_operand(right, nesting), first)

    def _method(self, node: ast.Call, owner: Operand, method: str, argument: ast.expr) -> Condition:
        takes_several = method in {"startswith", "endswith"}
        items = argument.elts if takes_several and isinstance(argument, ast.Tuple | ast.List) else [argument]
        texts = tuple(str(self._check_constant(item, self._operand(item, 0), str)) for item in items)
        match method:
            case "startswith":
                return conditions.comparison(str.startswith, owner, conditions.constant(texts))
            case "endswith":
                return conditions.comparison(str.endswith, owner, conditions.constant(texts))
            case "matches":
                return conditions.comparison(
                    lambda text, search: search(text), owner, conditions.constant(self._searcher(argument, texts[0]))
                )
        raise self._error(node, f"startswith, endswith or matches, not {method!r}")

    def _searcher(self, node: ast.expr, pattern: str) -> Callable[[str], bool]:
        if not pattern.isprintable():
            raise self._error(node, 'a printable pattern; write backslashes as r"\\b" or "\\\\b"')
        try:
            return searcher(pattern)
        except ValueError as error:
            raise self._error(node, f"a regular expression in RE2 syntax: {error}") from error

    def _operand(self, node: ast.expr, nesting: int) -> Operand:
        self._check_nesting(node, nesting)
        match node:
            case ast.Name(id=name):
                return self._name(node, name)
            case ast.Constant(value=str(value)):
                return conditions.constant(value)
            case ast.Constant(value=int(value)) if not isinstance(value, bool):
                return conditions.constant(value)
            case ast.Call(func=ast.Attribute(value=owner, attr="lower"), args=[], keywords=[]):
                read = self._text_operand(owner, nesting + 1).read
                return Operand(str, lambda values: None if (found := read(values)) is None else found.lower())
        raise self._error(node, "a name, a text or a whole number")

    def _name(self, node: ast.expr, name: str) -> Operand:
        if name not in NAMES:
            near = get_close_matches(name, NAMES, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise self._error(node, f"one of {' '.join(NAMES)}, not {name[:40]!r}{hint}")
        self.names.add(name)
        read = operator.itemgetter(name)
        if name == "type":
            return Operand(str, lambda values: values["type"] or None, choices=_CHOICES[name])
        return Operand(NAMES[name], read, choices=_CHOICES.get(name, ()))

    def _text_operand(self, node: ast.expr, nesting: int) -> Operand:
        operand = self._operand(node, nesting)
        self._check_kind(node, operand, str)
        return operand

    def _check_nesting(self, node: ast.expr, nesting: int) -> None:
        if nesting > MAX_NESTING:
            raise self._error(node, f"at most {MAX_NESTING} levels of nesting")

    def _check_kind(self, node: ast.expr, operand: Operand, kind: type) -> None:
        if operand.kind is not kind:
            raise self._error(node, f"a {_KINDS[kind]}, not a {_KINDS[operand.kind]}")

    def _check_constant(self, node: ast.expr, operand: Operand, kind: type) -> object:
        self._check_kind(node, operand, kind)
        if operand.constant is None:
            raise self._error(node, f"a {_KINDS[kind]} written out")
        return operand.constant

    def _check_choice(self, node: ast.expr, chosen: Operand, value: Operand) -> None:
        if chosen.choices and value.constant is not None and value.constant not in chosen.choices:
            raise self._error(node, f"one of {' '.join(chosen.choices)}")

    def _error(self, node: ast.expr, expected: str) -> ArgumentError:
        column = len(self._line.encode()[: node.col_offset].decode()) + 1  # ast counts bytes
        return self._wrong(column, expected)

    def _wrong(self, column: int, expected: str) -> ArgumentError:
        column += len(self._text) - len(self._text.lstrip())
        return ArgumentError("filter", self._text, f"at column {column} {expected}")
