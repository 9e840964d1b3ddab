"""Signing in: the ``login`` file, the form it fills, and the headers and cookies it gives, each for one origin only.

``file`` reads, ``record`` holds, ``forms`` finds a form in a page, ``encode`` makes what is posted. Nothing here
talks to a server, and no error, ``repr`` or warning shows a secret.
"""

from spiderproj.login.encode import encode
from spiderproj.login.file import read_login
from spiderproj.login.forms import find_form
from spiderproj.login.record import (
    Enctype,
    FilePart,
    Form,
    FormLogin,
    Login,
    LoginCookie,
    direct_form,
    headers_for,
    succeeded,
)

__all__ = [
    "Enctype",
    "FilePart",
    "Form",
    "FormLogin",
    "Login",
    "LoginCookie",
    "direct_form",
    "encode",
    "find_form",
    "headers_for",
    "read_login",
    "succeeded",
]
