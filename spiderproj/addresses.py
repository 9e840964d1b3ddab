"""Decide which IP addresses and ports may be dialled (docs/security.md, A28 to A33)."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    Address = IPv4Address | IPv6Address
    Network = IPv4Network | IPv6Network

# IANA's special-purpose registries (RFC 6890 and its updates), and one cloud's public-looking metadata address.
_NOT_PUBLIC_4 = [
    ip_network(text)
    for text in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4", "168.63.129.16/32",
    )
]  # fmt: skip
_UNICAST_6 = IPv6Network("2000::/3")  # all that is handed out; the rest of IPv6 is special or reserved
_NOT_PUBLIC_6 = [ip_network(text) for text in ("2001::/23", "2001:db8::/32", "3fff::/20")]  # Teredo is in the first
_NAT64 = IPv6Network("64:ff9b::/96")

# What a seed's host *name* may resolve to without being public: an intranet, never link-local or cloud metadata.
_INTRANET = [ip_network(text) for text in ("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")]
_INTRANET += [ip_network(text) for text in ("::1/128", "fc00::/7")]
_METADATA_6 = IPv6Network("fd00:ec2::/32")

BAD_PORTS = frozenset(
    (
        0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109,
        110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530,
        531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190,
        5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
    )
) | {6379, 11211}  # fmt: skip
"""Ports of other protocols: the Fetch standard's list, and Redis and memcached, which read a request as commands."""


class AddressPolicy:
    """What may be dialled: public addresses, *allowed_networks* (CIDR text), and what the seeds name.

    Raises ValueError for a network that cannot be read.
    """

    def __init__(self, allowed_networks: Iterable[str] = (), seeds: Iterable[tuple[str, int]] = ()) -> None:
        self._networks = [ip_network(text.strip(), strict=False) for text in allowed_networks]
        self._names: set[tuple[str, int]] = set()
        self._addresses: set[tuple[Address, int]] = set()
        for host, port in seeds:
            self.allow_seed(host, port)

    def allow_seed(self, host: str, port: int) -> None:
        """Permit the address that *host* is, or the intranet addresses it resolves to, on *port* only."""
        host = _plain(host)
        self._names.add((host, port))
        address = _parse(host)
        if address is not None:
            self._addresses.add((address, port))

    def permits(self, ip: str, port: int, host: str) -> bool:
        """Tell whether *ip*, which *host* is or resolves to, may be dialled on *port*."""
        address = _parse(ip)
        if address is None:
            return False
        return (
            is_public(address)
            or (address, port) in self._addresses
            or any(address in network for network in self._networks)
            or ((_plain(host), port) in self._names and _is_intranet(address))
        )

    def permits_port(self, host: str, port: int) -> bool:
        """Tell whether *port* of *host* may be dialled: not one of another protocol, unless a seed names it."""
        return port not in BAD_PORTS or (_plain(host), port) in self._names


@lru_cache(maxsize=4096)
def is_public(address: Address) -> bool:
    """Tell whether *address* can be reached over the public internet; one that embeds another is judged by that.

    >>> is_public(ip_address("93.184.215.14")), is_public(ip_address("64:ff9b::10.0.0.1"))
    (True, False)
    """
    address = _embedded(address)
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _NOT_PUBLIC_4)
    return address in _UNICAST_6 and not any(address in network for network in _NOT_PUBLIC_6)


def is_loopback(authority: str) -> bool:
    """Tell whether *authority*, a host with or without a port, names this machine.

    >>> is_loopback("127.0.0.1:8000"), is_loopback("[::1]"), is_loopback("localhost:80"), is_loopback("10.0.0.1")
    (True, True, True, False)
    """
    host = _plain(authority.partition("]")[0] if authority.startswith("[") else authority.partition(":")[0])
    address = _parse(host)
    return address.is_loopback if address is not None else host == "localhost" or host.endswith(".localhost")


def literal(host: str) -> str | None:
    """Return the IP address that *host* is, without brackets; None when it is a name."""
    host = _plain(host)
    return host if _parse(host) is not None else None


def _is_intranet(address: Address) -> bool:
    """Tell whether a seed's name may resolve to *address*."""
    return any(address in network for network in _INTRANET) and address not in _METADATA_6


def _embedded(address: Address) -> Address:
    """Return the IPv4 address that *address* stands for, or itself."""
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:  # RFC 6052
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


def _parse(ip: str) -> Address | None:
    """Return the address *ip*, IPv4-mapped ones as the IPv4 address that is dialled; None when it is none."""
    try:
        address = ip_address(ip.partition("%")[0])
    except ValueError:
        return None
    return (isinstance(address, IPv6Address) and address.ipv4_mapped) or address


def _plain(host: str) -> str:
    """Return *host* in lower case without brackets and final dot."""
    return host.lower().removeprefix("[").removesuffix("]").removesuffix(".")
