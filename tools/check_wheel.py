"""Installs a wheel in a new environment and holds what it says against this checkout: audit, numbers, demo.

    python tools/check_wheel.py [WHEEL]          # builds one if none is named; packages come from the index
    python tools/check_wheel.py --here           # packages are those of this environment: needs no network
    python tools/check_wheel.py --demo           # runs `billboards demo --no-site` in an empty folder, too

What a user gets is a wheel and not a checkout: files that were left out of it, libraries that need a newer system and
paths that exist only here are seen nowhere else. The scores of every lexical metric must be the checkout's, digit for
digit.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
import time
from argparse import ArgumentParser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: The newest glibc that a wheel may ask for: Debian 11, Ubuntu 20.04, RHEL 9 and everything since.
GLIBC = (2, 31)
OUTPUTS = "The cat sat on the mat .\nHe did n't buy a red car yesterday , she says .\nIt rains in Berlin .\n"
REFERENCES = (
    "A cat was sitting on the mat .\nShe says he did not buy the red car yesterday .\nIt is raining in Berlin .\n"
)
METRICS = ("BLEU", "chrF", "chrF++", "TER", "ROUGE-1", "ROUGE-2", "ROUGE-L", "WER", "CER", "CharacTER", "CIDEr", "NIST")


def build(folder: Path) -> Path:
    """A wheel of this checkout."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*command, "--wheel-dir", str(folder), str(ROOT)], check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def newest_glibc(wheel: Path) -> tuple[int, int] | None:
    """The oldest glibc on which a wheel runs, by auditwheel; None for one of another system."""
    if "linux" not in wheel.name:
        return None
    done = subprocess.run(
        [sys.executable, "-m", "auditwheel", "show", str(wheel)], capture_output=True, text=True, check=True
    )
    tag = re.search(r'tag:\s+"(?:many)?linux_(\d+)_(\d+)_', " ".join(done.stdout.split()))
    if tag is None:
        raise SystemExit(f"{wheel.name}: auditwheel knows no manylinux tag for it:\n{done.stdout}")
    return int(tag[1]), int(tag[2])


def install(wheel: Path, folder: Path, *, here: bool) -> Path:
    """The program of a wheel in a new environment; with the packages of this one, or with those that pip chooses."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    options = ["--no-deps", "--no-index"] if here else []
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", *options, str(wheel)]
    subprocess.run(command, check=True)
    if here:
        # A folder that a .pth file names is searched last, and .pth files in it, such as the checkout's, are not read.
        packages = next(folder.rglob("site-packages"))
        (packages / "packages-of-another.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    return python.with_name("billboards.exe" if sys.platform == "win32" else "billboards")


def scores(program: list[str], folder: Path) -> object:
    """What a program says of three texts, every lexical metric."""
    (folder / "outputs.txt").write_text(OUTPUTS)
    (folder / "references.txt").write_text(REFERENCES)
    command = [
        *program,
        "score",
        "--output",
        "outputs.txt",
        "--reference",
        "references.txt",
        "--metric",
        *METRICS,
        "--json",
    ]
    done = run(command, folder)
    return json.loads(done)


def run(command: list[str], folder: Path) -> str:
    """What a command prints, in a folder of its own and without the checkout's paths."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def check(wheel: Path, work: Path, *, here: bool, demo: bool) -> list[str]:
    """What holds, a line each; ends with a message where something does not."""
    lines = []
    if (glibc := newest_glibc(wheel)) is not None:
        if glibc > GLIBC:
            raise SystemExit(f"{wheel.name} needs glibc {glibc[0]}.{glibc[1]}; {GLIBC[0]}.{GLIBC[1]} must be enough")
        lines.append(f"audited: runs with glibc {glibc[0]}.{glibc[1]} and later")
    program = str(install(wheel, work / "environment", here=here))
    version = wheel.name.split("-")[1]
    empty = work / "empty"
    empty.mkdir()
    if (printed := run([program, "--version"], empty).strip()) != f"billboards {version}":
        raise SystemExit(f"{wheel.name}: --version prints {printed!r}")
    where = run(
        [
            str(Path(program).with_name(Path(sys.executable).name)),
            "-c",
            "import billboards; print(billboards.__file__)",
        ],
        empty,
    )
    if not where.startswith(str(work / "environment")):
        raise SystemExit(f"the wheel's program runs {where.strip()}, which is not in its environment")
    lines.append(f"installed: {printed}")
    if scores([program], empty) != scores([sys.executable, "-m", "billboards"], empty):
        raise SystemExit(f"{wheel.name}: scores differ from the checkout's")
    lines.append(f"scored: {len(METRICS)} metrics, the checkout's numbers")
    if demo:
        begun = time.monotonic()
        printed = run([program, "demo", "--no-site", "--no-open"], empty)
        if "demo-summeval: generators by ROUGE-1" not in printed or not (empty / "demo-board/report.html").exists():
            raise SystemExit(f"the demo says something else:\n{printed}")
        lines.append(f"demo: ranked and reported in {time.monotonic() - begun:.0f} s")
    return lines


def main(arguments: list[str] | None = None) -> int:
    parser = ArgumentParser("check_wheel", description="Install a wheel in a new environment, and see what it says.")
    parser.add_argument("wheel", nargs="?", type=Path, metavar="WHEEL", help="default: one is built")
    parser.add_argument("--here", action="store_true", help="with the packages of this environment, without an index")
    parser.add_argument("--demo", action="store_true", help="run the demo in an empty folder, too")
    parsed = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        work = Path(name).resolve()
        wheel = parsed.wheel.resolve() if parsed.wheel else build(work)
        print("\n".join([wheel.name, *check(wheel, work, here=parsed.here, demo=parsed.demo)]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
