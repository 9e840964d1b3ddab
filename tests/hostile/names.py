"""Paths that are dangerous as names of files, or alike: each is a resource of its own, stored once, inside."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from spiderproj.urls import canonical
from tests.hostile.answers import Ask, Step, page, whole
from tests.hostile.cases import Case, Fate

_DANGEROUS = [
    "../../../../etc/pwned", "..%2f..%2fpwned", "%2e%2e/%2e%2e/pwned", "..%5cpwned", "..\\pwned",
    "%252e%252e%252fpwned", "....//....//pwned", "..;/pwned", "a%00.html", "%00",
    "a%0d%0ab", "a%1b[2Jb", "C:/windows/x", "C%3A%5Cx", "c:x",
    "/double//slash", "~/.ssh/authorized_keys", "~root/x", "CON", "con.html", "aux.tar.gz", "NUL", "COM1.txt", "LPT9",
    "CONIN$", "com%C2%B9", "trail.", "trail..", "trail%20", "trail", ".hidden", ".", "..", "...", "-rf", "--help",
    "a<b>c", "a|b", 'a"b', "a*b", "a:b:$DATA", "x::$INDEX_ALLOCATION",
]  # fmt: skip
_ALIKE = [
    "Case", "case", "CASE", "stra%C3%9Fe", "STRASSE", "caf%C3%A9", "cafe%CC%81", "%E2%84%AA", "K",
    "%EF%BC%8E%EF%BC%8E%EF%BC%8Fx", "%E2%80%AEfdp.exe", "%EF%BB%BFbom", "%ED%A0%80", "%FF%FE", "caf%E9", "file",
    "file/", "file/index.html", "file/child", "index.html", "", "dir/index.html", "dir/", "dir/index.html/", "q?a=1",
    "q?a=2", "q%3Fa=1", "q", "q?a=../../../pwned", "q?" + "x" * 500, "n" * 255, "n" * 256, "n" * 300, "n" * 300 + "2",
    "%C3%A9" * 200, "d" * 100 + "/" + ("e" * 100 + "/") * 15 + "leaf", "a%2fb", "a/b", "a%2Fb", "a%5cb", "%25", "100%",
    "%zz", "robots.txt", ".git/config", ".htaccess", "manifest.jsonl", "crawl.db", "x.tmp", "x.part", "lock",
]  # fmt: skip
_ROOT = "/at/"
_TARGETS = [f"{_ROOT}{name}" for name in _DANGEROUS + _ALIKE] + ["/at", _ROOT + "d/" * 200 + "leaf"]
_HOST = "http://h"


def _mark(target: str) -> str:
    """Return what the page at *target* says of itself: no two targets say the same."""
    return hashlib.sha1(target.encode("latin-1", "replace")).hexdigest()


def _named(ask: Ask) -> Iterable[Step]:
    """Return the page of one target."""
    return whole(f"<!doctype html><title>{_mark(ask.target)}</title><p>{_mark(ask.target)}")


def _answer(ask: Ask) -> Iterable[Step]:
    """Return the list of them, and the page of each."""
    return whole(page("names", *_TARGETS)) if ask.target == "/" else _named(ask)


def _held() -> dict[str, str]:
    """Return the mark of each target as it is asked for."""
    asked = {canonical(target, _HOST + "/").removeprefix(_HOST) for target in _TARGETS} - {"/"}
    return {target: _mark(target) for target in asked}


CASES = [
    Case(
        name="names.index",
        attack=f"{len(_TARGETS)} paths that are dangerous or alike",
        fate=Fate.STORED,
        answer=_answer,
        holds=_held(),
        seconds=60,
    ),
]
