"""A login file is read without showing a secret; its form is found, filled and sent to its own origin only."""

from __future__ import annotations

import base64
import re
import time
import traceback
import tracemalloc
from email.parser import BytesParser
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser, LexborNode

from spiderproj.errors import ArgumentError
from spiderproj.login import (
    Enctype,
    FilePart,
    Form,
    FormLogin,
    Login,
    direct_form,
    encode,
    find_form,
    headers_for,
    read_login,
    succeeded,
)

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "hunter2"
BOUNDARY = "0123456789abcdef"
PAGE = "https://example.org/login"

EVERYTHING = """
[form]
url = "https://example.org/login"
find = true
success = "Log out"
[form.fields]
user = "me"
password = "env:PASSWORD"
[form.file.photo]
path = "me.png"
type = "image/png"
[headers."api.example.org:8443"]
X-Token = "file:token.txt"
[headers."example.org"]
X-One = "1"
[cookies."http://example.org"]
sid = "hunter2"
[auth."https://example.org"]
user = "me"
password = "hunter2"
"""


def write(tmp_path: Path, text: str | bytes) -> Path:
    """Return the path of a private login file that says *text*."""
    path = tmp_path / "login.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    path.chmod(0o600)
    return path


def read(tmp_path: Path, text: str) -> Login:
    """Return what the login file *text* says."""
    return read_login(write(tmp_path, text), {"PASSWORD": SECRET})


def form_login(**changes: object) -> FormLogin:
    """Return a form login for PAGE, with *changes*."""
    values: dict[str, object] = {"url": PAGE, "fields": (), "files": (), "enctype": None, "find": True, "success": None}
    return FormLogin(**(values | changes))  # type: ignore[arg-type]  # the changes are the test's own


def page_form(**changes: object) -> Form:
    """Return a form on PAGE, with *changes*."""
    values: dict[str, object] = {"action": PAGE, "method": "post", "enctype": Enctype.URLENCODED, "fields": ()}
    return Form(**(values | changes))  # type: ignore[arg-type]  # the changes are the test's own


@pytest.fixture
def everything(tmp_path: Path) -> Login:
    """Return a login file that uses all there is."""
    (tmp_path / "me.png").write_bytes(b"\x89PNG")
    (tmp_path / "token.txt").write_text(f"{SECRET}\r\n")
    return read(tmp_path, EVERYTHING)


def test_a_whole_file_is_read(everything: Login) -> None:
    """Form, files, headers, cookies and passwords arrive, with secrets from the environment and from files."""
    assert everything.form == form_login(
        fields=(("user", "me"), ("password", SECRET)),
        files=(FilePart(name="photo", filename="me.png", content_type="image/png", content=b"\x89PNG"),),
        enctype=Enctype.MULTIPART,
        success="Log out",
    )
    assert [(one.origin, one.name, one.value) for one in everything.cookies] == [("http://example.org", "sid", SECRET)]
    assert everything.problems == ()


def test_headers_go_to_their_origin_only(everything: Login) -> None:
    """Extra headers and Authorization are for one scheme, host and port; a bare host means https."""
    basic = "Basic " + base64.b64encode(f"me:{SECRET}".encode()).decode()
    assert headers_for("https://example.org/a?b", everything) == (("X-One", "1"), ("Authorization", basic))
    assert headers_for("https://api.example.org:8443/", everything) == (("X-Token", SECRET),)
    for other in ("http://example.org/", "https://example.org:444/", "https://a.example.org/", "https://example.org./",
                  "https://api.example.org/", "http://api.example.org:8443/", "https://example.com/"):  # fmt: skip
        assert headers_for(other, everything) == ()


def test_nothing_shown_has_a_secret(everything: Login) -> None:
    """No repr of a login, its parts or the form it fills has a secret in it."""
    assert everything.form is not None
    shown = repr(everything) + repr(everything.form) + repr(everything.cookies) + repr(everything.form.files)
    assert SECRET not in shown + repr(page_form(fields=(("csrf", SECRET),)))
    assert "PNG" not in shown


