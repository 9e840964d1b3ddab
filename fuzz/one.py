"""Fuzz one target in this process, which ends with it; ``python -m fuzz`` starts one for each."""

from __future__ import annotations

import sys
from functools import partial
from importlib import import_module

atheris = import_module("atheris")  # has no types, and is no requirement of ours

with atheris.instrument_imports(include=["spiderproj"]):
    from fuzz.targets import TARGETS, run


def main() -> None:
    """Run the target named first; what follows goes to libFuzzer."""
    name, *options = sys.argv[1:]
    atheris.Setup([sys.argv[0], *options], partial(run, TARGETS[name]))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
