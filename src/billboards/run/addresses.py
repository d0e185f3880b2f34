"""Addresses that strangers name, or come from: whether one lies in the server's own network, and whose it is.

What a stranger names must not lead into the server's own network. A name can mean one address when it is looked at and
another when it is asked, so the address that was looked at is the one that is asked.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from threading import Timer
from typing import Any
from urllib.parse import urlsplit


class NoAddress(ValueError):
    """A host that can't be found; it may be tomorrow."""


def outside_address(url: str) -> str | None:
    """The address of a host of the public network; None where any of its addresses lies elsewhere.

    `NoAddress` where it has none at all.
    """
    try:
        parts = urlsplit(url)
        resolved = socket.getaddrinfo(parts.hostname, parts.port or 443, type=socket.SOCK_STREAM)
    except (OSError, ValueError) as error:
        raise NoAddress(str(error)) from error
    addresses = [ipaddress.ip_address(str(address[0]).partition("%")[0]) for *_, address in resolved]
    return str(addresses[0]) if all(map(is_public, addresses)) else None


def lies_inside(url: str) -> bool:
    """Whether a host has an address that is not of the public network; `NoAddress` where it has none at all."""
    return outside_address(url) is None


@contextmanager
def posted(url: str, *, address: str | None, patience: float, seconds: float, **sent: Any) -> Iterator[Any]:
    """The answer to a POST, of which only the head has been read; its body is the caller's to read or leave.

    An `address` is asked in the place of the one that the name has now. Each step may take `patience` seconds, all of
    them together hardly more than `seconds`: an answer that comes letter by letter ends, too.
    """
    import httpx

    with httpx.Client(timeout=patience, follow_redirects=False, trust_env=False) as client:
        request = client.build_request("POST", url, **sent)
        if address is not None:
            request.extensions = {**request.extensions, "sni_hostname": request.url.host}
            request.url = request.url.copy_with(host=address)
        end = Timer(seconds, client.close)
        end.daemon = True
        end.start()
        try:
            response = client.send(request, stream=True)
            try:
                yield response
            finally:
                response.close()
        finally:
            end.cancel()


#: Addresses that stand for another one, which a gateway reaches: NAT64, 6to4, Teredo, and IPv4 written as IPv6.
_GATEWAYS = tuple(
    map(ipaddress.IPv6Network, ("64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32", "::/96", "::ffff:0:0/96"))
)


#: Of no host of the public network, whatever Python's release calls them: protocols' own addresses, relays of 6to4,
#: documentation, and a cloud's own service, which has a public address that only its machines reach.
_RESERVED = tuple(
    map(ipaddress.ip_network, ("192.0.0.0/24", "192.88.99.0/24", "2001::/23", "3fff::/20", "168.63.129.16/32"))
)
#: How the lower half of an address begins that ISATAP makes of one of IPv4, a private or a global one.
_ISATAP = (0x00005EFE, 0x02005EFE)


def is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Whether an address is one host's of the public network.

    Python calls some global that lead back inside: those of gateways to IPv4, of old local networks (fec0::/10), and
    those of groups.
    """
    if address.is_multicast or address.is_reserved or address.is_unspecified or not address.is_global:
        return False
    if any(address in network for network in _RESERVED if network.version == address.version):
        return False
    if isinstance(address, ipaddress.IPv4Address):
        return True
    if int(address) >> 32 & 0xFFFFFFFF in _ISATAP:
        return False
    return not address.is_site_local and not any(address in network for network in _GATEWAYS)


@lru_cache(10_000)
def network_of(address: str) -> str:
    """Who is counted as one: an address of IPv4, or a network of IPv6, of which one house has all addresses."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv6Address):
        inner = parsed.ipv4_mapped
        return str(inner) if inner is not None else str(ipaddress.IPv6Network((int(parsed) >> 64 << 64, 64)))
    return str(parsed)
