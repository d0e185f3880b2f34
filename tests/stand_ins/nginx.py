"""Debian's nginx as a process of the tests' own, with the files of `deploy/` and a certificate of nobody's."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Self

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
#: What Debian's own nginx.conf has around the files in conf.d, without its paths.
MAIN = """
error_log {home}/error.log;
pid {home}/nginx.pid;
events {{ worker_connections 256; }}
http {{
    access_log off;
    client_body_temp_path {home}/body;
    proxy_temp_path {home}/proxy;
    fastcgi_temp_path {home}/fastcgi;
    uwsgi_temp_path {home}/uwsgi;
    scgi_temp_path {home}/scgi;
    include {home}/conf.d/*.conf;
}}
"""


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def nginx_program() -> str | None:
    """nginx, which Debian puts where only root looks."""
    return shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")


class Nginx:
    """A proxy in front of sites on these ports; `https` and `http` are the ports it listens on itself."""

    def __init__(self, program: str, home: Path, upstreams: Sequence[int]) -> None:
        self.home, self.https, self.http = home, free_port(), free_port()
        self._command = [program, "-p", str(home), "-c", str(home / "nginx.conf"), "-e", str(home / "error.log")]
        (home / "conf.d").mkdir(parents=True)
        write_certificate(home)
        (home / "nginx.conf").write_text(MAIN.format(home=home))
        (home / "conf.d" / "site.conf").write_text(self._site())
        (home / "conf.d" / "upstream.conf").write_text(upstream(upstreams))

    def _site(self) -> str:
        """The shipped file with what its owner changes: ports, name and certificate."""
        text = (DEPLOY / "nginx.conf").read_text("utf-8")
        text = text.replace("listen 80;", f"listen 127.0.0.1:{self.http};")
        text = text.replace("listen 443 ssl", f"listen 127.0.0.1:{self.https} ssl")
        text = text.replace("boards.example.org", "127.0.0.1")
        return text.replace("/etc/nginx/certificates", str(self.home))

    def __enter__(self) -> Self:
        checked = subprocess.run([*self._command, "-t"], capture_output=True, text=True, check=False)
        assert checked.returncode == 0, checked.stderr
        #: What nginx says of its files; a warning would be here.
        self.words = checked.stderr
        self.process = subprocess.Popen([*self._command, "-g", "daemon off;"])
        for _ in range(600):
            with socket.socket() as knocking:
                if knocking.connect_ex(("127.0.0.1", self.https)) == 0:
                    return self
            assert self.process.poll() is None, (self.home / "error.log").read_text()
            time.sleep(0.05)
        raise RuntimeError((self.home / "error.log").read_text())

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(30)


def upstream(ports: Sequence[int]) -> str:
    """The shipped upstream with its second server, on these ports."""
    text = (DEPLOY / "nginx-upstream.conf").read_text("utf-8").replace("# server", "server")
    for shipped, port in zip(re.findall(r"127\.0\.0\.1:(\d+)", text), ports, strict=True):
        text = text.replace(f"127.0.0.1:{shipped}", f"127.0.0.1:{port}")
    return text


def write_certificate(folder: Path) -> None:
    """A key and a certificate for 127.0.0.1."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    (folder / "fullchain.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    form = serialization.PrivateFormat.PKCS8
    private = key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
    (folder / "privkey.pem").write_bytes(private)
