"""What a login file says. Fields that hold secrets are left out of every ``repr``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from spiderproj.urls import origin

Pairs = tuple[tuple[str, str], ...]


class Enctype(StrEnum):
    """How a form's fields are sent."""

    URLENCODED = "urlencoded"
    MULTIPART = "multipart"


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePart:
    """A file that a form uploads, read when the login file was."""

    name: str
    filename: str
    content_type: str
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginCookie:
    """A cookie to send to *origin* from the start."""

    origin: str
    name: str
    value: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A form of a page, ready to be filled: the fields that the page itself would send."""

    action: str  # canonical URL
    method: str  # "get" or "post"
    enctype: Enctype
    fields: Pairs = field(repr=False)  # hidden ones hold tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class FormLogin:
    """The ``[form]`` table.

    ``find`` is False to post straight to ``url``; True, or the form's name or id, to fetch ``url`` and fill the form
    found there.
    """

    url: str  # canonical
    fields: Pairs = field(repr=False)
    files: tuple[FilePart, ...]
    enctype: Enctype | None  # None: the form's own, urlencoded when there is none
    find: bool | str
    success: str | int | None  # text or status that the answer must have


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """A whole login file."""

    form: FormLogin | None
    headers: Mapping[str, Pairs] = field(repr=False)  # by origin, with the Authorization of [auth]
    cookies: tuple[LoginCookie, ...]
    problems: tuple[str, ...]  # warnings for the user, one line each


def headers_for(url: str, login: Login) -> Pairs:
    """Return the headers that a request for canonical *url* gets: those of its very scheme, host and port."""
    return login.headers.get(origin(url), ()) if login.headers else ()


def direct_form(wanted: FormLogin) -> Form:
    """Return the form to post when no page is asked for one."""
    return Form(action=wanted.url, method="post", enctype=wanted.enctype or Enctype.URLENCODED, fields=())


def succeeded(wanted: FormLogin, status: int, text: str) -> bool:
    """Return whether the answer to the form says that we are in; without ``success``, any status below 400 does."""
    if isinstance(wanted.success, int):
        return status == wanted.success
    return status < 400 and (wanted.success is None or wanted.success in text)
