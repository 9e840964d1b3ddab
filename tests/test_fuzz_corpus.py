"""Every input that ever was of interest to a parser, found by hand or by ``make fuzz``, given to it again."""

from __future__ import annotations

import pytest

from fuzz.targets import CORPUS, TARGETS, run


@pytest.mark.parametrize("name", TARGETS)
def test_corpus(name: str) -> None:
    """What each target promises holds for every file of its corpus, in time and memory."""
    files = sorted((CORPUS / name).iterdir())
    assert files, f"{name} has no corpus"
    for file in files:
        try:
            run(TARGETS[name], file.read_bytes())
        except Exception as error:
            error.add_note(f"the input is {file}")
            raise


def test_every_corpus_has_a_target() -> None:
    """No folder of inputs is left behind when a target is renamed."""
    assert {folder.name for folder in CORPUS.iterdir()} == set(TARGETS)
