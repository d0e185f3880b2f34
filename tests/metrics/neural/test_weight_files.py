"""Weight files: equal tensors, plain settings, and nothing run, whatever a file names and wherever it names it."""

from __future__ import annotations

import argparse
import os
import pickle
import re
import struct
import sys
import time
import tracemalloc
import types
import zipfile
from collections import Counter, OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from damage import damaged_often
from safetensors.torch import save_file

from billboards.errors import BillboardsError, InvalidInput
from billboards.metrics.neural.weights import read_tensors

TYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16, torch.int8,
         torch.uint8, torch.bool, torch.complex64, torch.uint16, torch.float8_e4m3fn)  # fmt: skip


def every_kind() -> dict[str, torch.Tensor]:
    torch.manual_seed(0)
    plain = {f"of.{kind}": (torch.randn(3, 4) * 9).abs().to(kind) for kind in TYPES}
    base = torch.randn(6, 8)
    views = {"base": base, "rows": base[2:4], "turned": base.T, "steps": base[:, ::3], "scalar": torch.tensor(2.5)}
    return {**plain, **views, "empty": torch.empty(0, 3), "parameter": torch.nn.Parameter(torch.ones(2))}


def saved(path: Path, content: object, **options: Any) -> Path:
    torch.save(content, path, **options)
    return path


def same(ours: Any, theirs: Any) -> None:
    assert list(ours) == list(theirs)
    for name, tensor in theirs.items():
        assert ours[name].dtype == tensor.dtype
        assert ours[name].shape == tensor.shape
        assert ours[name].stride() == tensor.stride()
        assert ours[name].tolist() == tensor.tolist()


@pytest.mark.parametrize("name", ["w.bin", "w.pt", "w.pth", "w.ckpt"])
def test_tensors_are_those_that_torch_loads(tmp_path: Path, name: str) -> None:
    path = saved(tmp_path / name, OrderedDict(every_kind()))
    theirs = torch.load(path, weights_only=True)
    same(read_tensors(path).tensors, theirs)


@pytest.mark.parametrize("protocol", [2, 3, 4])
def test_every_protocol_is_read(tmp_path: Path, protocol: int) -> None:
    path = saved(tmp_path / "w.pt", every_kind(), pickle_protocol=protocol)
    same(read_tensors(path).tensors, every_kind())


def test_a_model_in_a_state_dict_and_its_module_versions(tmp_path: Path) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))
    path = saved(tmp_path / "w.bin", model.state_dict())
    same(read_tensors(path).tensors, model.state_dict())


def test_safetensors_are_read(tmp_path: Path) -> None:
    tensors = {"a": torch.randn(3), "b": torch.ones(2, 2, dtype=torch.bfloat16)}
    save_file(tensors, tmp_path / "model.safetensors")
    same(read_tensors(tmp_path / "model.safetensors").tensors, tensors)


def test_parts_that_an_index_names_are_read_together(tmp_path: Path) -> None:
    save_file({"a": torch.ones(1)}, tmp_path / "model-1.safetensors")
    saved(tmp_path / "model-2.bin", {"b": torch.zeros(1)})
    index = tmp_path / "model.safetensors.index.json"
    index.write_text('{"weight_map": {"a": "model-1.safetensors", "b": "model-2.bin"}}')
    assert sorted(read_tensors(index).tensors) == ["a", "b"]
    index.write_text('{"weight_map": {"a": "../model-1.safetensors"}}')
    with pytest.raises(InvalidInput, match="lies elsewhere"):
        read_tensors(index)


def test_a_file_that_changed_is_read_again(tmp_path: Path) -> None:
    path = saved(tmp_path / "w.pt", {"a": torch.zeros(2)})
    assert read_tensors(path).tensors["a"].tolist() == [0, 0]
    path.unlink()
    saved(path, {"a": torch.ones(2)})
    os.utime(path, ns=(1, 1))
    assert read_tensors(path).tensors["a"].tolist() == [1, 1]


class AttributeDict(dict[str, Any]):
    """As Lightning keeps hyper-parameters."""


class ModelCheckpoint:
    """As Lightning once named states of callbacks."""


class Container:
    """As omegaconf's containers and nodes pickle themselves: a state that also holds their parent."""

    def __init__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