FORM = f'[form]\nurl = "{PAGE}"\n'
WRONG_FILES: list[tuple[str, str]] = [
    ("hunter2", "TOML"),
    ('[form]\nurl = "hunter2', "at end of document"),
    ("[form]\nurl = hunter2", "at line 2"),
    ("a = " + "[" * 5000, "TOML"),
    ("[hunter2]\n[hunter2]", "at line 2"),
    ("[from]", "form"),
    ("form = 3", "a table at 'form'"),
    ('[form]\nfields = {user = "hunter2"}', "url"),
    ('[form]\nurl = "ftp://hunter2/"', "url"),
    ('[form]\nurl = "https://me:hunter2@h/"', "url"),
    (FORM + 'field = "hunter2"', "nearest: fields"),
    (FORM + 'enctype = "hunter2"', "enctype"),
    (FORM + "find = 3", "find"),
    (FORM + 'find = ""', "no CSS selector"),
    (FORM + "success = 99", "success"),
    (FORM + 'success = ""', "success"),
    (FORM + 'fields = "hunter2"', "a table at '[form] fields'"),
    (FORM + "fields = {password = 12}", "[form.fields] password"),
    (FORM + 'fields = {password = "env:hunter2"}', "environment variable"),
    (FORM + 'fields = {password = "env:hunter2 x"}', "environment variable"),
    (FORM + 'fields = {password = "file:hunter2"}', "can be read"),
    (FORM + 'fields = {password = "file:hunter2\\u0000"}', "can be read"),
    (FORM + 'fields = {password = "file:."}', "can be read"),
    (FORM + 'fields = {password = "file:big"}', "at most"),
    (FORM + 'fields = {password = "file:binary"}', "UTF-8"),
    (FORM + "file = {a = {path = 3}}", "path"),
    (FORM + 'file = {a = {path = "hunter2"}}', "can be read"),
    (FORM + 'file = {a = {path = "binary", type = "hunter2"}}', "media type"),
    (FORM + 'file = {a = {path = "binary", typ = "hunter2"}}', "nearest: type"),
    (FORM + 'enctype = "urlencoded"\nfile = {a = {path = "binary"}}', "multipart"),
    ('[headers.example.org]\nX = "hunter2"', "quotes"),
    ('[headers."h"]\n"X Y" = "hunter2"', "header"),
    ('[headers."h"]\nCookie = "hunter2"', "header"),
    ('[headers."h"]\nhost = "hunter2"', "header"),
    ('[headers."h"]\nX = "hunter2\\r\\nY: 1"', "printable"),
    ('[headers."h/path"]\nX = "hunter2"', "origin"),
    ('[headers."me@h"]\nX = "hunter2"', "origin"),
    ('[headers."ftp://h"]\nX = "hunter2"', "origin"),
    ('[cookies."h"]\n"a b" = "hunter2"', "cookie"),
    ('[cookies."h"]\na = "hunter2;"', "cookie"),
    ('[auth."h"]\nuser = "me"', "password"),
    ('[auth."h"]\nuser = "m:e"\npassword = "hunter2"', "colon"),
    ('[auth."h"]\nuser = "me"\npassword = "hunter2\\n"', "password"),
    ('[auth."h"]\nuser = "me"\npasswort = "hunter2"', "nearest: password"),
    ('[auth."h"]\nuser = "me"\npassword = "x"\n[headers."h"]\nauthorization = "hunter2"', "Authorization"),
]


@pytest.mark.parametrize(("text", "words"), WRONG_FILES, ids=lambda text: ascii(text)[-40:])
def test_a_wrong_file_is_one_line_without_secrets(tmp_path: Path, text: str, words: str) -> None:
    """A wrong login file is one line that names the file and the place, and neither it nor a traceback has a value."""
    (tmp_path / "big").write_text("hunter2" * 10_000)
    (tmp_path / "binary").write_bytes(b"hunter2\xff")
    with pytest.raises(ArgumentError) as caught:
        read(tmp_path, text)
    message = str(caught.value)
    assert message.startswith("login='")
    assert words in message
    assert message.isprintable()
    assert len(message) <= 400
    assert SECRET not in "".join(traceback.format_exception(caught.value, limit=0))


