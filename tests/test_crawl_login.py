"""Signing in as a whole crawl does it: what the server gets, what another host gets, and that no secret is written."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import pytest_twisted

from spiderproj.errors import ArgumentError
from tests.crawling import crawl
from tests.requests_seen import LOOPBACK, asked
from tests.routes import link, page, redirect, text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.answers import RouteSpec
    from tests.connection import Logged
    from tests.site import Site

    Factory = Callable[[Iterable[RouteSpec]], Site]

SECRETS = ("pa55-w0rd", "t0ken-xyz", "s3ssion-abc", "bas1c-pass")


def login(folder: Path, content: str, served: Site) -> str:
    """Write a login file and return its path."""
    path = folder / "login.toml"
    for name, value in served.names.items():
        content = content.replace("{{" + name + "}}", value)
    path.write_text(content)
    path.chmod(0o600)
    return str(path)


def secrets_on_disk(out: Path) -> list[str]:
    """Return which secrets stand in which file of *out*."""
    files = [path for path in out.rglob("*") if path.is_file()]
    basic = base64.b64encode(b"me:bas1c-pass").decode()
    assert any(path.name == "crawl.db" for path in files)
    return [
        f"{path}: {secret}" for path in files for secret in (*SECRETS, basic) if secret.encode() in path.read_bytes()
    ]


MEMBERS = [
    page("/", link("/in", "{{ALT}}/far"), when={"Cookie": "session=s3ssion-abc"}), page("/", "sign in"),
    page("/in", when={"Cookie": "session=s3ssion-abc"}), page("/far", host="localhost"),
]  # fmt: skip
WELCOME: dict[str, Any] = {
    "path": "/login", "method": "POST", "status": 303,
    "headers": [["Set-Cookie", "session=s3ssion-abc; Path=/; HttpOnly"], ["Location", "/"]],
}  # fmt: skip
FORM = page(
    "/login",
    """<form method=post action=/login><input name=user><input type=password name=password>
    <input type=hidden name=csrf value='a&amp;b "c"'><input type=checkbox name=keep><button name=go value=1></form>""",
)


def posted(served: Site) -> Logged:
    """Return the one POST."""
    (entry,) = [entry for entry in served.log if entry.method == "POST"]
    return entry


@pytest_twisted.ensureDeferred
async def test_urlencoded_form(site: Factory, tmp_path: Path) -> None:
    """The form is posted before anything is fetched; its cookie opens the site, and goes to no other host."""
    served = site([WELCOME, *MEMBERS])
    file = login(tmp_path, """[form]
        url = "{{BASE}}/login"
        [form.fields]
        user = "me"
        password = "pa55-w0rd"
        "odd & name" = "ü +"
        """, served)  # fmt: skip
    done = await crawl(f"{served.base}/", tmp_path / "out", LOOPBACK, mode="all", login=file)

    assert asked(served) == ["POST /login", "/", "/in", "ALT/far"]
    assert posted(served).field("content-type") == "application/x-www-form-urlencoded"
    assert posted(served).body == b"user=me&password=pa55-w0rd&odd+%26+name=%C3%BC+%2B"
    cookies = {each.target: each.field("cookie") for each in served.log if each.method == "GET"}
    assert cookies.pop("/far") == ""
    assert {cookies[name] for name in ("/", "/in")} == {"session=s3ssion-abc"}
    assert done.summary["pages"] == 3
    assert secrets_on_disk(done.out) == []


@pytest_twisted.ensureDeferred
async def test_form_found_on_the_page(site: Factory, tmp_path: Path) -> None:
    """find=true posts the page's own hidden fields, such as a CSRF token, beside ours."""
    served = site([WELCOME, FORM, *MEMBERS])
    file = login(tmp_path, """[form]
        url = "{{BASE}}/login"
        find = true
        success = 303
        [form.fields]
        user = "me"
        password = "pa55-w0rd"
        """, served)  # fmt: skip
    done = await crawl(f"{served.base}/", tmp_path / "out", login=file)

    assert asked(served) == ["/login", "POST /login", "/", "/in"]
    assert posted(served).body == b"csrf=a%26b+%22c%22&go=1&user=me&password=pa55-w0rd"
    assert secrets_on_disk(done.out) == []


