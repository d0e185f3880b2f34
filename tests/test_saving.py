"""Files that people asked for: whole, or as they were."""

from __future__ import annotations

import os
import re
import resource
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import billboards
from billboards.errors import StoreFailed
from billboards.saving import save_file


def test_a_file_is_written_with_its_folders_and_in_the_place_of_another(tmp_path: Path) -> None:
    file = tmp_path / "new" / "page.html"
    assert save_file(file, "é") == file
    save_file(file, b"two")
    assert file.read_bytes() == b"two"
    assert [path.name for path in file.parent.iterdir()] == ["page.html"]


def test_a_file_keeps_its_mode_and_a_link_its_target(tmp_path: Path) -> None:
    file, link = tmp_path / "a.csv", tmp_path / "link.csv"
    file.write_text("old")
    file.chmod(0o640)
    link.symlink_to(file)
    save_file(link, "new")
    assert link.is_symlink()
    assert file.read_text() == "new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_a_pipe_is_written_to_as_it_is(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    save_file(pipe, "text")
    assert os.read(reading, 10) == b"text"
    os.close(reading)


def test_a_limit_leaves_what_was_there_and_says_so(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text("what was there")

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    code = "import sys; from billboards.saving import save_file; save_file(sys.argv[1], 'x' * 5000)"
    command = [sys.executable, "-c", code, str(file)]
    run = subprocess.run(command, preexec_fn=limited, capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert f"{file}: can't be written: File too large; what was there is unchanged; make room" in run.stderr
    assert file.read_text() == "what was there"
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_a_folder_in_the_way_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(StoreFailed, match="Is a directory"):
        save_file(tmp_path, "text")


def test_no_command_writes_a_file_in_another_way() -> None:
    commands = sorted((Path(billboards.__file__).parent / "cli").glob("*.py"))
    direct = re.compile(r"""\.write_(?:text|bytes)\(|open\([^)]*["'][wax]b?["']""")
    assert len(commands) > 40
    assert [path.name for path in commands if direct.search(path.read_text("utf-8"))] == []
