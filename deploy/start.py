"""Start Scrapyd on loopback with a new password, in a folder that only its owner can read (docs/deploy.md)."""

from __future__ import annotations

import argparse
import fcntl
import os
import secrets
import socket
import sys
import tempfile
from configparser import ConfigParser
from io import StringIO
from pathlib import Path
from typing import TextIO

from scrapyd.__main__ import main as scrapyd

_SHIPPED = Path(__file__).with_name("scrapyd.conf")
_NAME = "spiderproj"  # of the project and of the user
_LOCK = "scrapyd.lock"
_UNUSABLE, _LOCKED = 3, 4  # exit statuses, as those of a crawl


def main() -> None:
    """Prepare the folder, then be Scrapyd until a signal ends it."""
    parser = argparse.ArgumentParser(description="Start Scrapyd for this project, on 127.0.0.1 with a new password.")
    parser.add_argument("--folder", type=Path, default=Path(".scrapyd"), help="where everything of Scrapyd is kept")
    parser.add_argument("--port", type=port_number, default=6800)
    options = parser.parse_args()
    try:
        lock = enter(options.folder)
        with socket.create_server(("127.0.0.1", options.port)):
            pass  # it is free: Scrapyd would end with a traceback
        write_configuration(options.port, secrets.token_urlsafe(32))
    except BlockingIOError:
        sys.exit(_say(f"{options.folder}: a Scrapyd runs here already; stop it, or give another --folder", _LOCKED))
    except OSError as error:
        sys.exit(_say(f"{options.folder}, port {options.port}: {error}; give another --folder or --port", _UNUSABLE))
    clean_environment()
    sys.argv = ["scrapyd", "--pidfile="]  # the lock does its work, also after a reboot
    with lock:
        scrapyd()


def port_number(text: str) -> int:
    """Return the number of a TCP port; argparse shows the error."""
    if not text.isdecimal() or not 0 < int(text) < 65536:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a port, 1 to 65535")
    return int(text)


def enter(folder: Path) -> TextIO:
    """Make *folder* private and the working directory, and return its lock.

    BlockingIOError when another process holds the lock, FileExistsError when the folder holds what is not Scrapyd's.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if any(folder.iterdir()) and not (folder / _LOCK).exists():
        raise FileExistsError("this folder is in use for something else")
    folder.chmod(0o700)
    os.chdir(folder)
    lock = Path(_LOCK).open("w", encoding="ascii")  # noqa: SIM115 - held until the process ends
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    Path(".gitignore").write_text("*\n", encoding="ascii")
    return lock


def write_configuration(port: int, password: str) -> None:
    """Write ``scrapy.cfg`` for Scrapyd and scrapyd-deploy, and ``netrc`` for curl, into the working directory.

    Scrapyd reads the nearest scrapy.cfg after every other file, so that none of a host or a user undoes what is in it.
    """
    config = ConfigParser()
    config.read_string(_SHIPPED.read_text(encoding="utf-8"), str(_SHIPPED))
    account = {"username": _NAME, "password": password}
    config["scrapyd"].update(http_port=str(port), **account)
    config["deploy:local"] = {"url": f"http://127.0.0.1:{port}/", "project": _NAME, **account}
    text = StringIO()
    config.write(text)
    write_private("scrapy.cfg", text.getvalue())
    write_private("netrc", f"machine 127.0.0.1 login {_NAME} password {password}\n")


def write_private(name: str, text: str) -> None:
    """Put *text* in the place of the file *name*, readable by its owner only at every moment."""
    descriptor, temporary = tempfile.mkstemp(dir=".")
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(text)
    os.replace(temporary, name)  # noqa: PTH105 - the plain name of the call that makes it whole or nothing


def clean_environment() -> None:
    """Remove what would win over the configuration or the egg; quiet a warning that every job would log as an error."""
    for name in [*os.environ]:
        if name.startswith("SCRAPYD_") or name in ("SCRAPY_PROJECT", "SCRAPY_SETTINGS_MODULE"):
            del os.environ[name]
    os.environ.setdefault("PYTHONWARNINGS", "ignore:pkg_resources is deprecated as an API")


def _say(message: str, status: int) -> int:
    print(f"spiderproj: {message}", file=sys.stderr)  # noqa: T201 - what the command has to say
    return status


if __name__ == "__main__":
    main()