@pytest.fixture
def lightning(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str, type], type]:
    """A class under the name of a package that is not installed."""

    def name(module: str, name: str, base: type) -> type:
        made = type(name, (base,), {"__module__": module})
        whole = ""
        for part in module.split("."):
            whole = f"{whole}.{part}".strip(".")
            monkeypatch.setitem(sys.modules, whole, types.ModuleType(whole))
        setattr(sys.modules[module], name, made)
        return made

    return name


def test_a_lightning_checkpoint_gives_weights_and_settings(
    tmp_path: Path, lightning: Callable[[str, str, type], type]
) -> None:
    attributes = lightning("pytorch_lightning.utilities.parsing", "AttributeDict", dict)
    callback = lightning("pytorch_lightning.callbacks.model_checkpoint", "ModelCheckpoint", object)
    path = saved(
        tmp_path / "model.ckpt",
        {
            "epoch": 3,
            "state_dict": OrderedDict(every_kind()),
            "hyper_parameters": attributes(
                layer="mix", dropout=np.float32(0.5), sizes=torch.Size([2, 3]), kind=torch.float16, when=np.int64(4),
                args=argparse.Namespace(depth=2, path=Path("a") / "b"), counts=Counter("aab"), dtype=np.dtype("f4"),
                device=torch.device("cpu"), array=np.arange(3), used={"x"}, hooks=callback(),
            ),
            "callbacks": {callback: {"best_model_score": torch.tensor(0.5), "best": np.float64(1)}},
            "optimizer_states": [{"state": {0: {"exp_avg": torch.randn(3)}}}],
            "hparams_type": attributes,
        },
    )  # fmt: skip
    read = read_tensors(path)
    same(read.tensors, every_kind())
    hooks = read.hyper_parameters["hooks"]
    assert {**read.hyper_parameters, "hooks": ""} == {
        "layer": "mix", "dropout": 0.5, "sizes": [2, 3], "kind": "torch.float16", "when": 4,
        "args": {"depth": 2, "path": "a/b"}, "counts": {"a": 2, "b": 1}, "dtype": "a numpy type",
        "device": "cpu", "array": [0, 1, 2], "used": ["x"], "hooks": "",
    }  # fmt: skip
    assert hooks == "an object of pytorch_lightning.callbacks.model_checkpoint.ModelCheckpoint"


def test_settings_of_omegaconf_are_plain_without_omegaconf(
    tmp_path: Path, lightning: Callable[[str, str, type], type]
) -> None:
    config = lightning("omegaconf.dictconfig", "DictConfig", Container)
    listed = lightning("omegaconf.listconfig", "ListConfig", Container)
    node = lightning("omegaconf.nodes", "AnyNode", Container)
    root = config({"_content": {}, "_parent": None, "_metadata": {"ref_type": dict}})
    root._content["lr"] = node({"_val": 0.1, "_parent": root})
    root._content["sizes"] = listed({"_content": [node({"_val": 2, "_parent": root})], "_parent": root})
    path = saved(tmp_path / "model.ckpt", {"state_dict": {"a": torch.ones(1)}, "hyper_parameters": root})
    assert read_tensors(path).hyper_parameters == {"lr": 0.1, "sizes": [2]}


def test_a_namespace_of_fairseq_stands_beside_the_model(tmp_path: Path) -> None:
    path = saved(tmp_path / "c.pt", {"args": argparse.Namespace(arch="x"), "model": {"a": torch.ones(1)}})
    read = read_tensors(path)
    assert list(read.tensors) == ["a"]
    assert read.hyper_parameters == {"arch": "x"}


# Hostile files.


class Exploit:
    """What Python's own pickles make of an attack."""

    def __init__(self, *call: Any) -> None:
        self.call = call

    def __reduce__(self) -> tuple[Any, ...]:
        return self.call


def placed(attack: object) -> dict[str, Any]:
    """An attack in every position of a checkpoint."""
    good, weight = {"a": torch.ones(2)}, torch.ones(2)
    with_state = OrderedDict(good)
    with_state.__dict__["_metadata"] = attack
    return {
        "instead of all": attack,
        "a weight": {"state_dict": {"a": weight, "b": attack}},
        "a setting": {"state_dict": good, "hyper_parameters": {"x": attack}},
        "in a namespace": {"state_dict": good, "hyper_parameters": argparse.Namespace(x=[attack])},
        "a callback": {"state_dict": good, "callbacks": {"c": (attack,)}},
        "the versions": {"state_dict": with_state},
        "an optimizer": {"state_dict": good, "optimizer_states": [{0: attack}]},
        "in a set": {"state_dict": good, "x": [attack, {"a"}]},
        "in an array": {"state_dict": good, "x": np.array([attack, 1], object)},
    }