@pytest_twisted.ensureDeferred
async def test_multipart_form_with_a_file(site: Factory, tmp_path: Path) -> None:
    """A form with a file goes out as multipart/form-data, the file byte for byte."""
    served = site([WELCOME, *MEMBERS])
    (tmp_path / "key.bin").write_bytes(b"\x00\xffkey\r\n")
    file = login(tmp_path, """[form]
        url = "{{BASE}}/login"
        [form.fields]
        user = "me"
        [form.file.key]
        path = "key.bin"
        type = "application/x-key"
        """, served)  # fmt: skip
    await crawl(f"{served.base}/", tmp_path / "out", login=file)

    kind, _, boundary = posted(served).field("content-type").partition("; boundary=")
    parts = posted(served).body.split(b"--" + boundary.encode())
    assert kind == "multipart/form-data"
    assert parts[1] == b'\r\nContent-Disposition: form-data; name="user"\r\n\r\nme\r\n'
    assert parts[2] == (b'\r\nContent-Disposition: form-data; name="key"; filename="key.bin"\r\n'
                        b"Content-Type: application/x-key\r\n\r\n\x00\xffkey\r\n\r\n")  # fmt: skip
    assert parts[3] == b"--\r\n"


@pytest_twisted.ensureDeferred
async def test_headers_cookies_and_basic_auth_stay_at_their_origin(site: Factory, tmp_path: Path) -> None:
    """What the file gives an origin goes with every request to it, robots.txt and HEADs too, and to nobody else."""
    routes = [page("/", link("/a.pdf", "/there", "{{ALT}}/far", "{{OTHER}}/port")),
              redirect("/there", "{{ALT}}/moved"),
              text("/a.pdf", "x", "application/pdf"),
              *(page(path) for path in ("/far", "/port", "/moved"))]  # fmt: skip
    served = site(routes)
    file = login(tmp_path, """[headers."{{BASE}}"]
        X-Token = "t0ken-xyz"
        [cookies."{{BASE}}"]
        session = "s3ssion-abc"
        [auth."{{BASE}}"]
        user = "me"
        password = "bas1c-pass"
        """, served)  # fmt: skip
    done = await crawl(f"{served.base}/", tmp_path / "out", LOOPBACK, mode="all", login=file)

    names = ("x-token", "cookie", "authorization")
    expected = ["t0ken-xyz", "session=s3ssion-abc", "Basic " + base64.b64encode(b"me:bas1c-pass").decode()]
    home = [each for each in served.log if each.host == served.names["HOST"]]
    elsewhere = [each for each in served.log if each.host != served.names["HOST"]]
    assert {each.target for each in home} == {"/robots.txt", "/", "/a.pdf", "/there"}
    assert all([each.field(name) for name in names] == expected for each in home)
    assert {each.target for each in elsewhere} == {"/robots.txt", "/far", "/port", "/moved"}
    assert all([each.field(name) for name in names] == ["", "", ""] for each in elsewhere)
    assert secrets_on_disk(done.out) == []


@pytest.mark.parametrize(
    ("answer", "success"),
    [({"status": 401}, ""), ({"status": 200, "body": "wrong password"}, 'success = "Welcome"'),
     ({"status": 200}, "success = 303"), ({"fault": "close"}, ""), ({"status": 500}, "")],
)  # fmt: skip
@pytest_twisted.ensureDeferred
async def test_wrong_password(site: Factory, tmp_path: Path, answer: dict[str, Any], success: str) -> None:
    """When the site does not let us in, nothing is fetched, and the end is that of a wrong argument: 2, and why."""
    served = site([{"path": "/login", "method": "POST", **answer}, page("/", link("/in")), page("/in")])
    file = login(tmp_path, f"""[form]
        url = "{{{{BASE}}}}/login"
        {success}
        [form.fields]
        password = "pa55-w0rd"
        """, served)  # fmt: skip
    done = await crawl(f"{served.base}/", tmp_path / "out", login=file)

    assert set(asked(served)) == {"POST /login"}
    assert done.status == 2
    assert isinstance(done.spider.job.failure, ArgumentError)
    assert "pa55" not in str(done.spider.job.failure)
    assert secrets_on_disk(done.out) == []


@pytest_twisted.ensureDeferred
async def test_cookies_of_answers_go_back_to_their_host(site: Factory, tmp_path: Path) -> None:
    """A cookie that an answer sets comes back where its domain and path say, and COOKIES_ENABLED=0 keeps none."""
    setting = {"Content-Type": "text/html", "Set-Cookie": "visit=1; Path=/a"}
    for enabled, expected in ((True, "visit=1"), (False, "")):
        served = site([page("/", link("/a/1", "/b"), headers=setting), page("/a/1", link("{{ALT}}/a/2")), page("/b"),
                       page("/a/2", host="localhost")])  # fmt: skip
        settings = {**LOOPBACK, "COOKIES_ENABLED": enabled}
        await crawl(f"{served.base}/", tmp_path / str(enabled), settings, mode="all")
        cookies = {each.target: each.field("cookie") for each in served.log}

        assert cookies == {"/robots.txt": "", "/": "", "/a/1": expected, "/b": "", "/a/2": ""}
