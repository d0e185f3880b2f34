"""Models are fetched in a pinned revision, safetensors rather than pickles, from the mirror that HF_ENDPOINT names."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hub_mirror import HubMirror, Repository

from billboards.errors import InvalidInput, MissingPart
from billboards.metrics.discovery import metric
from billboards.metrics.neural.weights import Weights, locate

OLD, NEW = "0" * 39 + "1", "0" * 39 + "2"
FILES = {"config.json": b"{}", "model.safetensors": b"old", "pytorch_model.bin": b"pickle", "onnx/model.onnx": b"o"}
MODELS = {
    "lab/model": Repository(
        commits={OLD: FILES, NEW: {**FILES, "model.safetensors": b"new"}}, names={"main": NEW, "v1": OLD}
    ),
    "lab/comet": Repository(
        commits={NEW: {"hparams.yaml": b"a: 1", "checkpoints/model.ckpt": b"c", "training_args.bin": b"t"}},
        names={"main": NEW},
    ),
}


@pytest.fixture
def mirror() -> Iterator[HubMirror]:
    with HubMirror(MODELS) as server:
        yield server
        server.shutdown()


def run(mirror: HubMirror, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command with a hub's cache of its own; the client reads its settings when it is loaded."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "BILLBOARDS_"))}
    environment |= {"HF_ENDPOINT": mirror.address, "HF_HOME": str(home), "HF_HUB_DISABLE_XET": "1"}
    command = [sys.executable, "-m", "billboards", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)


def test_a_model_is_fetched_in_the_revision_that_is_named(mirror: HubMirror, tmp_path: Path) -> None:
    fetched = run(mirror, tmp_path, "metrics", "--fetch", "lab/model", "--revision", "v1")
    assert fetched.returncode == 0, fetched.stderr
    folder = Path(fetched.stdout.strip())
    assert folder.name == OLD
    assert (folder / "model.safetensors").read_bytes() == b"old"
    assert f"lab/model is at commit {OLD}; pin it with revision={OLD}" in fetched.stderr
    assert Weights("lab/model", folder).commit == OLD
    # Nothing else was asked for: neither the pickle nor what no metric reads.
    assert mirror.asked == {"config.json": 1, "model.safetensors": 1}


def test_without_a_revision_the_main_branch_is_meant_and_both_commands_fetch(mirror: HubMirror, tmp_path: Path) -> None:
    fetched = run(mirror, tmp_path, "bertscore", "fetch", "lab/model")
    assert fetched.returncode == 0, fetched.stderr
    assert (Path(fetched.stdout.strip()) / "model.safetensors").read_bytes() == b"new"
    again = run(mirror, tmp_path, "metrics", "--fetch", "lab/model")
    assert again.stdout == fetched.stdout
    assert mirror.asked["model.safetensors"] == 1


def test_a_checkpoint_is_fetched_where_there_are_no_safetensors(mirror: HubMirror, tmp_path: Path) -> None:
    fetched = run(mirror, tmp_path, "metrics", "--fetch", "lab/comet")
    assert fetched.returncode == 0, fetched.stderr
    assert mirror.asked == {"hparams.yaml": 1, "checkpoints/model.ckpt": 1}


@pytest.mark.parametrize(("model", "more"), [("lab/none", ()), ("lab/model", ("--revision", "v9"))])
def test_what_the_hub_does_not_have_is_said(
    mirror: HubMirror, tmp_path: Path, model: str, more: tuple[str, ...]
) -> None:
    refused = run(mirror, tmp_path, "metrics", "--fetch", model, *more)
    assert refused.returncode != 0
    assert f"{model} could not be fetched: " in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_revision_that_was_not_fetched_names_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    command = "`billboards metrics --fetch roberta-large --revision v1` fetches it"
    with pytest.raises(MissingPart, match=command):
        locate("roberta-large", "v1")


def test_a_revision_is_found_again_by_name_and_by_commit(mirror: HubMirror, tmp_path: Path) -> None:
    run(mirror, tmp_path, "metrics", "--fetch", "lab/model", "--revision", "v1")
    script = (
        "import json; from billboards.metrics.discovery import metric\n"
        "from billboards.metrics.neural.weights import locate\n"
        f"commits = [locate('lab/model', r).commit for r in ('v1', '{OLD}')]\n"
        "names = ['BERTScore(model=lab/model,layer=1,revision=v1)', 'sentence-cosine(model=lab/model,revision=v1)']\n"
        "print(json.dumps([*commits, *(metric(name).signature for name in names)]))"
    )
    environment = {**os.environ, "HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "1"}
    said = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    first, second, *signatures = json.loads(said.stdout)
    assert first == second == OLD
    for signature in signatures:
        assert f"|model:lab/model|commit:{OLD}|weights:" in signature


def test_without_a_revision_a_signature_is_what_it_was() -> None:
    for name in ("BERTScore", "sentence-cosine", "MoverScore"):
        signature = metric(name).signature
        assert "commit:" not in signature
        assert signature.count("revision:") == 1


def test_a_folder_has_no_revision(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="only a model of the hub has a revision"):
        locate(str(tmp_path), "v1")
    with pytest.raises(InvalidInput, match="only a model of the hub has a revision"):
        locate("minilm", "v1")
