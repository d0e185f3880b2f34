"""Whether an address lies in the server's own network, where what a stranger names must not lead."""

from __future__ import annotations

import ipaddress
import socket
from urllib.parse import urlsplit


class NoAddress(ValueError):
    """A host that can't be found; it may be tomorrow."""


def lies_inside(url: str) -> bool:
    """Whether a host has an address that is not of the public network; `NoAddress` where it has none at all."""
    try:
        parts = urlsplit(url)
        resolved = socket.getaddrinfo(parts.hostname, parts.port or 443, type=socket.SOCK_STREAM)
    except (OSError, ValueError) as error:
        raise NoAddress(str(error)) from error
    addresses = (ipaddress.ip_address(str(address[0]).partition("%")[0]) for *_, address in resolved)
    return not all(map(is_public, addresses))


#: Addresses that stand for another one, which a gateway reaches: NAT64, 6to4, Teredo, and IPv4 written as IPv6.
_GATEWAYS = tuple(
    map(ipaddress.IPv6Network, ("64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32", "::/96", "::ffff:0:0/96"))
)


def is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Whether an address is one host's of the public network.

    Python calls some global that lead back inside: those of gateways to IPv4, of old local networks (fec0::/10), and
    those of groups.
    """
    if address.is_multicast or address.is_reserved or address.is_unspecified or not address.is_global:
        return False
    if isinstance(address, ipaddress.IPv4Address):
        return True
    return not address.is_site_local and not any(address in network for network in _GATEWAYS)