@pytest.mark.parametrize("content", [b"\xff\xfe", b"\0", b"#" * 2_000_000, b"x = '\xe9'"])
def test_a_file_that_is_no_text(tmp_path: Path, content: bytes) -> None:
    """A binary or huge file is an error, as is one that does not exist or is a folder."""
    for path in (write(tmp_path, content), tmp_path / "nothing", tmp_path):
        with pytest.raises(ArgumentError, match="login="):
            read_login(path, {})


def test_a_file_open_to_everybody_is_warned_of(tmp_path: Path) -> None:
    """A login file that everybody may read works, with one line of warning."""
    path = write(tmp_path, '[cookies."h"]\na = "hunter2"')
    path.chmod(0o644)
    (problem,) = read_login(path, {}).problems
    assert "chmod 600" in problem
    assert SECRET not in problem


ALL_CONTROLS = b"""<base href=/sub/>
<form action=/search><input name=q value=x><button>Go</button></form>
<form id=one name=signin method=POST action="do?x=1#top" enctype=" multipart/FORM-data ">
<input type=hidden name=csrf value="t&amp;k"><input name=user><INPUT TYPE=Password NAME=pw value=old>
<input type=checkbox name=keep checked><input type=checkbox name=no value=1>
<input type=radio name=r value=1><input type=radio name=r value=2 checked><input type=radio name=empty value checked>
<select name=menu><option>one  two<option>three</select>
<select name=chosen><option value=1><option value=2 selected><option value=3></select>
<select name=many multiple><option selected>a<option>b<option value=c selected></select>
<select name=none multiple><option>a</select><select name=off><option disabled>a</select>
<textarea name=t>
a
b</textarea><input name=gone disabled value=1><input value=nameless><input type=file name=f>
<button type=button name=js value=1></button><input type=reset name=r0><input type=image name=i>
<button name=go value=1>Go</button><input type=submit name=go value=2></form>
<input form=one name=outside value=o><input form=nobody name=lost>"""

FILLED = (("csrf", "t&k"), ("user", ""), ("pw", "old"), ("keep", "on"), ("r", "2"), ("empty", ""), ("menu", "one two"),
          ("chosen", "2"), ("many", "a"), ("many", "c"), ("t", "a\nb"), ("go", "1"), ("outside", "o"))  # fmt: skip


def test_a_form_sends_what_a_browser_would() -> None:
    """Hidden fields, defaults of menus and boxes and the first button are kept; the action is resolved by base."""
    assert find_form(ALL_CONTROLS, PAGE, None, chooser=True) == Form(
        action="https://example.org/sub/do?x=1", method="post", enctype=Enctype.MULTIPART, fields=FILLED
    )


CHOICES: list[tuple[bool | str, str | None]] = [
    (True, "https://h/b"),
    ("c1", "https://h/c"),
    ("last", "https://h/c"),
    ("form[action$=a]", None),
    ("#c1", None),
    ("field", None),
    ("q", None),
    ("nothing", None),
    ("[", None),
]


@pytest.mark.parametrize(("chooser", "action"), CHOICES)
def test_the_form_is_chosen(chooser: bool | str, action: str | None) -> None:
    """The form with the password, or the one that its id or its name means; None when there is none."""
    html = b"""<form action=/a><input id=field name=q></form><form action=/b><input type=password></form>
    <form action=/c id=c1 name=last><input type=password></form>"""
    form = find_form(html, "https://h/", None, chooser)
    assert (form and form.action) == action


def test_a_form_torn_by_a_table_keeps_its_fields() -> None:
    """Fields in table rows after a form that the parser had to close belong to it."""
    html = b"<table><form method=post action=/x><tr><td><input name=u><input type=password name=p></table>"
    assert fields_of(html) == "u p"


