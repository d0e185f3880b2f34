"""The secret from which the order of outputs follows that submitted programs get.

It lies in the data folder, readable by the site's own user alone, is made on first use and goes with a backup. Who has
it can make every order and every id again; no program, page or download has it. A site on several machines with a data
folder each has a secret on each.
"""

from __future__ import annotations

import secrets
import tempfile
from pathlib import Path

from billboards.errors import StoreAway, StoreFailed

FILE, LENGTH = "order.secret", 32


def order_secret(data: Path) -> bytes:
    """The secret of a data folder."""
    path = data / FILE
    try:
        if not path.exists():
            _make(path)
        secret = bytes.fromhex(path.read_text("ascii").strip())
    except OSError as error:
        raise StoreAway(f"{path}: can't be read or made: {error.strerror or error}") from error
    except ValueError:
        secret = b""
    if len(secret) < LENGTH:
        raise StoreFailed(f"{path}: is no secret of {LENGTH} bytes in hexadecimal; delete it, and a new one is made")
    return secret


def _make(path: Path) -> None:
    """Write a secret, whole or not at all; only the site's user can read what this makes."""
    with tempfile.TemporaryDirectory(prefix=".order-", dir=path.parent) as work:
        made = Path(work) / FILE
        made.touch(0o600)
        made.write_text(secrets.token_hex(LENGTH) + "\n", "ascii")
        made.replace(path)
