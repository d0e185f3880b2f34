"""The web server as a process of its own, started and ended by `billboards serve`."""

from __future__ import annotations

import os
import signal
import socket
import sys
from argparse import ArgumentParser
from pathlib import Path

from billboards.site.admin.logs import limit_logs, reopen_on_hangup, write_logs
from billboards.site.site import open_site
from billboards.site.web.server import web_server
from billboards.site.web.start_token import read_start_token
from billboards.site.work.worker import end_with_parent


def main(arguments: list[str] | None = None) -> int:
    parser = ArgumentParser("billboards web server")
    parser.add_argument("data", type=Path)
    parser.add_argument("--listening", type=int, required=True)
    parser.add_argument("--login", action="store_true")
    parser.add_argument("--suite", type=Path, action="append", default=[])
    parsed = parser.parse_args(arguments)
    site = open_site(parsed.data, suites=parsed.suite, login_required=parsed.login)
    if not parsed.login:
        site.start_token = read_start_token(site)
    end_with_parent(lambda: os.kill(os.getpid(), signal.SIGTERM))
    server = web_server(site)
    write_logs(site.settings.logs, file=site.log_file)
    limit_logs()
    reopen_on_hangup(site.log_file)
    server.run(sockets=[socket.socket(fileno=parsed.listening)])
    return 0


if __name__ == "__main__":
    sys.exit(main())
