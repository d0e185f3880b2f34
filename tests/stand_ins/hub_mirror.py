"""A mirror of the model hub on loopback: what the hub's own client asks for, answered from folders of this machine.

A repository has commits, each with files, and branches and tags that mean commits. Every request is counted, so that a
test can say what was not downloaded.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import unquote


@dataclass(frozen=True)
class Repository:
    """Files by name for each commit, and what the names of branches and tags mean."""

    commits: Mapping[str, Mapping[str, bytes]]
    names: Mapping[str, str] = field(default_factory=dict)

    def commit(self, revision: str) -> str | None:
        named = self.names.get(revision, revision)
        return named if named in self.commits else None


class HubMirror(ThreadingHTTPServer):
    """Models by name; `asked` counts the files that were sent."""

    daemon_threads = True

    def __init__(self, models: Mapping[str, Repository]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.models, self.asked = models, Counter[str]()
        self.address = f"http://127.0.0.1:{self.server_port}"
        Thread(target=self.serve_forever, daemon=True).start()


class _Handler(BaseHTTPRequestHandler):
    server: HubMirror
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        path = unquote(self.path.partition("?")[0])
        listed = re.fullmatch(r"/api/models/([^/]+/[^/]+)(?:/(?:revision|tree)/(.+))?", path)
        file = re.fullmatch(r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path)
        if listed:
            self._list(listed[1], listed[2] or "main")
        elif file:
            self._send_file(file[1], file[2], file[3])
        else:
            self._refuse("EntryNotFound")

    def _list(self, model: str, revision: str) -> None:
        repository = self.server.models.get(model)
        commit = repository.commit(revision) if repository else None
        if repository is None or commit is None:
            return self._refuse("RevisionNotFound" if repository else "RepoNotFound")
        files = repository.commits[commit]
        body: object = {"id": model, "sha": commit, "siblings": [{"rfilename": name} for name in files]}
        if "/tree/" in self.path:
            body = [
                {"type": "file", "path": name, "size": len(raw), "oid": hashlib.sha1(raw).hexdigest()}
                for name, raw in files.items()
            ]
        return self._send(json.dumps(body).encode(), {"content-type": "application/json"})

    def _send_file(self, model: str, revision: str, name: str) -> None:
        repository = self.server.models.get(model)
        commit = repository.commit(revision) if repository else None
        if repository is None or commit is None or name not in repository.commits[commit]:
            return self._refuse("EntryNotFound")
        raw = repository.commits[commit][name]
        if self.command == "GET":
            self.server.asked[name] += 1
        etag = hashlib.sha256(raw).hexdigest()
        return self._send(raw, {"etag": f'"{etag}"', "x-repo-commit": commit, "accept-ranges": "bytes"})

    def _refuse(self, code: str) -> None:
        self.send_response(404)
        self.send_header("x-error-code", code)
        self.send_header("content-length", "0")
        self.end_headers()

    def _send(self, body: bytes, headers: Mapping[str, str]) -> None:
        start = re.fullmatch(r"bytes=(\d+)-", self.headers.get("range") or "")
        sent = body[int(start[1]) :] if start else body
        self.send_response(206 if start else 200)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(sent)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(sent)
