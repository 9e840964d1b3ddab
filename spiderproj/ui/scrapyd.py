"""A Scrapyd as another place to run crawls on: its jobs listed, started, cancelled. Blocking; call it in a thread."""

from __future__ import annotations

import base64
import json
import netrc
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.error import HTTPError
from urllib.parse import urlencode, urlsplit

from spiderproj.errors import ArgumentError, SpiderprojError

PROJECT: Final = "spiderproj"

_SECONDS: Final = 5.0
_MAX_ANSWER: Final = 4 << 20
_JOBS: Final = 50  # of each state that are shown
_STATES: Final = ("pending", "running", "finished")
_FIELDS: Final = ("id", "spider", "start_time", "end_time")
_LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})


class ScrapydError(SpiderprojError):
    """A Scrapyd that cannot be asked, or that says no."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Passwords go where the user has said, and nowhere else."""

    def redirect_request(self, *_: Any) -> None:  # noqa: ANN401 - urllib's signature
        """Follow nothing."""


_OPENER: Final = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirect())


class Scrapyd(NamedTuple):
    """One Scrapyd, its base URL ending with a slash."""

    url: str
    authorization: str  # the header, "" for none

    @classmethod
    def at(cls, url: str, accounts: Path | None) -> Scrapyd:
        """Return the Scrapyd at *url*, with the account that the netrc file *accounts* has for its host."""
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
            raise ArgumentError("--scrapyd", url, "a base URL without account, such as http://127.0.0.1:6800/")
        header = ""
        if accounts is not None:
            try:
                found = netrc.netrc(str(accounts)).authenticators(parts.hostname)
            except (OSError, netrc.NetrcParseError) as error:
                raise ArgumentError("--netrc", str(accounts), f"a netrc file, but: {error}") from error
            if found is not None:
                header = "Basic " + base64.b64encode(f"{found[0]}:{found[2]}".encode()).decode()
        return cls(f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}/", header)

    @property
    def is_here(self) -> bool:
        """Whether it runs on this machine, so that its crawls lie on this machine's disks."""
        return urlsplit(self.url).hostname in _LOOPBACK

    def jobs(self) -> dict[str, list[dict[str, str]]]:
        """Return its jobs of our project by state, the latest first."""
        found = self._ask("listjobs", {"project": PROJECT}, post=False)
        return {state: [_job(job) for job in reversed(found.get(state, [])[-_JOBS:])] for state in _STATES}

    def schedule(self, arguments: dict[str, str], settings: dict[str, str], job: str) -> None:
        """Start a crawl as the job called *job*; a second try of a lost answer names the same job."""
        fields = [("project", PROJECT), ("spider", "site"), ("jobid", job), *arguments.items()]
        fields += [("setting", f"{name}={value}") for name, value in settings.items()]
        try:
            self._ask("schedule", fields, post=True)
        except TimeoutError:
            if not any(known["id"] == job for jobs in self.jobs().values() for known in jobs):
                raise ScrapydError(f"{self.url} does not answer: see whether it runs") from None

    def cancel(self, job: str) -> None:
        """Ask the job to end, saved."""
        self._ask("cancel", {"project": PROJECT, "job": job}, post=True)

    def _ask(self, service: str, fields: dict[str, str] | list[tuple[str, str]], *, post: bool) -> dict[str, Any]:
        data = urlencode(fields)
        url = f"{self.url}{service}.json" + ("" if post else f"?{data}")
        request = urllib.request.Request(url, data=data.encode() if post else None)  # noqa: S310 - http or https
        if self.authorization:
            request.add_header("Authorization", self.authorization)
        try:
            with _OPENER.open(request, timeout=_SECONDS) as answer:
                found = json.loads(answer.read(_MAX_ANSWER))
        except TimeoutError:
            raise
        except HTTPError as error:
            raise ScrapydError(f"{self.url} answers {error.code}: {_hint(error.code)}") from error
        except (OSError, ValueError) as error:
            raise ScrapydError(f"{self.url} cannot be asked ({error}): see whether it runs") from error
        if not isinstance(found, dict) or found.get("status") != "ok":
            said = found.get("message", "") if isinstance(found, dict) else found
            raise ScrapydError(f"{self.url} says no: {str(said)[:300]}")
        return found


def default_accounts() -> Path | None:
    """Return the netrc file of ``make scrapyd``, else the user's own, None when there is neither."""
    for path in (Path(".scrapyd/netrc"), Path("~/.netrc").expanduser()):
        with suppress(OSError):
            if path.is_file():
                return path
    return None


def _hint(status: int) -> str:
    return "give its account in a netrc file (--netrc)" if status == 401 else "is it a Scrapyd?"


def _job(job: Any) -> dict[str, str]:  # noqa: ANN401 - whatever it sends
    return {name: str(job.get(name) or "")[:200] for name in _FIELDS} if isinstance(job, dict) else {}
