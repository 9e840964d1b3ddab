"""Every exception this package raises on purpose, and the exit status each one ends a command with.

The statuses are the product's contract with scripts (docs/arguments.md, "Exit status").
"""


class SpiderprojError(Exception):
    """Base of all our errors; carries the exit status of a command that ends with it."""

    exit_status = 1


class ArgumentError(SpiderprojError):
    """A wrong argument or setting: names it, its value, and what was expected."""

    exit_status = 2

    def __init__(self, name: str, value: object, expected: str) -> None:
        super().__init__(f"{name}={_shown(value)}: expected {expected}")
        self.name = name
        self.value = value
        self.expected = expected


class OutputError(SpiderprojError):
    """The output folder cannot be written, or is not ours to write into."""

    exit_status = 3


class LockedError(SpiderprojError):
    """Another crawl runs in this output folder."""

    exit_status = 4


class DiskFullError(SpiderprojError):
    """No space or no inodes are left; what is on disk is whole."""

    exit_status = 5


class StoreDamagedError(SpiderprojError):
    """The store cannot be read; the message says what could be saved, and how."""

    exit_status = 8


class StoreUnreachableError(SpiderprojError):
    """The fleet's store does not answer."""

    exit_status = 9


class InvalidURLError(SpiderprojError, ValueError):
    """A string that the WHATWG URL rules do not accept as an http(s) URL."""


class UnsafePathError(SpiderprojError):
    """A file could not be placed inside the output folder without following a link or leaving it."""


def _shown(value: object) -> str:
    """*value* as one short line that a terminal can show."""
    text = ascii(value)
    return text if len(text) <= 120 else text[:117] + "..."