def fields_of(html: bytes, chooser: bool | str = True) -> str | None:
    """Return the names and values of the form's fields in few characters."""
    form = find_form(html, PAGE, None, chooser)
    return " ".join(f"{name}={value}" if value else name for name, value in form.fields) if form else None


OWNERS: list[tuple[str, str]] = [
    ("{}<input name=a></form><input name=b>", "p a"),
    ("{}</FORM\n x='</form>'><input name=b>", "p"),
    ("{}<input name=a></ form><input name=b></formx><input name=c>", "p a b c"),
    ("{}<!-- </form> --><input name=a title='</form>'><script>'</form>'</script><input name=b>", "p a b"),
    ("{}<textarea name=a></form></textarea><input name=b>", "p a=</form> b"),
    ("{}<form action=/inner><input name=a></form><input name=b>", "p a"),
    ("<input form=f name=a>{}</form><input form=f name=b><input FORM=f name=c>", "a p b c"),
    ("{}<input form=g name=a><input form name=b></form><form id=g></form>", "p"),
    ("<form id=g></form><form id=g><input form=g name=a></form>{}", "p"),
    ("<template>{}<input name=a></form></template></template>{}", "p"),
    ("{}<template></form><input name=a></template><input name=b>", "p b"),
    ("{}<input name=a", "p"),
    ("{}<INPUT NAME=a VALUE='&lt;&eacute'><Input name='&amp;' value=1 value=2>", "p a=<é &=1"),
    ("{}<input name=a value='x\r\ny\rz'>", "p a=x\ny\nz"),
    ("{}<select name=s><option>a<option selected>b&amp;<b>c</b> d</select>e", "p s=b&c d"),
    ("{}<select name=s><optgroup><option>a</optgroup>b<option value=''>c</select>", "p s=a"),
    ("{}<select name=s><option>a<!--<option selected>-->b", "p s=a"),
    ("{}<select name=s><option>a<input name=i><option selected>b", "p s=a i"),
    ("{}<select name=s><option>a<select name=t><option selected>b", "p s=a"),
    ("{}<select name=s><button name=b value=1></button><option>a</select><button name=c>", "p s=a c"),
    ("{}<select name=s><option>a</form><option selected>b</select><input name=c>", "p s=a"),
    ("{}<option>a</option><select name=s></select>", "p"),
    ("{}<button type=x name=b value=1>x</button><button name=c value=2>", "p b=1"),
    ("{}<button disabled name=b value=1>x</button><button name=c value=2>", "p c=2"),
    ("{}<textarea name=t>\n\n&lt;<b>", "p t=\n<<b>"),
    ("{}<style><input name=a></style><title><input name=b></title><xmp><input name=c></xmp>", "p"),
    ("{}<noscript><input name=a></noscript><svg><style/><input name=b></svg>", "p a b"),
]


@pytest.mark.parametrize(("html", "expected"), OWNERS)
def test_a_form_has_its_own_controls_only(html: str, expected: str) -> None:
    """A control is the form's between its tags or by its form attribute; comments, raw text and templates have none."""
    page = html.replace("{}", "<form id=f><input type=password name=p>")
    assert fields_of(page.encode()) == expected
    assert fields_of(page.encode(), "f") == expected


BASES = [("<base href=/b/>", "https://example.org/b/x"), ("<base target=a><base href=/b/><base href=/c/>",
         "https://example.org/b/x"), ("<base href='http://['>", "https://example.org/x"),
         ("<template><base href=/b/></template><!--<base href=/b/>-->", "https://example.org/x")]  # fmt: skip


@pytest.mark.parametrize(("html", "action"), BASES)
def test_the_action_is_resolved_by_the_base(html: str, action: str) -> None:
    """The first base with a URL counts, before the form or after it; one that is no URL counts as none."""
    form = "<form action=x><input type=password></form>"
    for page in (html + form, form + html):
        found = find_form(page.encode(), PAGE, None, chooser=True)
        assert found is not None
        assert found.action == action


def test_without_action_the_page_itself_is_posted_to() -> None:
    """An empty action means the page's URL, whatever its base is."""
    found = find_form(b"<base href=/b/><form action=' '><input type=password>", PAGE, None, chooser=True)
    assert found is not None
    assert found.action == PAGE


