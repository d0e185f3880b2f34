"""Ids that nobody can guess and everybody can type."""

from __future__ import annotations

import base64
import secrets


def new_id() -> str:
    """128 random bits in lower-case base 32."""
    return base64.b32encode(secrets.token_bytes(16)).decode().rstrip("=").lower()
