"""All targets by name, and the limits that hold for each input: a second, and 100 MB."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from pathlib import Path

from fuzz import of_answers, of_copies, of_pages, of_sites, of_urls, of_users
from fuzz.expect import expect

Target = Callable[[bytes], None]

CORPUS = Path(__file__).parent / "corpus"
SECONDS = 1.0
"""Longest an input may take, in seconds of our own CPU."""
KILOBYTES = 100_000
"""Most that the process may grow by one input, in units of 1024 bytes."""

TARGETS: dict[str, Target] = {
    "answer": of_answers.answer,
    "arguments": of_users.arguments,
    "client": of_answers.client,
    "coding": of_answers.coding,
    "cookies": of_answers.cookies,
    "css": of_pages.css,
    "encoding": of_pages.encoding,
    "filter": of_users.filter_expression,
    "gate": of_urls.gate,
    "html": of_pages.html,
    "lines": of_sites.lines,
    "login": of_users.login,
    "media_type": of_pages.media_type,
    "path": of_urls.path,
    "patterns": of_users.patterns,
    "refresh": of_pages.refresh,
    "resolver": of_urls.resolver,
    "retry_after": of_answers.retry_after,
    "rewrite": of_copies.rewrite,
    "robots": of_sites.robots_txt,
    "sitemap": of_sites.sitemap,
    "srcset": of_pages.srcset,
    "svg": of_pages.svg,
}


def run(target: Target, data: bytes) -> None:
    """Give *data* to *target*; raises what is a find, too slow and too large among it."""
    began, size = time.process_time(), _peak()
    target(data)
    seconds, grown = time.process_time() - began, _peak() - size
    expect(seconds <= SECONDS, f"at most {SECONDS} s", seconds)
    expect(grown <= KILOBYTES, f"at most {KILOBYTES} kB", grown)


def _peak() -> int:
    """Return the most memory that the process has held, in units of 1024 bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
