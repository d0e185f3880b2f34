"""The three notebooks run in a real kernel, and show tables and charts as notebooks do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

NOTEBOOKS = Path(__file__).resolve().parents[2] / "examples" / "notebooks"

SHOWS = {
    "is_my_metric_better": ["word_recall", "against BLEU"],
    "plan_an_annotation": ["what it takes to tell ROUGE-1 from BLEU", "BART from Pegasus-huge-news"],
    "rank_your_outputs": ["metrics by Pearson correlation", "agrees best: 0.2", "application/vnd.vegalite.v"],
}


def test_every_notebook_is_run_here_and_kept_without_outputs() -> None:
    assert sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb")) == sorted(SHOWS)
    assert not any('"output_type"' in path.read_text("utf-8") for path in NOTEBOOKS.glob("*.ipynb"))


@pytest.mark.long
@pytest.mark.parametrize("name", SHOWS)
def test_a_notebook_runs_as_it_stands(name: str, tmp_path: Path) -> None:
    """In a process of its own: the client takes over what Ctrl-C does. No extra is installed, as at a newcomer's."""
    script = (
        "import sys, nbformat\n"
        "from nbclient import NotebookClient\n"
        "notebook = nbformat.read(sys.argv[1], as_version=4)\n"
        "NotebookClient(notebook, timeout=300, kernel_name='python3').execute(cwd='.')\n"
        "print([cell.get('outputs') for cell in notebook.cells])\n"
    )
    for extra in ("pandas", "polars", "pyarrow", "torch"):
        (tmp_path / f"{extra}.py").write_text("raise ImportError('absent here')\n")
    command = [sys.executable, "-W", "ignore", "-c", script, str(NOTEBOOKS / f"{name}.ipynb")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert [words for words in SHOWS[name] if words not in done.stdout] == [], done.stdout[-3000:]
