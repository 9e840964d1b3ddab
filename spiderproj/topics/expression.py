"""The expressions of ``scrapy topics``: words, joined as in a search box.

==================  ===========================================================================
``sqlite``          the word, whatever its case
``instal*``         a word that begins so
``"not a word"``    all words of the text, in any order; the only way to say ``and``, ``or``, ``not``
``a b``, ``a and b``  both
``a or b``          one of them at least
``not a``           the copy has no such word
``( )``             what belongs together: ``and`` binds closer than ``or``
==================  ===========================================================================

It is no Python, which the ``filter`` of a crawl is: ``class``, ``3d`` or ``c++`` would be no words there. What its
conditions are made of is the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from spiderproj.errors import ArgumentError
from spiderproj.filters import conditions
from spiderproj.filters.conditions import Condition, Values
from spiderproj.topics.words import words

MAX_LENGTH: Final = 4096
MAX_NESTING: Final = 32

_ARGUMENT: Final = "EXPR"
_OPERATORS: Final = frozenset({"and", "or", "not"})
_TOKEN: Final = re.compile(r"[()]|\"([^\"]*+)(\"?+)|([^\s()\"]++)")
_EXAMPLE: Final = "words such as sqlite and (backup or copy)"


class _Token(NamedTuple):
    column: int
    kind: str  # "(", ")", "and", "or", "not", "word" or "quoted"; "" behind the last
    text: str = ""


class _Term(NamedTuple):
    """Words that a copy must have; ``prefix``, if there is one, begins another."""

    whole: tuple[str, ...]
    prefix: str

    def holds(self, held: Values) -> bool:
        """Return whether a copy with the words *held* has what is asked for."""
        if not all(word in held for word in self.whole):
            return False
        return not self.prefix or any(word.startswith(self.prefix) for word in held)

    def found(self, held: Mapping[str, float]) -> list[str]:
        """Return the words of *held* that it speaks of."""
        begun = [word for word in held if word.startswith(self.prefix)] if self.prefix else []
        return [*(word for word in self.whole if word in held), *begun]


class Expression:
    """One parsed expression."""

    def __init__(self, condition: Condition, wanted: list[_Term]) -> None:
        self._condition = condition
        self._wanted = wanted

    @classmethod
    def parse(cls, text: str) -> Expression:
        """Return what *text* says, or raise ArgumentError with the column and what could stand there."""
        parser = _Parser(text)
        return cls(parser.whole(), parser.wanted)

    def matches(self, held: Mapping[str, float]) -> bool:
        """Return whether a copy with the words *held* is one of those asked for."""
        return bool(self._condition(held))

    def found(self, held: Mapping[str, float]) -> list[str]:
        """Return the words of *held* that are asked for, each once; what stands behind ``not`` is not asked for."""
        return list(dict.fromkeys(word for term in self._wanted for word in term.found(held)))


class _Parser:
    """Reads one expression from left to right; the terms that are asked for are its ``wanted``."""

    def __init__(self, text: str) -> None:
        self._text = text
        if len(text) > MAX_LENGTH:
            raise ArgumentError(_ARGUMENT, text, f"at most {MAX_LENGTH} characters")
        self.wanted: list[_Term] = []
        self._tokens = [self._token(match) for match in _TOKEN.finditer(text)]
        self._tokens.append(_Token(len(text) + 1, ""))
        self._next = 0

    def whole(self) -> Condition:
        """Return the condition that the whole text says."""
        condition = self._either(0, wanted=True)
        if self._peek():
            raise self._wrong(self._take(), "no )")
        return condition

    def _token(self, match: re.Match[str]) -> _Token:
        quoted, end, word = match.groups()
        column = match.start() + 1
        if quoted is not None:
            if not end:
                raise self._wrong(_Token(column, ""), 'a text with " at both its ends')
            return _Token(column, "quoted", quoted)
        if word is None:
            return _Token(column, match[0])
        return _Token(column, word.lower() if word.lower() in _OPERATORS else "word", word)

    def _peek(self) -> str:
        return self._tokens[self._next].kind

    def _take(self) -> _Token:
        token = self._tokens[self._next]
        self._next += 1
        return token

    def _either(self, nesting: int, *, wanted: bool) -> Condition:
        parts = [self._every(nesting, wanted=wanted)]
        while self._peek() == "or":
            self._take()
            parts.append(self._every(nesting, wanted=wanted))
        return conditions.either(parts) if len(parts) > 1 else parts[0]

    def _every(self, nesting: int, *, wanted: bool) -> Condition:
        parts = [self._single(nesting, wanted=wanted)]
        while self._peek() not in ("", ")", "or"):
            if self._peek() == "and":
                self._take()
            parts.append(self._single(nesting, wanted=wanted))
        return conditions.every(parts) if len(parts) > 1 else parts[0]

    def _single(self, nesting: int, *, wanted: bool) -> Condition:
        token = self._take()
        if nesting > MAX_NESTING:
            raise self._wrong(token, f"at most {MAX_NESTING} levels of nesting")
        match token.kind:
            case "not":
                return conditions.negation(self._single(nesting + 1, wanted=not wanted))
            case "(":
                condition = self._either(nesting + 1, wanted=wanted)
                if self._peek() != ")":
                    raise self._wrong(self._take(), "the ) of the ( before")
                self._take()
                return condition
            case "word" | "quoted":
                return self._term(token, wanted=wanted)
        raise self._wrong(token, _EXAMPLE)

    def _term(self, token: _Token, *, wanted: bool) -> Condition:
        names = list(words(token.text))
        if not names:
            raise self._wrong(token, "a word of two letters or digits at least")
        prefix = names.pop() if token.kind == "word" and token.text.endswith("*") else ""
        term = _Term(tuple(names), prefix)
        if wanted:
            self.wanted.append(term)
        return term.holds

    def _wrong(self, token: _Token, expected: str) -> ArgumentError:
        return ArgumentError(_ARGUMENT, self._text, f"at column {token.column} {expected}")
