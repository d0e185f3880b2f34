"""A ready repository around boards: on GitHub it ranks every pull request and publishes by itself.

The files lie in `site/publishing/repository`. Boards that are named are copied into it, without what was computed.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from importlib import metadata, resources
from pathlib import Path

from billboards.board.folder import open_board
from billboards.board.names import file_name
from billboards.errors import InvalidInput, StoreFailed
from billboards.saving import save_file

#: The files of each host's repository: where they go, and which of ours they are.
HOSTS: Mapping[str, Mapping[str, str]] = {
    "github": {
        ".github/workflows/leaderboard.yml": "github.yml",
        "ci/leaderboard.py": "leaderboard.py",
        "README.md": "github.md",
    },
    "space": {"README.md": "space.md", "publish.sh": "publish.sh"},
}
IGNORED = ".billboards/\n__pycache__/\n.venv/\ngiven/\nscored/\n"


def write_repository(host: str, target: Path, boards: Sequence[Path] = ()) -> list[str]:
    """Write a repository into a new or empty folder; returns its own files."""
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InvalidInput(f"{target}: is there already and not empty; name a new folder")
    names = [file_name(open_board(folder).name) for folder in boards]
    files = {place: _own_file(name) for place, name in HOSTS[host].items()}
    files[".gitignore"] = IGNORED + ("public/\n" if host == "github" else "")
    files["requirements.txt"] = f"billboards[site]=={metadata.version('billboards')}\n"
    if host == "github":
        files["metrics/.gitkeep"] = ""
    files |= {} if boards else {"boards/.gitkeep": ""}
    for place, text in files.items():
        save_file(target / place, text)
    if host == "space":
        (target / "publish.sh").chmod(0o755)
    try:
        for folder, name in zip(boards, names, strict=True):
            shutil.copytree(folder, target / "boards" / name, ignore=shutil.ignore_patterns(".*", "report.html"))
    except OSError as error:
        raise StoreFailed(f"{target}: can't be written: {error.strerror or error}") from error
    return sorted(files)


def _own_file(name: str) -> str:
    return (resources.files("billboards.site.publishing") / "repository" / name).read_text("utf-8")