CHARSETS = [
    (None, "ü".encode()),
    ("windows-1252", b"\xfc"),
    ("utf-16le", None),
    ("punycode", "ü".encode()),
    ("", "ü".encode()),
    (None, b"\xfc<meta charset=latin1>"),
]


@pytest.mark.parametrize(("charset", "raw"), CHARSETS)
def test_the_page_is_read_in_its_charset(charset: str | None, raw: bytes | None) -> None:
    """Only WHATWG labels are known; without one the page itself says how it is read."""
    text = "<form><input type=password name=p><input name=v value={}>"
    html = text.format("ü").encode("utf-16le") if raw is None else text.encode().replace(b"{}", raw)
    form = find_form(html, PAGE, charset, chooser=True)
    assert form is not None
    assert form.fields[1][1][0] == "ü"


@pytest.mark.parametrize("action", ["javascript:x", "http://", "mailto:a@b", "/" + "x" * 3000])
def test_a_form_that_cannot_be_posted_is_none(action: str) -> None:
    """A form whose action is no http(s) URL is no form."""
    html = f'<form method=post action="{action}"><input type=password>'.encode()
    assert find_form(html, PAGE, None, chooser=True) is None


START = b"<form><input name=p type=password>"
HOSTILE: list[tuple[bytes, int | None]] = [
    (START + b"".join(b"<p><b x%d>" % number for number in range(2_300)), 1),
    (START + b"<div>" * 200_000, 1),
    (b"<div>" * 200_000 + START, 1),
    (START + b"<div></form>" * 80_000, 1),
    (START + b"</form x='" * 100_000, 1),
    (START + b"<input name=a>" * 9_000, 9_001),
    (START + b"<input name=a>" * 100_000, None),
    (START + b"<input " + b"a " * 200_000 + b">", None),
    (START + b"<input name=v value='" + b"&a" * 500_000 + b"'>", None),
    (START + b"<textarea name=v>" + b"&a" * 500_000, None),
    (START + b"<select name=s>" + b"<option>" * 9_000 + b"<p>" * 300_000, 2),
    (START + b"<select name=s><option>" + b"<script" * 140_000, 2),
    (START + b"<select name=s>" + b"<option><!--" * 80_000, 2),
    (b"<form></form>" * 80_000, None),
    (b"<select><option>" * 60_000, None),
    (START + b"<template>" * 100_000, 1),
    (START + b"<svg><title>" * 80_000, None),
    (START + b"<!--" * 250_000, 1),
    (b" " * 2**20 + START, None),
]


@pytest.mark.parametrize(("html", "fields"), HOSTILE, ids=lambda value: ascii(value)[:60])
def test_a_hostile_page_takes_little_time(html: bytes, fields: int | None) -> None:
    """A megabyte of nested, unclosed or endless things takes neither long nor much memory; a form is whole or none."""
    start = time.process_time()
    form = find_form(html, PAGE, None, chooser=True)
    assert time.process_time() - start < 3
    assert (form and len(form.fields)) == fields