CALLS: dict[str, tuple[Any, ...]] = {
    "system": (os.system, ("touch ran",)),
    "eval": (eval, ("open('ran', 'w')",)),
    "exec": (exec, ("open('ran', 'w')",)),
    "getattr": (getattr, ("", "join")),
    "import": (__import__, ("ran",)),
    "open": (open, ("ran", "w")),
    "load": (torch.load, ("ran",)),
    "numpy": (np.load, ("ran",)),
    "popen": (os.popen, ("touch ran",)),
    "unpickling": (pickle.loads, (b"N.",)),
}
POSITIONS = tuple(placed(None))


@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("call", CALLS)
def test_nothing_is_called_wherever_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, position: str
) -> None:
    monkeypatch.chdir(tmp_path)
    path = saved(tmp_path / "model.ckpt", placed(Exploit(*CALLS[call]))[position])
    with pytest.raises(InvalidInput) as error:
        read_tensors(path)
    assert "nothing of it was run" in str(error.value)
    assert not (tmp_path / "ran").exists()
    if position != "in an array":
        # Protocol 2 has the names of Python 2.
        assert re.search(rf"would call [\w.]+\.{CALLS[call][0].__name__}, so it holds more", str(error.value))


def archive(path: Path, program: bytes, **records: bytes) -> Path:
    with zipfile.ZipFile(path, "w") as packed:
        for name, raw in {"data.pkl": program, **{f"data/{key}": raw for key, raw in records.items()}}.items():
            packed.writestr(f"archive/{name}", raw)
    return path


def text(value: str) -> bytes:
    return b"X" + struct.pack("<I", len(value.encode())) + value.encode()


ONE_CALL = b"cos\nsystem\n" + text("touch ran") + b"\x85"
PROGRAMS: dict[str, tuple[bytes, str]] = {
    "instance": (b"(" + text("touch ran") + b"ios\nsystem\n.", "makes an instance of a class"),
    "object": (b"(cos\nsystem\n" + text("touch ran") + b"o.", "makes an instance of a class"),
    "new object": (ONE_CALL + b"\x81.", "would make an object of os.system"),
    "new object with keywords": (ONE_CALL + b"}\x92.", "would make an object of os.system"),
    "old object": (
        b"ccopyreg\n_reconstructor\n(cos\nsystem\ncbuiltins\nobject\nNtR.",
        "would make an object of os.system",
    ),
    "persistent call": (ONE_CALL + b"RQ.", "would call os.system"),
    "persistent text": (b"Pos.system\n.", "asks for an object by a persistent id"),
    "storage of a class": (
        b"(" + text("storage") + b"cos\nsystem\n" + text("0") + text("cpu") + b"K\x01tQ.",
        "asks for a storage of os.system",
    ),
    "tensor of a name": (
        b"ctorch._utils\n_rebuild_tensor_v2\n(cos\nsystem\nK\x00K\x01\x85K\x01\x85\x89}tR.",
        "has a tensor of os.system",
    ),
    "tensor by a call": (
        b"ctorch._tensor\n_rebuild_from_type_v2\n(cos\nsystem\ncos\nsystem\n" + text("touch ran") + b"\x85}tR.",
        "would build a tensor by os.system",
    ),
    "extension": (b"\x82\x01.", "names an extension"),
    "nested tuple": (b"N" + b"\x85" * 200_000 + b".", "holds tuple"),
    "memo bomb": (b"]q\x000" + b"(h\x00h\x00h\x00h\x00h\x00h\x00h\x00h\x00lq\x000" * 30 + b"h\x00.", "holds list"),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_that_python_never_writes_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    program, reason = PROGRAMS[name]
    with pytest.raises(InvalidInput) as error:
        read_tensors(archive(tmp_path / "model.ckpt", program))
    assert reason in str(error.value)
    assert len(str(error.value)) < 600 + len(str(tmp_path))
    assert not (tmp_path / "ran").exists()


def tensor(key: str, count: int, start: int, shape: bytes, strides: bytes) -> bytes:
    storage = b"(" + text("storage") + b"ctorch\nFloatStorage\n" + text(key) + text("cpu")
    storage += b"J" + struct.pack("<i", count) + b"tQ"
    built = b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + b"J" + struct.pack("<i", start)
    return b"}" + text("a") + built + shape + strides + b"\x89}tRs."


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (tensor("0", 4, 0, b"K\x05\x85", b"K\x01\x85"), "has a tensor of shape"),
        (tensor("0", 4, 3, b"K\x02\x85", b"K\x01\x85"), "has a tensor of shape"),
        (tensor("0", 4, 0, b"J\xff\xff\xff\x7f\x85", b"K\x00\x85"), "has a tensor of shape"),
        (tensor("0", 4, -1, b"K\x01\x85", b"K\x01\x85"), "shape that can't be right"),
        (tensor("0", 4, 0, b"K\x02\x85", b"K\x01K\x01\x86"), "shape that can't be right"),
        (tensor("0", 9, 0, b"K\x02\x85", b"K\x01\x85"), "needs 36 bytes and its record has 16"),
        (tensor("1", 4, 0, b"K\x02\x85", b"K\x01\x85"), "'data/1' is missing"),
        (tensor("../data.pkl", 4, 0, b"K\x02\x85", b"K\x01\x85"), "is missing"),
    ],
)
def test_tensors_lie_inside_their_records(tmp_path: Path, program: bytes, reason: str) -> None:
    with pytest.raises(InvalidInput) as error:
        read_tensors(archive(tmp_path / "w.pt", program, **{"0": bytes(16)}))
    assert reason in str(error.value)


