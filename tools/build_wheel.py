"""Builds the wheel twice, in two places, and keeps it only where both are the same bytes; with its SBOM and checksums.

    python tools/build_wheel.py --out dist

Who has the sources can so find out whether a wheel was made of them: build it, and compare the checksum. Times in the
archive are those of the last commit (`SOURCE_DATE_EPOCH` goes before it), and the builder is the one installed here,
which requirements/build.txt pins by its hash. The compiler is the machine's own: another one may give other bytes for
the kernels. The SBOM (CycloneDX, JSON) lists what requirements/site.txt installs beside the wheel.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SBOM = "billboards.cdx.json"
SUMS = "SHA256SUMS"


def sources() -> list[str]:
    """What git knows of, and nothing that lies about."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    # Tests and pages are no part of the wheel.
    left_out = ("tests/", "docs/", "benchmarks/", "examples/")
    return [name for name in listed.split("\0") if name and not name.startswith(left_out)]


def commit_time() -> str:
    """When the last commit was made, or what the environment says."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return given
    shown = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=True)
    return shown.stdout.strip()


def build(folder: Path, time: str) -> Path:
    """The wheel of a fresh copy of the sources."""
    copy, out = folder / "sources", folder / "out"
    for name in sources():
        target = copy / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, target)
        target.chmod(0o644)
    environment = {**os.environ, "SOURCE_DATE_EPOCH": time, "PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8"}
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*command, "--wheel-dir", str(out), str(copy)], env=environment, check=True, umask=0o022)
    (wheel,) = out.glob("*.whl")
    return wheel


def write_sbom(target: Path) -> None:
    """What the lock of the image installs, as CycloneDX; the same lock gives the same bytes."""
    command = [sys.executable, "-m", "cyclonedx_py", "requirements", str(ROOT / "requirements" / "site.txt")]
    options = ["--pyproject", str(ROOT / "pyproject.toml"), "--output-reproducible", "--output-format", "JSON"]
    subprocess.run([*command, *options, "--output-file", str(target)], check=True, capture_output=True)


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def main(arguments: list[str] | None = None) -> int:
    parser = ArgumentParser("build_wheel", description="Build the wheel twice, and keep it if both are equal.")
    parser.add_argument(
        "--out", type=Path, default=ROOT / "dist", metavar="FOLDER", help="where it goes (default dist)"
    )
    out: Path = parser.parse_args(arguments).out
    time = commit_time()
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory(prefix="another-place-") as second:
        wheels = [build(Path(folder), time) for folder in (first, second)]
        digests = [digest(wheel) for wheel in wheels]
        if len(set(digests)) > 1:
            print(f"{wheels[0].name} is not reproducible: {digests[0]} and {digests[1]}")
            return 1
        out.mkdir(parents=True, exist_ok=True)
        kept = out / wheels[0].name
        shutil.copyfile(wheels[0], kept)
    write_sbom(out / SBOM)
    lines = [f"{digest(path)}  {path.name}" for path in (kept, out / SBOM)]
    (out / SUMS).write_text("\n".join(lines) + "\n")
    print("\n".join(["built twice, the same bytes", *lines]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
