"""An S3 server of the tests' own: moto's, as a process on this machine, with an empty bucket."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Self

import httpx

BUCKET = "harbour"


class S3Server:
    """The server; `environment` is what clients need to find it and be let in."""

    def __init__(self, log: Path) -> None:
        self._log = log

    def __enter__(self) -> Self:
        command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"]
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log)
        url = self._address()
        self.environment = {
            "AWS_ENDPOINT_URL": url,
            "AWS_ACCESS_KEY_ID": "tests",
            "AWS_SECRET_ACCESS_KEY": "tests",
            "AWS_DEFAULT_REGION": "us-east-1",
            "NO_PROXY": "127.0.0.1",
        }
        httpx.put(f"{url}/{BUCKET}", trust_env=False).raise_for_status()
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(timeout=30)

    def _address(self) -> str:
        """Where the server says that it listens."""
        for _ in range(600):
            found = re.search(r"http://127\.0\.0\.1:\d+", self._log.read_text())
            if found is not None:
                return found[0]
            assert self.process.poll() is None, self._log.read_text()
            time.sleep(0.1)
        raise RuntimeError(self._log.read_text())