def test_records_anywhere_in_the_file_are_read(tmp_path: Path) -> None:
    raw = np.arange(4, dtype="<f4").tobytes()
    path = archive(tmp_path / "w.pt", tensor("0", 4, 1, b"K\x02\x85", b"K\x02\x85"), **{"0": raw})
    assert read_tensors(path).tensors["a"].tolist() == [1, 3]


def test_other_files_are_refused_with_what_to_do(tmp_path: Path) -> None:
    legacy = saved(tmp_path / "old.pt", {"a": torch.ones(1)}, _use_new_zipfile_serialization=False)
    whole = saved(tmp_path / "whole.pt", torch.nn.Linear(2, 2))
    with zipfile.ZipFile(tmp_path / "script.pt", "w") as packed:
        for name in ("data.pkl", "constants.pkl", "code/__torch__.py"):
            packed.writestr(f"script/{name}", b"N.")
    squeezed = tmp_path / "squeezed.pt"
    with zipfile.ZipFile(squeezed, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("archive/data.pkl", b"}" * 10_000)
    (tmp_path / "plain.pt").write_bytes(pickle.dumps({"a": 1}))
    (tmp_path / "w.onnx").write_bytes(b"x")
    (tmp_path / "w.safetensors").write_bytes(b"x" * 40)
    for path, reason in {
        legacy: "format before version 1.6.*torch.save",
        whole: r"holds an object of torch\.nn\.modules\.linear\.Linear.*save its state_dict",
        tmp_path / "script.pt": "TorchScript program",
        squeezed: "is compressed",
        tmp_path / "plain.pt": "is no file of torch.save's",
        tmp_path / "w.onnx": "ends in one of",
        tmp_path / "w.safetensors": "can't be read as safetensors",
        tmp_path / "none.pt": "can't be read: No such file",
    }.items():
        with pytest.raises(InvalidInput, match=reason):
            read_tensors(path)


def test_a_thousand_damaged_files_are_refused_or_read_in_bounded_time_and_memory(tmp_path: Path) -> None:
    content = {
        "state_dict": OrderedDict(every_kind()),
        "hyper_parameters": argparse.Namespace(a=1, b=[np.float32(2)], c={"d": (1, 2)}),
    }
    raw = saved(tmp_path / "sound.ckpt", content).read_bytes()
    path, refused = tmp_path / "model.ckpt", 0
    started = time.monotonic()
    tracemalloc.start()
    try:
        for k, changed in enumerate(damaged_often(raw, 1000, seed=1)):
            path.write_bytes(changed)
            os.utime(path, ns=(k, k))
            try:
                read_tensors(path)
            except BillboardsError:
                refused += 1
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert refused > 300
    assert peak < 100 << 20
    assert time.monotonic() - started < 300
