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
    return not all(address.is_global for address in addresses)
