"""Compiling the kernels: the machine's own compiler, or one that comes as a wheel; a library whole or not at all."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools"
SOURCE = '#include "kernel.h"\nEXPORT int64_t answer(void);\nEXPORT int64_t answer(void) { return 42; }\n'


@pytest.fixture
def build_kernels(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(TOOLS))
    return import_module("build_kernels")


@pytest.fixture
def folder(tmp_path: Path, build_kernels: ModuleType) -> Path:
    """A folder with one small kernel."""
    header = TOOLS.parent / build_kernels.KERNELS / "kernel.h"
    (tmp_path / "kernel.h").write_bytes(header.read_bytes())
    (tmp_path / "_answer.c").write_text(SOURCE)
    return tmp_path


@pytest.fixture
def no_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))


def test_a_library_is_built_beside_its_source_and_knows_it(folder: Path, build_kernels: ModuleType) -> None:
    build_kernels.build_in_place(folder)
    library = ctypes.CDLL(str(folder / f"_answer{build_kernels.SUFFIX}"))
    library.source_digest.restype = ctypes.c_char_p
    assert library.answer() == 42
    assert library.source_digest().decode() == build_kernels.digest(folder / "_answer.c")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems' linkers know none of these flags")
def test_a_library_is_hardened(folder: Path, build_kernels: ModuleType) -> None:
    """Its table of functions is read-only after loading (GNU_RELRO, BIND_NOW), and its stack can't be run."""
    build_kernels.build_in_place(folder)
    library = str(folder / f"_answer{build_kernels.SUFFIX}")
    words = subprocess.run(["readelf", "-lWd", library], capture_output=True, text=True, check=True).stdout
    assert "GNU_RELRO" in words
    assert "BIND_NOW" in words or "NOW" in words
    (stack,) = [line for line in words.splitlines() if "GNU_STACK" in line]
    assert " RW " in stack
    assert set(build_kernels.HARDENING) <= set(build_kernels.hardening())


def test_only_what_is_out_of_date_is_compiled(
    folder: Path, build_kernels: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    for change, compiled in (("", True), ("", False), ("/* a word more */\n", True)):
        with (folder / "kernel.h").open("a") as file:
            file.write(change)
        build_kernels.build_in_place(folder)
        assert (capsys.readouterr().out == f"compiling {folder / '_answer.c'}\n") is compiled


def test_a_mistake_leaves_the_library_that_was_there(folder: Path, build_kernels: ModuleType) -> None:
    build_kernels.build_in_place(folder)
    before = (folder / f"_answer{build_kernels.SUFFIX}").read_bytes()
    (folder / "_answer.c").write_text(SOURCE.replace("42", "forty-two"))
    with pytest.raises(subprocess.CalledProcessError):
        build_kernels.build_in_place(folder)
    assert (folder / f"_answer{build_kernels.SUFFIX}").read_bytes() == before
    assert {path.suffix for path in folder.iterdir()} == {".c", ".h", build_kernels.SUFFIX}


def test_no_kernel_gives_a_warning_to_a_strict_compiler(folder: Path, build_kernels: ModuleType) -> None:
    for source in build_kernels.sources(TOOLS.parent / build_kernels.KERNELS):
        command = [*build_kernels.compiler(), *build_kernels.FLAGS, "-Werror", "-O1", str(source)]
        subprocess.run([*command, "-o", str(folder / "strict.so"), "-lm"], check=True)


@pytest.mark.usefixtures("no_compiler")
def test_without_a_compiler_one_is_asked_for_as_a_wheel(build_kernels: ModuleType) -> None:
    assert build_kernels.own_compiler() is None
    assert build_kernels.compiler_wanted() == ["ziglang>=0.13"]


@pytest.mark.usefixtures("no_compiler")
def test_a_stand_in_that_only_says_where_to_get_a_compiler_is_none(build_kernels: ModuleType, tmp_path: Path) -> None:
    for name, status in (("cc", 1), ("clang", 0)):
        (tmp_path / name).write_text(f"#!/bin/sh\nexit {status}\n")
        (tmp_path / name).chmod(0o755)
    assert build_kernels.own_compiler() == [str(tmp_path / "clang")]


def test_with_a_compiler_nothing_is_asked_for(build_kernels: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "ccache clang")
    assert build_kernels.own_compiler() == ["ccache", "clang"]
    assert build_kernels.compiler_wanted() == []


@pytest.mark.usefixtures("no_compiler")
def test_without_any_compiler_the_message_says_what_to_install(
    build_kernels: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build_kernels, "find_spec", lambda name: None)
    with pytest.raises(SystemExit, match=r"no C compiler: install one .* or `pip install ziglang`, or name one in CC"):
        build_kernels.compiler()
    monkeypatch.setattr(build_kernels, "find_spec", lambda name: object())
    assert build_kernels.compiler()[:4] == [sys.executable, "-m", "ziglang", "cc"]
