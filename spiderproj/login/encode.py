"""Make the body that a filled form posts, in UTF-8: urlencoded, or multipart/form-data (RFC 7578)."""

from __future__ import annotations

import re
from urllib.parse import urlencode

from spiderproj.errors import ArgumentError
from spiderproj.login.record import Enctype, FilePart, Form, FormLogin, Pairs
from spiderproj.urls import origin

_BOUNDARY = re.compile("[0-9A-Za-z]{16,70}")
_NEWLINE = re.compile(r"\r\n|\r|\n")
_ESCAPES = str.maketrans({'"': "%22", "\r": "%0D", "\n": "%0A"})


def encode(form: Form, login: FormLogin, boundary: str) -> tuple[str, bytes]:
    """Return Content-Type and body of *form* filled with the fields and files of *login*.

    *boundary* is random, 16 to 70 letters and digits. Raises ArgumentError when the form would send the secrets
    anywhere but, by POST, to the origin of the URL that the login file gives.
    """
    if origin(form.action) != origin(login.url):
        expected = f"a form whose action is on {origin(login.url)}; give a url on the origin that may have the secrets"
        raise ArgumentError("login", form.action, expected)
    if form.method != "post":
        raise ArgumentError("login", form.action, "a form with method=post: get would put the secrets into a URL")
    ours = {name for name, _ in login.fields} | {part.name for part in login.files}
    fields = tuple((name, value) for name, value in form.fields if name not in ours) + login.fields
    fields = tuple((name, _NEWLINE.sub("\r\n", value)) for name, value in fields)
    if (login.enctype or form.enctype) is Enctype.URLENCODED:
        return "application/x-www-form-urlencoded", urlencode(fields, safe="*").encode("ascii")
    return f"multipart/form-data; boundary={boundary}", _multipart(fields, login.files, boundary)


def _multipart(fields: Pairs, files: tuple[FilePart, ...], boundary: str) -> bytes:
    parts = [(f'name="{_escaped(name)}"', value.encode()) for name, value in fields]
    parts += [(_disposition(part), part.content) for part in files]
    mark = boundary.encode()
    if not _BOUNDARY.fullmatch(boundary) or any(mark in content for _, content in parts):
        message = "the boundary must be 16 to 70 letters and digits that no part contains"
        raise ValueError(message)
    body = bytearray()
    for head, content in parts:
        body += b"--%b\r\nContent-Disposition: form-data; %b\r\n\r\n%b\r\n" % (mark, head.encode(), content)
    return bytes(body + b"--%b--\r\n" % mark)


def _disposition(part: FilePart) -> str:
    name, filename = _escaped(part.name), _escaped(part.filename)
    return f'name="{name}"; filename="{filename}"\r\nContent-Type: {part.content_type}'


def _escaped(name: str) -> str:
    """Return *name* as it may stand in quotes (HTML, "multipart/form-data encoding algorithm")."""
    return name.translate(_ESCAPES)
