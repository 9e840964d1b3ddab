"""Read a login file (TOML) into a Login.

Tables: ``[form]`` with ``[form.fields]`` and ``[form.file.NAME]``; ``[headers."HOST"]``, ``[cookies."HOST"]`` and
``[auth."HOST"]``, each for one origin: a bare host means https on its port. A value may be ``env:NAME`` or
``file:PATH``.
"""

from __future__ import annotations

import base64
import os
import re
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path

from spiderproj.cookies import is_valid
from spiderproj.errors import ArgumentError, InvalidURLError
from spiderproj.login.record import Enctype, FilePart, FormLogin, Login, LoginCookie, Pairs
from spiderproj.login.section import Section
from spiderproj.urls import canonical

_FILE_LIMIT = 2**20  # bytes
_UPLOAD_LIMIT = 16 * 2**20  # bytes
_HEADER_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,100}")  # a token, RFC 9110, 5.6.2
_PRINTABLE = re.compile("[ -~]{0,8192}")
_CONTROL = re.compile("[\x00-\x1f\x7f]")
_MEDIA_TYPE = re.compile(r"[\w.+-]{1,100}/[\w.+-]{1,100}", re.ASCII)
_PLACE = re.compile(r"at (?:line \d+, column \d+|end of document)")  # in a TOMLDecodeError
_OURS = {"host", "connection", "content-length", "content-type", "transfer-encoding", "te", "upgrade", "cookie"}


def read_login(path: Path, environment: Mapping[str, str] = os.environ) -> Login:
    """Return what the login file *path* says, with every secret and every file to upload read.

    Raises ArgumentError naming the file and the place in it, never a value.
    """
    root = Section(path, "", _tables(path), environment)
    root.check_keys("form", "headers", "cookies", "auth")
    return Login(
        form=_form(root.section("form")) if "form" in root.table else None,
        headers=_headers(root),
        cookies=_cookies(root),
        problems=_problems(path),
    )


def _tables(path: Path) -> dict[str, object]:
    try:
        if not path.is_file():
            raise ArgumentError("login", str(path), "the path of an existing file")
        with path.open("rb") as file:
            content = file.read(_FILE_LIMIT + 1)
    except OSError as error:
        raise ArgumentError("login", str(path), f"a file that can be read ({error.strerror})") from None
    if len(content) > _FILE_LIMIT:
        raise ArgumentError("login", str(path), f"a file of at most {_FILE_LIMIT} bytes")
    try:
        return tomllib.loads(content.decode())
    except (ValueError, RecursionError) as error:  # TOMLDecodeError and UnicodeDecodeError are ValueErrors
        place = _PLACE.search(str(error))  # and nothing else of the message, which may quote a secret
        where = f" (wrong {place[0]})" if place else ""
        raise ArgumentError("login", str(path), f"a TOML file in UTF-8{where}") from None


def _problems(path: Path) -> tuple[str, ...]:
    if stat.S_IMODE(path.stat().st_mode) & 0o007:
        return (f"login={str(path)!a} is open to everybody on this machine: chmod 600 keeps its secrets",)
    return ()


def _form(form: Section) -> FormLogin:
    form.check_keys("url", "fields", "file", "enctype", "find", "success")
    fields = form.section("fields")
    enctype = _enctype(form)
    files = form.section("file")
    parts = tuple(_part(files.section(name), name) for name in files.table)
    if parts and enctype is Enctype.URLENCODED:
        raise form.wrong("enctype", "multipart, which a file needs,")
    return FormLogin(
        url=_url(form),
        fields=tuple((name, fields.secret(name)) for name in fields.table),
        files=parts,
        enctype=Enctype.MULTIPART if parts else enctype,
        find=_find(form),
        success=_success(form),
    )


def _url(form: Section) -> str:
    text = form.text("url")
    try:
        url = canonical(text)
    except InvalidURLError:
        raise form.wrong("url", "the http(s) URL of the form") from None
    if "@" in text.partition("://")[2].partition("/")[0]:
        raise form.wrong("url", "a URL without user and password; they go into [auth],")
    return url


def _enctype(form: Section) -> Enctype | None:
    if "enctype" not in form.table:
        return None
    if form.table["enctype"] not in list(Enctype):
        raise form.wrong("enctype", f"one of {', '.join(Enctype)}")
    return Enctype(form.text("enctype"))


def _part(section: Section, name: str) -> FilePart:
    section.check_keys("path", "type")
    filename, content = section.content("path", _UPLOAD_LIMIT)
    content_type = section.text("type") if "type" in section.table else "application/octet-stream"
    if not _MEDIA_TYPE.fullmatch(content_type):
        raise section.wrong("type", "a media type such as image/png")
    return FilePart(name=name, filename=filename, content_type=content_type, content=content)


def _find(form: Section) -> bool | str:
    find = form.table.get("find", False)
    if isinstance(find, bool) or (isinstance(find, str) and 0 < len(find) <= 1000):
        return find
    raise form.wrong("find", "true, or the name or the id of the form (no CSS selector)")


def _success(form: Section) -> str | int | None:
    success = form.table.get("success")
    if success is None or (isinstance(success, str) and success):
        return success
    if isinstance(success, int) and 100 <= success <= 599:
        return success
    raise form.wrong("success", "a text that the answer must have, or its status, e.g. 302")


def _headers(root: Section) -> dict[str, Pairs]:
    """Return the extra headers by origin, Authorization last."""
    headers: dict[str, Pairs] = {}
    for origin, section in root.by_origin("headers"):
        headers[origin] = headers.get(origin, ()) + tuple(_header(section, name) for name in section.table)
    for origin, section in root.by_origin("auth"):
        if any(name.lower() == "authorization" for name, _ in headers.get(origin, ())):
            raise section.wrong("user", "no [auth] beside a second Authorization")
        headers[origin] = (*headers.get(origin, ()), ("Authorization", _basic(section)))
    return headers


def _header(section: Section, name: str) -> tuple[str, str]:
    if name.lower() in _OURS or not _HEADER_NAME.fullmatch(name):
        raise section.wrong(name, f"the name of a header, none of {', '.join(sorted(_OURS))},")
    value = section.secret(name)
    if not _PRINTABLE.fullmatch(value):
        raise section.wrong(name, "printable ASCII of at most 8192 characters")
    return name, value


def _basic(section: Section) -> str:
    """Return the value of Authorization for HTTP Basic (RFC 7617)."""
    section.check_keys("user", "password")
    user, password = section.secret("user"), section.secret("password")
    if ":" in user or _CONTROL.search(user):
        raise section.wrong("user", "a name without colon and control characters")
    if _CONTROL.search(password) or len(user) + len(password) > 4096:
        raise section.wrong("password", "one line of at most 4096 characters without control characters")
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def _cookies(root: Section) -> tuple[LoginCookie, ...]:
    return tuple(
        LoginCookie(origin=origin, name=name, value=_cookie(section, name))
        for origin, section in root.by_origin("cookies")
        for name in section.table
    )


def _cookie(section: Section, name: str) -> str:
    value = section.secret(name)
    if not is_valid(name, value):
        raise section.wrong(name, "a cookie of printable ASCII, at most 4096 characters, without semicolon")
    return value
