"""Writes the lock files in requirements/: every package at one version, by the SHA-256 of its files, and no host.

    pip install uv
    python tools/locks.py                 # adds what is new; versions that are locked stay
    python tools/locks.py --upgrade       # resolves anew, with what the index at hand offers
    python tools/locks.py --check         # says what a lock lacks that pyproject.toml asks for; needs no network

A lock names packages, versions and hashes, so it holds whatever index or mirror serves them, and nobody in between can
put another file in their place. `site.txt` is what the image installs, `check.txt` what tests and checks need, and
`build.txt` what builds a wheel. PyTorch is in none of them: which build of it a machine needs depends on its graphics
card, so its version is pinned in pyproject.toml and its file is chosen by who installs it.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import tomllib
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "requirements"
PROJECT = "billboards"
#: The extras that each lock holds; the build's own requirements are no extra.
EXTRAS = {"site.txt": ("site", "postgres", "s3", "parquet"), "check.txt": ("check",)}
BUILD = "build.txt"
#: The oldest Python that a lock is for.
PYTHON = "3.11"
#: What depends on the machine's graphics card.
LEFT_OUT = re.compile(r"torch|triton|nvidia-.*|cuda-.*")


def project() -> dict[str, object]:
    document: dict[str, object] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    return document


def asked(name: str) -> Iterator[Requirement]:
    """What pyproject.toml asks for that a lock must hold, extras of its own followed."""
    document: dict[str, dict[str, object]] = project()  # type: ignore[assignment]
    if name == BUILD:
        yield from map(Requirement, document["build-system"]["requires"])  # type: ignore[arg-type]
        return
    details = document["project"]
    extras: dict[str, list[str]] = details["optional-dependencies"]  # type: ignore[assignment]
    yield from map(Requirement, details["dependencies"])  # type: ignore[arg-type]
    waiting, seen = list(EXTRAS[name]), set[str]()
    while waiting:
        extra = waiting.pop()
        if extra not in seen:
            seen.add(extra)
            for requirement in map(Requirement, extras[extra]):
                if requirement.name == PROJECT:
                    waiting += requirement.extras
                else:
                    yield requirement


def locked(text: str) -> dict[str, set[str]]:
    """The versions of each package in a lock; there may be several, for several Pythons."""
    versions: dict[str, set[str]] = {}
    for name, version in re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", text, re.MULTILINE):
        versions.setdefault(canonical(name), set()).add(version)
    return versions


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def mistakes(name: str, text: str) -> list[str]:
    """What a lock lacks, has at a version that pyproject.toml refuses, or names without a hash."""
    versions, wrong = locked(text), []
    for requirement in asked(name):
        package = canonical(requirement.name)
        if LEFT_OUT.fullmatch(package):
            continue
        if package not in versions:
            wrong.append(f"{name}: {requirement} is missing")
        elif not any(requirement.specifier.contains(version, prereleases=True) for version in versions[package]):
            wrong.append(f"{name}: {requirement} is locked as {', '.join(sorted(versions[package]))}")
    for block in re.split(r"\n(?=\S)", text.strip()):
        if not block.startswith("#") and "--hash=sha256:" not in block:
            wrong.append(f"{name}: {block.splitlines()[0]} has no hash")
    if re.search(r"https?://|--(?:extra-)?index-url|--find-links", text):
        wrong.append(f"{name}: names a host")
    return wrong


def resolve(name: str, *, anew: bool = False) -> str:
    """A lock as uv resolves it, without what depends on a graphics card; versions stay unless all is chosen anew."""
    options = ["--universal", "--python-version", PYTHON, "--generate-hashes"]
    options += ["--no-emit-index-url", "--no-emit-find-links", "--no-header", "--no-annotate", "--quiet"]
    with tempfile.TemporaryDirectory() as work:
        source = ROOT / "pyproject.toml"
        if name == BUILD:
            source = Path(work) / "build.in"
            source.write_text("\n".join(map(str, asked(name))) + "\n")
        else:
            options += [word for extra in EXTRAS[name] for word in ("--extra", extra)]
        target = Path(work) / "lock.txt"
        if (FOLDER / name).exists() and not anew:
            # uv keeps the versions of a file that is there, so that a new package changes one line.
            target.write_text((FOLDER / name).read_text("utf-8"))
        command = ["uv", "pip", "compile", str(source), *options, "--output-file", str(target)]
        subprocess.run(command, check=True, cwd=ROOT)
        text = target.read_text("utf-8")
    blocks = re.split(r"\n(?=\S)", text.strip())
    kept = (block for block in blocks if not LEFT_OUT.fullmatch(canonical(block.split("==")[0])))
    return f"# Written by tools/locks.py; change pyproject.toml instead.\n{chr(10).join(kept)}\n"


def main(arguments: list[str] | None = None) -> int:
    parser = ArgumentParser("locks", description="Write or check the lock files in requirements/.")
    parser.add_argument("--check", action="store_true", help="say what the locks lack, and write nothing")
    parser.add_argument("--upgrade", action="store_true", help="choose every version anew")
    names = (*EXTRAS, BUILD)
    parsed = parser.parse_args(arguments)
    if not parsed.check:
        for name in names:
            (FOLDER / name).write_text(resolve(name, anew=parsed.upgrade), "utf-8")
    wrong = [line for name in names for line in mistakes(name, (FOLDER / name).read_text("utf-8"))]
    counts = (f"{name}: {len(locked((FOLDER / name).read_text('utf-8')))} packages" for name in names)
    print("\n".join(wrong) or "; ".join(counts))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
