"""The canonical form against the URL rows of web-platform-tests, where they are at hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from spiderproj import urls
from spiderproj.models import Reason

WPT = Path(__file__).parents[2] / "shared" / "suites" / "wpt-url" / "urltestdata.json"
pytestmark = pytest.mark.skipif(not WPT.exists(), reason="the WPT rows are not here")


def rows() -> list[dict[str, Any]]:
    """Return the rows; strings among them are comments."""
    return [row for row in json.loads(WPT.read_text()) if isinstance(row, dict)] if WPT.exists() else []


def expected(row: dict[str, Any]) -> str:
    """Return a row's URL without credentials and fragment."""
    href: str = row["href"].partition("#")[0]
    scheme, _, rest = href.partition("//")
    authority, slash, path = rest.partition("/")
    return f"{scheme}//{authority.rpartition('@')[2]}{slash}{path}"


@pytest.mark.parametrize("row", [row for row in rows() if row.get("protocol") in {"http:", "https:"}], ids=str)
def test_http_rows(row: dict[str, Any]) -> None:
    """A row that ends in an http(s) URL gives that URL, and it is canonical already."""
    canonical = urls.canonical(row["input"], row["base"])

    assert canonical == expected(row)
    assert urls.canonical(canonical) == canonical


@pytest.mark.parametrize("row", [row for row in rows() if row.get("failure")], ids=str)
def test_failing_rows(row: dict[str, Any]) -> None:
    """A row that fails is refused."""
    with pytest.raises(urls.RefusedURLError):
        urls.canonical(row["input"], row["base"])


@pytest.mark.parametrize(
    "row", [row for row in rows() if row.get("protocol", "http:") not in {"http:", "https:"}], ids=str
)
def test_rows_of_other_schemes(row: dict[str, Any]) -> None:
    """A row that ends in a URL of another scheme is refused for its scheme."""
    with pytest.raises(urls.RefusedURLError) as refused:
        urls.canonical(row["input"], row["base"])

    assert refused.value.reason is Reason.SCHEME
