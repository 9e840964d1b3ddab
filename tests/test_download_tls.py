"""TLS in the download handler: certificates are verified unless somebody said otherwise."""

from __future__ import annotations

import datetime as dt
import ssl
import warnings
from ipaddress import ip_address
from typing import TYPE_CHECKING

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from scrapy.exceptions import DownloadCancelledError

from spiderproj.downloader import pool
from tests.raw_server import Client, always, client, fails, own_loop, serve

if TYPE_CHECKING:
    from pathlib import Path

SMALL = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"


def certificate(folder: Path, name: x509.GeneralName, days: int = 1) -> Path:
    """Return a file with a key and a self-signed certificate for *name*, good until so many *days* from now."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test")])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=9))
        .not_valid_after(now + dt.timedelta(days=days))
        .add_extension(x509.SubjectAlternativeName([name]), critical=False)
        .sign(key, hashes.SHA256())
    )
    file = folder / "pair.pem"
    file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        + made.public_bytes(serialization.Encoding.PEM)
    )
    return file


def server_context(file: Path) -> ssl.SSLContext:
    """Return a server's context with the pair in *file*."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    context.set_alpn_protocols(["h2", "http/1.1"])
    return context


def trust(asked: Client, file: Path) -> None:
    """Make the handler trust the certificate in *file*."""
    asked.handler._pool._tls.load_verify_locations(file)


@own_loop
async def test_a_self_signed_certificate_is_refused_by_default(tmp_path: Path) -> None:
    """By default a certificate that nobody vouches for ends the fetch, and it is not tried again."""
    file = certificate(tmp_path, x509.IPAddress(ip_address("127.0.0.1")))
    async with serve(always(SMALL), tls=server_context(file)) as server:
        async with client() as asked:
            assert await fails(asked, server.url) == "tls"
            with pytest.raises(DownloadCancelledError, match=r"127\.0\.0\.1:\d+: self.signed certificate"):
                await asked.get(server.url)
        async with client(DOWNLOAD_VERIFY_CERTIFICATES=True) as asked:
            assert await fails(asked, server.url) == "tls"
        assert server.requests == 0


@own_loop
async def test_verification_can_be_switched_off(tmp_path: Path) -> None:
    """With the setting off any certificate will do, and the connection is kept alive as any other."""
    file = certificate(tmp_path, x509.DNSName("other.example"))
    async with serve(always(SMALL), tls=server_context(file)) as server:
        async with client(DOWNLOAD_VERIFY_CERTIFICATES=False) as asked:
            for _ in range(3):
                assert (await asked.get(server.url)).body == b"hello"
        assert server.connections == 1
        chosen = server.peers[0].writer.get_extra_info("ssl_object").selected_alpn_protocol()
        assert chosen == "http/1.1"


@pytest.mark.parametrize(
    ("name", "accepted"),
    [(x509.IPAddress(ip_address("127.0.0.1")), True), (x509.DNSName("other.example"), False)],
    ids=["right", "wrong"],
)
@own_loop
async def test_the_certificate_must_be_the_hosts(tmp_path: Path, name: x509.GeneralName, *, accepted: bool) -> None:
    """A trusted certificate is accepted for the host it names, and refused for another."""
    file = certificate(tmp_path, name)
    async with serve(always(SMALL), tls=server_context(file)) as server, client() as asked:
        trust(asked, file)
        if accepted:
            assert (await asked.get(server.url)).body == b"hello"
        else:
            assert await fails(asked, server.url) == "tls"


@own_loop
async def test_a_certificate_ends(tmp_path: Path) -> None:
    """One that was good until yesterday is refused, and the failure says so."""
    file = certificate(tmp_path, x509.IPAddress(ip_address("127.0.0.1")), days=-1)
    async with serve(always(SMALL), tls=server_context(file)) as server, client() as asked:
        trust(asked, file)
        with pytest.raises(DownloadCancelledError, match="expired"):
            await asked.get(server.url)
        assert server.requests == 0


@own_loop
async def test_old_protocols_are_not_spoken(tmp_path: Path) -> None:
    """A server that knows nothing after TLS 1.1 is asked for nothing."""
    file = certificate(tmp_path, x509.IPAddress(ip_address("127.0.0.1")))
    old = server_context(file)
    old.set_ciphers("ALL:@SECLEVEL=0")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        old.minimum_version, old.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
    async with serve(always(SMALL), tls=old) as server, client() as asked:
        trust(asked, file)
        assert await fails(asked, server.url) in {"tls", "reset"}  # an alert, or the end of the connection first
        assert server.requests == 0


@own_loop
async def test_plain_http_on_a_tls_port_and_the_reverse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Speaking TLS to a server that does not, or not to one that does, is a failure with a kind."""
    monkeypatch.setattr(pool, "CONNECT_SECONDS", 0.2)
    async with serve(always(SMALL)) as server, client() as asked:
        assert await fails(asked, server.url.replace("http:", "https:")) == "timeout"
    file = certificate(tmp_path, x509.DNSName("x"))
    async with serve(always(SMALL), tls=server_context(file)) as server, client() as asked:
        assert await fails(asked, server.url.replace("https:", "http:")) in ("reset", "bad-response")


@own_loop
async def test_a_body_without_length_over_tls(tmp_path: Path) -> None:
    """A body that ends with its TLS connection is read to the end; one that is cut is not whole."""
    file = certificate(tmp_path, x509.DNSName("x"))
    body = b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 300_000
    off = {"DOWNLOAD_VERIFY_CERTIFICATES": False}
    async with serve(always(body, close=True), tls=server_context(file)) as server, client(**off) as asked:
        assert len((await asked.get(server.url)).body) == 300_000
    async with serve(always(SMALL[:-1], close=True), tls=server_context(file)) as server, client(**off) as asked:
        assert await fails(asked, server.url) == "dataloss"
