"""The web server as a process of its own, started and ended by `billboards serve`."""

from __future__ import annotations

import os
import signal
import socket
import sys
from argparse import ArgumentParser
from pathlib import Path

import uvicorn

from billboards.site.home import open_site
from billboards.site.worker import end_with_parent
from billboards.web.app import create_app


def main(arguments: list[str] | None = None) -> int:
    parser = ArgumentParser("billboards web server")
    parser.add_argument("data", type=Path)
    parser.add_argument("--listening", type=int, required=True)
    parser.add_argument("--login", action="store_true")
    parsed = parser.parse_args(arguments)
    site = open_site(parsed.data, login_required=parsed.login)
    end_with_parent(lambda: os.kill(os.getpid(), signal.SIGTERM))
    config = uvicorn.Config(create_app(site), log_level="warning", server_header=False, timeout_graceful_shutdown=5)
    uvicorn.Server(config).run(sockets=[socket.socket(fileno=parsed.listening)])
    return 0


if __name__ == "__main__":
    sys.exit(main())
