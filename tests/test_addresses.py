"""Which addresses and ports may be dialled, in every spelling an answer from a resolver can have."""

from __future__ import annotations

from ipaddress import ip_address, ip_network

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spiderproj.addresses import AddressPolicy, is_loopback, is_public, literal

PUBLIC = [
    "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.1",
    "169.253.255.255", "172.15.255.255", "172.32.0.0", "192.167.255.255", "198.17.255.255", "223.255.255.255",
    "2606:4700::1111", "2a00:1450:4001::1", "::ffff:1.1.1.1", "64:ff9b::1.1.1.1", "2002:101:101::1",
]  # fmt: skip
NAT64 = ip_network("64:ff9b::/96")
PRIVATE = [
    "0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.254",
    "169.254.169.254", "168.63.129.16", "172.16.0.1", "172.31.255.255", "192.0.0.192", "192.0.2.1", "192.88.99.1",
    "192.168.1.1", "198.18.0.1",
    "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
    "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:10.0.0.1", "64:ff9b::10.0.0.1",
    "64:ff9b:1::1.1.1.1", "100::1", "2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:20::1", "2001:db8::1",
    "2002:7f00:1::1", "2002:a00:1::", "3fff::1", "5f00::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1",
]  # fmt: skip


@pytest.mark.parametrize("ip", PUBLIC)
def test_public_addresses_are_permitted(ip: str) -> None:
    """Addresses of the public internet are permitted, also just beside a private network."""
    assert AddressPolicy().permits(ip, 80, "example.org")


@pytest.mark.parametrize("ip", [*PRIVATE, "fe80::1%eth0", "", "localhost", "127.1", "1.1.1.1.1", "0x7f.0.0.1"])
def test_other_addresses_are_refused(ip: str) -> None:
    """Addresses of this machine, this network, metadata services and reserved space are refused, as is what is none."""
    assert not AddressPolicy().permits(ip, 80, "example.org")


def test_a_seed_permits_its_own_address_and_port_only() -> None:
    """A seed that names an address opens that address on that port, under whatever name it is reached."""
    policy = AddressPolicy(seeds=[("127.0.0.1", 8000), ("[::1]", 80)])
    assert policy.permits("127.0.0.1", 8000, "127.0.0.1")
    assert policy.permits("127.0.0.1", 8000, "localhost")
    assert policy.permits("::ffff:127.0.0.1", 8000, "x")
    assert policy.permits("::1", 80, "[::1]")
    assert not policy.permits("127.0.0.1", 8001, "127.0.0.1")
    assert not policy.permits("127.0.0.2", 8000, "127.0.0.2")
    assert not policy.permits("::1", 8000, "::1")


def test_a_seeds_name_opens_an_intranet_but_no_metadata() -> None:
    """A seed's host name may resolve to an intranet's address on its port, never to link-local or metadata ones."""
    policy = AddressPolicy()
    policy.allow_seed("Wiki.Corp.", 80)
    assert policy.permits("10.1.2.3", 80, "wiki.corp")
    assert policy.permits("127.0.0.1", 80, "WIKI.corp.")
    assert policy.permits("fc00::1", 80, "wiki.corp")
    assert not policy.permits("10.1.2.3", 81, "wiki.corp")
    assert not policy.permits("10.1.2.3", 80, "evil.example")
    for ip in ("169.254.169.254", "fd00:ec2::254", "fe80::1", "0.0.0.0", "100.100.100.200"):
        assert not policy.permits(ip, 80, "wiki.corp")


def test_allowed_networks() -> None:
    """A listed network is permitted on every port, in every spelling of its addresses."""
    policy = AddressPolicy(["10.0.0.0/8", " fd00::/8 "])
    assert policy.permits("10.255.0.1", 8080, "x")
    assert policy.permits("::ffff:10.0.0.1", 80, "x")
    assert policy.permits("fd00::1", 80, "x")
    assert not policy.permits("192.168.0.1", 80, "x")
    with pytest.raises(ValueError, match="10"):
        AddressPolicy(["10.0.0.0/33"])


def test_ports() -> None:
    """Ports of other protocols are refused unless a seed names them, for its host only."""
    policy = AddressPolicy(seeds=[("example.org", 22)])
    assert [port for port in (22, 25, 6379, 11211, 0, 6000) if policy.permits_port("x", port)] == []
    assert all(policy.permits_port("x", port) for port in (80, 443, 8080, 8000, 3000, 65535))
    assert policy.permits_port("EXAMPLE.org", 22)
    assert not policy.permits_port("example.org", 25)


def test_literals_and_loopback() -> None:
    """A host is told apart from an address, and this machine from others."""
    assert [literal(host) for host in ("[::1]", "1.2.3.4", "example.org", "1.2.3")] == ["::1", "1.2.3.4", None, None]
    here = ("127.0.0.1", "127.0.0.1:80", "[::1]", "[::1]:80", "localhost", "a.localhost:8000")
    assert all(is_loopback(authority) for authority in here)
    assert not any(is_loopback(authority) for authority in ("10.0.0.1", "example.org:80", "localhost.example.org", ""))


@settings(deadline=None)
@given(st.ip_addresses(v=4))
def test_the_standard_library_agrees(address: object) -> None:
    """No IPv4 address that the standard library knows as not global is public, nor when it is embedded in IPv6."""
    plain = ip_address(str(address))
    if not plain.is_global or plain.is_multicast:
        assert not is_public(plain)
    for form in ("::ffff:%s", "64:ff9b::%s"):
        assert is_public(ip_address(form % plain)) == is_public(plain)


@settings(deadline=None)
@given(st.ip_addresses(v=6))
def test_special_ipv6_is_refused(address: object) -> None:
    """No IPv6 address outside global unicast is public, unless it embeds a public IPv4 address."""
    plain = ip_address(str(address))
    if not plain.is_global and not (plain in NAT64 or str(plain).startswith(("::ffff:", "2002:"))):
        assert not is_public(plain)


@settings(deadline=None)
@given(st.text(max_size=30), st.text(max_size=20))
def test_any_text_is_judged(ip: str, host: str) -> None:
    """Whatever text comes, the policy answers and raises nothing."""
    AddressPolicy().permits(ip, 80, host)
    is_loopback(host)