@pytest.mark.parametrize("html", [HOSTILE[0][0], HOSTILE[5][0]], ids=["nested", "controls"])
def test_a_hostile_page_takes_little_memory(html: bytes) -> None:
    """What is kept of a page is its controls, and there are 10,000 at most."""
    tracemalloc.start()
    find_form(html, PAGE, None, chooser=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10 * 2**20


def test_ours_replace_the_fields_of_the_page() -> None:
    """A filled form keeps the page's other fields and ends lines with CR LF, in urlencoded UTF-8."""
    form = page_form(fields=(("csrf", "t&k"), ("user", "old"), ("user", "older"), ("t", "a\nb\r\nc")))
    content_type, body = encode(form, form_login(fields=(("user", "mé ~*"),)), BOUNDARY)
    assert content_type == "application/x-www-form-urlencoded"
    assert body == b"csrf=t%26k&t=a%0D%0Ab%0D%0Ac&user=m%C3%A9+~*"


def test_multipart() -> None:
    """A multipart form is parsed by a MIME parser into its fields and files, names escaped."""
    part = FilePart(name='p"1', filename='a"\r\nb.png', content_type="image/png", content=b"\x89PNG\r\n\0")
    wanted = form_login(fields=(("user", "mé"),), files=(part,), enctype=Enctype.MULTIPART)
    content_type, body = encode(page_form(fields=(("csrf", "t"), ('p"1', ""))), wanted, BOUNDARY)
    assert content_type == f"multipart/form-data; boundary={BOUNDARY}"
    parts = list(BytesParser().parsebytes(f"Content-Type: {content_type}\r\n\r\n".encode() + body).walk())[1:]
    assert [one["Content-Disposition"] for one in parts] == [
        'form-data; name="csrf"',
        'form-data; name="user"',
        'form-data; name="p%221"; filename="a%22%0D%0Ab.png"',
    ]
    assert [one.get_payload(decode=True) for one in parts] == [b"t", "mé".encode(), part.content]
    assert parts[2].get_content_type() == "image/png"
    assert body.endswith(b"\r\n--0123456789abcdef--\r\n")


ENCTYPES = [(None, Enctype.URLENCODED, "application/x"), (None, Enctype.MULTIPART, "multipart/"),
            (Enctype.URLENCODED, Enctype.MULTIPART, "application/x"),
            (Enctype.MULTIPART, Enctype.URLENCODED, "multipart/")]  # fmt: skip


@pytest.mark.parametrize(("ours", "theirs", "start"), ENCTYPES)
def test_the_file_has_the_last_word_on_the_encoding(ours: Enctype | None, theirs: Enctype, start: str) -> None:
    """The form's own encoding is used unless the login file names one."""
    assert encode(page_form(enctype=theirs), form_login(enctype=ours), BOUNDARY)[0].startswith(start)


@pytest.mark.parametrize("boundary", ["short", "", "x" * 71, "a b" * 8, BOUNDARY])
def test_a_boundary_that_could_be_content_is_refused(boundary: str) -> None:
    """A boundary is long, plain, and in no part."""
    wanted = form_login(fields=(("a", f"--{BOUNDARY}--"),), enctype=Enctype.MULTIPART)
    with pytest.raises(ValueError, match="boundary"):
        encode(page_form(), wanted, boundary)


@pytest.mark.parametrize(
    "action",
    ["https://evil.example/", "http://example.org/login", "https://example.org:444/", "https://a.example.org/"],
)
def test_secrets_are_not_encoded_for_another_origin(action: str) -> None:
    """A form that posts elsewhere than to the origin of the login file's URL is refused."""
    with pytest.raises(ArgumentError, match=re.escape("https://example.org")) as caught:
        encode(page_form(action=action), form_login(fields=(("password", SECRET),)), BOUNDARY)
    assert SECRET not in str(caught.value)


def test_secrets_are_not_put_into_a_url() -> None:
    """A form with method get is refused."""
    with pytest.raises(ArgumentError, match="method=post"):
        encode(page_form(method="get"), form_login(), BOUNDARY)


def test_without_find_the_fields_are_posted_straight(tmp_path: Path) -> None:
    """A login file that finds no form posts its own fields to its URL."""
    wanted = read(tmp_path, FORM + 'fields = {user = "me"}').form
    assert wanted is not None
    assert wanted.find is False
    assert direct_form(wanted) == page_form()
    assert encode(direct_form(wanted), wanted, BOUNDARY)[1] == b"user=me"


SUCCESSES: list[tuple[str | int | None, int, str, bool]] = [
    (None, 200, "", True), (None, 302, "", True), (None, 403, "", False), (302, 302, "", True), (302, 200, "", False),
    (401, 401, "", True), ("Log out", 200, "<a>Log out</a>", True), ("Log out", 200, "Log in", False),
    ("Log out", 500, "Log out", False),
]  # fmt: skip


@pytest.mark.parametrize(("success", "status", "text", "expected"), SUCCESSES)
def test_succeeded(success: str | int | None, status: int, text: str, expected: bool) -> None:
    """The answer has the status or the text that was asked for, or at least is no error."""
    assert succeeded(form_login(success=success), status, text) is expected


TOML_WORDS = ["[form]\n", "[auth.h]\n", '[headers."h"]\n', "[cookies.h]\n", "url=", '"https://h/"', "\n",
              "user=", "password=", '"hunter2"', "find=", "true", "{}", "[", "fields.a=", "env:",
              "file.a.path="]  # fmt: skip


@settings(deadline=None, max_examples=150)
@given(st.text(max_size=40) | st.lists(st.sampled_from(TOML_WORDS), max_size=12).map("".join))
def test_any_file_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    """Any text is a login file or one line of error without its secret."""
    path = write(tmp_path_factory.getbasetemp(), text.encode(errors="replace"))
    message = ""
    try:
        read_login(path, {})
    except ArgumentError as error:
        message = str(error)
    assert message.isprintable()
    assert SECRET not in message


HTML_PIECES = [
    b"<form ", b"<form>", b"</form>", b"<input type=password ", b"name=a ", b"value=\xff ", b"<select ", b">",
    b"<option", b"<textarea ", b"<table>", b"<tr>", b"action=//[ ", b"<base href=x:>", b"form=f ", b"id=f ",
    b"<button ", b"&#0;",
]  # fmt: skip


@settings(deadline=None, max_examples=150)
@given(st.lists(st.sampled_from(HTML_PIECES) | st.binary(max_size=4), max_size=25).map(b"".join), st.booleans())
def test_any_page_is_read(html: bytes, by_name: bool) -> None:
    """Any bytes are a page; a form found in them is encoded whatever its fields are."""
    form = find_form(html, PAGE, None, "f" if by_name else True)
    if form is None:
        return
    sent = page_form(fields=form.fields)
    _, body = encode(sent, form_login(fields=(("own", "1"),), enctype=Enctype.URLENCODED), BOUNDARY)
    assert parse_qsl(body.decode("ascii"), keep_blank_values=True)[-1] == ("own", "1")


TREE_PIECES = [
    "<form name=f>", "<form>", "</form>", "<FORM NAME=f>", "</Form >", "<input name=a value=1>", "<INPUT name=b>",
    "<input name='&lt;' value='</form>'>", "<textarea name=c>\n</form>&amp;</textarea>", "<!-- </form> -->", "<!--",
    "-->", "<select name=d><option>1<option selected> 2 &amp; <!-- x --> 3 </select>", "<br x", ">", "<input/name=g>",
    "<select name=e><option value=4></option></select>", "<script>", "</script>", "<title>", "</title>", "text", "&",
    "<template>", "</template>", "</p>", '"', "<br title='", "'",
]  # fmt: skip


def in_the_tree(html: str) -> list[tuple[str, str]] | None:
    """Return the names and values in the form named f in the tree that Lexbor builds."""
    form = LexborHTMLParser(html).css_first("form[name=f]")
    if form is None:
        return None
    return [(str(control.attributes["name"]), value_of(control)) for control in form.css("input, textarea, select")]


def value_of(control: LexborNode) -> str:
    """Return what a control of the tree sends."""
    if control.tag == "textarea":
        return control.text()
    option = control.css_first("option[selected], option[value]")
    if control.tag == "input" or (option and option.attributes.get("value")):
        return (option or control).attributes.get("value") or ""
    return " ".join(option.text().split()) if option else ""


@settings(deadline=None, max_examples=200)
@given(st.lists(st.sampled_from(TREE_PIECES), max_size=20).map("".join))
def test_controls_are_those_of_the_standard_tree(soup: str) -> None:
    """Whatever the soup, the form has the controls that a tree built by the HTML standard has in it.

    No piece leaves an element open at </form>: in the tree, what follows stays in the form then.
    """
    html = "<body><form name=f>" + soup
    form = find_form(html.encode(), PAGE, "utf-8", "f")
    assert (form and list(form.fields)) == in_the_tree(html)
