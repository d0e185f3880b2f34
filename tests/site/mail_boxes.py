"""A real mail server on loopback whose letters tests read."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

from aiosmtpd.controller import Controller

BASE = "http://localhost"


class Letters:
    """A mail server's letter box; addresses in `refused` are not taken."""

    def __init__(self) -> None:
        self.letters: list[EmailMessage] = []
        self.refused: set[str] = set()
        self.port = 0

    async def handle_RCPT(self, server: Any, session: Any, envelope: Any, address: str, options: Any) -> str:  # noqa: N802
        if address in self.refused:
            return "550 nobody of that name"
        envelope.rcpt_tos.append(address)
        return "250 taken"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802 - the library's name
        letter = message_from_bytes(envelope.content, policy=policy.default)
        assert isinstance(letter, EmailMessage)
        self.letters.append(letter)
        return "250 taken"

    def to(self, address: str) -> list[EmailMessage]:
        return [letter for letter in self.letters if letter["To"] == address]

    def subjects(self, address: str) -> list[str]:
        return [letter["Subject"] for letter in self.to(address)]

    def link(self, address: str) -> str:
        """The path of the link that lets somebody in, in the last letter to an address."""
        (path,) = re.findall(r"https?://[^/\s]+(/(?:enter|join|unsubscribe)/\S+)", words(self.to(address)[-1]))
        return str(path)

    def settings(self, *, base_url: str = BASE, more: str = "") -> str:
        """What a site's settings say of this server; `more` are tables after its own."""
        mail = f'[mail]\nhost = "127.0.0.1"\nport = {self.port}\nsender = "Boards <boards@example.org>"\n'
        limits = "reads_per_minute = 1000000\nchanges_per_minute = 1000000\n"
        return f'title = "Harbour boards"\nbase_url = "{base_url}"\n{limits}{mail}{more}'


def words(letter: EmailMessage) -> str:
    """What a letter says, its lines as they were written."""
    return str(letter.get_content()).replace("\r\n", "\n")


@contextmanager
def mail_server() -> Iterator[Letters]:
    """A mail server, for as long as it is needed."""
    box = Letters()
    with socket.create_server(("127.0.0.1", 0)) as free:
        box.port = free.getsockname()[1]
    server = Controller(box, hostname="127.0.0.1", port=box.port)
    server.start()
    try:
        yield box
    finally:
        server.stop()
