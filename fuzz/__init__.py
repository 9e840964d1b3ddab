"""Hostile input for every parser: one function a parser, tried by atheris, replayed by the tests.

``python -m fuzz`` looks for new inputs, ``tests/test_fuzz_corpus.py`` replays all that are in ``fuzz/corpus``.
"""
